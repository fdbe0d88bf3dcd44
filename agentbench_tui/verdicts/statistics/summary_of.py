"""`stats summary`: figures of one selector's columns, and their stability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.analysis.summary import Drift, drift
from agentbench_tui.contracts.document import finite
from agentbench_tui.contracts.stats import (
    MetricSummary,
    RepeatDrift,
    StatsSummaryDocument,
    SummaryFigure,
)
from agentbench_tui.verdicts.clusters.cluster_search import SearchedSide, search_side
from agentbench_tui.verdicts.clusters.cluster_words import cluster_finding
from agentbench_tui.verdicts.evidence.load_evidence import LoadEvidence
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence
from agentbench_tui.verdicts.selection.measured import Measured, unit_of
from agentbench_tui.verdicts.statistics.column_summary import Figure, Observed, figures

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.analysis.sample import Floats
    from agentbench_tui.verdicts.clusters.undeclared_clusters import Finding
    from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
    from agentbench_tui.verdicts.evidence.evidence import Evidence

MAIN = (
    "accuracy", "correct_share", "e2e_ms", "ttft_ms", "output_tokens", "cost_usd_per_task",
    "e2e_from_send_ms", "ttft_from_send_ms",
)  # fmt: skip
"""Metrics shown by default: those of single answers or requests."""
DRIFTS_BELOW = 0.01
"""Level of p, for the first third against the last, below which a repeat is said to have
drifted.
"""
_OF_REQUESTS = {
    "e2e_from_send_ms": "e2e_from_send_ms",
    "ttft_from_send_ms": "ttft_from_send_ms",
    "output_tokens": "output_tokens",
}
"""Metric of load → column of its samples."""


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """One metric at one place."""

    measured: Measured
    metric: str
    n: int
    repeats: int
    figures: list[Figure]
    drifts: dict[int, Drift | None]
    """By repeat number; None if the repeat is too short."""
    cluster: Finding | None = None
    """Dependence that was not declared, by whose groups the figures are."""

    @property
    def drifted(self) -> list[int]:
        """Return the repeats that drifted."""
        return [
            repeat
            for repeat, found in self.drifts.items()
            if found is not None and found.p < DRIFTS_BELOW
        ]


def summaries(
    connection: sqlite3.Connection,
    one: Measured,
    metrics: Sequence[str],
    seed: int,
    cases: CaseNumbers,
    *,
    is_declared: bool = False,
) -> list[ColumnSummary]:
    """Summarize every existing metric.

    `cases` are the numbers that `one` was measured with. Unless a cluster `is_declared` on the
    command line, clusters are looked for.
    """
    found = []
    side = SearchedSide(one.evidence)
    if not is_declared:
        side = search_side(one.evidence, metrics, cases)
    for metric in metrics:
        of = _observed(connection, side.by_metric(metric), metric, cases)
        if of is None or not len(of.values) or _says_the_same(one, metric, metrics):
            continue
        repeats = np.unique(of.repeat).tolist()
        drifts = {
            number: None if of.is_share else drift(of.values[of.repeat == number])
            for number in repeats
        }
        cluster = side.found if side.found is not None and metric in side.found.metrics else None
        found.append(
            ColumnSummary(
                one, metric, len(of.values), len(repeats), figures(of, seed), drifts, cluster
            )
        )
    return found


def _says_the_same(one: Measured, metric: str, metrics: Sequence[str]) -> bool:
    """Return whether answers are either right or wrong, so that accuracy is sufficient."""
    if metric != "correct_share" or "accuracy" not in metrics:
        return False
    columns = one.evidence.values if isinstance(one.evidence, TaskEvidence) else {}
    return "accuracy" in columns and np.array_equal(columns[metric], columns["accuracy"])


def _observed(
    connection: sqlite3.Connection, evidence: Evidence, metric: str, cases: CaseNumbers
) -> Observed | None:
    if isinstance(evidence, LoadEvidence):
        return _of_load(connection, evidence, metric)
    if not isinstance(evidence, TaskEvidence):
        return None  # of stress, a run has one value alone
    column = evidence.values.get(metric)
    if column is None:
        return None
    known = ~np.isnan(column)
    return Observed(
        column[known],
        evidence.repeat[known],
        evidence.case[known],
        evidence.cluster[known],
        unit_of(metric) == "share",
        cases.name,
    )


def _of_load(
    connection: sqlite3.Connection, evidence: LoadEvidence, metric: str
) -> Observed | None:
    """Return answered requests, in the order in which they were sent."""
    from agentbench_tui.load.results.columns import read_columns

    if metric not in _OF_REQUESTS:
        return None
    values: list[Floats] = []
    repeats: list[Floats] = []
    first = 0
    for row in evidence.executions:
        columns = read_columns(connection, row["key"])
        order = np.lexsort((columns.sent_s, columns.repeat))
        known = np.asarray(getattr(columns, _OF_REQUESTS[metric]))
        order = order[columns.ok[order] & ~np.isnan(known[order])]
        values.append(known[order])
        numbers = columns.repeat[order]
        repeats.append(numbers + first)
        first += int(columns.repeat.max()) + 1 if len(columns) else 0
    repeat = np.concatenate(repeats).astype(np.int64)
    return Observed(np.concatenate(values), repeat, None, None, is_share=False)


def summary_document(
    selector: str, found: Sequence[ColumnSummary], seed: int
) -> StatsSummaryDocument:
    """Return the summaries as a document."""
    metrics = tuple(_metric_summary(one) for one in found)
    return StatsSummaryDocument(selector=selector, seed=seed, metrics=metrics)


def _metric_summary(one: ColumnSummary) -> MetricSummary:
    place = one.measured.place
    return MetricSummary(
        suite_id=place.suite_id,
        benchmark_id=place.benchmark_id,
        parameters=place.point,
        metric=one.metric,
        unit=unit_of(one.metric),
        n=one.n,
        repeats=one.repeats,
        figures=tuple(_summary_figure(figure) for figure in one.figures),
        drifts=tuple(
            RepeatDrift(repeat=repeat, p=None)
            if found is None
            else RepeatDrift(repeat=repeat, **asdict(found))
            for repeat, found in one.drifts.items()
        ),
        drifted=tuple(one.drifted),
        cluster=None if one.cluster is None else cluster_finding(one.cluster),
    )


def _summary_figure(one: Figure) -> SummaryFigure:
    return SummaryFigure(
        figure=one.figure,
        value=finite(one.value),
        low=finite(one.low),
        high=finite(one.high),
        n=one.n,
        method=one.method,
        reason=one.reason,
    )
