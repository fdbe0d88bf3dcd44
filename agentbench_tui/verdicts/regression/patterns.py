"""Patterns across several findings, or of a change within one, with numbers.

Each pattern is a hint, not a verdict; the tests behind them are at 5% and not adjusted for each
other.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Literal

import numpy as np

from agentbench_tui.analysis.differences.student import welch
from agentbench_tui.analysis.distribution import normal_quantile
from agentbench_tui.analysis.intervals.proportion import newcombe
from agentbench_tui.store.queries.runs import failures_of
from agentbench_tui.verdicts.regression.finding import UNDECIDED
from agentbench_tui.verdicts.regression.health import dimension_of
from agentbench_tui.verdicts.regression.other_agents import change_of_others

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

    from agentbench_tui.analysis.sample import Floats
    from agentbench_tui.verdicts.evidence.place import Place
    from agentbench_tui.verdicts.regression.answer_columns import AnswerColumns, Answers
    from agentbench_tui.verdicts.regression.finding import Finding
    from agentbench_tui.verdicts.regression.history import Point

Name = Literal[
    "host", "version", "same factor", "long inputs", "cold start", "one failure kind", "trade"
]
ALPHA = 0.05
LEAST_PLACES = 3
"""Benchmarks that share a factor before it is called the same."""
LEAST_CASES = 8
LEAST_REPEATS = 3
_ROUNDING = 1e-9
"""So that an interval without any width holds its own value."""
MOST_OF_INCREASE = 0.8
"""The share of new failures that one kind has before it is called the only one."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A detected pattern."""

    name: Name
    places: tuple[Place, ...]
    text: str
    numbers: Mapping[str, float | int | str | None]


def patterns_of(
    connection: sqlite3.Connection, findings: Sequence[Finding], columns: AnswerColumns
) -> list[Pattern]:
    """Return every pattern in the findings about one agent."""
    found: list[Pattern | None] = [_same_factor(connection, findings)]
    for one in findings:
        if one.verdict == "regression" and one.metric == "e2e_ms.p50":
            found.append(_long_inputs(one, columns))
        if one.verdict == "regression" and one.metric in {"e2e_ms.p50", "e2e_ms.p95"}:
            found.append(_cold_start(one, columns))
        if one.verdict == "regression" and one.metric in {"accuracy", "reliability"}:
            found.append(_one_failure_kind(connection, one))
    found += _trades(findings)
    unique = {(one.name, one.places): one for one in reversed(found) if one is not None}
    return list(reversed(unique.values()))


def _same_factor(connection: sqlite3.Connection, findings: Sequence[Finding]) -> Pattern | None:
    """Detect one relevant factor within the intervals of all benchmarks."""
    timed = [
        one
        for one in findings
        if one.metric == "e2e_ms.p50" and one.low is not None and one.verdict not in UNDECIDED
    ]
    if len(timed) < LEAST_PLACES or not any(one.verdict == "regression" for one in timed):
        return None
    factor = _pooled(timed)
    margin = min(one.margin for one in timed)
    # so wide that with 95% all intervals together hold what is true
    widening = normal_quantile(1 - ALPHA / 2 / len(timed)) / normal_quantile(1 - ALPHA / 2)
    if factor < 1 + margin or not all(_holds(one, factor, widening) for one in timed):
        return None
    where = f"×{factor:.3f} on all {len(timed)} benchmarks"
    others = change_of_others(connection, timed, "e2e_ms.p50")
    places = tuple(one.place for one in timed)
    numbers: dict[str, float | int | str | None] = {
        "factor": factor,
        "benchmarks": len(timed),
        "other_agents": others.agents,
        "factor_of_others": others.factor,
    }
    if others.factor is None:
        told = "the version or the host; no other agent in the same runs to distinguish them"
        return Pattern("same factor", places, f"{where}: {told}", numbers)
    beside = f"other agents in the same runs changed by ×{others.factor:.3f}"
    if others.factor >= math.sqrt(factor):
        return Pattern("host", places, f"{where}, and {beside}: the host", numbers)
    return Pattern("version", places, f"{where}, while {beside}: the version", numbers)


def _holds(one: Finding, factor: float, widening: float) -> bool:
    assert one.change is not None
    assert one.low is not None
    assert one.high is not None
    center = math.log(one.change)
    low, high = math.log(one.low) - center, math.log(one.high) - center
    off = math.log(factor) - center
    return widening * low - _ROUNDING <= off <= widening * high + _ROUNDING


def _pooled(findings: Sequence[Finding]) -> float:
    """Return the factor, with logs weighted by the inverse squares of their intervals' widths."""
    logs, weights = [], []
    for one in findings:
        assert one.change is not None
        assert one.low is not None
        assert one.high is not None
        width = max(math.log(one.high) - math.log(one.low), 1e-6)
        logs.append(math.log(one.change))
        weights.append(1 / width**2)
    return math.exp(math.fsum(map(math.prod, zip(logs, weights, strict=True))) / sum(weights))


