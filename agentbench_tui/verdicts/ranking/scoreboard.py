"""Boards of a leaderboard: which agents can be ranked together, on which data, and how certain the
ranks are.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from agentbench_tui.analysis.boards.rating import bradley_terry_by_case, outcomes_by_case
from agentbench_tui.analysis.resampling.resampling import BOOTSTRAP_FROM
from agentbench_tui.contracts.document import finite, plain
from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.figures.dimension import DIMENSIONS
from agentbench_tui.model.figures.metric import COMPARED, find_metric
from agentbench_tui.verdicts.cost.cost import cost_per_outcome, spending
from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
from agentbench_tui.verdicts.evidence.comparability import is_timed
from agentbench_tui.verdicts.evidence.declared_metrics import (
    declare_benchmark_metrics,
    declare_metrics_of,
    undeclared_metrics,
)
from agentbench_tui.verdicts.ranking.board_clusters import (
    with_declared_clusters,
    with_found_clusters,
)
from agentbench_tui.verdicts.ranking.board_notes import board_notes
from agentbench_tui.verdicts.ranking.execution_scores import execution_scores
from agentbench_tui.verdicts.ranking.grouped_cards import (
    cards_by_group,
    check_by_cases,
    check_field,
    clustered_at,
    largest_first,
    without_own,
)
from agentbench_tui.verdicts.ranking.missing_interval import why_not_ranked, why_without_interval
from agentbench_tui.verdicts.ranking.output_columns import with_column_of
from agentbench_tui.verdicts.ranking.over_tasks import over_tasks
from agentbench_tui.verdicts.ranking.rankable import rankable
from agentbench_tui.verdicts.ranking.ranked import rank
from agentbench_tui.verdicts.ranking.scorecard import PlaceNumbers, scorecards
from agentbench_tui.verdicts.ranking.standing import SEED
from agentbench_tui.verdicts.score_means import mean_of_all
from agentbench_tui.verdicts.selection.contenders import (
    Wanted,
    contenders,
    contenders_by_category,
    harness_of,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

    from agentbench_tui.verdicts.clusters.undeclared_clusters import Finding
    from agentbench_tui.verdicts.evidence.place import Execution
    from agentbench_tui.verdicts.ranking.execution_scores import ExecutionScore
    from agentbench_tui.verdicts.ranking.rankable import Rankable
    from agentbench_tui.verdicts.ranking.ranked_group import Ranked
    from agentbench_tui.verdicts.ranking.scorecard import Scorecard
    from agentbench_tui.verdicts.ranking.standing import Standing
    from agentbench_tui.verdicts.selection.contenders import Contender

_MOST_OUTCOMES = 8_000_000
"""Values of a table of outcomes, cases × contenders²; a larger one would take seconds."""

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class BoardAsked:
    """Request for a leaderboard."""

    metric: str | None = None
    """None for accuracy, or `e2e_ms` on boards without right or wrong answers, or `resilience` if
    there is only stress.
    """
    overall: bool = False
    """One board over all categories, instead of one for each."""
    rating: bool = False
    """Bradley-Terry ratings too."""
    wanted: Wanted = field(default_factory=Wanted)
    cluster: str | None = None
    """A field whose values are the clusters of cases; None to look for clusters."""
    by_field: str | None = None
    """A field of the cases: a board for each of its values."""
    groups_shown: int = 30
    lines: int | None = None
    """Number of standings per board, the first ones; None for all."""


def boards(connection: sqlite3.Connection, asked: BoardAsked) -> list[Document]:
    """Return the requested boards, in order; simulated contenders have separate boards.

    Raises UsageError for a metric that cannot rank.
    """
    by_category = contenders_by_category(connection, asked.wanted)
    if asked.by_field is not None:
        check_field(connection, by_category, asked.by_field)
    if asked.metric is not None:
        _check(connection, asked.metric, by_category)
    everyone: list[tuple[str | None, list[Contender]]] = [*by_category.items()]
    if asked.overall:
        rows = [row for those in by_category.values() for one in those for row in one.executions]
        rows.sort(key=lambda row: (row["created_at"], row["key"]))
        everyone = [(None, contenders(connection, rows, asked.wanted.by))] if rows else []
    return [
        board
        for category, those in everyone
        for simulated in (False, True)
        for board in _boards(
            connection, category, [one for one in those if one.simulated == simulated], asked
        )
    ]


def _check(
    connection: sqlite3.Connection, metric: str, by_category: Mapping[str, Sequence[Contender]]
) -> None:
    """Raise UsageError for a metric that cannot rank; experiments have their own metrics."""
    declare_benchmark_metrics(connection)
    if find_metric(metric) is None:
        agents = {one.agent_id for those in by_category.values() for one in those}
        for agent in agents:
            declare_metrics_of(connection, agent)
        if any(metric in undeclared_metrics(connection, agent) for agent in agents):
            raise UsageError(
                f"--metric {metric}: the experiment that returned it does not say which way is"
                " better; give its class `better`"
            )
    rankable(metric)


def _boards(
    connection: sqlite3.Connection,
    category: str | None,
    those: Sequence[Contender],
    asked: BoardAsked,
) -> list[Document]:
    if not those:
        return []
    numbers = CaseNumbers(connection)
    places = PlaceNumbers()
    cards = scorecards(connection, those, numbers, places)
    by = rankable(asked.metric or _default_metric(cards))
    scores: Mapping[int, ExecutionScore] = {}
    if by.kind == "score":
        rows = [row for one in those for row in one.executions]
        scores = execution_scores(connection, rows, by)
    sides = [one for card in cards for one in card.evidence.values()]
    if is_timed(by.name, *sides) or any(one.is_timed for one in scores.values()):
        places = PlaceNumbers(by_machine=True)
        cards = scorecards(connection, those, numbers, places)
    cards = [with_column_of(connection, card, by) for card in cards]
    clusters: dict[int, Finding] = {}
    if asked.cluster is not None:
        cards = with_declared_clusters(cards, numbers, asked.cluster)
    else:
        found_cards, clusters = with_found_clusters(cards, by.name, numbers)
        if asked.by_field is not None:
            clusters = without_own(clusters, asked.by_field)
        cards = clustered_at(cards, found_cards, clusters)
    head: Document = {"category": category, "simulated": those[0].simulated, "metric": by.name}
    head |= {"field": None, "group": None}
    if asked.by_field is not None:
        return _of_groups(connection, _Cards(cards, places, numbers, {}, clusters), by, head, asked)
    found = _of_cards(connection, _Cards(cards, places, numbers, scores, clusters), by, head, asked)
    for place, board in enumerate(found):
        board["apart"] = place > 0
    return found


@dataclass(frozen=True)
class _Cards:
    """Data that contenders are ranked on."""

    cards: Sequence[Scorecard]
    places: PlaceNumbers
    numbers: CaseNumbers
    scores: Mapping[int, ExecutionScore]
    clusters: Mapping[int, Finding]
    """Detected clusters of each place."""


def _of_groups(
    connection: sqlite3.Connection, of: _Cards, by: Rankable, head: Document, asked: BoardAsked
) -> list[Document]:
    """Return the boards of each group of cases, all judged together."""
    assert asked.by_field is not None
    check_by_cases(of.cards, by, asked.by_field)
    parts, label = cards_by_group(connection, of.cards, of.places, of.numbers, asked.by_field)
    shown = largest_first(parts)[: asked.groups_shown]
    found: list[Document] = []
    for group in (one for one in parts if one in shown):
        own = head | {"field": label, "group": group.name}
        own_cards = replace(of, cards=group.cards)
        boards_of_group = _of_cards(connection, own_cards, by, own, asked, len(parts))
        for place, board in enumerate(boards_of_group):
            board["apart"] = place > 0
            for line in board["standings"]:  # scores are of whole executions
                line |= {"overall": None, "scores": dict.fromkeys(DIMENSIONS), "score_reason": ""}
        found += boards_of_group
    if len(parts) > len(shown) and found:
        found[-1]["notes"].append(
            f"{len(parts) - len(shown)} more groups with fewer cases (--by-limit)"
        )
    return found


def _of_cards(
    connection: sqlite3.Connection,
    of: _Cards,
    by: Rankable,
    head: Document,
    asked: BoardAsked,
    together: int = 1,
) -> list[Document]:
    """Return the boards of contenders; `together` are judged at once."""
    places, numbers = of.places, of.numbers
    groups, not_ranked = rank(of.cards, by.name, scores=of.scores, boards=together)
    unranked = [
        {"name": one.card.contender.name, "reason": why_not_ranked(connection, one, by)}
        for one in not_ranked
    ]
    found = [head | _board(connection, one, places, asked) for one in groups]
    for board, ranked in zip(found, groups, strict=True):
        board["notes"] = board_notes(connection, ranked, places, numbers, of.clusters)
    if unranked:
        nobody: Document = {
            "ranked_by": None,
            "method": None,
            "benchmarks": [],
            "shared": 0,
            "left_out": 0,
            "notes": [],
        }
        found = found or [head | nobody | {"standings": [], "more": 0}]
        found[-1]["unranked"] = unranked
    return found


def _default_metric(cards: Sequence[Scorecard]) -> str:
    for metric in ("accuracy", "e2e_ms", "resilience"):
        if any(len(card.samples(metric)) for card in cards):
            return metric
    return "e2e_ms"


def _board(
    connection: sqlite3.Connection, ranked: Ranked, places: PlaceNumbers, asked: BoardAsked
) -> Document:
    """Return one group's board, in order of position; `more` is the number of ranked contenders
    not listed.
    """
    names = [card.contender.name for card in ranked.cards]
    labels = ranked.standings.labels()
    order = sorted(
        range(len(names)), key=lambda row: (ranked.standings.rows[row].position, names[row])
    )
    shown = order[: asked.lines]
    more = _over_tasks(ranked, order[: len(shown) + 1])
    ratings = _ratings(ranked) if asked.rating else None
    lines = []
    for place, row in enumerate(shown):
        card = ranked.cards[row]
        line = _standing(names, row, ranked.standings.rows[row], labels[row])
        line |= _of_contender(connection, card, ranked)
        line |= more[place]
        if ratings is not None:
            line["rating"] = ratings[row]
        lines.append(line)
    by = rankable(ranked.metric)
    return {
        "unit": by.unit,
        "better": by.better,
        "ranked_by": ranked.way,
        "method": ranked.standings.method,
        "benchmarks": sorted({"/".join(places.place(int(one))[:2]) for one in ranked.places}),
        "shared": len(ranked.shared),
        "left_out": ranked.measured - len(ranked.shared),
        "standings": lines,
        "more": len(order) - len(shown),
        "unranked": [],
    }


def _standing(names: Sequence[str], row: int, place: Standing, label: str) -> Document:
    others = {*range(len(names))} - {row, *place.ahead_of, *place.behind}
    return {
        "name": names[row],
        "rank": place.position,
        "rank_low": place.rank_low,
        "rank_high": place.rank_high,
        "shared_rank": place.rank,
        "rank_shown": label,
        "score": place.score,
        "low": finite(place.low),
        "high": finite(place.high),
        "ahead_of": sorted(names[other] for other in place.ahead_of),
        "behind": sorted(names[other] for other in place.behind),
        "not_told_apart_from": sorted(names[other] for other in others),
        "reason": place.reason,
    }


def _of_contender(connection: sqlite3.Connection, card: Scorecard, ranked: Ranked) -> Document:
    """Return figures listed next to the rank: for the board's places, and costs of its cases."""
    contender = card.contender
    shown = {int(place) for place in ranked.places}
    rows = [row for place, one in card.evidence.items() if place in shown for row in one.executions]
    found: Document = {
        "agent_id": contender.agent_id,
        "agent_version": contender.agent_version,
        "simulated": contender.simulated,
        "overall": mean_of_all([row["overall_score"] for row in rows]),
        "score_reason": _why_without_interval(connection, rows, ranked),
    }
    found["scores"] = {
        name: mean_of_all([row[f"{name}_score"] for row in rows]) for name in DIMENSIONS
    }
    cases = ranked.shared if ranked.way == "cases" else card.case[np.isin(card.place, [*shown])]
    found |= plain(cost_per_outcome(spending(card, cases)))
    found["harness"] = harness_of(connection, rows)
    found["last_benchmark_date"] = max(row["created_at"] for row in rows)
    return found


