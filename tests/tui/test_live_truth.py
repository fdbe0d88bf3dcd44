"""A recorded run, replayed: at every whole second the page's state is what the store says."""

import sqlite3
from collections import defaultdict
from contextlib import closing
from pathlib import Path

import pytest
from page_pictures import unpacked

from agentbench_tui.store.database import connect_to_read
from agentbench_tui.store.viewer import Viewer
from agentbench_tui.tui.pages.live.state import LiveState
from agentbench_tui.tui.pages.live.view import board_moment
from agentbench_tui.verdicts.runs.live_document import LiveReader

RECORDED = Path(__file__).parent / "data" / "recorded.db.gz"


def counted(connection: sqlite3.Connection, run_key: int, at: float) -> dict[int, tuple[int, ...]]:
    """Execution key → observed, answered and right answers by then."""
    rows = connection.execute(
        "SELECT execution_key, SUM(observed), SUM(answered), SUM(correct) FROM ticks"
        " WHERE run_key=? AND at<=? GROUP BY execution_key",
        (run_key, at),
    )
    return {key: counts for key, *counts in map(tuple, rows)}  # type: ignore[misc]


def accuracies(connection: sqlite3.Connection, run_key: int, at: float) -> dict[str, float]:
    """Agent → mean over its benchmarks of the mean credit of the answers counted by then: the first
    ones that were committed."""
    answered = sum(counts[0] for counts in counted(connection, run_key, at).values())
    each_credit = defaultdict(list)
    rows = connection.execute(
        "SELECT e.agent_id, e.key, a.credit FROM (SELECT * FROM answers WHERE run_key=?"
        " ORDER BY seq LIMIT ?) a JOIN benchmark_executions e ON e.key=a.execution_key",
        (run_key, answered),
    )
    for agent, execution, credit in rows:
        each_credit[agent, execution].append(credit or 0.0)
    of_agent = defaultdict(list)
    for (agent, _), each in each_credit.items():
        of_agent[agent].append(sum(each) / len(each))
    return {agent: sum(each) / len(each) for agent, each in of_agent.items()}


async def test_at_every_whole_second_a_replay_is_what_the_store_says(tmp_path: Path) -> None:
    unpacked(RECORDED, tmp_path)
    database = tmp_path / "recorded.db"
    with closing(connect_to_read(database)) as connection:
        run = connection.execute("SELECT key, id FROM runs ORDER BY key LIMIT 1").fetchone()
        reader = LiveReader(connection, database, run["id"])
        state, seconds = LiveState(), 0
        async with Viewer(database, run["id"], speed=1.0) as viewer:
            viewer.pause()
            updates = viewer.updates(0.0, stay=True)
            state.take(await anext(updates))
            for second in range(1, int(viewer.length_s)):
                viewer.seek(float(second))
                update = await anext(updates)
                state.take(update)
                while update.is_behind:
                    update = await anext(updates)
                    state.take(update)
                assert state.at == pytest.approx(viewer.began_at + second)
                said = counted(connection, run["key"], state.at)
                shown = {
                    key: [seen.observed, seen.answered, seen.correct]
                    for key, seen in state.seen.items()
                    if seen.observed
                }
                assert shown == said
                assert sum(seen.failed for seen in state.seen.values()) == sum(
                    observed - answered for observed, answered, _ in said.values()
                )
                # What is drawn by second holds every answer once.
                drawn = sum(one.answered for one in state.course.seconds)
                assert drawn == pytest.approx(sum(answered for _, answered, _ in said.values()))
                board = reader.read(connection, None, board_moment(state)).board
                known = {one.agent_id: one.score for one in board.standings if one.observed}
                assert known == pytest.approx(accuracies(connection, run["key"], state.at))
                assert not state.live  # what was in flight is not recorded, and not shown
                seconds += bool(said)
        assert seconds >= 5
