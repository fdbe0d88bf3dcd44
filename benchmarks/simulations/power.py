"""Power and family-wise error of the default comparison of two agents on one benchmark."""

from __future__ import annotations

import numpy as np

from agentbench_tui.verdicts.comparison.comparison import Asked, Comparison
from agentbench_tui.verdicts.comparison.head_to_head import compare_metric
from agentbench_tui.verdicts.comparison.judgment import judged
from agentbench_tui.verdicts.evidence.metric_family import adjusted_together
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence
from simulations.evidence import asked
from simulations.guarantee import Guarantee, Rate

CASES = 50
_METRICS = ("accuracy", "e2e_ms", "output_tokens", "cost_usd_per_task", "reliability")
_PRICE = 1e-5
_HOW = Asked(resamples=500)


def _agent(right: np.ndarray, size: np.ndarray, draw: np.random.Generator) -> TaskEvidence:
    """One answer a case; times and tokens follow the size of the case, and cost the tokens."""
    tokens = np.maximum(np.round(200 * size * draw.lognormal(0, 0.3, CASES)), 1)
    return asked(
        CASES,
        accuracy=right,
        e2e_ms=1_000 * size * draw.lognormal(0, 0.3, CASES),
        output_tokens=tokens,
        cost_usd_per_task=_PRICE * tokens,
        reliability=np.ones(CASES),
    )


def _compared(only_a: float, only_b: float, draw: np.random.Generator) -> list[Comparison]:
    """Right alone are A and B on these shares of the cases; nothing else differs."""
    kind, both = draw.random(CASES), draw.random(CASES) < 0.6
    apart, size = kind < only_a + only_b, draw.lognormal(0, 1, CASES)
    a = _agent(np.where(apart, kind < only_a, both), size, draw)
    b = _agent(np.where(apart, kind >= only_a, both), size, draw)
    found = [compare_metric(metric, a, b, _HOW) for metric in _METRICS]
    known = [one for one in found if one is not None]
    (adjusted,) = adjusted_together([known], len(_METRICS)).p
    return [judged(one, p) for one, p in zip(known, adjusted, strict=True)]


def _more_accurate(trials: int, draw: np.random.Generator) -> Rate:
    hits = 0
    for _ in range(trials):
        accuracy = _compared(0.025, 0.225, draw)[0]
        hits += accuracy.verdict == "better"
    return Rate(hits, trials)


def _any_false(trials: int, draw: np.random.Generator) -> Rate:
    hits = 0
    for _ in range(trials):
        found = _compared(0.14, 0.14, draw)
        hits += any(one.verdict in {"better", "worse"} for one in found)
    return Rate(hits, trials)


ROWS = (
    Guarantee(
        f"compare, all main metrics, {CASES} cases, 22.5% against 2.5% right alone",
        "B called better in accuracy",
        _more_accurate,
        trials=300,
        lowest=0.75,
        assumes="cases are independent, or their cluster is declared",
        breaks="the agents differ on more cases in both directions",
    ),
    Guarantee(
        f"compare, all main metrics, {CASES} cases, equal agents",
        "any metric called better or worse",
        _any_false,
        trials=1_000,
        highest=0.05,
        assumes="cases are independent, or their cluster is declared",
        breaks="answers of one run share its luck",
    ),
)