def _why_without_interval(
    connection: sqlite3.Connection, rows: Sequence[Execution], ranked: Ranked
) -> str:
    """Say why a score has no interval; empty if it has one."""
    if ranked.way != "scores":
        return ""
    if ranked.metric in COMPARED:
        return f"{ranked.metric} depends on the others, and has no interval"
    return why_without_interval(connection, rows, ranked.metric)


def _over_tasks(ranked: Ranked, order: Sequence[int]) -> list[Document]:
    """See `over_tasks`; empty unless shares of cases were ranked."""
    if ranked.table is None or rankable(ranked.metric).unit != "share":
        return [{"iqm": None, "improvement": None, "profile": None}] * len(order)
    return over_tasks([ranked.cards[row] for row in order], ranked.metric, ranked.shared)


def _ratings(ranked: Ranked) -> list[Document]:
    """Return Bradley–Terry ratings from which agent did better on each shared case, ties half;
    without intervals if the prior decides, since resampling the cases does not change it.
    """
    nothing: Document = {"value": None, "low": None, "high": None}
    count = len(ranked.cards)
    if ranked.table is None or ranked.clusters is None:
        reason = "rated are only those that were ranked case by case"
        return [nothing | {"reason": reason}] * count
    if count == 1:
        return [nothing | {"reason": "no other agent to compare with"}]
    if ranked.table.shape[1] * count**2 > _MOST_OUTCOMES:
        reason = f"more than {_MOST_OUTCOMES:,} outcomes (cases × agents²); give --suite"
        return [nothing | {"reason": reason}] * count
    outcomes = outcomes_by_case(
        ranked.table, higher_is_better=rankable(ranked.metric).better == "higher"
    )
    _, at = np.unique(ranked.clusters, return_inverse=True)
    by_unit = np.zeros((int(at.max()) + 1, count, count))
    np.add.at(by_unit, at.reshape(-1), outcomes)
    found = bradley_terry_by_case(by_unit, seed=SEED)
    reason = ""
    if len(by_unit) < BOOTSTRAP_FROM:
        reason = f"needs {BOOTSTRAP_FROM} independent cases (have {len(by_unit):,})"
    elif found.prior_decides:
        reason = "only by a weak prior: some agent never lost"
    return [
        {
            "value": finite(one.rating),
            "low": None if reason else finite(one.low),
            "high": None if reason else finite(one.high),
            "reason": reason,
        }
        for one in found.players
    ]
