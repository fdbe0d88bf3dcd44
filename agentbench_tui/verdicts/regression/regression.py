"""Judges whether an agent has become worse: its newest runs against a baseline, or against its
history.

The rules are those of `docs/regressions.md`. With 12 comparable runs before it, and no baseline
named, the newest run is judged by its history; otherwise two groups of runs are compared.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from agentbench_tui.analysis.differences.multiplicity import hochberg_simes
from agentbench_tui.analysis.runs.history_gate import EARLIER_NEEDED, GateLevels
from agentbench_tui.analysis.scale import MARGINS
from agentbench_tui.model.errors import UsageError, did_you_mean
from agentbench_tui.model.figures.metric import regressing_metrics
from agentbench_tui.store.queries.baselines import accepted_changes
from agentbench_tui.store.queries.selection import (
    agent_ids,
    executions_where,
    interrupted_since,
    newest_at_each_place,
)
from agentbench_tui.verdicts.comparison.comparison import ALPHA
from agentbench_tui.verdicts.evidence.declared_metrics import declare_metrics_of
from agentbench_tui.verdicts.evidence.stress_evidence import PRIMARY as PRIMARY_OF_STRESS
from agentbench_tui.verdicts.regression.baseline import Baselines
from agentbench_tui.verdicts.regression.case_judgment import confirmed_by_cases
from agentbench_tui.verdicts.regression.compared_values import ComparedValues
from agentbench_tui.verdicts.regression.finding import (
    NO_RATIO,
    UNDECIDED,
    Finding,
    Location,
    scale_of,
)
from agentbench_tui.verdicts.regression.history import Point, comparable, histories, is_timed
from agentbench_tui.verdicts.regression.history_judgment import judged_by_history
from agentbench_tui.verdicts.regression.passed_over_runs import without_partial_runs
from agentbench_tui.verdicts.regression.succession import succession
from agentbench_tui.verdicts.regression.version_judgment import WORSE, decided, judged_by_versions
from agentbench_tui.verdicts.regression.zeros import without_zeros, zero_finding

if TYPE_CHECKING:
    import sqlite3
    from collections import Counter
    from collections.abc import Mapping, Sequence

    from agentbench_tui.store.queries.baselines import AcceptedChange
    from agentbench_tui.verdicts.evidence.place import Place
    from agentbench_tui.verdicts.regression.baseline import Sides

TAIL = "e2e_ms.p95"
JUDGED = (
    "accuracy", "reliability", "e2e_ms.p50", TAIL, "ttft_ms.p50", "output_tokens.mean",
    "cost_usd_per_task", "request_throughput_per_s", "goodput_share", *PRIMARY_OF_STRESS,
)  # fmt: skip
"""Metrics judged by default, if they were measured."""
LOOKED_AT = 2_000
"""Number of newest runs of each benchmark and point that are read, in addition to those of a
baseline; a history is judged by the last 120 comparable ones.
"""
ENOUGH_FOR_TAIL = 299
"""Minimum requests per repeat of a load for p95: with fewer, it varies so much that it causes false
alarms.
"""


@dataclass(frozen=True, slots=True)
class RegressionAsked:
    """What to judge, with which thresholds."""

    agent: str
    version: str | None = None
    """By default that of the newest run."""
    baseline: str | None = None
    suite: str | None = None
    benchmark: str | None = None
    metrics: tuple[str, ...] = ()
    """By default `JUDGED`, and what experiments say of what they return."""
    threshold: float | None = None
    """The smallest change that matters; None for 5%, and 2 points of shares."""
    thresholds: Mapping[str, float] = field(default_factory=dict)
    """The same for single metrics."""

    def margin(self, metric: str) -> float:
        """Return the smallest relevant change of a metric."""
        own = self.thresholds.get(metric, self.threshold)
        return MARGINS[scale_of(metric).kind] if own is None else own


@dataclass(frozen=True, slots=True)
class Judgment:
    """All findings about one agent."""

    agent: str
    version: str
    wanted: RegressionAsked
    findings: tuple[Finding, ...]
    histories: Mapping[Place, list[Point]]
    interrupted: str | None = None
    """A run after all that were judged which did not come to its end."""


def judge_agent(connection: sqlite3.Connection, wanted: RegressionAsked) -> Judgment:
    """Judge every metric at every place at which the version was measured.

    Raises UsageError for unknown names, and when nothing complete was measured.
    """
    returned = declare_metrics_of(connection, wanted.agent)
    metrics = regressing_metrics(wanted.metrics)
    judged_metrics = metrics or (*JUDGED, *returned)
    keys = newest_at_each_place(connection, wanted.agent, LOOKED_AT)
    if not keys:
        raise UsageError(_why_none(connection, wanted))
    if wanted.version is not None:
        keys |= newest_at_each_place(connection, wanted.agent, LOOKED_AT, wanted.version)
    baselines = Baselines(connection, wanted.agent, wanted.baseline)
    keys |= baselines.keys()
    found = histories(
        connection, keys, judged_metrics, suite=wanted.suite, benchmark=wanted.benchmark
    )
    if not found:
        raise UsageError(_why_none(connection, wanted))
    found, passed_over = without_partial_runs(connection, found)
    every = [point for points in found.values() for point in points]
    newest = max(every, key=lambda point: (point.at, point.run_key))
    version = wanted.version or newest.version
    judge = _Judge(connection, wanted, judged_metrics, baselines)
    tests = sum(judge.tests_at(place, points, version) for place, points in found.items())
    judge.tests = max(1, tests)
    findings: list[Finding] = []
    for place, points in found.items():
        notes = passed_over.get(place, ())
        findings += [
            replace(one, notes=(*one.notes, *notes)) for one in judge.at(place, points, version)
        ]
    of_version = [point.at for point in every if wanted.version in {None, point.version}]
    interrupted = interrupted_since(
        connection,
        wanted.agent,
        max(of_version, default=""),
        version=wanted.version,
        suite=wanted.suite,
        benchmark=wanted.benchmark,
    )
    if not findings:
        if interrupted is not None:
            name = f"{wanted.agent}@{version}"
            raise UsageError(f"{name} was only measured in run {interrupted}, {_NOT_JUDGED}")
        raise UsageError(_no_version(found, wanted.agent, version))
    judged = tuple(one.bounded() for one in _adjusted(findings))
    return Judgment(wanted.agent, version, wanted, judged, found, interrupted)


_ALONE = (
    "the interval does not contain `no change`, but it is for this metric alone; the verdict allows"
    " for all tests of the check"
)
_NOT_JUDGED = "which was interrupted: `agentbench resume` continues it"


class _Judge:
    """Judges the places of one agent."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        wanted: RegressionAsked,
        metrics: tuple[str, ...],
        baselines: Baselines,
    ) -> None:
        self._wanted = wanted
        self._is_asked = bool(wanted.metrics)
        self._metrics = metrics
        self._baselines = baselines
        self._accepted = accepted_changes(connection, wanted.agent)
        self._repeats = ComparedValues(connection)
        self.tests = 1
        """That are made in this check: every one needs a stricter level for it."""

    def tests_at(self, place: Place, points: Sequence[Point], version: str) -> int:
        """Return how many judged metrics can change: those that ever varied."""
        sides = self._baselines.sides(place, points, version)
        if sides is None or not sides.new:
            return 0
        values = [
            point.values for point in (*points[: points.index(sides.new[-1]) + 1], *sides.old)
        ]
        return sum(
            metric in sides.new[-1].values and len({of_run.get(metric) for of_run in values}) > 1
            for metric in self._metrics
        )

    def at(self, place: Place, points: Sequence[Point], version: str) -> list[Finding]:
        """Return one finding for each metric that the newest run has, or that was requested."""
        sides = self._baselines.sides(place, points, version)
        if sides is None:
            return []
        if not sides.new:
            why = "the newest run is the baseline itself; run again"
            return [
                Finding(place, metric, "not enough data", (), sides.old, reason=why)
                for metric in self._metrics
                if metric in sides.old[-1].values
            ]
        newest = sides.new[-1]
        before = points[: points.index(newest)]
        found = []
        for metric in self._metrics:
            if metric not in newest.values:
                if self._is_asked or (before and metric in before[-1].values and metric != TAIL):
                    why = "the newest run has no value of it"
                    found.append(Finding(place, metric, "not enough data", sides.new, reason=why))
                continue
            if metric == TAIL and not self._is_asked and not _has_tail(newest):
                continue
            is_new = bool(before) and not any(metric in point.values for point in before)
            one = self._one(place, points, sides, metric)
            is_free = not any(point.values.get(metric) for point in (*before, newest))
            if self._is_asked or not (is_new or (is_free and one.reason == NO_RATIO)):
                found.append(one)
        return found

    def _one(self, place: Place, points: Sequence[Point], sides: Sides, metric: str) -> Finding:
        newest = sides.new[-1]
        margin = self._wanted.margin(metric)
        base = Finding(place, metric, "not enough data", sides.new, margin=margin)
        upto = [p for p in points[: points.index(newest) + 1] if metric in p.values]
        same, left_out = comparable(upto, newest, metric)
        accepted = self._accepted_at(place, metric)
        ignored: tuple[str, ...] = ()
        if sides.named is not None:
            if accepted is not None:
                ignored = (self._baselines.ignored_words(sides.named, accepted),)
            accepted = None
            measured = [point for point in sides.old if metric in point.values]
            old, left_out = comparable(measured, newest, metric)
            new = [point for point in sides.new if point in same]
            passed_over: tuple[Point, ...] = ()
            series = [*old, *new]
        else:
            series = [point for point in same if accepted is None or point.at >= accepted.since]
        notes = ignored + _left_out_words(left_out)
        if accepted is not None:
            notes += (f"judged from {accepted.since[:10]} on, where a change was accepted",)
        if is_timed(metric, newest) and newest.harness not in {None, "clean"}:
            notes += (
                f"the newest run is {newest.harness}: machine or harness disturbed its times",
            )
        against = "" if sides.named is None else sides.words()
        base = replace(base, notes=notes, against=against)
        gone = zero_finding(base, series)
        if gone is not None:
            return gone
        if sides.named is None:
            base, series = without_zeros(base, series)
            if len(series) > EARLIER_NEEDED:
                return self._by_history(base, series)
            found = succession(series, lambda a, b: self._is_worse(base, a, b))
            sides, passed_over = found.sides, found.passed_over
            old, new = list(sides.old), list(sides.new)
        base = replace(base, against=sides.words())
        if not old or (sides.named is None and _has_lost_versions(upto, same)):
            return _without_old(base, sides, left_out, has_accepted=accepted is not None)
        one = judged_by_versions(base, old, new, self._repeats)
        return _told_why(one, passed_over, _without_value(points, one))

    def _by_history(self, base: Finding, series: Sequence[Point]) -> Finding:
        found = judged_by_history(base, series, self.tests)
        return confirmed_by_cases(found, self._repeats, GateLevels.of_check(self.tests))

    def _is_worse(self, base: Finding, old: Sequence[Point], new: Sequence[Point]) -> bool:
        """Judge whether one version is worse than another; with too few runs, by the newest run
        of each.
        """
        found = judged_by_versions(base, old, new, self._repeats)
        if found.verdict in UNDECIDED:
            found = judged_by_versions(base, old[-1:], new[-1:], self._repeats)
        return found.verdict in WORSE

    def _accepted_at(self, place: Place, metric: str) -> AcceptedChange | None:
        fitting = [
            one
            for one in self._accepted
            if (one.suite_id, one.benchmark_id, one.parameters) == place and one.metric == metric
        ]
        return fitting[-1] if fitting else None


