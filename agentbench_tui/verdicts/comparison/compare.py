"""Compares sides on every benchmark that they share, two at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.model.errors import Unmeasured, UsageError, did_you_mean
from agentbench_tui.model.figures.metric import METRICS, find_metric, known_metrics
from agentbench_tui.store.queries.selection import category_of_suite
from agentbench_tui.verdicts.clusters.cluster_search import (
    Compare,
    Searched,
    copies_words,
    held_back,
    search,
)
from agentbench_tui.verdicts.clusters.undeclared_clusters import Candidates, Finding
from agentbench_tui.verdicts.comparison.comparison import Asked, Comparison
from agentbench_tui.verdicts.comparison.head_to_head import compare_metric
from agentbench_tui.verdicts.comparison.judgment import judged
from agentbench_tui.verdicts.comparison.main_metrics import (
    OF_LOADS,
    OF_TASKS,
    attempt_metrics,
    main_metrics,
)
from agentbench_tui.verdicts.comparison.outcome import Outcome, outcome
from agentbench_tui.verdicts.comparison.run_draws import (
    by_run,
    count_runs,
    run_draws,
    with_run_variance,
)
from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
from agentbench_tui.verdicts.evidence.comparability import (
    Difference,
    differences,
    is_timed,
    on_common_cases,
)
from agentbench_tui.verdicts.evidence.metric_family import Adjustment, adjusted_together
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence
from agentbench_tui.verdicts.files.sample_columns import is_time

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.verdicts.evidence.evidence import Evidence
    from agentbench_tui.verdicts.evidence.place import Place
    from agentbench_tui.verdicts.selection.side import Side


@dataclass(frozen=True, slots=True)
class OnBenchmark:
    """Two sides on one benchmark, at one point of its sweep."""

    place: Place
    category: str
    """Category of its suite."""
    a: Evidence
    b: Evidence
    """Evidence as compared: restricted to the cases that both sides were asked."""
    metrics: tuple[Comparison, ...]
    attempts: tuple[Comparison, ...]
    """pass@k and pass^k of several attempts at a case: shown, but neither tested nor judged, so
    that they add no tests to those of `metrics`."""
    differences: tuple[Difference, ...]
    """Differences other than the agents."""
    notes: tuple[str, ...]
    """How runs were counted, and primary metrics that one side does not have."""
    candidates: Candidates
    """For clusters that were not declared."""
    clusters: tuple[Finding, ...]

    @property
    def identical(self) -> str:
        """Return the reason why A and B have the same values; empty if they do not."""
        return next((one.words for one in self.differences if one.is_identical), "")

    @property
    def why_unranked(self) -> str:
        """Return why there can be no winner here; empty if there can be one."""
        return next((one.words for one in self.differences if one.forbids_winner), "")

    @property
    def pairs(self) -> int:
        """Return the largest number of pairs behind one of its metrics; 0 if none is paired."""
        return max((one.n for one in self.metrics if one.paired), default=0)


@dataclass(frozen=True, slots=True)
class Pair:
    """B compared with A."""

    a: Side
    b: Side
    benchmarks: tuple[OnBenchmark, ...]

    @property
    def identical(self) -> str:
        """Return the reason why A and B are the same everywhere; empty if they are not."""
        words = [one.identical for one in self.benchmarks]
        return words[0] if words and all(words) else ""

    @property
    def metrics(self) -> tuple[Comparison, ...]:
        return tuple(metric for one in self.benchmarks for metric in one.metrics)

    @property
    def outcome(self) -> Outcome:
        return outcome(self.metrics)

    @property
    def is_ranked(self) -> bool:
        """Return whether one may win: not simulated over measured, nor by other loads or
        scorers.
        """
        return not self.why_unranked

    @property
    def why_unranked(self) -> str:
        """Return why there can be no winner, in words."""
        return next((one.why_unranked for one in self.benchmarks if one.why_unranked), "")

    def winner(self, found: Outcome | None = None) -> str | None:
        """Return the label of the side that wins by these verdicts (by default all)."""
        verdict = (found or self.outcome).verdict
        if not self.is_ranked or verdict not in {"better", "worse"}:
            return None
        return self.b.label if verdict == "better" else self.a.label

    def about(self, side: Side, category: str | None = None) -> Outcome:
        """Return the statement about one of the two sides; empty if neither may win."""
        found = self.outcome if category is None else self.by_category().get(category)
        if found is None or not self.is_ranked:
            return Outcome(0, 0, 0, 0)
        return found if side is self.b else found.swapped()

    def by_category(self) -> dict[str, Outcome]:
        """Return the statement for the benchmarks of each category of suites."""
        names = dict.fromkeys(one.category for one in self.benchmarks)
        return {
            name: outcome(m for one in self.benchmarks if one.category == name for m in one.metrics)
            for name in names
        }


class Compared(msgspec.Struct, frozen=True):
    """Every pair of the sides, judged together."""

    sides: tuple[Side, ...]
    pairs: tuple[Pair, ...]
    adjustment: Adjustment
    tests: int
    """Number of tests that were adjusted together (see `metric_family`)."""
    asked: Asked

    def winner(self, category: str | None = None) -> str | None:
        """Return the side that is better than one other and no worse than all; None without one."""
        for side in self.sides:
            pairs = [pair for pair in self.pairs if side is pair.a or side is pair.b]
            said = [pair.about(side, category) for pair in pairs]
            better = [one.verdict == "better" for one in said]
            if any(better) and all(
                b or one.is_no_worse for b, one in zip(better, said, strict=True)
            ):
                return side.label
        return None


def check_metrics(names: Iterable[str], columns: Collection[str] = ()) -> None:
    """Raise UsageError for a name that is no metric, or has no better direction."""
    for name in names:
        if name in columns:
            continue
        known = find_metric(name)
        if known is None:
            near = did_you_mean(name, [*METRICS, *known_metrics()])
            raise UsageError(
                f"--metric {name}: no such metric{near}; `agentbench explain` lists them"
            )
        if known.direction == "none":
            raise UsageError(f"--metric {name}: neither more nor less of it is better")


def compare(
    connection: sqlite3.Connection,
    sides: Sequence[Side],
    numbers: CaseNumbers,
    asked: Asked,
    metrics: Sequence[str] = (),
    *,
    against_first: bool = False,
) -> Compared:
    """Compare every pair of sides on every benchmark that both have; the earlier side is the
    control.

    With `against_first`, only the first side is the control. Raises UsageError as `check_metrics`
    does, and Unmeasured if no metric has a value.
    """
    check_metrics(metrics, asked.columns)
    pairs = [
        Pair(a, b, tuple(_on_benchmarks(connection, a, b, numbers, asked, metrics)))
        for a, b in combinations(sides, 2)
        if a is sides[0] or not against_first
    ]
    if not any(pair.metrics for pair in pairs):
        names = ", ".join(metrics) or "any main metric"
        raise Unmeasured(f"nothing to compare: no benchmark has values of {names} on both sides")
    groups = [one.metrics for pair in pairs for one in pair.benchmarks]
    adjusted = adjusted_together(groups, _family(pairs))
    following = iter(adjusted.p)
    return Compared(
        tuple(sides),
        tuple(_judged(pair, following, len(pairs), asked) for pair in pairs),
        adjusted.adjustment,
        adjusted.tests,
        asked,
    )


def _family(pairs: Sequence[Pair]) -> int:
    """Return the most tests of one family: the primary metrics of one benchmark."""
    every = [one.a for pair in pairs for one in pair.benchmarks]
    own = [len(one.defined) for one in every if isinstance(one, TaskEvidence)]
    return len(OF_LOADS) if len(own) < len(every) else len(OF_TASKS) + max(own)


def _judged(pair: Pair, adjusted: Iterator[list[float | None]], pairs: int, asked: Asked) -> Pair:
    """Judge a pair; the adjusted p of each benchmark are taken from `adjusted`, in order."""
    return replace(
        pair,
        benchmarks=tuple(
            replace(
                one,
                metrics=tuple(
                    without_need(metric)
                    if one.identical
                    else held_back(metric, one, _compares(asked), pairs)
                    for metric in (
                        judged(metric, p, pairs)
                        for metric, p in zip(one.metrics, next(adjusted), strict=True)
                    )
                ),
            )
            for one in pair.benchmarks
        ),
    )


def _compares(asked: Asked) -> Compare:
    """Return a function that compares two sides in one metric, counting runs and repeats."""

    def compared(a: Evidence, b: Evidence, metric: str) -> Comparison | None:
        return next(iter(compare_evidence(a, b, asked, [metric])[0]), None)

    return compared


def without_need(metric: Comparison) -> Comparison:
    """Return the comparison without sample sizes."""
    return replace(metric, n_needed=None, n_to_exclude=None, effect_assumed=None)


def _on_benchmarks(
    connection: sqlite3.Connection,
    a: Side,
    b: Side,
    numbers: CaseNumbers,
    asked: Asked,
    metrics: Sequence[str],
) -> Iterable[OnBenchmark]:
    for place in [one for one in a.evidence if one in b.evidence]:
        of_a, of_b = a.evidence[place], b.evidence[place]
        found = differences(connection, of_a, of_b, numbers)
        if a.selector.is_file_of(b.selector):
            found.insert(0, Difference("same", "both sides are the same file", is_identical=True))
        if any(one.what == "cases" for one in found):
            of_a, of_b = on_common_cases(of_a, of_b)
        is_same = any(one.is_identical for one in found)
        compared, notes = compare_evidence(of_a, of_b, asked, metrics, same_runs=is_same)
        searched = Searched(of_a, of_b, Candidates())
        if asked.cluster is None and not is_same:
            searched = search(of_a, of_b, compared, numbers)
            compared = searched.allowing(compared, _compares(asked))
        notes = (*copies_words(of_a, numbers), *searched.words, *notes)
        if not any(_is_timed(one, of_a, of_b) for one in compared):
            found = [one for one in found if one.what not in {"machine", "harness"}]
        if any(one.forbids_times for one in found):
            compared = [
                replace(one, comparable=False) if _is_timed(one, of_a, of_b) else one
                for one in compared
            ]
        attempts = () if metrics or is_same else _attempts(searched, asked)
        category = _category(connection, of_a)
        yield OnBenchmark(
            place, category, of_a, of_b, tuple(compared), attempts, tuple(found), notes,
            searched.candidates, searched.findings,
        )  # fmt: skip


def _attempts(searched: Searched, asked: Asked) -> tuple[Comparison, ...]:
    """Return pass@k and pass^k of two sides; a cluster that was detected in accuracy concerns them
    too, because they are made of the same answers."""
    a, b = searched.sides("accuracy")
    names = attempt_metrics(a, b)
    return tuple(compare_evidence(a, b, asked, names)[0]) if names else ()


def compare_evidence(
    a: Evidence,
    b: Evidence,
    asked: Asked,
    metrics: Sequence[str] = (),
    *,
    same_runs: bool = False,
) -> tuple[list[Comparison], tuple[str, ...]]:
    """Return the comparisons of two sides on one benchmark, not yet judged, with notes on them.

    As soon as a side has two runs, whole runs take the place of repeats: what makes runs differ is
    shared by all repeats of a run. Where the runs of a side are too few to show how much they
    differ, the intervals of times allow for it; not where both are known to be of the `same_runs`.
    """
    draws = None if same_runs else run_draws(a, b)
    several = max(count_runs(a), count_runs(b)) >= 2
    notes: list[str] = []
    if several:
        if not all(_is_of_runs(one) for one in (a, b)):
            notes.append(_by_run_words(a, b))
        a, b = by_run(a), by_run(b)
    compared, missing = _metrics(a, b, asked, metrics)
    if several:
        compared = [one.by_run() for one in compared]
    timed = [_is_timed(one, a, b) for one in compared]
    if draws is not None and any(timed):
        compared = [
            with_run_variance(one, draws, a, b) if varies else one
            for one, varies in zip(compared, timed, strict=True)
        ]
        notes += [draws.note] if draws.note else []
    return compared, (*notes, *missing)


def _is_timed(found: Comparison, a: Evidence, b: Evidence) -> bool:
    """Return whether the metric depends on the machine; for a column of a file, judged by its
    name.
    """
    return is_timed(found.metric, a, b) or (
        find_metric(found.metric) is None and is_time(found.metric)
    )


def _by_run_words(a: Evidence, b: Evidence) -> str:
    counts = (("A", count_runs(a)), ("B", count_runs(b)))
    told = ", ".join(f"{name} has {count}" for name, count in counts if count)
    return f"runs are compared, not their repeats: {told}"


def _is_of_runs(side: Evidence) -> bool:
    """Return whether each run of a file has one repeat, or the file has no runs, so that pooling by
    run changes nothing.
    """
    if not isinstance(side, TaskEvidence) or side.executions:
        return False
    return side.runs in {0, side.repeats}


def _metrics(
    a: Evidence, b: Evidence, asked: Asked, named: Sequence[str]
) -> tuple[list[Comparison], tuple[str, ...]]:
    """Return the comparisons, and a note on primary metrics that one side does not have."""
    found = [compare_metric(name, a, b, asked) for name in named or main_metrics(a, b)]
    known = [one for one in found if one is not None]
    if named:
        return known, ()
    lacking = {one.metric for one in known if one.a is None or one.b is None}
    notes = tuple(f"{one.metric}: {'; '.join(one.notes)}" for one in known if one.metric in lacking)
    return [one for one in known if one.metric not in lacking], notes


def _category(connection: sqlite3.Connection, evidence: Evidence) -> str:
    """Return the category of the suite; `file` for a file, which has none."""
    if not evidence.executions:
        return "file"
    return category_of_suite(connection, evidence.executions[-1]["suite_hash"])
