"""What a rerun asked again and what came of it, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.presentation.numbers import percent, with_interval

if TYPE_CHECKING:
    from collections.abc import Mapping


def rerun_lines(document: Mapping[str, Any]) -> list[str]:
    """A sentence for each execution of a run document that asked something again; none unless the
    run is a rerun."""
    earlier = document.get("rerun_of")
    if earlier is None:
        return []
    asked = [one for one in document["executions"] if _asked(one)]
    lines = [_replaced(one, earlier) for one in asked if one["rerun"]["attempt"] == 1]
    attempts = [one for one in asked if one["rerun"]["attempt"] > 1]
    lines += [_attempts(one) for one in attempts]
    if attempts:
        lines.append(
            f"Further attempts replace nothing: accuracy, times and costs of run {earlier} stay "
            "those of its own answers."
        )
    return lines


def _asked(execution: Mapping[str, Any]) -> bool:
    rerun = execution.get("rerun")
    return rerun is not None and (rerun["asked"] > 0 or rerun["attempt"] > 1)


def _place(execution: Mapping[str, Any]) -> str:
    return f"{execution['agent_id']} on {execution['benchmark_id']}"


def _replaced(execution: Mapping[str, Any], earlier: str) -> str:
    rerun = execution["rerun"]
    kept = execution["cases"]["observed"] - rerun["observed"]
    return (
        f"{_place(execution)}: {counted(rerun['asked'], 'infrastructure failure')} of run "
        f"{earlier} replaced: {rerun['answered']:,} answered now, {rerun['correct']:,} right; "
        f"{counted(kept, 'other answer')} kept."
    )


def _attempts(execution: Mapping[str, Any]) -> str:
    rerun = execution["rerun"]
    line = (
        f"{_place(execution)}, attempt {rerun['attempt']}: {rerun['correct']:,} of "
        f"{rerun['observed']:,} right"
    )
    within = _within(execution)
    return f"{line}; {within}." if within else f"{line}."


def _within(execution: Mapping[str, Any]) -> str:
    """Word pass@k, or why it is not known."""
    for name, found in execution["metrics"].items():
        if not name.startswith("pass@"):
            continue
        if found["value"] is None:
            return f"no {name}: {found['reason']}"
        shown = with_interval(found["value"], found["low"], found["high"], percent)
        attempts = execution["rerun"]["attempt"]
        return f"right within {attempts} attempts ({name}): {shown} of {found['n']:,}"
    return ""
