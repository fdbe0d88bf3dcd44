"""Tables of the leaderboard page: the ranks, and the details of an agent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentbench_tui.model.figures.dimension import DIMENSIONS
from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.presentation.numbers import (
    MISSING,
    amount,
    estimate,
    measure_of,
    money_each,
    of_dimension,
    percent,
    score,
    with_interval,
)
from agentbench_tui.tui.drawing.drawn_cells import interval_cell
from agentbench_tui.tui.drawing.grid_data import Cell, Column, GridData, GridRow, Role
from agentbench_tui.tui.drawing.money import Money, money_of
from agentbench_tui.tui.drawing.plot_data import Line, PlotData
from agentbench_tui.tui.widgets.filter_line import holds
from agentbench_tui.tui.widgets.interval_cell import Interval, interval_column
from agentbench_tui.tui.widgets.radar import Radar, Shape
from agentbench_tui.tui.widgets.sentences import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentbench_tui.tui.agent_series import AgentSeries
    from agentbench_tui.verdicts.ranking.leaders import Leaders

Document = dict[str, Any]

TOP = 3
"""Ranks that are highlighted."""
_MOST_NAMED = 4
_MOST_PROFILES = 4
_BENCHMARKS = (
    Column("benchmark", "benchmark", 12, flex=3),
    Column("overall", "overall", 7, align="right", priority=1),
    *(
        Column(name, name, max(5, len(name)), align="right", priority=2 + place)
        for place, name in enumerate(DIMENSIONS)
    ),
    Column("answers", "answers", 7, align="right", priority=8),
)


@dataclass(frozen=True, slots=True)
class Leader:
    """One line of a board, with the data behind it."""

    key: str
    board: Document
    line: Document
    details: Document

    @property
    def next(self) -> Document | None:
        """Return the line below it."""
        lines = self.board["standings"]
        place = lines.index(self.line) + 1
        return lines[place] if place < len(lines) else None


def leaders_by_key(found: Leaders) -> dict[str, Leader]:
    """Return every line of every board, in order."""
    lines = {}
    for number_of, board in enumerate(found.boards):
        for line in board["standings"]:
            key = f"{number_of}/{line['name']}"
            lines[key] = Leader(key, board, line, found.details[line["name"], line["simulated"]])
    return lines


def board_title(board: Document, days: int | None) -> str:
    """Format `agents by accuracy on 137 cases, last 30 days`."""
    who = "simulated agents" if board["simulated"] else "agents"
    window = "all days" if days is None else "last day" if days == 1 else f"last {days} days"
    if board["ranked_by"] is None:
        return f"{who}: no agent can be ranked by {board['metric']}, {window}"
    count, thing = board["shared"], "case"
    if board["ranked_by"] != "cases":
        count, thing = len(board["benchmarks"]), "benchmark"
    return f"{who} by {board['metric']} on {counted(count, thing)}, {window}"


def board_table(
    leaders: Sequence[Leader],
    marked: Sequence[str],
    series: AgentSeries,
    words: str = "",
    reason: str = "",
) -> GridData:
    """Return the lines of related boards that contain all of the `words`; separate rankings
    follow a heading. `marked` are selectors marked for a comparison.
    """
    shown = [one for one in leaders if holds(words, one.line["name"])]
    drawn = [_interval(one.line) for one in leaders]
    board = leaders[0].board if leaders else None
    column = interval_column(drawn, "" if board is None else board["unit"])
    money = money_of(one.line["cost_usd_per_success"]["value"] for one in leaders)
    markers = _markers(leaders, series)
    rows: list[GridRow] = []
    before: Document | None = None
    for one in shown:
        if before is not None and one.board is not before:
            rows.append(GridRow(f"{one.key}#", ("", Cell(_apart(one.board), role="dim")), "dim"))
        before = one.board
        score = interval_cell(_interval(one.line), column)
        rows.append(_row(one, score, money, marked, markers.get(one.key)))
    return GridData(_columns(board, money), rows, reason=reason or f"no agent with “{words}”")


def _boards(leaders: Sequence[Leader]) -> list[Document]:
    """Return each board once, in order."""
    return list({id(one.board): one.board for one in leaders}.values())


def _markers(leaders: Sequence[Leader], series: AgentSeries) -> dict[str, int]:
    """Return key → series, for marker and color, of the agents in the plot of profiles or, without
    a plot, of the first ones. Simulated agents have none.
    """
    boards = [[one for one in leaders if one.board is board] for board in _boards(leaders)]
    profiled = {one.key for those in boards for one in _profiled(those)}
    marked = [one for one in leaders
              if not one.line["simulated"] and (one.key in profiled or _is_top(one))]  # fmt: skip
    numbers = series.of(one.line["name"] for one in marked)
    return {one.key: numbers[one.line["name"]] for one in marked}


def _is_top(one: Leader) -> bool:
    """Return whether an agent without a profile is among the first of several."""
    is_first = one.line["shared_rank"] <= TOP and len(one.board["standings"]) > 1
    return is_first and one.line["profile"] is None


def _columns(board: Document | None, money: Money) -> tuple[Column, ...]:
    metric = "score" if board is None else board["metric"]
    name = 10 if board is None or not board["simulated"] else 16
    return (
        Column("rank", "#", 5, align="right"),
        Column("agent", "agent", name, flex=2, has_names=True),
        Column("score", f"{metric}{_noun(board)} [95%]", 30, flex=5),
        Column("ranks", "ranks", 5, align="right", priority=2),
        Column("answers", "answers", 7, align="right", priority=3),
        Column("runs", "runs", 4, align="right", priority=5),
        Column("overall", "overall", 7, align="right", priority=6),
        money.column("success", "right", 11, "right", priority=4),
        Column("harness", "harness", 9, priority=7),
    )


def _noun(board: Document | None) -> str:
    """Return the unit of a metric whose values are written without it."""
    unit = "" if board is None else board["unit"] or ""
    return f", {unit}" if unit and measure_of(unit) is amount else ""


def _row(
    one: Leader, scored: Cell, money: Money, marked: Sequence[str], series: int | None
) -> GridRow:
    """Return a row; `series` is for its marker, if it has one."""
    line, rank = one.line, one.line["shared_rank"]
    is_top = rank <= TOP and not line["simulated"] and len(one.board["standings"]) > 1
    harness = line["harness"]
    return GridRow(
        one.key,
        (
            Cell(line["rank_shown"], series=series),
            ("+ " if line["name"] in marked else "")
            + line["name"]
            + (" (simulated)" if line["simulated"] else ""),
            scored,
            _ranks(line),
            f"{one.details['answers']:,}",
            f"{one.details['runs']:,}",
            score(line["overall"]),
            money.shown(line["cost_usd_per_success"]["value"]),
            Cell(harness or MISSING, role="warn" if harness not in {"clean", None} else None),
        ),
        role="title" if is_top else "text",
    )


def _apart(board: Document) -> str:
    if board["ranked_by"] == "cases":
        return "apart: they share less than half of the cases"
    return "apart: another machine, or too few shared benchmarks"


def _interval(line: Document) -> Interval:
    return Interval(line["score"], line["low"], line["high"], line["reason"])


def _ranks(line: Document) -> str:
    low, high = line["rank_low"], line["rank_high"]
    if low is None:
        return MISSING
    return f"{low}–{high}" if high > low else str(low)


def facts_of(one: Leader) -> list[Sentence]:
    """Return facts about one leader."""
    line, found = one.line, one.details
    improvement = line["improvement"] or {}
    return [
        Sentence(_rank_words(one), "rank"),
        Sentence(_names(line["ahead_of"]), "ahead of"),
        Sentence(_names(line["behind"]), "behind"),
        Sentence(_names(line["not_told_apart_from"]), "may equal"),
        Sentence(_beats(improvement), f"beats {improvement.get('over', 'the next')}"),
        Sentence(_figure(line["cost_usd_per_success"], money_each), "USD per right"),
        Sentence(_figure(line["iqm"], score), "mean of middle"),
        Sentence(_measured(line, found), "measured"),
        Sentence(line["harness"] or MISSING, "harness", _harness_role(line)),
        *(Sentence(words, "note", "dim") for words in notes_of(one.board)),
    ]


def notes_of(board: Document) -> list[str]:
    """Return the notes on a board."""
    said = list(board["notes"])
    if board["left_out"]:
        things = "cases" if board["ranked_by"] == "cases" else "benchmarks"
        said.insert(0, f"{board['left_out']:,} {things} left out that not all were measured on")
    unranked: dict[str, list[str]] = {}
    for one in board["unranked"]:
        unranked.setdefault(one["reason"], []).append(one["name"])
    return said + [f"not ranked: {_names(names)}: {why}" for why, names in unranked.items()]


def _rank_words(one: Leader) -> str:
    line = one.line
    words = f"{line['rank_shown']} of {len(one.board['standings'])}"
    if line["rank_low"] is not None:
        words += f", place {_ranks(line)} (95%)"
    return words + (f", {line['reason']}" if line["reason"] else "")


def _beats(found: Document) -> str:
    if found.get("value") is None:
        return f"{MISSING} {found.get('reason') or 'no agent is below'}"
    words = with_interval(found["value"], found["low"], found["high"], percent)
    return f"{words} of repeats"


def _figure(found: Document | None, show: Callable[[Any], str]) -> str:
    if not found or found["value"] is None:
        return f"{MISSING} {(found or {}).get('reason') or ''}".rstrip()
    words = estimate(found["value"], found["low"], found["high"], show)
    is_bounded = found["low"] is not None or found["high"] is not None
    return words if is_bounded else f"{words} {found['reason']}".rstrip()


def _measured(line: Document, found: Document) -> str:
    made = line["last_benchmark_date"][:16].replace("T", " ")
    return f"{made} UTC, {counted(found['runs'], 'run')}, version {line['agent_version']}"


def _harness_role(line: Document) -> Role:
    return "text" if line["harness"] in {"clean", None} else "warn"


def _names(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    told = ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    return told or "nobody"


def benchmarks_table(one: Leader) -> GridData:
    """Return the scores of one agent, one benchmark per row."""
    rows = [
        GridRow(
            f"{found['suite_id']}/{found['benchmark']}",
            (
                found["benchmark"],
                Cell(score(found["overall"]), role="title"),
                *(of_dimension(name)(found[name]) for name in DIMENSIONS),
                f"{found['answers']:,}",
            ),
        )
        for found in one.details["benchmarks"]
    ]
    return GridData(_BENCHMARKS, rows)


def radar_of(one: Leader, leaders: Sequence[Leader], series: AgentSeries) -> Radar:
    """Return the five scores of one agent, and of the next one below it, with their markers among
    all `leaders` of the boards.
    """
    lines = [one.line] + ([one.next] if one.next is not None else [])
    markers = _markers(leaders, series)
    known = {id(each.line): markers.get(each.key) for each in leaders}
    return Radar(
        DIMENSIONS,
        tuple(
            Shape(line["name"], tuple(_hundredths(line["scores"][name]) for name in DIMENSIONS),
                  line["simulated"], known.get(id(line)))
            for line in lines
        ),
        reason="no scores: they need a suite with weights",
    )  # fmt: skip


def profiles_plot(leaders: Sequence[Leader], series: AgentSeries, words: str = "") -> PlotData:
    """Return the share of repeats and benchmarks that reaches each value, for the first agents of a
    board that contain all of the `words`; without lines if the board does not rank shares of cases.
    """
    drawn = [one for one in _profiled(leaders) if holds(words, one.line["name"])]
    markers = series.of(one.line["name"] for one in drawn)
    lines = [
        Line(
            one.line["name"],
            one.line["profile"]["taus"],
            [100 * share for share in one.line["profile"]["share"]],
            step=True,
            series=markers[one.line["name"]],
        )
        for one in drawn
    ]
    return PlotData(lines, x_label="reached", y_unit="%", y_range=(0.0, 100.0))


def _profiled(leaders: Sequence[Leader]) -> list[Leader]:
    """Return the agents whose profile is drawn, best first."""
    return [one for one in leaders[:_MOST_PROFILES] if one.line["profile"] is not None]


def _hundredths(score: float | None) -> float | None:
    return None if score is None else 100 * score
