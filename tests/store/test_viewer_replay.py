"""A viewer shows a run as it goes on and again, at any speed, from any moment."""

from __future__ import annotations

import asyncio
import json
import math
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.store import viewer as viewers
from agentbench_tui.store.database import create_or_migrate
from agentbench_tui.store.playhead import FASTEST, SLOWEST, Playhead, next_speed
from agentbench_tui.store.transaction import write_once
from agentbench_tui.store.viewer import Update, Viewer
from agentbench_tui.store.writes.control_requests import add_control_request

BEGAN = 1_700_000_000.0
PATIENCE_S = 60.0


def iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def run(path: Path, *, seconds: int, ended: bool = True) -> None:
    """A run with one execution and a tick for each of its seconds."""

    def change(connection: Any) -> None:
        connection.execute(
            "INSERT INTO runs (key, id, workspace_id, status, suite_ids, plan, seed, repeats, tags,"
            " notes, tool_version, started_at, ended_at) VALUES"
            " (1, 'r', 'w', ?, '[]', ?, 1, 1, '[]', '', '0', ?, ?)",
            (
                "complete" if ended else "running",
                json.dumps({"groups": []}),
                iso(BEGAN),
                iso(BEGAN + seconds) if ended else None,
            ),
        )
        connection.execute("INSERT INTO agents VALUES ('a', 'a', '')")
        connection.execute(
            "INSERT INTO benchmark_suites VALUES ('h', 's', 's', 'c', '1', '', '{}', NULL, '')"
        )
        connection.execute(
            "INSERT INTO benchmark_executions (key, id, run_key, ordinal, suite_hash, suite_id,"
            " benchmark_id, agent_id, agent_version, workspace_id, seed, status, created_at)"
            " VALUES (1, 'e', 1, 0, 'h', 's', 'b', 'a', '1', 'w', 1, 'complete', '')"
        )
        for second in range(seconds):
            tick(connection, second)

    create_or_migrate(path)
    write_once(path, [change])


