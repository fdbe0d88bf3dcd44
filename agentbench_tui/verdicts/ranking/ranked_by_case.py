"""Ranks contenders case by case: by means, totals, or amounts per right answer.

A world of a market, and a generated case of a seed, is a case like any other: many of them in one
repeat tell agents apart as well as many repeats do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import msgspec
import numpy as np

from agentbench_tui.analysis.boards.cost_efficiency import cost_figures
from agentbench_tui.analysis.differences.ratio_of_sums_effect import Sums
from agentbench_tui.analysis.intervals.estimate import Estimate, Kind, estimate, ratio_estimate
from agentbench_tui.analysis.sample import count_distinct, mean_by, sorted_distinct
from agentbench_tui.model.figures.metric import find_metric
from agentbench_tui.verdicts.comparison.paid import is_paid
from agentbench_tui.verdicts.evidence.ratio_columns import sum_columns
from agentbench_tui.verdicts.evidence.task_evidence import COST, TOKENS, TaskEvidence
from agentbench_tui.verdicts.ranking.ranked_group import NotRanked, Ranked
from agentbench_tui.verdicts.ranking.scorecard import by_cluster, case_table, comparable_groups
from agentbench_tui.verdicts.ranking.standing import by_cases
from agentbench_tui.verdicts.ranking.standing_by_ratio import by_ratios, by_ratios_of_sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.analysis.sample import Floats, Integers
    from agentbench_tui.verdicts.ranking.rankable import Rankable
    from agentbench_tui.verdicts.ranking.ranked_group import Rankings
    from agentbench_tui.verdicts.ranking.scorecard import Group, Scorecard
    from agentbench_tui.verdicts.ranking.standing import Standings

RIGHT = "correct_share"


class CaseMeasure(msgspec.Struct, frozen=True):
    """How a metric is computed from single observations."""

    column: str
    """Column of `TaskEvidence.values`."""
    of: Literal["mean", "total", "ratio"] = "mean"
    """Mean over cases; sum over them, of one answer to each; or that sum ÷ the sum of `bottom`."""
    bottom: str = ""
    """Column by whose sum a ratio divides."""
    lacking: str = ""
    """What a contender without a ratio lacks, in words."""


_MADE_OF = {
    "cost_usd": CaseMeasure(COST, "total"),
    "tokens_used": CaseMeasure(TOKENS, "total"),
    "api_calls": CaseMeasure("api_calls", "total"),
    "retries": CaseMeasure("retries", "total"),
    "cost_usd_per_correct": CaseMeasure(COST, "ratio", RIGHT, "is infinite: no right answer"),
    "tokens_per_correct": CaseMeasure(TOKENS, "ratio", RIGHT, "is infinite: no right answer"),
}


def case_measure(cards: Sequence[Scorecard], by: Rankable) -> CaseMeasure | None:
    """Return how to rank these contenders by case; None for times and percentiles, and if some
    contender has the metric only for whole repeats.
    """
    if by.unit == "ms" or by.part not in {"", "mean"}:
        return None
    found = _MADE_OF.get(by.name) or _own_measure(cards, by)
    has_cases = [any(found.column in one.values for one in card.tasks) for card in cards]
    if not any(has_cases):
        return None
    elsewhere = any(
        card.samples(by.name) for card, has in zip(cards, has_cases, strict=True) if not has
    )
    hourly = found.column == COST and any(
        COST in one.totals for card in cards for one in card.tasks
    )
    return None if hourly or elsewhere else found


def _own_measure(cards: Sequence[Scorecard], by: Rankable) -> CaseMeasure:
    """Return how to compute a metric that is a column, or that a benchmark defines."""
    defined = {name for card in cards for one in card.tasks for name in one.defined}
    top, bottom = sum_columns(by.name)
    if any(top in one.values for card in cards for one in card.tasks):
        return CaseMeasure(top, "ratio", bottom, "has no value: the second numbers are all 0")
    plain = by.name.removesuffix(".mean")
    return CaseMeasure(plain if plain in defined else by.base)


def ranked_by_case(
    cards: Sequence[Scorecard], by: Rankable, measure: CaseMeasure, resamples: int
) -> Rankings:
    """Rank on the cases that all members of a group have a value for."""
    known = [_Known.of(card, by, measure) for card in cards]
    kept = [one for one in known if len(one.cases)]
    lacking = [NotRanked(one.card, one.reason) for one in known if not len(one.cases)]
    if not kept:
        return [], lacking
    everything, table = case_table([(one.cases, one.amounts) for one in kept])
    del known  # the amounts of a million cases are in the table now
    kept = [replace(one, amounts=np.empty(0)) for one in kept]
    groups: list[Ranked] = []
    for group in comparable_groups(~np.isnan(table)):
        members = [kept[row] for row in group.members]
        found, without = _group(members, group, everything, table, by, measure, resamples)
        groups += found
        lacking += without
    return groups, lacking


@dataclass(frozen=True, slots=True)
class _Known:
    """The cases of one contender whose amounts are known."""

    card: Scorecard
    cases: Integers
    amounts: Floats
    bottom: Floats
    """What a ratio divides by, of each case, such as its share of right answers; empty unless the
    metric is a ratio."""
    reason: str
    """Why there are no cases; empty if nothing was measured."""

    @classmethod
    def of(cls, card: Scorecard, by: Rankable, measure: CaseMeasure) -> _Known:
        amounts = card.column(measure.column)
        bottom = card.column(measure.bottom) if measure.of == "ratio" else np.empty(0)
        usable = ~np.isnan(amounts)
        reason = ""
        for place, unknown, answered in unknown_places(card, by, measure):
            usable &= card.place != place
            reason = f"{by.name} is unknown for {unknown:,} of {answered:,} answers"
        if measure.of == "ratio":
            usable &= ~np.isnan(bottom)
            if usable.any() and not bottom[usable].any():
                usable[:] = False
                reason = f"{by.name} {measure.lacking}"
        if usable.all():
            cases, means = mean_by(card.case, amounts)
        else:
            cases, means = mean_by(card.case[usable], amounts[usable])
        bottoms = np.empty(0)
        if measure.of == "ratio":
            _, bottoms = mean_by(card.case[usable], bottom[usable])
        return cls(card, cases, means, bottoms, reason)


def unknown_places(
    card: Scorecard, by: Rankable, measure: CaseMeasure
) -> list[tuple[int, int, int]]:
    """Return the places with answers of unknown price: their indexes, how many answers lack it, and
    the total. A sum over the other answers would be too small.
    """
    known = find_metric(by.name)
    if known is None or not is_paid(known, by.part):
        return []
    found = []
    for place, one in card.evidence.items():
        if isinstance(one, TaskEvidence) and measure.column in one.values:
            answered = one.values["reliability"] > 0
            unknown = one.unknown(measure.column)
            if unknown:
                found.append((place, unknown, int(answered.sum())))
    return found


def _group(
    members: list[_Known],
    group: Group,
    everything: Integers,
    table: Floats,
    by: Rankable,
    measure: CaseMeasure,
    resamples: int,
) -> Rankings:
    cases = everything[group.shared]
    first = members[0].card
    inside = np.isin(first.case, cases)
    clusters = np.zeros(len(cases), np.int64)
    clusters[np.searchsorted(cases, first.case[inside])] = first.cluster[inside]
    measured = int((~np.isnan(table[list(group.members)])).any(axis=0).sum())
    shared = table
    if (len(group.members), len(cases)) != table.shape:
        shared = np.array([table[row, group.shared] for row in group.members])
    bottom: Floats | None = None
    without: list[NotRanked] = []
    if measure.of == "ratio":
        bottom = np.array([one.bottom[np.searchsorted(one.cases, cases)] for one in members])
        reason = f"{by.name} {measure.lacking} in what all were asked"
        has = np.asarray(bottom.any(axis=1))
        without = [
            NotRanked(one.card, reason) for one, has_any in zip(members, has, strict=True)
            if not has_any
        ]  # fmt: skip
        members = [one for one, has_any in zip(members, has, strict=True) if has_any]
        shared, bottom = shared[has], bottom[has]
    if not members:
        return [], without
    if bottom is not None:
        per = _per_right if measure.bottom == RIGHT else _of_sums
        standings = per(shared, bottom, clusters, by)
    else:
        factor = len(cases) if measure.of == "total" else 1
        standings = _of_means(shared, clusters, by, factor, resamples)
    is_mean = measure.of == "mean"
    found = Ranked(
        [one.card for one in members],
        standings,
        "cases",
        by.name,
        cases,
        measured,
        sorted_distinct(first.place[inside]),
        shared if is_mean else None,
        clusters if is_mean else None,
    )
    return [found], without


def _of_means(
    table: Floats, clusters: Integers, by: Rankable, factor: int, resamples: int
) -> Standings:
    """Rank by the mean over cases, each with equal weight; the mean times `factor` is shown, which
    makes it a total.
    """
    kind: Kind = "share" if by.unit == "share" else "amount"
    ends = (0.0, 1.0) if kind == "share" else (-np.inf, np.inf)
    together = clusters if count_distinct(clusters) < len(clusters) else None
    scores = [
        _times(estimate(np.clip(row, *ends), kind, clusters=together), factor) for row in table
    ]
    table = table if factor == 1 else table * factor
    return by_cases(by_cluster(table, clusters), scores, by.better, resamples, by.alpha)


def _times(found: Estimate, factor: int) -> Estimate:
    value, low, high = (
        None if one is None else factor * one for one in (found.value, found.low, found.high)
    )
    return replace(found, value=value, low=low, high=high)


def _per_right(amounts: Floats, right: Floats, clusters: Integers, by: Rankable) -> Standings:
    """Rank by Σ amount ÷ Σ right, a ratio of totals, with Fieller's interval."""
    scores = [
        cost_figures(paid, won, clusters).per_success
        for paid, won in zip(amounts, right, strict=True)
    ]
    return by_ratios(
        by_cluster(amounts, clusters), by_cluster(right, clusters), scores, by.better, by.alpha
    )


def _of_sums(tops: Floats, bottoms: Floats, clusters: Integers, by: Rankable) -> Standings:
    """Rank by Σ top ÷ Σ bottom of a metric that a benchmark defines."""
    is_share = by.unit == "share"
    scores = [
        ratio_estimate(top, bottom, clusters, share=is_share)
        for top, bottom in zip(tops, bottoms, strict=True)
    ]
    sums = [
        Sums(top, bottom)
        for top, bottom in zip(
            by_cluster(tops, clusters), by_cluster(bottoms, clusters), strict=True
        )
    ]
    return by_ratios_of_sums(sums, scores, by.better, by.alpha, share=is_share)
