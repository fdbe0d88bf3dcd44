"""The exit code of a run that has ended: by its gates, and by what could not be measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentbench_tui.model.answer import UNMEASURED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.verdicts.runs.gate import GateResult


def exit_code(gates: Sequence[GateResult], *, is_whole: bool) -> int:
    """Return 1 if a gate failed; 3 if a gate, or part of the run, could not be judged; else 0."""
    if any(gate.holds is False for gate in gates):
        return 1
    return 3 if any(gate.holds is None for gate in gates) or not is_whole else 0


def is_unmeasured(document: dict[str, Any]) -> bool:
    """Return whether part of a run could not be measured, so that it must not count as a result."""
    return document["status"] in {"incomplete", "running"} or any(
        _has_nothing(execution) or not UNMEASURED.isdisjoint(execution["failures"])
        for execution in document["executions"]
    )


def _has_nothing(execution: dict[str, Any]) -> bool:
    """Return whether no request was answered, including those that the plan canceled."""
    load = execution.get("load")
    broken_off: int = 0 if load is None else load.requests.cancelled or 0
    answered: int = execution["cases"]["answered"]
    return answered + broken_off == 0
