"""The leaderboard of a run's report: by overall score and case by case, and what its words mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from agentbench_tui.model.figures.dimension import DIMENSIONS
from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.presentation.full_report.parts import Chapter
from agentbench_tui.presentation.full_report.run_charts import score_charts
from agentbench_tui.presentation.leaderboard import leaderboard_report
from agentbench_tui.presentation.numbers import estimate, money, money_of_many, of_dimension, score
from agentbench_tui.presentation.report import Column, Row, Section, Table
from agentbench_tui.presentation.run_remarks import SHARED_RANK, unsure_lines
from agentbench_tui.presentation.runs import answers, is_judged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.contracts.leaderboard import Board, LeaderboardDocument
    from agentbench_tui.contracts.run import RunLeaderboardEntry as Entry
    from agentbench_tui.contracts.runs import RunDetailsDocument

_AGENTS = (
    Column("rank_shown", "#", right=True, names_row=True),
    Column("agent", "agent", names_row=True),
    Column("overall_shown", "overall [95%]", right=True),
    *(Column(name, name, of_dimension(name), right=True) for name in DIMENSIONS),
    Column("cost_usd", "USD in all", money, right=True),
    Column("answers", "right/answered/asked", right=True),
)
_RIGHT_AND_ACCURACY = (
    "right: the answers that are wholly right. accuracy: the mean score of the answers, in which "
    "partial credit counts, so that it can exceed the share of right answers; in the "
    "table by overall score it is the mean of the benchmarks."
)
_PRICES = frozenset({"usd_per_success", "per_correct"})
"""Keys of columns in USD per right answer."""


def leaderboard_chapter(run: RunDetailsDocument, board: LeaderboardDocument | None) -> Chapter:
    """Rank the agents by overall score, then case by case, and say how to read each table."""
    sections = []
    entries = [
        one
        for one in run.leaderboard
        if any(getattr(one, name) is not None for name in ("overall", *DIMENSIONS))
    ]
    if entries:
        judged = any(map(is_judged, run.executions))
        table = Table(_AGENTS, [agent_row(one, judged=judged) for one in entries])
        charts = score_charts(entries)
        ranked = any(one.overall is not None for one in entries)
        title = "Ranked by overall score" if ranked else "Scores"
        notes = [
            *answer_terms(entries, () if board is None else board.boards, judged=judged),
            *_unsure(entries),
        ]
        sections.append(Section(title, [table], notes, charts))
    if board is not None and len(entries) > 1:
        from agentbench_tui.contracts.document import plain

        found = leaderboard_report(plain(board), wide=False)
        sections += [
            replace(
                one,
                tables=[*map(priced_table, one.tables)],
                sentences=[*ranking_note(of), *one.sentences],
            )
            for one, of in zip(found.sections, board.boards, strict=True)
            if one.tables
        ]
        if found.sections:
            sections.append(Section(sentences=found.sentences))
    return Chapter("leaderboard", "Leaderboard", sections)


def agent_row(entry: Entry, *, judged: bool) -> Row:
    """Return the line of an agent; – for right answers if no scorer judged them."""
    return {
        **{name: getattr(entry, name) for name in DIMENSIONS},
        "rank_shown": entry.rank_shown,
        "agent": f"{entry.agent_id}{' (simulated)' if entry.simulated else ''}",
        "overall_shown": estimate(entry.overall, entry.low, entry.high, score),
        "cost_usd": entry.cost_usd,
        "answers": answers(entry, judged=judged),
    }


def _unsure(entries: Sequence[Entry]) -> list[str]:
    shared = any(one.rank_shown.endswith("=") for one in entries)
    return [*unsure_lines(entries), *([SHARED_RANK] if shared else ())]


def answer_terms(entries: Sequence[Entry], boards: Sequence[Board], *, judged: bool) -> list[str]:
    """Say what right and accuracy count, and how many answers each case has."""
    if not judged:
        return []
    lines = [_RIGHT_AND_ACCURACY]
    shared = {one.shared for one in boards
              if one.ranked_by == "cases" and one.group is None and not one.left_out}  # fmt: skip
    asked = {one.observed for one in entries}
    if len(shared) == 1 and len(asked) == 1:
        (cases,), (answers_each,) = shared, asked
        if cases and answers_each > cases and answers_each % cases == 0:
            lines.append(
                f"asked: {answers_each:,} answers of each agent are {counted(cases, 'case')}, each "
                f"asked {answers_each // cases} times (repeats × iterations)."
            )
    return lines


def ranking_note(board: Board) -> list[str]:
    """Say what a board ranks by if the first table of the chapter ranks by something else."""
    if board.metric == "overall":
        return []
    is_mean = board.metric == "accuracy" and board.ranked_by == "cases"
    metric = f"{board.metric}{', the mean over all cases' if is_mean else ''}"
    first = "the first one ranks by overall score, so that ranks can differ"
    return [f"This table ranks by {metric}; {first}."]


def priced_table(table: Table) -> Table:
    """Return a table whose column of prices has its unit in the heading and not in the cells."""
    key = next((one.key for one in table.columns if one.key in _PRICES), None)
    if key is None:
        return table
    many, word = money_of_many(row.get(key) for row in table.rows)
    title = f"USD per {word}right answer{'s' if word else ''}"
    columns = [
        Column(one.key, title, lambda usd: money(None if usd is None else many * usd), right=True)
        if one.key == key
        else one
        for one in table.columns
    ]
    return Table(columns, table.rows)
