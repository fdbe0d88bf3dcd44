"""Gates on a run: thresholds for every execution, and `no-regression`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from agentbench_tui.model.figures.load_figures import COUNTS, HARNESS, VERDICT
from agentbench_tui.model.figures.pass_metrics import attempts_of
from agentbench_tui.model.figures.stress_figures import BROKE
from agentbench_tui.model.gate import NO_REGRESSION, UNANSWERED, parse_gate
from agentbench_tui.model.text.plain_number import plain
from agentbench_tui.verdicts.evidence.place import point_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from agentbench_tui.model.gate import Gate

    Judge = Callable[[dict[str, Any], tuple[str, ...]], tuple[bool | None, str]]
    """Whether an execution of a run document is not a regression in these metrics, or in the
    default ones (None: undecided), and the data behind it.
    """

_WORDS = {True: "holds", False: "FAILS", None: "cannot be judged"}
_SHOWN = 3
"""Executions that are named of those on which a gate does not hold."""


class GateResult(msgspec.Struct, frozen=True):
    """One gate on one execution."""

    gate: str
    agent_id: str
    benchmark_id: str
    value: float | str | None
    """Words for the verdict, for whether it broke and for a regression. None when it could not be
    measured: then the gate cannot be judged.
    """
    holds: bool | None
    reason: str | None = None
    """Reason for a missing value, if known."""
    point: str = ""
    """Parameters of the point of a sweep."""

    def document(self) -> dict[str, Any]:
        """Return the result as in `agentbench.run/1`."""
        return msgspec.structs.asdict(self) | {"point": self.point or None}

    def __str__(self) -> str:
        return f"{self.gate} {_WORDS[self.holds]} for {self.found}"

    @property
    def found(self) -> str:
        """Return the place, and the value or the reason for its absence."""
        shown = self.value
        if shown is None:
            shown = self.reason or "no value"
        elif not isinstance(shown, str):
            shown = plain(shown, 6)
        point = f" ({self.point})" if self.point else ""
        return f"{self.agent_id} on {self.benchmark_id}{point}: {shown}"

    @property
    def distance(self) -> float:
        """Return the distance of the value from the threshold; 0 without a number."""
        threshold = parse_gate(self.gate).threshold
        if isinstance(self.value, float | int) and isinstance(threshold, float):
            return abs(self.value - threshold)
        return 0.0


def gate_lines(results: Iterable[GateResult]) -> list[str]:
    """Describe failed gates: one line each, with the worst executions.

    A passed `no-regression` is described as well, with the smallest regression that it would have
    detected.
    """
    groups: dict[tuple[str, bool | None], list[GateResult]] = {}
    checked: Counter[str] = Counter()
    for one in results:
        checked[one.gate] += 1
        if not one.holds or parse_gate(one.gate).name == NO_REGRESSION:
            groups.setdefault((one.gate, one.holds), []).append(one)
    lines = []
    for (gate, holds), found in groups.items():
        pointer = "" if holds else _pointer(parse_gate(gate), found[0].agent_id)
        if len(found) == 1:
            lines.append(f"{found[0]}{pointer}")
            continue
        worst = sorted(found, key=lambda one: -one.distance)[:_SHOWN]
        more = "; …" if len(found) > _SHOWN else ""
        shown = "; ".join(one.found for one in worst)
        count = f"{len(found)} of {checked[gate]} executions"
        lines.append(f"{gate} {_WORDS[holds]} for {count}: {shown}{more}{pointer}")
    return lines


def _pointer(gate: Gate, agent: str) -> str:
    """Return where a regression is described in full."""
    if gate.name != NO_REGRESSION:
        return ""
    chosen = "".join(f" --metric {name}" for name in gate.metrics)
    return f" (`agentbench regressions {agent}{chosen}`)"


def check_gates(
    document: dict[str, Any],
    expressions: Iterable[str],
    of_suites: Mapping[str, Iterable[str]],
    no_regression: Judge | None = None,
    *,
    judges_attempts: bool = False,
) -> list[GateResult]:
    """Check every gate on every execution of a run document, including simulated ones. Further
    attempts of a rerun, which are not results of the benchmark, are skipped; with
    `judges_attempts` only gates on pass@k and pass^k judge them, and others cannot be judged.

    Those in `of_suites` (suite id → gates) are for the executions of that suite alone.
    `no_regression` judges by the store (`regression_gate.NoRegression`); without it that gate
    cannot be judged.
    """
    everywhere = [parse_gate(text) for text in expressions]
    own = {suite: [parse_gate(text) for text in texts] for suite, texts in of_suites.items()}
    return [
        _check(gate, execution, document, no_regression)
        for execution in document["executions"]
        if judges_attempts or not is_further_attempts(execution)
        for gate in (*everywhere, *own.get(execution["suite_id"], ()))
    ]


def is_further_attempts(execution: Mapping[str, Any]) -> bool:
    """Return whether an execution of a run document only has further attempts at wrong answers."""
    rerun = execution.get("rerun")
    return rerun is not None and rerun["attempt"] > 1


def _check(
    gate: Gate, execution: dict[str, Any], run: dict[str, Any], no_regression: Judge | None
) -> GateResult:
    if is_further_attempts(execution) and attempts_of(gate.name) is None:
        why = f"only further attempts were asked; check run {run['rerun_of']}"
        return _result(gate, execution, None, None, why)
    if gate.name == NO_REGRESSION:
        return _unregressed(gate, execution, no_regression)
    value, reason = _value(gate.name, execution, run)
    if value is None:
        return _result(gate, execution, None, None, reason)
    return _result(gate, execution, value, gate.holds(value), None)


def _unregressed(gate: Gate, execution: dict[str, Any], no_regression: Judge | None) -> GateResult:
    if no_regression is None:
        return _result(gate, execution, None, None, "it needs the store")
    holds, words = no_regression(execution, gate.metrics)
    return _result(gate, execution, None if holds is None else words, holds, words)


def _result(
    gate: Gate,
    execution: dict[str, Any],
    value: float | str | None,
    holds: bool | None,
    reason: str | None,
) -> GateResult:
    return GateResult(
        str(gate),
        execution["agent_id"],
        execution["benchmark_id"],
        value,
        holds,
        reason,
        point_words(execution["parameters"]),
    )


def _value(
    name: str, execution: dict[str, Any], run: dict[str, Any]
) -> tuple[float | str | None, str | None]:
    """Return the value that a gate checks, or the reason for its absence."""
    if name == VERDICT:
        return _verdict(execution, run)
    if name == BROKE:
        return _broke(execution)
    score = name.removesuffix("_score")
    if name == "overall" or (score != name and score in execution["scores"]):
        return execution["scores"][score], "it has no score"
    if name in COUNTS or name in HARNESS or name == UNANSWERED.name:
        return _of_load(name, execution)
    metric = execution["metrics"].get(name)
    if metric is None:
        return None, _why_no_metric(name, execution["metrics"])
    return metric["value"], metric.get("reason")


def _why_no_metric(name: str, metrics: Mapping[str, Any]) -> str | None:
    """Return why an execution has no metric of that name, where the name tells."""
    attempts = attempts_of(name)
    if attempts is None:
        return "it has no metric of that name"
    known = [k for one in metrics if (k := attempts_of(one)) is not None]
    if not known or attempts > max(known):
        return f"it takes {attempts} attempts at a case (`--runs {attempts}`)"
    return f"known are k = {', '.join(map(str, sorted(set(known))))}"


def _verdict(execution: dict[str, Any], run: dict[str, Any]) -> tuple[str | None, str | None]:
    """Return the measurement quality: a load's own, else that of the run."""
    load = execution.get("load")
    if load is not None:
        return load.verdict, None
    if not execution["cases"]["observed"]:
        return None, "nothing was measured"
    return run["harness"], "the run has no verdict"


def _broke(execution: dict[str, Any]) -> tuple[str | None, str | None]:
    stress = execution.get("stress")
    if stress is None:
        return None, "it is a fact of stress, and no stress was put on it here"
    if stress.broke is None:
        return None, stress.reason or "nothing was measured"
    return "true" if stress.broke else "false", None


def _of_load(name: str, execution: dict[str, Any]) -> tuple[float | None, str | None]:
    load = execution.get("load")
    if load is None:
        return None, "it is a figure of load, and no load was measured here"
    if name == "failed":
        return sum(load.requests.failed.values()), None
    value = getattr(load.harness if name in HARNESS else load.requests, name, None)
    return value, "not known of this load"
