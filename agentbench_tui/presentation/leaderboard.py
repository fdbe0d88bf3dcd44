"""Leaderboards: a table per board, with its notes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.presentation.numbers import (
    MISSING,
    amount,
    count,
    decimals,
    estimate,
    measure_of,
    money,
    money_each,
    of_dimension,
    score,
)
from agentbench_tui.presentation.report import Column, Report, Section, Table, raw_columns

_STEPS = " ▁▂▃▄▅▆▇█"
_MOST_NAMED = 4

_CORE = (
    Column("rank_shown", "#", right=True, names_row=True),
    Column("name_shown", "agent", names_row=True),
    Column("score_shown", "score [95%]", right=True),
    Column("ranks_shown", "ranks", right=True),
    Column("overall", "overall", score, right=True),
    Column("usd_per_success", "USD/right", money_each, right=True),
    Column("harness", "harness"),
)
_SCORES = tuple(
    Column(name, name, of_dimension(name), right=True)
    for name in ("speed", "efficiency", "cost", "reliability")
)
_MORE = (
    Column("usd_per_success_shown", "USD/right [95%]", right=True),
    Column("successes_per_usd", "right/USD", amount, True),
    Column("iqm_shown", "IQM [95%]", right=True),
    Column("improvement_shown", "beats the next", right=True),
    Column("rating_shown", "rating [95%]", right=True),
    Column("profile_shown", "profile"),
    Column("last_benchmark_date", "last (UTC)"),
)
_RATING = Column("rating_shown", "rating [95%]", right=True)
_TITLES = {
    "iqm": "IQM", "improvement": "beats the next", "cost_usd_per_success": "USD/right"
}  # fmt: skip
_WITH_REASON = ("rating", *_TITLES)
"""Figures of the wide table whose notes give the reason for missing values or intervals."""
_PLAIN = (
    "category", "simulated", "group", "board", "rank_shown", "rank", "rank_low", "rank_high",
    "shared_rank", "agent", "agent_id", "agent_version", "metric", "score", "low", "high", "shared",
    "overall", "accuracy", "speed", "efficiency", "cost", "reliability", "usd_per_task",
    "usd_per_success", "usd_per_success_low", "usd_per_success_high", "successes_per_usd", "iqm",
    "iqm_low", "iqm_high", "improvement_over", "improvement", "rating", "rating_low", "rating_high",
    "harness", "last_benchmark_date",
)  # fmt: skip
"""Columns of CSV."""

Document = dict[str, Any]


def leaderboard_report(document: Document, *, wide: bool = False, roomy: bool = False) -> Report:
    """Return a section per board of a document of `leaderboard_document`.

    `wide` adds every column, `roomy` the scores of the dimensions if there is room for them.
    """
    boards = document["boards"]
    records = [
        _plain(board, line, number)
        for number, board in enumerate(boards, 1)
        for line in board["standings"]
    ]
    sentences = [document["reason"]] if not boards else []
    if any(board["standings"] for board in boards):
        sentences.append(_legend(boards))
    return Report(
        Table(raw_columns(_PLAIN), records),
        [_section(board, wide=wide, roomy=roomy) for board in boards],
        sentences,
    )


_OF_RUN = (
    Column("rank_shown", "#", right=True, names_row=True),
    Column("agent", "agent", names_row=True),
    Column("overall_shown", "overall [95%]", right=True),
    Column("accuracy", "accuracy", of_dimension("accuracy"), right=True),
    *_SCORES,
    Column("cost_usd", "USD", money, right=True),
    Column("answered_shown", "right/answered/asked", right=True),
)


def run_leaderboard_report(document: Document) -> Report:
    """Return the agents of one run by their overall score; `document` is one of `--run`."""
    rows = [
        {
            **entry,
            "agent": entry["agent_id"] + (" (simulated)" if entry["simulated"] else ""),
            "overall_shown": estimate(entry["overall"], entry["low"], entry["high"], score),
            "answered_shown": f"{entry['correct']}/{entry['answered']}/{entry['observed']}",
        }
        for entry in document["leaderboard"]
    ]
    reasons: dict[str, list[str]] = {}
    for entry in document["leaderboard"]:
        if entry["overall"] is not None and entry["low"] is None:
            reasons.setdefault(entry["reason"], []).append(entry["agent_id"])
    sentences = [
        f"[{MISSING}] under overall of {', '.join(names)}: {reason}."
        for reason, names in reasons.items()
    ]
    table = Table(_OF_RUN, rows)
    return Report(table, [Section("", [table], sentences)], [] if rows else [document["reason"]])


def _section(board: Document, *, wide: bool, roomy: bool) -> Section:
    rows = [_shown(board, line) for line in board["standings"]]
    tables = [Table(_columns(board, wide=wide, roomy=roomy), rows)] if rows else []
    notes = [*_notes(board), *_unsure(board["standings"], _WITH_REASON if wide else ("rating",))]
    return Section(_title(board), tables, notes)


def _columns(board: Document, *, wide: bool, roomy: bool) -> list[Column]:
    core = [
        Column("score_shown", f"{board['metric']} [95%]", right=True)
        if one.key == "score_shown"
        else one
        for one in _CORE
        if not (one.key == "overall" and (board["metric"] == "overall" or _is_group(board)))
    ]
    if wide:
        scores = () if _is_group(board) else _SCORES
        return [one for one in core if one.key != "usd_per_success"] + [*scores, *_MORE]
    if roomy and not _is_group(board):
        core += _SCORES
    rated = any("rating" in line for line in board["standings"])
    return [*core, _RATING] if rated else core


def _is_group(board: Document) -> bool:
    """Return whether it is a board of a group of cases, which has no scores."""
    return board["group"] is not None


def _title(board: Document) -> str:
    name = f"{board['category']} suites" if board["category"] else "all suites"
    if _is_group(board):
        name += f", {board['field']} {board['group']}"
    simulated = ", simulated agents" if board["simulated"] else ""
    way = board["ranked_by"]
    if way is None:
        return f"{name}{simulated}: no agent can be ranked by {board['metric']}"
    how = {"cases": "case by case", "repeats": "by whole repeats", "scores": "by the scores"}[way]
    suites = sorted({one.partition("/")[0] for one in board["benchmarks"]})
    thing, count, points = "case", board["shared"], ""
    if way != "cases":
        thing, count = "benchmark", len(board["benchmarks"])
        points = f", at {board['shared']} points" if board["shared"] > count else ""
    return (
        f"{name}{simulated}: by {board['metric']}, {how}"
        f" on {counted(count, thing)} of {_names(suites)}{points}"
    )


def _notes(board: Document) -> list[str]:
    """Return the notes below the table."""
    lines = []
    if board["apart"]:
        why = "times of another machine, or too few shared benchmarks"
        if board["ranked_by"] == "cases":
            why = "they share less than half of their cases"
        lines.append(f"separate from the board above: {why}")
    if board["left_out"]:
        thing = "case" if board["ranked_by"] == "cases" else "benchmark"
        lines.append(
            f"excluded: {counted(board['left_out'], thing)} on which not every agent was measured"
        )
    lines += board["notes"]
    if board.get("more"):
        lines.append(f"… {board['more']} more (--limit)")
    reasons: dict[str, list[str]] = {}
    for line in board["standings"]:
        if len(board["standings"]) > 1 and line["reason"]:
            reasons.setdefault(line["reason"], []).append(line["name"])
    for reason, names in reasons.items():
        lines.append(f"{MISSING} under ranks of {_names(names)}: {reason}")
    unsure: dict[str, list[str]] = {}
    for line in board["standings"]:
        if line["score_reason"]:
            unsure.setdefault(line["score_reason"], []).append(line["name"])
    for reason, names in unsure.items():
        lines.append(f"[{MISSING}] under {board['metric']} of {_names(names)}: {reason}")
    unranked: dict[str, list[str]] = {}
    for one in board["unranked"]:
        unranked.setdefault(one["reason"], []).append(one["name"])
    return lines + [f"not ranked: {_names(names)}: {why}" for why, names in unranked.items()]


def _unsure(standings: list[Document], figures: Iterable[str]) -> list[str]:
    """Return why figures, or their intervals, are unknown or based on few data."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for line in standings:
        for name in figures:
            found = line.get(name) or {}
            if found.get("reason"):
                mark = MISSING if found["value"] is None else f"[{MISSING}]"
                title = _TITLES.get(name, name)
                head = title if found["low"] is not None else f"{mark} under {title}"
                reasons.setdefault((head, found["reason"]), []).append(line["name"])
    return [f"{head} of {_names(names)}: {why}" for (head, why), names in reasons.items()]


