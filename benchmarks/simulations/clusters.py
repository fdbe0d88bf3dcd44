"""Cases that depend on each other although no cluster is declared, and cases that do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from agentbench_tui.verdicts.clusters.case_groupings import Grouping
from agentbench_tui.verdicts.clusters.cluster_search import Searched, held_back
from agentbench_tui.verdicts.clusters.undeclared_clusters import (
    Grouped,
    candidates_of_groups,
    candidates_of_pairs,
)
from agentbench_tui.verdicts.comparison.comparison import Asked, Comparison
from agentbench_tui.verdicts.comparison.head_to_head import compare_metric
from agentbench_tui.verdicts.comparison.judgment import judged
from agentbench_tui.verdicts.evidence.evidence import Evidence
from agentbench_tui.verdicts.evidence.metric_family import adjusted_together
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence
from simulations.evidence import asked
from simulations.guarantee import Guarantee, Rate

_HOW = Asked(resamples=500)
_MEAN = 0.7
"""Accuracy of both agents."""
_SPREAD = 0.4
"""Log-sd of what both agents take for the same case."""
_OTHERS = (8, 15)
"""Values of fields that mean nothing, which are looked at as well."""
_MOST_VALUES = (8, 15, 20)
_MAIN = ("accuracy", "e2e_ms", "output_tokens", "cost_usd_per_task", "reliability")

Sides = tuple[TaskEvidence, TaskEvidence]
Numbers = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def _alike(cluster: Numbers, icc: float, draw: np.random.Generator) -> Numbers:
    """Normal values, with this correlation of two values of one cluster."""
    shared = draw.normal(size=int(cluster.max()) + 1)[cluster.astype(int)]
    return np.sqrt(icc) * shared + np.sqrt(1 - icc) * draw.normal(size=len(cluster))


def _right(cluster: Numbers, icc: float, draw: np.random.Generator) -> Numbers:
    """Right answers, with this correlation of two answers of one cluster (beta-binomial)."""
    weight = (1 - icc) / icc
    chances = draw.beta(_MEAN * weight, (1 - _MEAN) * weight, int(cluster.max()) + 1)
    return (draw.random(len(cluster)) < chances[cluster.astype(int)]).astype(float)


def _equal_agents(
    metric: str, clusters: int, size: int, icc: float, draw: np.random.Generator
) -> tuple[Numbers, Sides]:
    """The cluster of each case, in random order, and both sides."""
    cluster = draw.permutation(np.repeat(np.arange(clusters), size))
    count = clusters * size
    if metric == "accuracy":
        a, b = (asked(count, accuracy=_right(cluster, icc, draw)) for _ in range(2))
        return cluster, (a, b)
    scale = draw.lognormal(0, 1, count)
    a, b = (
        asked(count, **{metric: scale * np.exp(_SPREAD * _alike(cluster, icc, draw))})
        for _ in range(2)
    )
    return cluster, (a, b)


def _fields(count: int, values: Sequence[int], draw: np.random.Generator) -> list[Grouping]:
    """Fields with so many values each, which mean nothing."""
    return [
        Grouping(f"metadata.other{place}", "field", draw.integers(0, most, count))
        for place, most in enumerate(values)
    ]


def _judged(
    metrics: Sequence[str], sides: Sides, groupings: list[Grouping]
) -> tuple[list[Comparison], Searched]:
    """The judged metrics, and what the search for clusters found."""

    def compared(a: Evidence, b: Evidence, metric: str) -> Comparison | None:
        return compare_metric(metric, a, b, _HOW)

    found = [one for metric in metrics if (one := compared(*sides, metric)) is not None]
    searched = _searched(sides, found, groupings)
    found = searched.allowing(found, compared)
    (adjusted,) = adjusted_together([found], len(metrics)).p
    return [
        held_back(judged(one, p), searched, compared)
        for one, p in zip(found, adjusted, strict=True)
    ], searched


def _searched(sides: Sides, compared: Sequence[Comparison], groupings: list[Grouping]) -> Searched:
    """As `search` does it, with groupings that no store has to hold."""
    a, b = sides
    assert isinstance(a, TaskEvidence)
    assert isinstance(b, TaskEvidence)
    margins = {one.metric: one.margin for one in compared}
    cases = np.union1d(a.case, b.case)
    candidates = candidates_of_pairs(a, b, margins, cases, Grouped(lambda: groupings))
    return Searched(a, b, candidates, tuple(candidates.findings(margins)))


def _called_different(
    metric: str, clusters: int, size: int, icc: float, trials: int, draw: np.random.Generator
) -> Rate:
    hits = 0
    for _ in range(trials):
        cluster, sides = _equal_agents(metric, clusters, size, icc, draw)
        groupings = [Grouping("metadata.source", "field", cluster.astype(np.int64))]
        groupings += _fields(len(cluster), _OTHERS, draw)
        (found,), _ = _judged([metric], sides, groupings)
        hits += found.verdict in {"better", "worse"}
    return Rate(hits, trials)


def _called_different_unpaired(
    metric: str, clusters: int, size: int, icc: float, trials: int, draw: np.random.Generator
) -> Rate:
    """Each agent answers cases of its own, from documents of its own."""

    def compared(a: Evidence, b: Evidence, metric: str) -> Comparison | None:
        return compare_metric(metric, a, b, _HOW)

    hits, count = 0, clusters * size
    for _ in range(trials):
        cluster_a, (a, _) = _equal_agents(metric, clusters, size, icc, draw)
        cluster_b, (b, _) = _equal_agents(metric, clusters, size, icc, draw)
        b = replace(b, case=b.case + count, cluster=b.cluster + count)
        source = np.concatenate([cluster_a, cluster_b + clusters]).astype(np.int64)
        groupings = [Grouping("metadata.source", "field", source)]
        groupings += _fields(2 * count, _OTHERS, draw)
        candidates = candidates_of_groups(
            a, b, [metric], np.arange(2 * count), Grouped(partial(list, groupings))
        )
        searched = Searched(a, b, candidates, tuple(candidates.findings()), paired=False)
        first = compared(a, b, metric)
        assert first is not None
        (found,) = searched.allowing([first], compared)
        verdict = held_back(judged(found, found.p_tested), searched, compared).verdict
        hits += verdict in {"better", "worse"}
    return Rate(hits, trials)


def _independent(
    count: int, only_a: float, only_b: float, draw: np.random.Generator
) -> tuple[Sides, list[Grouping]]:
    """All main metrics of independent cases; right alone are both on these shares of them."""
    kind, both = draw.random(count), draw.random(count) < 0.6
    apart, scale = kind < only_a + only_b, draw.lognormal(0, 1, count)
    sides = []
    for first in (True, False):
        alone = (kind < only_a) if first else (kind >= only_a)
        tokens = np.maximum(np.round(200 * scale * draw.lognormal(0, 0.3, count)), 1)
        sides.append(
            asked(
                count,
                accuracy=np.where(apart, alone, both),
                e2e_ms=1_000 * scale * draw.lognormal(0, 0.3, count),
                output_tokens=tokens,
                cost_usd_per_task=1e-5 * tokens,
                reliability=np.ones(count),
            )
        )
    return (sides[0], sides[1]), _fields(count, _MOST_VALUES, draw)


def _named_falsely(count: int, trials: int, draw: np.random.Generator) -> Rate:
    hits = 0
    for _ in range(trials):
        sides, groupings = _independent(count, 0.1, 0.1, draw)
        hits += bool(_judged(_MAIN, sides, groupings)[1].findings)
    return Rate(hits, trials)


def _called_better(count: int, trials: int, draw: np.random.Generator) -> Rate:
    hits = 0
    for _ in range(trials):
        sides, groupings = _independent(count, 0.025, 0.225, draw)
        hits += _judged(_MAIN, sides, groupings)[0][0].verdict == "better"
    return Rate(hits, trials)


_ASSUMES = "the cluster is a field of the cases, or is seen in their ids or inputs"
_BREAKS = "nothing that is stored says which cases belong together, or groups are fewer than six"
_NAMES = {"accuracy": "accuracy", "e2e_ms": "times", "cost_usd_per_task": "cost"}
_DESIGNS = (
    ("accuracy", 20, 5, 0.2),
    ("accuracy", 20, 20, 0.2),
    ("accuracy", 40, 10, 0.5),
    ("accuracy", 100, 5, 0.8),
    ("e2e_ms", 20, 5, 0.2),
    ("e2e_ms", 20, 20, 0.5),
    ("e2e_ms", 100, 5, 0.5),
    ("cost_usd_per_task", 20, 5, 0.2),
    ("cost_usd_per_task", 20, 20, 0.5),
    ("cost_usd_per_task", 100, 5, 0.5),
)
_UNPAIRED = (
    ("accuracy", 20, 20, 0.2),
    ("accuracy", 100, 5, 0.8),
    ("e2e_ms", 20, 20, 0.5),
    ("cost_usd_per_task", 20, 20, 0.5),
)
ROWS = (
    *(
        Guarantee(
            f"compare, {_NAMES[metric]}, undeclared clusters: {clusters} of {size} cases,"
            f" intraclass correlation {icc:g}",
            "equal agents called different",
            partial(_called_different, metric, clusters, size, icc),
            trials=500,
            highest=0.05,
            assumes=_ASSUMES,
            breaks=_BREAKS,
        )
        for metric, clusters, size, icc in _DESIGNS
    ),
    *(
        Guarantee(
            f"compare, {_NAMES[metric]}, no case in common, undeclared clusters: {clusters} of"
            f" {size} cases per agent, intraclass correlation {icc:g}",
            "equal agents called different",
            partial(_called_different_unpaired, metric, clusters, size, icc),
            trials=500,
            highest=0.05,
            assumes=_ASSUMES,
            breaks=_BREAKS,
        )
        for metric, clusters, size, icc in _UNPAIRED
    ),
    *(
        Guarantee(
            f"compare, all main metrics, {count} independent cases, 3 fields",
            "a field named as an undeclared cluster",
            partial(_named_falsely, count),
            trials=300,
            highest=0.05,
            assumes="the fields say nothing about the answers",
            breaks="answers of one run share its luck, and fields follow the order of asking",
        )
        for count in (50, 200)
    ),
    Guarantee(
        "compare, all main metrics, 50 independent cases, 3 fields, 22.5% against 2.5% right alone",
        "B called better in accuracy",
        partial(_called_better, 50),
        trials=300,
        lowest=0.75,
        assumes="cases are independent, or their cluster is declared",
        breaks="the agents differ on more cases in both directions, or there are more fields",
    ),
)
