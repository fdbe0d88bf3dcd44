"""The document of a comparison, `agentbench.compare/1`; a missing number is None."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from agentbench_tui.contracts.compare import (
    CaseAnswer,
    CaseDisagreement,
    CaseDisagreements,
    CircumstanceDifference,
    ComparedAttempts,
    ComparedBenchmark,
    ComparedExecutions,
    ComparedMetric,
    CompareDocument,
    ComparedPair,
    ComparedSide,
    CompareMatrixDocument,
    OverallWinner,
    PairSides,
    PairVerdict,
)
from agentbench_tui.verdicts.clusters.cluster_words import cluster_finding
from agentbench_tui.verdicts.comparison.comparison import ALPHA
from agentbench_tui.verdicts.comparison.disagreement import disagreements
from agentbench_tui.verdicts.comparison.recommendation import recommendations

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.verdicts.comparison.compare import Compared, OnBenchmark, Pair
    from agentbench_tui.verdicts.comparison.comparison import Comparison
    from agentbench_tui.verdicts.comparison.disagreement import Disagreements, Said
    from agentbench_tui.verdicts.comparison.outcome import Outcome
    from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
    from agentbench_tui.verdicts.evidence.evidence import Evidence
    from agentbench_tui.verdicts.evidence.place import Place
    from agentbench_tui.verdicts.selection.side import Side

SCHEMA = "agentbench.compare/1"

_PLACE = frozenset({"suite_id", "benchmark_id", "parameters"})
_OF_METRIC = tuple(name for name in ComparedMetric.__struct_fields__ if name not in _PLACE)


def compare_document(
    connection: sqlite3.Connection, found: Compared, numbers: CaseNumbers, limit: int
) -> CompareDocument | CompareMatrixDocument:
    """Return the document of two sides, or for more sides a `matrix` of pairs and the winners.

    `limit` is the number of cases to list on which a pair disagrees.
    """
    head: dict[str, Any] = {
        "alpha": ALPHA,
        "adjustment": found.adjustment,
        "tests": found.tests,
        "seed": found.asked.seed,
    }
    pairs = [_pair(connection, pair, numbers, limit) for pair in found.pairs]
    if len(pairs) == 1:
        return CompareDocument(**head, **pairs[0])
    categories = dict.fromkeys(one.category for pair in found.pairs for one in pair.benchmarks)
    winner = found.winner()
    return CompareMatrixDocument(
        **head,
        sides=tuple(map(_side, found.sides)),
        matrix=tuple(ComparedPair(**pair) for pair in pairs),
        overall=OverallWinner(verdict="tie" if winner is None else "better", winner=winner),
        categories={name: found.winner(name) for name in categories},
        recommendations=tuple(_of_many(found)),
    )


def _pair(
    connection: sqlite3.Connection, pair: Pair, numbers: CaseNumbers, limit: int
) -> dict[str, Any]:
    """Return the fields that a pair has as a whole document and as a part of one."""
    apart: dict[Place, Disagreements] = {}
    for one in pair.benchmarks:
        found = disagreements(connection, one.a, one.b, numbers, limit)
        if found is not None:
            apart[one.place] = found
    pairs = sum(one.pairs for one in pair.benchmarks)
    return {
        "a": pair.a.label,
        "b": pair.b.label,
        "sides": PairSides(a=_side(pair.a), b=_side(pair.b)),
        "benchmarks": tuple(_benchmark(one, apart.get(one.place)) for one in pair.benchmarks),
        "paired": pairs > 0,
        "n_pairs": pairs,
        "metrics": tuple(_metric(on, one) for on in pair.benchmarks for one in on.metrics),
        "overall": _overall(pair.outcome, pair.winner()),
        "categories": {name: pair.winner(one) for name, one in pair.by_category().items()},
        "recommendations": tuple(recommendations(pair, apart)),
    }


def _overall(found: Outcome, winner: str | None) -> PairVerdict:
    return PairVerdict(
        verdict=found.verdict,
        winner=winner,
        settled=found.is_settled,
        better=found.better,
        worse=found.worse,
        equivalent=found.equivalent,
        inconclusive=found.inconclusive,
    )


def _side(side: Side) -> ComparedSide:
    return ComparedSide(
        selector=side.label,
        agent_id=side.agent_id,
        versions=tuple(side.versions),
        simulated=side.simulated,
        not_shared=tuple(str(place) for place in side.alone),
        notes=tuple(side.notes),
    )


def _benchmark(one: OnBenchmark, apart: Disagreements | None) -> ComparedBenchmark:
    return ComparedBenchmark(
        suite_id=one.place.suite_id,
        benchmark_id=one.place.benchmark_id,
        parameters=one.place.point,
        category=one.category,
        paired=one.pairs > 0,
        n_pairs=one.pairs,
        a=_executions(one.a),
        b=_executions(one.b),
        differences=tuple(CircumstanceDifference(**asdict(each)) for each in one.differences),
        notes=tuple(one.notes),
        clusters=tuple(map(cluster_finding, one.clusters)),
        attempts=tuple(map(_attempts, one.attempts)),
        disagreements=None if apart is None else _disagreements(apart),
    )


def _attempts(one: Comparison) -> ComparedAttempts:
    names = ComparedAttempts.__struct_fields__
    return ComparedAttempts(**{name: _finite(getattr(one, name)) for name in names})


def _disagreements(apart: Disagreements) -> CaseDisagreements:
    return CaseDisagreements(
        only_a=apart.only_a,
        only_b=apart.only_b,
        first=tuple(
            CaseDisagreement(
                case_id=one.case_id, expected=one.expected, a=_answer(one.a), b=_answer(one.b)
            )
            for one in apart.first
        ),
    )


def _answer(said: Said) -> CaseAnswer:
    return CaseAnswer(right=said.right, answer=said.answer, failure=said.failure)


def _executions(evidence: Evidence) -> ComparedExecutions:
    rows = evidence.executions
    return ComparedExecutions(
        execution_ids=tuple(row["id"] for row in rows),
        run_ids=tuple(dict.fromkeys(row["run_id"] for row in rows)),
        agent_versions=tuple(sorted({row["agent_version"] for row in rows})),
    )


def compared_metric(one: Comparison, **place: Any) -> ComparedMetric:
    """Return one metric, over all cases or, with a place, on one benchmark."""
    return ComparedMetric(**{name: _finite(getattr(one, name)) for name in _OF_METRIC}, **place)


def _metric(on: OnBenchmark, one: Comparison) -> ComparedMetric:
    return compared_metric(
        one,
        suite_id=on.place.suite_id,
        benchmark_id=on.place.benchmark_id,
        parameters=on.place.point,
    )


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _of_many(found: Compared) -> list[str]:
    """Return the first sentence of each pair, which gives its result."""
    said = []
    for pair in found.pairs:
        words = recommendations(pair, {})
        if words:
            said.append(f"{pair.b.label} against {pair.a.label}: {words[0]}")
    return said