def _has_tail(point: Point) -> bool:
    """Return whether its p95 is judged by default."""
    repeats = point.repeats * len(point.executions)
    return point.kind.judges_tail and point.observed >= ENOUGH_FOR_TAIL * repeats


def _without_value(points: Sequence[Point], one: Finding) -> list[str]:
    """Return versions between both sides that have no value of the metric."""
    between = points[points.index(one.old[-1]) + 1 : points.index(one.new[0])]
    versions = [point.version for point in between if one.metric not in point.values]
    return [*dict.fromkeys(versions)]


def _told_why(one: Finding, passed_over: Sequence[Point], without: Sequence[str]) -> Finding:
    """Add the reason why it is not compared with the version just before it."""
    if passed_over:
        versions = ", ".join(dict.fromkeys(point.version for point in passed_over))
        why = (
            f"compared with version {one.old[-1].version}: {versions} was worse and is not accepted"
        )
        why += f" (`agentbench baseline accept {one.new[-1].one_of_all('agent_id')}`)"
        place = Location(passed_over[0], one.new[0], one.old[-1])
        one = replace(one, location=place, notes=(*one.notes, why))
    if without:
        why = f"compared with version {one.old[-1].version}: no value of {', '.join(without)}"
        one = replace(one, notes=(*one.notes, why))
    return one


