"""The Pareto front of cost and quality, with its uncertainty over the cases."""

from __future__ import annotations

from typing import Literal

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from agentbench_tui.analysis.boards.ranking import case_table, case_weights, resampled_sums
from agentbench_tui.analysis.intervals.estimate import Estimate, estimate, needs
from agentbench_tui.analysis.resampling.resampling import BOOTSTRAP_FROM
from agentbench_tui.analysis.sample import Floats

Standing = Literal["on the front", "possibly on the front", "off the front", "unknown"]

_ROUNDING = 1e-12
"""Means that differ by less than this share of the largest are equal."""


_MOST_RESAMPLES, _FEWEST_RESAMPLES = 10_000, 2_000
_MOST_DRAWN = 10_000_000
"""Cases that all resamples together draw, if that leaves enough resamples."""


class Point(msgspec.Struct, frozen=True):
    """Position of one agent by cost and quality; refers to other agents by row."""

    quality: Estimate
    cost: Estimate
    """Per case, in the unit of the costs given."""
    on_front: bool
    """By the means: no other agent is at least as good and at most as expensive, and better in
    one of them.
    """
    dominated_by: tuple[int, ...]
    """The dominating agents, by the means."""
    front_share: float | None
    """Share of the resamples of cases that have the agent on the front; None below 15 cases."""
    standing: Standing
    """On the front in `level` of the resamples or more; off it in as many; possibly between."""
    surely_dominated_by: tuple[int, ...]
    """Agents that dominate in `level` of the resamples or more."""
    reason: str = ""
    """Why the standing is unknown, such as `needs 15 (have 8)`."""


def dominance(quality: ArrayLike, cost: ArrayLike) -> NDArray[np.bool_]:
    """Return bool[…, agents, agents]: whether the row dominates the column.

    It does when its quality is at least as high and its cost at most as high, and one of them is
    strictly so. Equal agents do not dominate each other. Both are float64[…, agents].
    """
    q, c = np.asarray(quality, dtype=np.float64), np.asarray(cost, dtype=np.float64)
    if q.shape != c.shape or q.ndim == 0:
        raise ValueError(f"quality of shape {q.shape} but cost of shape {c.shape}")
    if not (np.isfinite(q).all() and np.isfinite(c).all()):
        raise ValueError("quality or cost holds NaN or infinity")
    gain = q[..., :, None] - q[..., None, :]
    saving = c[..., None, :] - c[..., :, None]
    gain_slack, saving_slack = (_ROUNDING * float(np.abs(x).max(initial=0)) for x in (q, c))
    no_worse = (gain >= -gain_slack) & (saving >= -saving_slack)
    return np.asarray(no_worse & ((gain > gain_slack) | (saving > saving_slack)))


def pareto_front(
    quality: ArrayLike,
    cost: ArrayLike,
    *,
    seed: int,
    level: float = 0.95,
    resamples: int | None = None,
) -> tuple[Point, ...]:
    """Return each agent's (row's) position by mean quality (higher is better) and mean cost.

    Both are float64[agents, cases] over the same cases, without gaps: a case dropped for one agent
    is dropped for all, because an agent must not look cheap for having run the cheap ones. Costs
    are >= 0. Cases are resampled whole, so that what makes a case hard or dear stays common to all
    agents. Intervals: of a share (Wilson for yes/no) where all qualities lie in [0, 1], of an
    amount otherwise; of an amount for cost. Without `resamples`, 10,000 up to 1,000 cases; of more
    cases fewer, down to 2,000, whose share of 95% has a standard error of 0.5%.

    ValueError on NaN and on tables of different shapes.
    """
    if not 0.5 < level < 1:
        raise ValueError(f"a level between 0.5 and 1 is needed, got {level}")
    qualities, costs = case_table(quality, complete=True), case_table(cost, complete=True)
    if qualities.shape != costs.shape:
        raise ValueError(f"qualities of shape {qualities.shape} but costs of {costs.shape}")
    if (costs < 0).any():
        raise ValueError("a cost cannot be negative")
    cases = qualities.shape[1]
    beaten = dominance(qualities.mean(axis=1), costs.mean(axis=1))
    shares = None
    if cases >= BOOTSTRAP_FROM:
        shares = _shares(qualities, costs, seed, resamples or _resamples(cases))
    graded = bool(((qualities >= 0) & (qualities <= 1)).all())
    points = []
    for agent in range(qualities.shape[0]):
        front_share = None if shares is None else float(shares[0][agent])
        sure = () if shares is None else _rows(shares[1][:, agent] >= level)
        points.append(
            Point(
                quality=estimate(qualities[agent], "share" if graded else "amount", level=level),
                cost=estimate(costs[agent], "amount", level=level),
                on_front=not beaten[:, agent].any(),
                dominated_by=_rows(beaten[:, agent]),
                front_share=front_share,
                standing=_standing(front_share, level),
                surely_dominated_by=sure,
                reason=needs(BOOTSTRAP_FROM, cases) if shares is None else "",
            )
        )
    return tuple(points)


def _resamples(cases: int) -> int:
    """Return how many resamples keep the number of drawn cases at ten million, within bounds."""
    return min(_MOST_RESAMPLES, max(_FEWEST_RESAMPLES, _MOST_DRAWN // cases))


def _shares(qualities: Floats, costs: Floats, seed: int, resamples: int) -> tuple[Floats, Floats]:
    """Return shares of resamples on the front, float64[agents], and in which the row dominates the
    column, a square.
    """
    agents, cases = qualities.shape
    front, pairs = np.zeros(agents), np.zeros((agents, agents))
    both = np.concatenate([qualities, costs]) / cases
    for weights in case_weights(cases, resamples, seed, width=agents**2):
        means = resampled_sums(weights, both)
        beaten = dominance(means[:, :agents], means[:, agents:])
        front += (~beaten.any(axis=1)).sum(axis=0)
        pairs += beaten.sum(axis=0)
    return front / resamples, pairs / resamples


def _standing(share: float | None, level: float) -> Standing:
    if share is None:
        return "unknown"
    if share >= level:
        return "on the front"
    return "off the front" if share <= 1 - level else "possibly on the front"


def _rows(marked: NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(int(row) for row in np.flatnonzero(marked))
