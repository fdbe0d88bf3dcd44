"""The JSON document of a comparison of training runs: `agentbench.compare/1` with additions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from agentbench_tui.verdicts.comparison.compare_document import SCHEMA
from agentbench_tui.verdicts.comparison.outcome import Outcome

if TYPE_CHECKING:
    from agentbench_tui.analysis.differences.assumption_checks import GoodnessTest
    from agentbench_tui.analysis.differences.student import TTest
    from agentbench_tui.verdicts.training.curve_comparison import RunComparison
    from agentbench_tui.verdicts.training.curve_question import Answer
    from agentbench_tui.verdicts.training.run_summary import Run

Document = dict[str, Any]
SIDES = ("control", "candidate")


def curve_document(answers: Sequence[Answer]) -> Document:
    """Return the document. A missing number is null, and so is an open end of an interval."""
    first = answers[0].comparison
    said = [answer.comparison.verdict for answer in answers]
    found = Outcome(
        said.count("better"),
        said.count("worse"),
        said.count("equivalent"),
        said.count("inconclusive"),
    )
    winner = {"better": "candidate", "worse": "control"}.get(found.verdict)
    if not all(answer.is_ranked for answer in answers):
        winner = None
    return {
        "schema": SCHEMA,
        "a": "control",
        "b": "candidate",
        "alpha": first.asked.alpha,
        "seed": first.asked.seed,
        "benchmarks": [],
        "paired": first.paired,
        "n_pairs": first.n if first.paired else 0,
        "metrics": [metric_document(answer) for answer in answers],
        "overall": {"verdict": found.verdict, "winner": winner},
        "categories": {},
        "recommendations": [],
    }


def metric_document(answer: Answer) -> Document:
    """Return one metric's comparison; `low` and `high` are those of the bootstrap."""
    found = answer.comparison
    low, high = bootstrap_ends(found)
    return {
        "metric": found.metric,
        "benchmark_id": None,
        "unit": found.unit,
        "better": found.better,
        "margin": found.margin,
        "a": found.a,
        "b": found.b,
        "difference": found.effect,
        "ratio": None,
        "low": low,
        "high": high,
        "p_value": found.p_value,
        "p_adjusted": found.p_adjusted,
        "p_rank": found.p_rank,
        "method": method_words(found),
        "effect_size": found.sizes.get("cliffs_delta"),
        "hedges_g": found.sizes.get("hedges_g"),
        "paired": found.paired,
        "n": found.n,
        "of": "runs",
        "verdict": found.verdict,
        "n_needed": found.n_needed,
        "only_a": None,
        "only_b": None,
        "notes": list(answer.notes),
        "summary": answer.summary,
        "pairing": answer.pairing,
        "finished": {
            side: {"finished": found.finished(runs), "of": len(runs)}
            for side, runs in zip(SIDES, (found.control, found.candidate), strict=True)
        },
        "runs": {
            "control": [_run(run) for run in found.control],
            "candidate": [_run(run) for run in found.candidate],
        },
        "worst_case": _worst_case(found),
        "t_test": _t(found.t),
        "sizes": found.sizes,
        "normality": {name: _goodness(test) for name, test in found.normality.items()},
        "pairing_gain": None if found.gain is None else _finite(asdict(found.gain)),
        "power": None if found.power is None else asdict(found.power),
    }


def bootstrap_ends(found: RunComparison) -> tuple[float | None, float | None]:
    """Return the ends of the interval; None for an open end, and without an interval."""
    if found.bootstrap is None:
        return None, None
    interval = found.bootstrap.interval
    return _known(interval.low), _known(interval.high)


def method_words(found: RunComparison) -> str:
    """Describe how p and the interval were computed."""
    name = "sign-flip permutation" if found.paired else "label permutation"
    parts = []
    if found.permutation is None or found.p_value != found.permutation.p:
        parts.append("Welch's t")
    else:
        test = found.permutation
        drawn = "exact" if test.exact else f"{test.permutations} draws, seed {test.seed}"
        parts.append(f"{name} ({drawn})")
    if found.bootstrap is not None:
        parts.append(found.bootstrap.interval.method)
    return "; ".join(parts)


def _run(run: Run) -> Document:
    return {"run": run.name, "seed": run.seed, "value": run.value, "reason": run.reason or None}


def _worst_case(found: RunComparison) -> Document | None:
    if found.worst is None:
        return None
    return {**_finite(asdict(found.worst)), "holds": found.is_robust}


def _t(test: TTest | None) -> Document | None:
    if test is None:
        return None
    return _finite(
        {
            "t": test.t,
            "df": test.df,
            "p_value": test.p,
            "low": test.interval.low,
            "high": test.interval.high,
            "method": test.interval.method,
        }
    )


def _goodness(test: GoodnessTest | None) -> Document | None:
    return None if test is None else {"statistic": test.statistic, "p_value": test.p}


def _finite(document: Document) -> Document:
    return {
        key: _known(value) if isinstance(value, float) else value for key, value in document.items()
    }


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None
