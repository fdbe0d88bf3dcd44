"""Leaderboard of agents; simulated ones are ranked only among themselves.

The ranks by overall score alone are those of the SQL views. Boards say which agents are clearly
ahead (see `scoreboard`); `run_leaderboard` has the ranks of one run.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agentbench_tui.contracts.leaderboard import AgentEntry, AgentMatrixDocument
from agentbench_tui.model.figures.dimension import DIMENSIONS
from agentbench_tui.store.queries.leaderboard import (
    LEADERBOARD_DAYS,
    ExecutionFilter,
    harness_verdicts,
    leaderboard_rows,
    matrix_rows,
)
from agentbench_tui.store.queries.runs import find_run
from agentbench_tui.verdicts.ranking.scoreboard import BoardAsked, boards
from agentbench_tui.verdicts.run_leaderboard import Entry, or_lowest, run_leaderboard
from agentbench_tui.verdicts.selection.contenders import Wanted, check_category, why_nobody

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

SCHEMA = "agentbench.leaderboard/1"


def asked_leaderboard(
    connection: sqlite3.Connection, asked: BoardAsked, run: str | None, limit: int = 20
) -> dict[str, Any]:
    """Return the leaderboard document of the executions of one run, or of all runs if it is None.

    Without a number of days, a leaderboard of all runs is of the usual window. Raises UsageError
    for an unknown run, category or metric.
    """
    wanted = asked.wanted
    if wanted.category is not None:
        check_category(wanted.category)
    if run is None:
        days = LEADERBOARD_DAYS if wanted.days is None else wanted.days
        asked = replace(asked, wanted=replace(wanted, days=days))
        return leaderboard_document(connection, asked, limit)
    found = find_run(connection, run)
    wanted = replace(wanted, run_key=found["key"])
    document = leaderboard_document(connection, replace(asked, wanted=wanted), limit)
    board = run_leaderboard(connection, found["key"], wanted)
    return document | {"run_id": found["id"], "leaderboard": board}


def leaderboard_document(
    connection: sqlite3.Connection, asked: BoardAsked, limit: int = 20
) -> dict[str, Any]:
    """Return what `agentbench leaderboard --format json` prints.

    `categories` and `agents` are the SQL views, by score alone; `boards` are the requested boards.
    All are restricted to the executions that `asked.wanted` selects. `reason` says why there are
    none, and is None otherwise.
    """
    wanted = asked.wanted
    document = category_leaderboard(connection, wanted, limit)
    found = boards(connection, replace(asked, lines=limit))
    return document | {
        "metric": asked.metric,
        "by": wanted.by,
        "boards": found,
        "reason": None if found else why_nobody(connection, wanted),
    }


def category_leaderboard(
    connection: sqlite3.Connection, wanted: Wanted, limit: int = 20
) -> dict[str, Any]:
    """Return the selected executions by suite category, best ranking first, and by agent."""
    boards: dict[str, list[Entry]] = defaultdict(list)
    kept = wanted.kept.of_whole_runs(connection)
    harness = harness_verdicts(connection, kept)
    for row in leaderboard_rows(connection, kept):
        scores = row.pop("scores_and_ranks")
        entry: Entry = {
            "rank": row["overall_rank"],
            "agent_id": row["agent_id"],
            "agent_name": row["agent_name"],
            "simulated": bool(row["simulated"]),
            "overall": row["avg_overall"],
            "best_ranking": row["best_ranking"],
            "benchmarks_completed": row["benchmarks_completed"],
            "last_benchmark_date": row["last_benchmark_date"],
        }
        entry["harness"] = harness.get(
            (row["benchmark_category"], row["agent_id"], entry["simulated"])
        )
        for name in DIMENSIONS:
            entry[name] = scores[name]["score"]
            entry[f"{name}_rank"] = scores[name]["rank"]
        boards[row["benchmark_category"]].append(entry)
    for entries in boards.values():
        entries.sort(
            key=lambda entry: (
                entry["simulated"],
                entry["rank"] is None,
                entry["rank"] or 0,
                -or_lowest(entry["accuracy"]),
            )
        )
    return {
        "schema": SCHEMA,
        "window_days": wanted.days,
        "categories": {name: boards[name][:limit] for name in sorted(boards)},
        "agents": [_matrix_entry(row) for row in matrix_rows(connection, kept)][:limit],
    }


def agent_matrix(
    connection: sqlite3.Connection, agents: Sequence[str], suite: str | None
) -> AgentMatrixDocument:
    """Return the mean scores of these agents over a suite, ranked among themselves."""
    kept = ExecutionFilter(None, suite, agents=tuple(agents)).of_whole_runs(connection)
    rows = matrix_rows(connection, kept)
    return AgentMatrixDocument(
        suite_id=suite, agents=tuple(AgentEntry(**_matrix_entry(row)) for row in rows)
    )


def _matrix_entry(row: dict[str, Any]) -> Entry:
    entry: Entry = {
        "rank": row["overall_rank"],
        "agent_id": row["agent_id"],
        "simulated": bool(row["simulated"]),
        "overall": row["overall_score"],
        "benchmarks_completed": row["benchmarks_completed"],
    }
    for name in DIMENSIONS:
        entry[name] = row[f"avg_{name}"]
        entry[f"{name}_rank"] = row[f"{name}_rank"]
    return entry
