"""Contenders ranked on what they share: case by case, by whole repeats, or by overall scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from agentbench_tui.analysis.estimate import Estimate, Kind, estimate
from agentbench_tui.model.metric import METRICS
from agentbench_tui.verdicts.comparability import is_timed
from agentbench_tui.verdicts.scorecard import Scorecard, by_cluster, case_table, comparable_groups
from agentbench_tui.verdicts.standing import by_cases, by_intervals, by_repeats
from agentbench_tui.verdicts.tail import answers_needed
from agentbench_tui.verdicts.task_evidence import OF_OBSERVATIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.analysis.sample import Floats, Integers
    from agentbench_tui.analysis.scale import Better
    from agentbench_tui.verdicts.contenders import Contender
    from agentbench_tui.verdicts.scorecard import Group
    from agentbench_tui.verdicts.standing import Runs, Standings

OVERALL = "overall"

Way = Literal["cases", "repeats", "scores"]
Unranked = list[dict[str, str]]
"""Who has no place, and why: `name`, `reason`."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """Contenders that were ranked together."""

    cards: list[Scorecard]
    standings: Standings
    way: Way
    metric: str
    """What decided: `accuracy` also for `overall`, where nothing else counts for it."""
    shared: Integers
    """Cases that all were measured on, or places where not cases were ranked."""
    measured: int
    """What any of them was measured on, shared or not."""
    places: Integers
    """Where the cases are from."""
    table: Floats | None = None
    """Where cases were ranked, float64[members, cases]: the mean of each."""
    clusters: Integers | None = None
    """Of these cases, what is independent."""
    cases: Integers | None = None
    """Where repeats were ranked by what single answers took: the cases that all answered."""
    cases_measured: int = 0
    """Of these, what any of them answered."""
    several_runs: bool = False
    """Whether the machine has a say in the metric and they were not all measured in the same runs:
    then the between-run variance is assumed, but for overall scores, whose parts are unlike."""


def rank(
    cards: Sequence[Scorecard], metric: str, resamples: int = 10_000
) -> tuple[list[Ranked], Unranked]:
    """The groups that can be ranked together, the largest first, and who cannot be ranked at all.

    By accuracy and other shares, tokens and costs case by case; by times, and by what only whole
    repeats have, by whole repeats, times of the cases that all answered; by `overall` case by case
    where accuracy is all that counts for it, otherwise by the scores' own intervals.
    """
    if metric == OVERALL:
        if all(only_accuracy(card.contender) for card in cards):
            return rank(cards, "accuracy", resamples)
        return _ranked(cards, [_overall(card) for card in cards], "scores", metric)
    cards, few = _with_answers_enough(cards, metric)
    groups, lacking = _of_metric(cards, metric, resamples)
    return groups, lacking + few


def _with_answers_enough(
    cards: Sequence[Scorecard], metric: str
) -> tuple[list[Scorecard], Unranked]:
    """Without the places at which a percentile has too few answers in some repeat, and who has no
    other one."""
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
            few.append({"name": card.contender.name, "reason": reason})
        else:
            evidence = {place: one for place, one in card.evidence.items() if place not in short}
            kept.append(Scorecard(card.contender, evidence))
    return kept, few


def _of_metric(
    cards: Sequence[Scorecard], metric: str, resamples: int
) -> tuple[list[Ranked], Unranked]:
    if not cards:
        return [], []
    known = METRICS[metric.partition(".")[0]]
    samples = [card.samples(metric) for card in cards]
    columns = [card.by_case(metric) if metric in OF_OBSERVATIONS else None for card in cards]
    by_case = known.unit != "ms" and all(
        column is not None and (len(column[0]) > 0 or not sample)
        for column, sample in zip(columns, samples, strict=True)
    )
    if by_case:
        return _ranked_by_case(cards, metric, resamples)
    base = metric.partition(".")[0]
    if base in OF_OBSERVATIONS and all(card.has_cases_behind(metric) for card in cards):
        return _ranked_on_answered(cards, metric, base)
    return _ranked(cards, samples, "repeats", metric)


def _ranked_on_answered(
    cards: Sequence[Scorecard], metric: str, base: str
) -> tuple[list[Ranked], Unranked]:
    """By whole repeats, over the cases that all answered: who fails on the slow ones is not fast.

    Of these, the ones that all answered each time, where that is half of them or more.
    """
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
        (ranked,), _ = _ranked(members, samples, "repeats", metric)
        measured = int(answered[list(group.members)].any(axis=0).sum())
        found.append(replace(ranked, cases=cases, cases_measured=measured))
    return found, _lacking(cards, [len(cases) > 0 for cases, _ in columns], metric)


def _ranked_by_case(
    cards: Sequence[Scorecard], metric: str, resamples: int
) -> tuple[list[Ranked], Unranked]:
    columns = [card.by_case(metric) for card in cards]
    everything, table = case_table(columns)
    groups = [
        _group_by_case(
            [cards[row] for row in group.members], group, everything, table, metric, resamples
        )
        for group in comparable_groups(~np.isnan(table))
    ]
    return groups, _lacking(cards, [len(cases) > 0 for cases, _ in columns], metric)


def _group_by_case(
    members: list[Scorecard],
    group: Group,
    everything: Integers,
    table: Floats,
    metric: str,
    resamples: int,
) -> Ranked:
    cases, rows = everything[group.shared], list(group.members)
    first = members[0]
    inside = np.isin(first.case, cases)
    clusters = np.zeros(len(cases), np.int64)
    clusters[np.searchsorted(cases, first.case[inside])] = first.cluster[inside]
    shared = table[rows][:, group.shared]
    scores = [_score(row, clusters, metric) for row in shared]
    return Ranked(
        members,
        by_cases(by_cluster(shared, clusters), scores, _better(metric), resamples),
        "cases",
        metric,
        cases,
        int((~np.isnan(table[rows])).any(axis=0).sum()),
        np.unique(first.place[inside]),
        shared,
        clusters,
    )


def _ranked(
    cards: Sequence[Scorecard],
    samples: Sequence[dict[int, Any]],
    way: Way,
    metric: str,
) -> tuple[list[Ranked], Unranked]:
    """By what each contender has of each place: values of repeats, or the overall score."""
    count = 1 + max((place for one in samples for place in one), default=-1)
    present = np.array([[place in one for place in range(count)] for one in samples], bool)
    groups = []
    for group in comparable_groups(present.reshape(len(cards), count)):
        runs: list[Runs] = []
        shared = [int(place) for place in group.shared]
        chosen = [[samples[row][place] for place in shared] for row in group.members]
        if way == "scores":
            runs = _runs_at([cards[row] for row in group.members], shared)
            standings = by_intervals([_mean_score(one) for one in chosen], "higher")
        else:
            share = METRICS[metric.partition(".")[0]].unit == "share"
            runs = _runs_of([cards[row] for row in group.members], shared, metric)
            standings = by_repeats(chosen, _better(metric), share=share, runs=runs)
        groups.append(
            Ranked(
                [cards[row] for row in group.members],
                standings,
                way,
                metric,
                group.shared,
                int(present[list(group.members)].any(axis=0).sum()),
                group.shared,
                several_runs=any(one != runs[0] for one in runs),
            )
        )
    return groups, _lacking(cards, [bool(one) for one in samples], metric)


def _lacking(cards: Sequence[Scorecard], has: Sequence[bool], metric: str) -> Unranked:
    return [
        {
            "name": card.contender.name,
            "reason": f"no {metric}: not measured, or too few answers for it",
        }
        for card, known in zip(cards, has, strict=True)
        if not known
    ]


def _runs_of(cards: Sequence[Scorecard], shared: Sequence[int], metric: str) -> list[Runs]:
    """Of each contender the runs at each place; empty where the machine has no say in it."""
    found = [[card.evidence[place] for place in shared] for card in cards]
    if not any(is_timed(metric, *sides) for sides in found):
        return []
    return _runs_at(cards, shared)


def _runs_at(cards: Sequence[Scorecard], shared: Sequence[int]) -> list[Runs]:
    return [
        [{row["run_key"] for row in card.evidence[place].executions} for place in shared]
        for card in cards
    ]


def _better(metric: str) -> Better:
    return "lower" if METRICS[metric.partition(".")[0]].direction == "lower" else "higher"


def _score(by_case: Floats, clusters: Integers, metric: str) -> Estimate:
    """The mean over cases, each of which counts once however often it was asked; the standing's
    score is the same."""
    kind: Kind = "share" if METRICS[metric].unit == "share" else "amount"
    values = np.clip(by_case, 0.0, 1.0) if kind == "share" else by_case
    return estimate(values, kind, clusters=clusters)


def only_accuracy(contender: Contender) -> bool:
    """Whether its overall scores are its accuracy, because nothing else has a weight."""
    return all(
        row["overall_score"] is not None and row["overall_score"] == row["accuracy_score"]
        for row in contender.executions
    )


def _overall(card: Scorecard) -> dict[int, list[dict[str, Any]]]:
    """Place → its executions, where all have an overall score."""
    by_place: dict[int, list[dict[str, Any]]] = {
        place: list(one.executions) for place, one in card.evidence.items()
    }
    return {
        place: rows
        for place, rows in by_place.items()
        if all(row["overall_score"] is not None for row in rows)
    }


def _mean_score(places: Sequence[list[dict[str, Any]]]) -> Estimate:
    """Mean over places of the mean over executions, which are taken as independent."""
    rows = [(row, 1 / len(one) / len(places)) for one in places for row in one]
    value = sum(weight * row["overall_score"] for row, weight in rows)
    if any(row["overall_low"] is None for row, _ in rows):
        return Estimate(value, None, None, len(rows), "mean of overall scores")
    below = sum((weight * (row["overall_score"] - row["overall_low"])) ** 2 for row, weight in rows)
    above = sum(
        (weight * (row["overall_high"] - row["overall_score"])) ** 2 for row, weight in rows
    )
    low, high = value - below**0.5, value + above**0.5
    return Estimate(value, low, high, len(rows), "mean of overall scores")
