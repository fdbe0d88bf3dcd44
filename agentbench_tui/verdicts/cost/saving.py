"""Savings from switching between contenders without a loss of quality, at the confidence bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np

from agentbench_tui.analysis.boards.cost_efficiency import configurations
from agentbench_tui.analysis.differences.difference_verdict import verdict
from agentbench_tui.analysis.differences.paired_effect import (
    difference_effect,
    unpaired_ratio_effect,
)
from agentbench_tui.analysis.intervals.proportion import newcombe_paired
from agentbench_tui.analysis.runs.between_run import (
    LARGE_CHANGE,
    between_run_error,
    ratio_interval_with_error,
)
from agentbench_tui.contracts.cost import SwitchSaving
from agentbench_tui.contracts.leaderboard import FigureWithReason
from agentbench_tui.verdicts.cost.cost import figure_of
from agentbench_tui.verdicts.cost.speed import speeds
from agentbench_tui.verdicts.evidence.task_evidence import COST
from agentbench_tui.verdicts.ranking.scorecard import by_cluster

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.analysis.boards.cost_efficiency import Configuration
    from agentbench_tui.analysis.sample import Floats, Integers
    from agentbench_tui.verdicts.cost.ledger import Ledger
    from agentbench_tui.verdicts.cost.speed import Speeds

_LEVEL = 0.95
_INNER = 0.90
"""Two one-sided tests at 5% are a 90% interval within the margins."""


class Option(msgspec.Struct, frozen=True):
    """One way to do the tasks."""

    value: float
    efficiency: float
    optimal: bool
    tasks_per_s: float | None
    """See `speed`; None if times are unknown."""


@dataclass(frozen=True, slots=True)
class Options:
    """All contenders of a group, each compared with each."""

    of: tuple[Option, ...]
    savings: list[list[SwitchSaving]]
    """[current][other]: `verdict` on the other's quality, `difference` in right answers with its
    95% interval, both of this switch alone; and `saving` as a share of the current cost with its
    interval at `level`, null unless the data exclude at that level that the other is worse by the
    margin."""
    level: float
    """Level of the intervals of savings: the probability that any of a table is wrong is at most
    5%.
    """
    speeds: Speeds | None
    """None if speed does not count."""

    def opportunities(self, current: int) -> list[int]:
        """Return contenders that save without being worse, at the confidence bound, the largest
        saving first.
        """
        surely = [
            (-(found.saving.value or 0), other)
            for other, found in enumerate(self.savings[current])
            if other != current and found.surely and found.saving is not None
        ]
        return [other for _, other in sorted(surely)]


def options(
    parts: Sequence[Ledger],
    right: Floats,
    costs: Floats,
    clusters: Integers,
    margin: float,
    *,
    has_current: bool = False,
    with_speed: bool = True,
) -> Options:
    """Return the options; `right` and `costs` are complete float64[members, cases], computed from
    `parts`.

    Independent are clusters: of right answers each counts once, by its mean; costs are added up, so
    that a saving compares the totals over all cases. Switches are adjusted together
    (Bonferroni): all of each to each, or with `has_current` those of one member to the others.
    Speeds count for the value where all are known, unless `with_speed` says that they differ for
    other reasons.
    """
    switches = (len(parts) - 1) * (1 if has_current else len(parts))
    level = 1 - (1 - _LEVEL) / max(1, switches)
    right, costs = _cluster_means(right, clusters), by_cluster(costs, clusters)
    found_speeds = speeds(parts)
    seconds = found_speeds.seconds
    known = [one for one in seconds if one is not None]
    with_speed = with_speed and len(known) == len(parts)
    times = np.outer(known, np.ones(right.shape[1])) if with_speed else None
    savings: list[list[SwitchSaving]] = []
    found: tuple[Configuration, ...] = ()
    for current in range(len(parts)):
        found = configurations(
            right, costs, current, lambda a, b: _quality(a, b, margin, level).not_worse,
            times, level,
        )  # fmt: skip
        savings.append(
            [
                _saving(
                    parts[current], part, one, _quality(right[current], row, margin, level), level
                )
                for part, one, row in zip(parts, found, right, strict=True)
            ]
        )
    return Options(
        tuple(
            Option(one.value, one.efficiency, one.optimal, None if s is None else 1 / s)
            for one, s in zip(found, seconds, strict=True)
        ),
        savings,
        level,
        found_speeds if with_speed else None,
    )


class _Quality(NamedTuple):
    """The difference in the share of right answers; see `SwitchSaving`."""

    difference: float
    low: float | None
    high: float | None
    verdict: str
    not_worse: bool


def _quality(a: Floats, b: Floats, margin: float, level: float) -> _Quality:
    """Compare B's right answers with A's; return the comparison, and whether the data exclude
    that B is worse, with an error of 1 - `level`.
    """
    difference = float(b.mean() - a.mean())
    low, high = _interval(a, b, _LEVEL)
    inner_low, inner_high = _interval(a, b, _INNER)
    sure_low, _ = _interval(a, b, 1 - 2 * (1 - level))
    excludes_none = low is not None and high is not None and (low > 0 or high < 0)
    p = 0.0 if excludes_none else 1.0  # all that the verdict asks is on which side of 5% it lies
    return _Quality(
        difference,
        low,
        high,
        verdict(difference, inner_low, inner_high, p, margin, "higher"),
        sure_low is not None and sure_low > -margin,
    )


def _interval(a: Floats, b: Floats, level: float) -> tuple[float | None, float | None]:
    """Return the interval of the difference in shares.

    Newcombe's for pairs that are right or wrong, else *t*.
    """
    if all(((one == 0) | (one == 1)).all() for one in (a, b)):
        of_a, of_b = a > 0, b > 0
        both, only_b, only_a = (int(one.sum()) for one in (of_a & of_b, of_b & ~of_a, of_a & ~of_b))
        found = newcombe_paired(both, only_b, only_a, len(a) - both - only_b - only_a, level)
        return (None, None) if found is None else (found.low, found.high)
    effect = difference_effect(a, b, None, level, share=True)
    return effect.low, effect.high


def _saving(
    current: Ledger, other: Ledger, found: Configuration, quality: _Quality, level: float
) -> SwitchSaving:
    """Return the result for a switch; hourly costs are compared by whole repeats."""
    saving, least = None, 0.0
    if found.saving is not None:
        saving = figure_of(found.saving)
        if current.is_hourly or other.is_hourly:
            saving = _by_repeats(current, other, level)
            if _runs(current) != _runs(other):
                least = 1 - 1 / (1 + LARGE_CHANGE)
    low = None if saving is None else saving.low
    usd = float(current.usd.mean() - other.usd.mean())
    return SwitchSaving(
        **quality._asdict(),
        saving=saving,
        surely=low is not None and low > least,
        usd_per_1000_tasks=None if saving is None else 1000 * usd,
    )


def _by_repeats(current: Ledger, other: Ledger, level: float) -> FigureWithReason:
    """Return the saving with its interval; for different runs with the assumed between-run
    variance.
    """
    effect = unpaired_ratio_effect(_repeats(current), _repeats(other), level)
    if effect.ratio is None:
        return figure_of(None, effect.reason)
    error = 0.0 if _runs(current) == _runs(other) else between_run_error((1, 1))
    low, high = effect.low, effect.high
    if low is not None and high is not None:
        low, high = ratio_interval_with_error(effect.ratio, low, high, error, level)
    ends = [None if end is None else 1 - end for end in (high, low)]
    return FigureWithReason(value=1 - effect.ratio, low=ends[0], high=ends[1], reason=effect.reason)


def _runs(ledger: Ledger) -> dict[int, set[int]]:
    """Return the runs at each place."""
    return {
        int(place): {row["run_key"] for row in ledger.card.evidence[int(place)].executions}
        for place in np.unique(ledger.place)
    }


def _repeats(ledger: Ledger) -> Floats:
    """Return USD per task of each repeat over all places; as many as the place with fewest has."""
    places, counts = np.unique(ledger.place, return_counts=True)
    samples = [ledger.card.evidence[int(place)].per_repeat(COST) for place in places]
    fewest = min((len(one) for one in samples), default=0)
    if not fewest:
        return np.empty(0)
    return np.average([one[:fewest] for one in samples], axis=0, weights=counts)


def _cluster_means(table: Floats, clusters: Integers) -> Floats:
    _, place = np.unique(clusters, return_inverse=True)
    place = place.reshape(-1)
    count = np.bincount(place)
    if len(count) == table.shape[1]:
        return table
    return np.array([np.bincount(place, row) / count for row in table])