def _names(names: list[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _legend(boards: list[Document]) -> str:
    together = "all pairs and groups" if any(map(_is_group, boards)) else "all pairs"
    lines = [
        f"#: 1 + the number of agents that are clearly ahead (p < 5% over {together} together);",
        "=: several agents share it. ranks: the places that chance leaves open for the score alone",
        "(95% interval).",
    ]
    if any((line.get("rating") or {}).get("value") for b in boards for line in b["standings"]):
        lines.append("rating: 1000 on average; 400 more are odds of 10 to 1, case by case.")
    return " ".join(lines)


def _shown(board: Document, line: Document) -> Document:
    """Return a row with its formatted cells."""
    show = measure_of(board["unit"])
    per_success = line["cost_usd_per_success"]
    improvement = line["improvement"] or {}
    rating = line.get("rating") or {}
    low, high = line["rank_low"], line["rank_high"]
    return {
        **line,
        **line["scores"],
        "name_shown": line["name"] + (" (simulated)" if line["simulated"] else ""),
        "score_shown": estimate(line["score"], line["low"], line["high"], show),
        "ranks_shown": MISSING if low is None else f"{low}-{high}" if high > low else str(low),
        "usd_per_success": per_success["value"],
        "usd_per_success_shown": estimate(
            per_success["value"], per_success["low"], per_success["high"], money_each
        ),
        "successes_per_usd": line["successes_per_usd"]["value"],
        "iqm_shown": _estimate(line["iqm"], score),
        "improvement_shown": _estimate(improvement, decimals(2)),
        "rating_shown": _estimate(rating, count),
        "profile_shown": _sparkline((line["profile"] or {}).get("share") or []),
    }


def _estimate(found: Document | None, show: Callable[[Any], str]) -> str:
    if not found or found.get("value") is None:
        return MISSING
    return estimate(found["value"], found["low"], found["high"], show)


def _sparkline(shares: list[float]) -> str:
    """The share of runs above each threshold from 0 to 1, every second one."""
    return "".join(_STEPS[round(share * (len(_STEPS) - 1))] for share in shares[::2])


def _plain(board: Document, line: Document, number_of_board: int) -> Document:
    """A line for JSON lines and CSV: numbers, one a column."""
    improvement, rating = line["improvement"] or {}, line.get("rating") or {}
    iqm, per_success = line["iqm"] or {}, line["cost_usd_per_success"]
    return {
        **line["scores"],
        "category": board["category"],
        "group": board["group"],
        "board": number_of_board,
        "agent": line["name"],
        "metric": board["metric"],
        "shared": board["shared"],
        "usd_per_task": line["cost_usd_per_task"]["value"],
        "usd_per_success": per_success["value"],
        "usd_per_success_low": per_success["low"],
        "usd_per_success_high": per_success["high"],
        "successes_per_usd": line["successes_per_usd"]["value"],
        "iqm": iqm.get("value"),
        "iqm_low": iqm.get("low"),
        "iqm_high": iqm.get("high"),
        "improvement_over": improvement.get("over"),
        "improvement": improvement.get("value"),
        "rating": rating.get("value"),
        "rating_low": rating.get("low"),
        "rating_high": rating.get("high"),
        **{name: line[name] for name in (
            "simulated", "rank_shown", "rank", "rank_low", "rank_high", "shared_rank", "agent_id",
            "agent_version", "score", "low", "high", "overall", "harness", "last_benchmark_date",
        )},
    }  # fmt: skip
