"""The JSON document of a comparison, `agentbench.compare/1`; a missing number is null."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from agentbench_tui.verdicts.clusters.cluster_words import cluster_document
from agentbench_tui.verdicts.comparison.comparison import ALPHA
from agentbench_tui.verdicts.comparison.disagreement import disagreements
from agentbench_tui.verdicts.comparison.recommendation import recommendations

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.verdicts.comparison.compare import Compared, OnBenchmark, Pair
    from agentbench_tui.verdicts.comparison.comparison import Comparison
    from agentbench_tui.verdicts.comparison.disagreement import Disagreements
    from agentbench_tui.verdicts.comparison.outcome import Outcome
    from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
    from agentbench_tui.verdicts.evidence.evidence import Evidence
    from agentbench_tui.verdicts.evidence.place import Place
    from agentbench_tui.verdicts.selection.side import Side

SCHEMA = "agentbench.compare/1"

Document = dict[str, Any]

_ORDER = (
    "metric", "suite_id", "benchmark_id", "parameters", "unit", "better", "margin", "a", "b",
    "difference", "ratio", "ratio_of", "geometric_ratio", "low", "high", "inner_low", "inner_high",
    "p_value", "p_adjusted", "p_rank", "p_serial", "p_large", "method", "effect_size", "hedges_g",
    "paired", "n", "of", "clusters", "repeats", "draws",
    "verdict", "comparable", "unknown", "n_needed", "n_to_exclude",
    "effect_assumed", "varies_by", "only_a", "only_b", "notes",
)  # fmt: skip
_PLACE = ("suite_id", "benchmark_id", "parameters")


def compare_document(
    connection: sqlite3.Connection, found: Compared, numbers: CaseNumbers, limit: int
) -> Document:
    """Return the document of two sides, or for more sides a `matrix` of such documents and the
    winners. `limit` is the number of cases to list on which a pair disagrees.
    """
    head: Document = {
        "schema": SCHEMA,
        "alpha": ALPHA,
        "adjustment": found.adjustment,
        "tests": found.tests,
        "seed": found.asked.seed,
    }
    pairs = [_pair(connection, pair, numbers, limit) for pair in found.pairs]
    if len(pairs) == 1:
        return head | pairs[0]
    return head | {
        "sides": [_side(side) for side in found.sides],
        "matrix": pairs,
        **_standing(found),
        "recommendations": _of_many(found),
    }


def _pair(connection: sqlite3.Connection, pair: Pair, numbers: CaseNumbers, limit: int) -> Document:
    apart: dict[Place, Disagreements] = {}
    for one in pair.benchmarks:
        found = disagreements(connection, one.a, one.b, numbers, limit)
        if found is not None:
            apart[one.place] = found
    pairs = sum(one.pairs for one in pair.benchmarks)
    return {
        "a": pair.a.label,
        "b": pair.b.label,
        "sides": {"a": _side(pair.a), "b": _side(pair.b)},
        "benchmarks": [_benchmark(one, apart.get(one.place)) for one in pair.benchmarks],
        "paired": pairs > 0,
        "n_pairs": pairs,
        "metrics": [_metric(on, one) for on in pair.benchmarks for one in on.metrics],
        "overall": _overall(pair.outcome, pair.winner()),
        "categories": {name: pair.winner(one) for name, one in pair.by_category().items()},
        "recommendations": recommendations(pair, apart),
    }


def _overall(found: Outcome, winner: str | None) -> Document:
    return {
        "verdict": found.verdict,
        "winner": winner,
        "settled": found.is_settled,
        "better": found.better,
        "worse": found.worse,
        "equivalent": found.equivalent,
        "inconclusive": found.inconclusive,
    }


def _side(side: Side) -> Document:
    return {
        "selector": side.label,
        "agent_id": side.agent_id,
        "versions": list(side.versions),
        "simulated": side.simulated,
        "not_shared": [str(place) for place in side.alone],
        "notes": list(side.notes),
    }


def _benchmark(one: OnBenchmark, apart: Disagreements | None) -> Document:
    return {
        "suite_id": one.place.suite_id,
        "benchmark_id": one.place.benchmark_id,
        "parameters": one.place.point,
        "category": one.category,
        "paired": one.pairs > 0,
        "n_pairs": one.pairs,
        "a": _executions(one.a),
        "b": _executions(one.b),
        "differences": [asdict(difference) for difference in one.differences],
        "notes": list(one.notes),
        "clusters": [cluster_document(found) for found in one.clusters],
        "disagreements": None if apart is None else asdict(apart),
    }


def _executions(evidence: Evidence) -> Document:
    rows = evidence.executions
    return {
        "execution_ids": [row["id"] for row in rows],
        "run_ids": list(dict.fromkeys(row["run_id"] for row in rows)),
        "agent_versions": sorted({row["agent_version"] for row in rows}),
    }


def metric_document(one: Comparison) -> Document:
    """Return one metric, on every benchmark where it was compared."""
    values: Document = asdict(one)
    return {name: _finite(values[name]) for name in _ORDER if name not in _PLACE}


def _metric(on: OnBenchmark, one: Comparison) -> Document:
    values = metric_document(one) | {
        "suite_id": on.place.suite_id,
        "benchmark_id": on.place.benchmark_id,
        "parameters": on.place.point,
    }
    return {name: values[name] for name in _ORDER}


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _standing(found: Compared) -> Document:
    """Return which side beats or ties with every other, overall and in each category."""
    categories = dict.fromkeys(one.category for pair in found.pairs for one in pair.benchmarks)
    winner = found.winner()
    return {
        "overall": {"verdict": "tie" if winner is None else "better", "winner": winner},
        "categories": {name: found.winner(name) for name in categories},
    }


def _of_many(found: Compared) -> list[str]:
    """Return the first sentence of each pair, which gives its result."""
    said = []
    for pair in found.pairs:
        words = recommendations(pair, {})
        if words:
            said.append(f"{pair.b.label} against {pair.a.label}: {words[0]}")
    return said