def tick(connection: Any, second: int) -> None:
    connection.execute(
        "INSERT INTO ticks (run_key, execution_key, at, observed, answered, correct, tokens,"
        " cost_usd, e2e_histogram) VALUES (1, 1, ?, 1, 1, 1, 0, 0, x'')",
        (BEGAN + second,),
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s.db"


class Clock:
    """In place of time.monotonic, so that nothing waits."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@contextmanager
def still_clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    clock = Clock()
    with monkeypatch.context() as patched:
        patched.setattr(viewers, "monotonic", clock.monotonic)
        yield clock


def seconds(update: Update) -> list[int]:
    return [round(row["at"] - BEGAN) for row in update.new["ticks"]]


async def test_all_of_a_run_that_is_over_comes_in_order_and_ends(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(viewers, "PAGE_ROWS", 10)
    run(path, seconds=35)
    found: list[int] = []
    async with asyncio.timeout(20), Viewer(path, "r") as viewer:
        async for update in viewer.updates():
            found += seconds(update)
            assert len(update.new["ticks"]) <= 10
            assert not update.is_replay
    assert found == list(range(35))


async def test_a_viewer_goes_on_from_what_is_known(path: Path) -> None:
    run(path, seconds=9)
    async with asyncio.timeout(20), Viewer(path, "r", from_seq={"ticks": 6}) as viewer:
        found = [second async for update in viewer.updates() for second in seconds(update)]
    assert found == [6, 7, 8]


async def test_a_replay_shows_what_had_happened_by_then(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(path, seconds=100)
    with still_clock(monkeypatch) as clock:
        async with asyncio.timeout(20), Viewer(path, "r", speed=4.0) as viewer:
            updates = viewer.updates(0.0, stay=True)
            first = await anext(updates)
            assert first.is_replay
            assert seconds(first) == [0]
            clock.now += 2.6  # ×4: 10.4 s of the run
            second = await anext(updates)
            assert seconds(second) == list(range(1, 11))
            assert second.at == pytest.approx(BEGAN + 10.4)

            viewer.pause()
            clock.now += 50.0
            held = await anext(updates)
            assert seconds(held) == []
            assert held.at == pytest.approx(BEGAN + 10.4)

            viewer.seek(60.0)
            forth = await anext(updates)
            assert not forth.restarted
            assert seconds(forth) == list(range(11, 61))

            viewer.seek(5.0)
            back = await anext(updates)
            assert back.restarted
            assert seconds(back) == list(range(6))

            viewer.play(math.inf)
            rest = await anext(updates)
            assert seconds(rest) == list(range(6, 100))
            assert not rest.is_replay


@pytest.mark.parametrize("moment", ["before it is made", "before it is handed over"])
async def test_a_connection_whose_opening_is_canceled_is_closed(
    path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    run(path, seconds=1)
    made: list[sqlite3.Connection] = []
    has_come, go_on = threading.Event(), threading.Event()

    def connect(*arguments: Any, **options: Any) -> sqlite3.Connection:
        if moment == "before it is made":
            has_come.set()
            go_on.wait(PATIENCE_S)
        made.append(sqlite3.Connection(*arguments, **options))
        if moment == "before it is handed over":
            has_come.set()
            go_on.wait(PATIENCE_S)
        return made[0]

    monkeypatch.setattr("agentbench_tui.store.viewer.sqlite3.connect", connect)
    opening = asyncio.create_task(Viewer(path, "r").__aenter__())
    await asyncio.to_thread(has_come.wait, PATIENCE_S)
    opening.cancel()
    await asyncio.gather(opening, return_exceptions=True)
    go_on.set()
    for thread in threading.enumerate():
        if "_connection_worker_thread" in thread.name:
            thread.join(PATIENCE_S)
    with pytest.raises(sqlite3.ProgrammingError, match="closed database"):
        made[0].execute("SELECT 1")


async def test_several_viewers_of_one_run_do_not_disturb_each_other(path: Path) -> None:
    run(path, seconds=20)
    async with (
        asyncio.timeout(20),
        Viewer(path, "r") as one,
        Viewer(path, "r", speed=1.0) as other,
    ):
        newest = await anext(one.updates())
        oldest = await anext(other.updates(stay=True))
        assert len(newest.new["ticks"]) == 20
        assert len(oldest.new["ticks"]) < 20


async def test_a_replay_of_a_run_that_goes_on_comes_to_the_newest_and_stays_there(
    path: Path,
) -> None:
    run(path, seconds=50, ended=False)
    async with asyncio.timeout(20), Viewer(path, "r") as viewer:
        updates = viewer.updates(0.0)
        assert len((await anext(updates)).new["ticks"]) == 50
        viewer.seek(10.0)
        assert (await anext(updates)).is_replay
        viewer.play(math.inf)
        update = await anext(updates)
        assert not update.is_replay
        write_once(path, [lambda c: tick(c, 50)])
        while not update.new["ticks"] or seconds(update)[-1] < 50:
            update = await anext(updates)
        assert not update.is_replay


async def test_another_file_in_place_of_the_store_is_told_from_its_beginning(path: Path) -> None:
    run(path, seconds=5, ended=False)
    other = path.with_name("other.db")
    run(other, seconds=3)
    async with asyncio.timeout(20), Viewer(path, "r") as viewer:
        updates = viewer.updates(0.0, stay=True)
        assert seconds(await anext(updates)) == [0, 1, 2, 3, 4]
        other.replace(path)
        update = await anext(updates)
    assert update.restarted
    assert update.run["status"] == "complete"
    assert seconds(update) == [0, 1, 2]


async def test_wishes_come_with_their_answers_up_to_the_moment_that_is_shown(path: Path) -> None:
    run(path, seconds=20)

    def wishes(connection: Any) -> None:
        for second, note in ((3, "early"), (15, "late")):
            add_control_request(connection, 1, "mark", note, BEGAN + second)
        connection.execute("UPDATE wishes SET answer='marked', answered_at=1")

    write_once(path, [wishes])
    async with asyncio.timeout(20), Viewer(path, "r") as viewer:
        updates = viewer.updates(0.0, stay=True)
        newest = await anext(updates)
        assert [(row["argument"], row["answer"]) for row in newest.wishes] == [
            ("early", "marked"),
            ("late", "marked"),
        ]
        viewer.seek(10.0)
        assert [row["argument"] for row in (await anext(updates)).wishes] == ["early"]


@given(st.floats(0, 1e6), st.floats(SLOWEST, FASTEST), st.floats(0, 1e5))
def test_a_playhead_moves_by_its_speed(at_s: float, speed: float, later: float) -> None:
    head = Playhead(at_s, speed, 10.0)
    assert head.at(10.0 + later) == pytest.approx(at_s + later * speed)
    head.pause(10.0 + later, reached_s=math.inf)
    assert head.at(1e9) == pytest.approx(at_s + later * speed)


def test_speeds_double_up_to_as_fast_as_can_be() -> None:
    speed, seen = SLOWEST, [SLOWEST]
    while not math.isinf(speed):
        speed = next_speed(speed, faster=True)
        seen.append(speed)
    assert seen == [0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, math.inf]
    assert next_speed(math.inf, faster=False) == 64
    assert next_speed(SLOWEST, faster=False) == SLOWEST