def _long_inputs(one: Finding, columns: AnswerColumns) -> Pattern | None:
    """Detect that the longer half of the cases is slower by the margin, and the shorter half is
    not.
    """
    sides = columns.sides(one)
    if sides is None:
        return None
    old, new = (side.by_case(one.metric) for side in sides)
    cases = sorted(case for case in old.keys() & new.keys() if old[case] > 0 and new[case] > 0)
    if len(cases) < LEAST_CASES:
        return None
    logs = np.array([math.log(new[case] / old[case]) for case in cases])
    lengths = columns.input_lengths(cases)
    is_long = lengths > np.median(lengths)
    short, long = logs[~is_long], logs[is_long]
    if min(len(short), len(long)) < 2:
        return None
    test = welch(long, short)
    factors = math.exp(fmean(short.tolist())), math.exp(fmean(long.tolist()))
    if test is None or test.p >= ALPHA or not _only_second(factors, one.margin):
        return None
    middle = float(np.median(lengths))
    text = (
        f"only long inputs on {one.place.words}: ×{factors[1]:.3f} above {middle:.0f} characters, "
        f"×{factors[0]:.3f} up to there (p {test.p:.2g})"
    )
    numbers = {
        "factor_long": factors[1],
        "factor_short": factors[0],
        "median_characters": middle,
        "p": test.p,
    }
    return Pattern("long inputs", (one.place,), text, numbers)


def _only_second(factors: tuple[float, float], margin: float) -> bool:
    """Return whether the second factor matters and the first is below the threshold."""
    return factors[1] >= 1 + margin and factors[0] < 1 + margin / 2


def _cold_start(one: Finding, columns: AnswerColumns) -> Pattern | None:
    """Detect that the first pass of each repeat is slower by the margin, and later ones are not."""
    sides = columns.sides(one)
    if sides is None:
        return None
    old, new = sides
    first = _by_repeat(old, first=True), _by_repeat(new, first=True)
    later = _by_repeat(old, first=False), _by_repeat(new, first=False)
    if min(map(len, (*first, *later))) < LEAST_REPEATS:
        return None
    test = welch(first[1], first[0])
    factors = tuple(math.exp(float(b.mean() - a.mean())) for a, b in (later, first))
    if test is None or test.p >= ALPHA or not _only_second((factors[0], factors[1]), one.margin):
        return None
    text = (
        f"only the cold start on {one.place.words}: ×{factors[1]:.3f} in the first pass of a "
        f"repeat, ×{factors[0]:.3f} after it (p {test.p:.2g})"
    )
    numbers = {"factor_first": factors[1], "factor_later": factors[0], "p": test.p}
    return Pattern("cold start", (one.place,), text, numbers)


def _by_repeat(answers: Answers, *, first: bool) -> Floats:
    """Return the log of each repeat's median time, of its first pass or of the others."""
    times = answers.values["e2e_ms"]
    wanted = (answers.is_first == first) & (times > 0)
    repeats = np.unique(answers.repeat[wanted])
    return np.array([math.log(np.median(times[wanted & (answers.repeat == r)])) for r in repeats])


def _one_failure_kind(connection: sqlite3.Connection, one: Finding) -> Pattern | None:
    """Detect that nearly all added failures are of one kind."""
    (old, of_old), (new, of_new) = (_failures(connection, side) for side in (one.old, one.new))
    if not of_old or not of_new:
        return None
    more = {kind: new[kind] / of_new - old[kind] / of_old for kind in new}
    added = {kind: share for kind, share in more.items() if share > 0}
    if not added:
        return None
    kind = max(added, key=lambda name: added[name])
    interval = newcombe(new[kind], of_new, old[kind], of_old)
    is_most = added[kind] >= MOST_OF_INCREASE * sum(added.values())
    if not is_most or interval is None or interval.low <= 0:
        return None
    text = (
        f"only `{kind}` on {one.place.words}: {new[kind]} of {of_new} answers, before "
        f"{old[kind]} of {of_old} (+{100 * interval.low:.1f}% to +{100 * interval.high:.1f}%)"
    )
    numbers: dict[str, float | int | str | None] = {
        "kind": kind,
        "now": new[kind],
        "of": of_new,
        "before": old[kind],
        "of_before": of_old,
    }
    return Pattern("one failure kind", (one.place,), text, numbers)


def _failures(connection: sqlite3.Connection, points: Sequence[Point]) -> tuple[Counter[str], int]:
    kinds, observed = Counter[str](), 0
    for row in (row for point in points for row in point.executions):
        kinds.update(failures_of(connection, row["key"]))
        observed += row["observed"]
    return kinds, observed


def _trades(findings: Sequence[Finding]) -> list[Pattern]:
    """Detect faster (or cheaper) and less accurate, or the reverse, at one place."""
    found = []
    for place in dict.fromkeys(one.place for one in findings):
        own = [one for one in findings if one.place == place]
        worse = [one for one in own if one.verdict == "regression"]
        better = [one for one in own if one.verdict == "improvement"]
        pair = next(((a, b) for a in worse for b in better if _is_trade(a, b)), None)
        if pair is None:
            continue
        text = f"a trade on {place.words}: {_moved(pair[0])} for {_moved(pair[1])}"
        numbers = {one.metric: one.change for one in pair}
        found.append(Pattern("trade", (place,), text, numbers))
    return found


def _is_trade(worse: Finding, better: Finding) -> bool:
    sides = {dimension_of(worse.metric), dimension_of(better.metric)}
    return "accuracy" in sides and bool(sides & {"speed", "cost", "efficiency"})


def _moved(one: Finding) -> str:
    assert one.change is not None
    if one.scale.kind == "points":
        return f"{one.metric} {100 * one.change:+.1f} points"
    return f"{one.metric} ×{one.change:.3f}"
