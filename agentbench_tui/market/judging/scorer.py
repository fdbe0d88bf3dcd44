"""Credit for an episode of a market world: the agent's share of the attainable profit."""

from __future__ import annotations

import math

from agentbench_tui.model.answer import Answer, Case, GraderFailure, Score

PASS_MARK = 0.05
"""Slightly above 0, the value of holding.

In 40 usual worlds `bayes`, which knows every public rule, was right in about half, and baselines
without foresight in 0 to 5%.
"""


def attainment(case: Case, answer: Answer, pass_mark: float = PASS_MARK) -> Score:
    """Return `optimality_fair` clipped to 0..1; correct from `pass_mark` on.

    Raises GraderFailure for an answer that is no episode.
    """
    data = answer.data if isinstance(answer.data, dict) else {}
    metrics = data.get("metrics")
    if not isinstance(metrics, dict):
        raise GraderFailure(f"the answer to {case.id} is not an episode of a market world")
    fair = metrics.get("optimality_fair")
    if not isinstance(fair, int | float) or not math.isfinite(fair):
        raise GraderFailure(f"{case.id}: nothing could be won in this world, so nothing is scored")
    value = min(1.0, max(0.0, float(fair)))
    pnl = metrics.get("total_pnl", 0.0)
    return Score(
        "attainment",
        value,
        value >= pass_mark,
        "" if value >= 1 else f"made {pnl:,.2f} USD, {100 * fair:.1f}% of what was attainable",
        metadata={"optimality_fair": fair, "optimality": metrics.get("optimality")},
    )
