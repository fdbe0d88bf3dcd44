"""Notes on a board: runs, excluded cases, different definitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.analysis.runs.between_run import ASSUMED_SD
from agentbench_tui.verdicts.clusters.cluster_words import board_words
from agentbench_tui.verdicts.evidence.comparability import differences
from agentbench_tui.verdicts.evidence.shared_cases import shared_cases_words
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence
from agentbench_tui.verdicts.ranking.rankable import rankable
from agentbench_tui.verdicts.ranking.ranked_by_case import case_measure, unknown_places
from agentbench_tui.verdicts.selection.partial_runs import partial_run_words

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

    from agentbench_tui.verdicts.clusters.undeclared_clusters import Finding
    from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
    from agentbench_tui.verdicts.evidence.evidence import Evidence
    from agentbench_tui.verdicts.ranking.ranked_group import Ranked
    from agentbench_tui.verdicts.ranking.scorecard import PlaceNumbers


def board_notes(
    connection: sqlite3.Connection,
    ranked: Ranked,
    places: PlaceNumbers,
    numbers: CaseNumbers,
    clusters: Mapping[int, Finding],
) -> list[str]:
    """Return sentences on contenders that were ranked together; `clusters` are the detected ones,
    by place.
    """
    return [
        *_of_several_runs(ranked),
        *_unanswered(ranked),
        *_shared(ranked),
        *_partial_runs(ranked),
        *_unknown(ranked, places),
        *_clusters(ranked, places, clusters),
        *_unlike(connection, ranked, places, numbers),
    ]


def _clusters(ranked: Ranked, places: PlaceNumbers, clusters: Mapping[int, Finding]) -> list[str]:
    """Describe the detected clusters."""
    if ranked.way != "cases":
        return []
    return [
        f"{'/'.join(places.place(place)[:2])}: {board_words(clusters[place])}"
        for place in map(int, ranked.places)
        if place in clusters
    ]


def _shared(ranked: Ranked) -> list[str]:
    """Say how many cases are asked in several of the places that are ranked together."""
    if ranked.way != "cases":
        return []
    first = ranked.cards[0]
    by_place = [
        one.case
        for place in map(int, ranked.places)
        if isinstance(one := first.evidence[place], TaskEvidence)
    ]
    words = shared_cases_words(by_place, "benchmarks or points of a sweep")
    return [words] if words else []


def _partial_runs(ranked: Ranked) -> list[str]:
    rows = [row for card in ranked.cards for row in card.contender.executions]
    return partial_run_words(rows, "`agentbench leaderboard --run {run}` shows the partial one")


def _of_several_runs(ranked: Ranked) -> list[str]:
    if not ranked.several_runs:
        return []
    assumed = f"ranks and intervals assume that runs differ by {100 * ASSUMED_SD:.0f}%"
    advice = "One run of all agents ranks them more closely."
    return [f"Speed was measured in different runs, so {assumed}. {advice}"]


def _unanswered(ranked: Ranked) -> list[str]:
    if ranked.cases is None or len(ranked.cases) == ranked.cases_measured:
        return []
    left = ranked.cases_measured - len(ranked.cases)
    return [f"over the {len(ranked.cases)} cases that all of them answered; {left} left out"]


def _unknown(ranked: Ranked, places: PlaceNumbers) -> list[str]:
    """Say whose cases were excluded because the price of some answers is unknown."""
    by = rankable(ranked.metric)
    measure = case_measure(ranked.cards, by)
    if ranked.way != "cases" or measure is None:
        return []
    return [
        f"{by.name} is unknown for {unknown:,} of {answered:,} answers of {card.contender.name} on"
        f" {'/'.join(places.place(place)[:2])}: its cases are left out"
        for card in ranked.cards
        for place, unknown, answered in unknown_places(card, by, measure)
    ]


def _unlike(
    connection: sqlite3.Connection, ranked: Ranked, places: PlaceNumbers, numbers: CaseNumbers
) -> list[str]:
    """Name contenders that were measured differently from the first, although the cases are the
    same.
    """
    of: dict[str, list[str]] = {}
    first, *others = ranked.cards
    for place in map(int, ranked.places):
        base = first.evidence[place]
        for card in others:
            evidence = card.evidence[place]
            if _suites(evidence) == _suites(base):
                continue
            for one in differences(connection, base, evidence, numbers):
                if one.what == "definition":
                    where = "/".join(places.place(place)[:2])
                    of.setdefault(f"{where}: {one.words}", []).append(card.contender.name)
    head = first.contender.name
    return [f"{words} ({head} against {', '.join(names)})" for words, names in of.items()]


def _suites(evidence: Evidence) -> set[str]:
    return {row["suite_hash"] for row in evidence.executions}