def _has_lost_versions(measured: Sequence[Point], same: Sequence[Point]) -> bool:
    """Return whether other versions were measured, but none in the same way as the newest."""
    newest = measured[-1].version
    return any(p.version != newest for p in measured) and all(p.version == newest for p in same)


def _without_old(
    base: Finding, sides: Sides, left_out: Counter[str], *, has_accepted: bool
) -> Finding:
    base = replace(base, against="")
    if left_out:
        words = f"every earlier run differs from the newest: {'; '.join(left_out)}"
        return replace(base, verdict="not comparable", reason=words, notes=())
    if has_accepted:
        return replace(base, reason="no earlier run at the accepted level yet")
    if sides.named is not None:
        return replace(base, reason=f"{sides.words()} was not measured here")
    return replace(base, reason="there is no earlier run; run again after a change")


def _left_out_words(left_out: Mapping[str, int]) -> tuple[str, ...]:
    return tuple(
        f"{count} earlier {'run' if count == 1 else 'runs'} left out: {words}"
        for words, count in left_out.items()
    )


def _adjusted(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Decide the tests of versions by p values adjusted for the whole check (Hochberg).

    Of a history each test has its level (`GateLevels.of_check`).
    """
    result = list(findings)
    tests = {place: p for place, one in enumerate(findings) if (p := one.tested_p) is not None}
    for place, adjusted in zip(tests, hochberg_simes([*tests.values()]), strict=True):
        one = decided(findings[place], adjusted, len(tests))
        is_clear_alone = one.excludes_no_change and tests[place] < ALPHA <= (adjusted or 0.0)
        if one.verdict == "no change seen" and is_clear_alone:
            one = replace(one, notes=(*one.notes, _ALONE))
        result[place] = one
    return tuple(result)


def _why_none(connection: sqlite3.Connection, wanted: RegressionAsked) -> str:
    known = agent_ids(connection)
    if wanted.agent not in known:
        hint = did_you_mean(wanted.agent, known)
        return f"no agent '{wanted.agent}'{hint}; `agentbench agents list` shows them"
    rows = executions_where(connection, agent=wanted.agent)
    for option, name, column in (
        ("--suite", wanted.suite, "suite_id"),
        ("--benchmark", wanted.benchmark, "benchmark_id"),
    ):
        measured = sorted({row[column] for row in rows})
        if name is not None and measured and name not in measured:
            return f"{option} {name}: {wanted.agent} has none{did_you_mean(name, measured)}"
    return (
        f"no complete execution of {wanted.agent} to judge; `agentbench runs list` shows "
        "what was measured"
    )


def _no_version(found: Mapping[Place, list[Point]], agent: str, version: str) -> str:
    versions = sorted({point.version for points in found.values() for point in points})
    if version in versions:
        return f"nothing that can be judged was measured of {agent}@{version}"
    hint = did_you_mean(version, versions)
    return f"no version '{version}' of {agent}{hint}; there are {', '.join(versions)}"
