"""Gates on a run: does every execution meet the threshold?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentbench_tui.model.gate import parse_gate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agentbench_tui.model.gate import Gate


@dataclass(frozen=True, slots=True)
class GateResult:
    """One gate on one execution."""

    gate: str
    agent_id: str
    benchmark_id: str
    value: float | None
    """None when it could not be measured: then the gate cannot be judged."""
    holds: bool | None
    reason: str | None = None
    """Why there is no value, as far as it is known."""

    def __str__(self) -> str:
        shown = self.reason or "no value" if self.value is None else f"{self.value:.6g}"
        word = {True: "holds", False: "FAILS", None: "cannot be judged"}[self.holds]
        return f"{self.gate} {word} for {self.agent_id} on {self.benchmark_id}: {shown}"


def check_gates(
    document: dict[str, Any],
    expressions: Iterable[str],
    of_suites: Mapping[str, Iterable[str]],
) -> list[GateResult]:
    """Every gate on every execution of a run document, simulated ones included.

    Those in `of_suites` (suite id → gates) are for the executions of that suite alone.
    """
    everywhere = [parse_gate(text) for text in expressions]
    own = {suite: [parse_gate(text) for text in texts] for suite, texts in of_suites.items()}
    return [
        _check(gate, execution)
        for execution in document["executions"]
        for gate in (*everywhere, *own.get(execution["suite_id"], ()))
    ]


def _check(gate: Gate, execution: dict[str, Any]) -> GateResult:
    value, reason = _value(gate.name, execution)
    return GateResult(
        str(gate),
        execution["agent_id"],
        execution["benchmark_id"],
        value,
        None if value is None else gate.holds(value),
        reason,
    )


def _value(name: str, execution: dict[str, Any]) -> tuple[float | None, str | None]:
    """The value that a gate stands on, or why there is none."""
    if name == "overall" or name.endswith("_score"):
        return execution["scores"][name.removesuffix("_score")], "it has no score"
    metric = execution["metrics"].get(name, {})
    return metric.get("value"), metric.get("reason")
