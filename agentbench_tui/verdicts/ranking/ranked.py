"""Ranks contenders on what they share: case by case, by whole repeats, or by their scores."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from agentbench_tui.verdicts.evidence.comparability import is_timed
from agentbench_tui.verdicts.evidence.tail import answers_needed
from agentbench_tui.verdicts.evidence.task_evidence import OF_OBSERVATIONS
from agentbench_tui.verdicts.ranking.rankable import OVERALL, rankable
from agentbench_tui.verdicts.ranking.ranked_by_case import case_measure, ranked_by_case
from agentbench_tui.verdicts.ranking.ranked_by_score import ranked_by_score
from agentbench_tui.verdicts.ranking.ranked_group import NotRanked, Ranked, Rankings
from agentbench_tui.verdicts.ranking.scorecard import (
    Scorecard,
    case_table,
    comparable_groups,
    runs_at,
)
from agentbench_tui.verdicts.ranking.standing import by_repeats

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentbench_tui.verdicts.ranking.execution_scores import ExecutionScore
    from agentbench_tui.verdicts.ranking.rankable import Rankable
    from agentbench_tui.verdicts.ranking.standing import Runs
    from agentbench_tui.verdicts.selection.contenders import Contender


def rank(
    cards: Sequence[Scorecard],
    metric: str,
    resamples: int = 10_000,
    scores: Mapping[int, ExecutionScore] | None = None,
    boards: int = 1,
) -> Rankings:
    """Return the groups that can be ranked together, the largest first, and contenders that cannot
    be ranked.

    By shares, tokens, costs and what episodes of a market bring case by case; by times, and by what
    only whole repeats have, by whole repeats, times of the cases that all answered; by scores by
    their own intervals, but by `overall` case by case where accuracy is all that counts for it.
    `scores` are those of the executions, by key (see `execution_scores`), and needed for scores.
    `boards`: how many are judged together, such as those of groups of cases; each then has its
    share of the 5% (Bonferroni). Raises UsageError for what nobody can be ranked by.
    """
    by = rankable(metric)
    if by.name == OVERALL and all(only_accuracy(card.contender) for card in cards):
        by = rankable("accuracy")
    if by.kind == "score":
        return ranked_by_score(cards, by, scores or {})
    by = replace(by, alpha=by.alpha / boards)
    cards, few = _with_answers_enough(cards, by.name)
    groups, lacking = _of_metric(cards, by, resamples)
    return groups, lacking + few


def _with_answers_enough(
    cards: Sequence[Scorecard], metric: str
) -> tuple[list[Scorecard], list[NotRanked]]:
    """Drop places at which a percentile has too few answers in some repeat, and contenders without
    another.
    """
    fewest = answers_needed(metric)
    if fewest == 1:
        return list(cards), []
    kept, few = [], []
    for card in cards:
        counts = {place: one.fewest_answers(metric) for place, one in card.evidence.items()}
        short = {place for place, count in counts.items() if 0 < count < fewest}
        if short and len(short) == len(counts):
            have = max(counts.values())
            reason = f"{metric} needs {fewest:,} answers per repeat (has {have:,})"
            few.append(NotRanked(card, reason))
        else:
            evidence = {place: one for place, one in card.evidence.items() if place not in short}
            kept.append(Scorecard(card.contender, evidence))
    return kept, few


def _of_metric(cards: Sequence[Scorecard], by: Rankable, resamples: int) -> Rankings:
    if not cards:
        return [], []
    measure = case_measure(cards, by)
    if measure is not None:
        return ranked_by_case(cards, by, measure, resamples)
    if by.base in OF_OBSERVATIONS and all(card.has_cases_behind(by.name) for card in cards):
        return _ranked_on_answered(cards, by)
    return _by_repeats(cards, [card.samples(by.name) for card in cards], by)


def _ranked_on_answered(cards: Sequence[Scorecard], by: Rankable) -> Rankings:
    """Rank by whole repeats, over the cases that all contenders answered, since failing on slow
    cases must not look fast. Uses those that all answered each time, if these are at least half.
    """
    base, metric = by.base, by.name
    columns = [card.by_case(base) for card in cards]
    everything, table = case_table(columns)
    answered = ~np.isnan(table)
    found = []
    for group in comparable_groups(answered):
        members = [cards[row] for row in group.members]
        cases = always = everything[group.shared]
        for card in members:
            always = np.intersect1d(always, card.always_answered(base))
        if 2 * len(always) >= len(cases):
            cases = always
        samples = [card.samples_of(metric, cases) for card in members]
        (ranked,), _ = _by_repeats(members, samples, by)
        measured = int(answered[list(group.members)].any(axis=0).sum())
        found.append(replace(ranked, cases=cases, cases_measured=measured))
    return found, _lacking(cards, [len(cases) > 0 for cases, _ in columns])


def _by_repeats(
    cards: Sequence[Scorecard], samples: Sequence[dict[int, Any]], by: Rankable
) -> Rankings:
    """Rank by the values of the repeats that each contender has at each place."""
    count = 1 + max((place for one in samples for place in one), default=-1)
    present = np.array([[place in one for place in range(count)] for one in samples], bool)
    groups = []
    for group in comparable_groups(present.reshape(len(cards), count)):
        members = [cards[row] for row in group.members]
        shared = [int(place) for place in group.shared]
        runs = _runs_of(members, shared, by.name)
        chosen = [[samples[row][place] for place in shared] for row in group.members]
        groups.append(
            Ranked(
                members,
                by_repeats(chosen, by.better, share=by.unit == "share", runs=runs, alpha=by.alpha),
                "repeats",
                by.name,
                group.shared,
                int(present[list(group.members)].any(axis=0).sum()),
                group.shared,
                several_runs=any(one != runs[0] for one in runs),
            )
        )
    return groups, _lacking(cards, [bool(one) for one in samples])


def _lacking(cards: Sequence[Scorecard], has: Sequence[bool]) -> list[NotRanked]:
    return [NotRanked(card) for card, known in zip(cards, has, strict=True) if not known]


def _runs_of(cards: Sequence[Scorecard], shared: Sequence[int], metric: str) -> list[Runs]:
    """Return the runs of each contender at each place; empty if the metric does not depend on
    the machine.
    """
    found = [[card.evidence[place] for place in shared] for card in cards]
    return runs_at(cards, shared) if any(is_timed(metric, *one) for one in found) else []


def only_accuracy(contender: Contender) -> bool:
    """Return whether its overall scores equal its accuracy, because nothing else has a weight."""
    return all(
        row["overall_score"] is not None and row["overall_score"] == row["accuracy_score"]
        for row in contender.executions
    )
