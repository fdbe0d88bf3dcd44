"""Comparisons with the fields that a test does not care about filled in."""

from __future__ import annotations

from typing import Any

from agentbench_tui.contracts.compare import (
    ComparedBenchmark,
    ComparedExecutions,
    ComparedMetric,
    CompareDocument,
    ComparedSide,
    PairSides,
    PairVerdict,
)

_NOBODY = ComparedExecutions(execution_ids=(), run_ids=(), agent_versions=())


def metric(**changes: Any) -> ComparedMetric:
    """An accuracy of 50% on both sides, over 40 pairs, that is inconclusive."""
    unknown = (
        "ratio", "geometric_ratio", "inner_low", "inner_high", "p_value", "p_rank", "p_serial",
        "p_large", "effect_size", "hedges_g", "clusters", "draws", "n_to_exclude",
        "effect_assumed", "only_a", "only_b",
    )  # fmt: skip
    return ComparedMetric(
        **{
            **dict.fromkeys(unknown),
            "metric": "accuracy", "suite_id": "s", "benchmark_id": "b", "parameters": {},
            "unit": "share", "better": "higher", "margin": 0.02, "a": 0.5, "b": 0.5,
            "difference": 0.0, "low": -0.1, "high": 0.1, "ratio_of": "geometric means",
            "verdict": "inconclusive", "comparable": True, "unknown": (0, 0), "n_needed": 1376,
            "varies_by": "cases", "p_adjusted": 0.0004, "paired": True, "n": 40, "of": "cases",
            "method": "", "repeats": 1, "notes": (), **changes,
        }
    )  # fmt: skip


def benchmark(**changes: Any) -> ComparedBenchmark:
    """The benchmark of `metric`, without a difference other than the agents."""
    return ComparedBenchmark(
        **{
            "suite_id": "s", "benchmark_id": "b", "parameters": {}, "category": "accuracy",
            "paired": True, "n_pairs": 40, "a": _NOBODY, "b": _NOBODY, "differences": (),
            "notes": (), "clusters": (), "disagreements": None, **changes,
        }
    )  # fmt: skip


def comparison(*metrics: ComparedMetric, **changes: Any) -> CompareDocument:
    """Y against the control x, on one benchmark."""
    x, y = (
        ComparedSide(
            selector=name, agent_id=name, versions=("1",), simulated=False, not_shared=(), notes=()
        )
        for name in ("x", "y")
    )
    verdict = PairVerdict(verdict="tie", winner=None, settled=False, better=0, worse=0,
                          equivalent=0, inconclusive=len(metrics))  # fmt: skip
    return CompareDocument(
        **{
            "alpha": 0.05, "adjustment": "holm", "tests": 3, "seed": 42, "a": "x", "b": "y",
            "sides": PairSides(a=x, b=y), "benchmarks": (benchmark(),), "paired": True,
            "n_pairs": 40, "metrics": metrics, "overall": verdict, "categories": {},
            "recommendations": (), **changes,
        }
    )  # fmt: skip
