"""What every view of a run needs: its kinds and agents, how it ended, how many answers it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.model.kinds import DEFAULT, Kind, kind_named
from agentbench_tui.presentation.numbers import MISSING
from agentbench_tui.verdicts.evidence.place import point_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.contracts.run import (
        CaseCounts,
        ExecutionResult,
        RunDocument,
        RunLeaderboardEntry,
    )
    from agentbench_tui.contracts.runs import RunSummary


def answers_shown(run: RunSummary) -> str:
    """Format right, answered and asked of a run in the list; – for right if nothing is scored, as
    in loads.
    """
    right = run.correct or 0 if run.judged else MISSING
    return f"{right}/{run.answered or 0}/{run.observed or 0}"


def answers(counts: CaseCounts | RunLeaderboardEntry, *, judged: bool) -> str:
    """Format right, answered and asked; – for right if nothing is scored, as in loads."""
    right = f"{counts.correct:,}" if judged else MISSING
    return f"{right}/{counts.answered:,}/{counts.observed:,}"


def kind_of(execution: ExecutionResult) -> Kind:
    """Return the kind of an execution; the default one if the plan no longer names it."""
    return kind_named(execution.kind or DEFAULT)


def is_unmeasured(execution: ExecutionResult) -> bool:
    """Return whether the run was interrupted before anything of the execution was stored."""
    return execution.status == "interrupted" and not (execution.metrics or execution.cases.observed)


def is_judged(execution: ExecutionResult) -> bool:
    """Return whether answers are scored as right or wrong; returned values of code are not."""
    return bool(kind_of(execution).judges_answers)


def ended(of: RunDocument | ExecutionResult) -> str:
    """Return the status, and why it ended, where that says more."""
    reason = of.stop_reason
    return of.status if reason in {None, of.status} else f"{of.status} ({reason})"


def place_name(execution: ExecutionResult) -> str:
    """Return the benchmark, with the point of its sweep if it has one."""
    return f"{execution.benchmark_id} {point_words(execution.parameters)}".rstrip()


def ranked_together(entries: Sequence[RunLeaderboardEntry]) -> list[RunLeaderboardEntry]:
    """Return the agents that a verdict compares: the measured ones, or all if all are simulated."""
    return [one for one in entries if not one.simulated] or list(entries)


def agent_name(of: RunLeaderboardEntry | ExecutionResult, run: RunDocument) -> str:
    """Return an agent's id, with its version if the run has several of it."""
    versions = {one.agent_version for one in run.leaderboard if one.agent_id == of.agent_id}
    return of.agent_id if len(versions) < 2 else f"{of.agent_id}@{of.agent_version}"
