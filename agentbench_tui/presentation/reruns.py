"""What a rerun asked again and what came of it, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.presentation.numbers import percent, with_interval

if TYPE_CHECKING:
    from agentbench_tui.contracts.run import ExecutionResult, RerunPart, RunDocument


def rerun_lines(run: RunDocument) -> list[str]:
    """Return a sentence for each execution that asked something again; none unless the run is a
    rerun.
    """
    if not run.rerun_of:
        return []
    asked = [(one, one.rerun) for one in run.executions if one.rerun and _has_asked(one.rerun)]
    lines = [_replaced(one, part, run.rerun_of) for one, part in asked if part.attempt == 1]
    attempts = [_attempts(one, part) for one, part in asked if part.attempt > 1]
    if attempts:
        attempts.append(
            f"Further attempts replace nothing: accuracy, times and costs of run {run.rerun_of}"
            " stay those of its own answers."
        )
    return lines + attempts


def _has_asked(part: RerunPart) -> bool:
    return part.asked > 0 or part.attempt > 1


def _place(execution: ExecutionResult) -> str:
    return f"{execution.agent_id} on {execution.benchmark_id}"


def _replaced(execution: ExecutionResult, part: RerunPart, earlier: str) -> str:
    kept = execution.cases.observed - part.observed
    return (
        f"{_place(execution)}: {counted(part.asked, 'infrastructure failure')} of run "
        f"{earlier} replaced: {part.answered:,} answered now, {part.correct:,} right; "
        f"{counted(kept, 'other answer')} kept."
    )


def _attempts(execution: ExecutionResult, part: RerunPart) -> str:
    line = (
        f"{_place(execution)}, attempt {part.attempt}: {part.correct:,} of {part.observed:,} right"
    )
    within = _within(execution, part)
    return f"{line}; {within}." if within else f"{line}."


def _within(execution: ExecutionResult, part: RerunPart) -> str:
    """Word pass@k, or why it is not known."""
    for name, found in execution.metrics.items():
        if not name.startswith("pass@"):
            continue
        if found.value is None:
            return f"no {name}: {found.reason}"
        shown = with_interval(found.value, found.low, found.high, percent)
        return f"right within {part.attempt} attempts ({name}): {shown} of {found.n:,}"
    return ""
