"""What a viewer wishes of a run: carried out, answered in a column, stale ones ignored."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from functools import partial
from pathlib import Path
from typing import Any

import gates
import pytest
from carried_out import Result, plan, suite

from agentbench_tui.engine.run.coordinator import Outcome, carry_out
from agentbench_tui.model.errors import StoreError
from agentbench_tui.store.database import connect_to_read, create_or_migrate
from agentbench_tui.store.transaction import write_once
from agentbench_tui.store.writes.control_requests import add_control_request

CODE = """
import gates
from agentbench_tui.model.answer import AgentFailure, FailureKind
async def gated(prompt):
    return await gates.current.answer(prompt)
async def refused(prompt):
    await gates.current.answer(prompt)
    raise AgentFailure(FailureKind.RATE_LIMITED, "later", retry_after_s=60.0)
"""
PATIENCE_S = 60.0


class Watched:
    """A run that goes on in this event loop, and the database through which it is steered."""

    def __init__(self, database: Path, task: "asyncio.Task[Outcome]") -> None:
        self.database = database
        self.task = task
        self.gates = gates.renew()

    def value(self, statement: str, *values: Any) -> Any:
        with closing(connect_to_read(self.database)) as connection:
            row = connection.execute(statement, values).fetchone()
        return None if row is None else row[0]

    async def until(self, statement: str, expected: Any) -> None:
        """Poll the database, as a viewer does, until it says what is expected."""
        async with asyncio.timeout(PATIENCE_S):
            while self.value(statement) != expected:  # noqa: ASYNC110  # all there is to watch
                await asyncio.sleep(0.005)

    async def wish(self, wish: str, argument: str | None = None, at: float | None = None) -> str:
        """Make a wish and give its answer."""
        key = self.value("SELECT key FROM runs")
        ask = partial(add_control_request, run_key=key, wish=wish, argument=argument, at=at)
        await asyncio.to_thread(write_once, self.database, [ask])
        await self.until("SELECT COUNT(*) FROM wishes WHERE answered_at IS NULL", 0)
        answer: str = self.value("SELECT answer FROM wishes ORDER BY seq DESC LIMIT 1")
        return answer

    async def arrivals(self, count: int) -> list[str]:
        async with asyncio.timeout(PATIENCE_S):
            return sorted([await self.gates.arrived.get() for _ in range(count)])

    async def committed(self, count: int) -> None:
        await self.until("SELECT COUNT(*) FROM answers", count)


@asynccontextmanager
async def watched(
    folder: Path, count: int, agent: str = "gated", **benchmark: Any
) -> AsyncIterator[Watched]:
    made = plan(folder, suite(count, **benchmark), CODE, agent)
    database = folder / "store.db"
    create_or_migrate(database)
    task = asyncio.create_task(carry_out(made, database))
    try:
        yield Watched(database, task)
        async with asyncio.timeout(PATIENCE_S):
            await task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_paused_run_asks_nothing_until_it_is_resumed(tmp_path: Path) -> None:
    async with watched(tmp_path, 3) as run:
        assert await run.arrivals(1) == ["0"]
        assert await run.wish("pause") == "paused"
        run.gates.open("0")
        await run.committed(1)
        assert run.gates.arrived.empty()
        assert await run.wish("resume") == "resumed"
        assert await run.arrivals(1) == ["1"]
        run.gates.open("1", "2")
    assert run.task.result().status == "complete"


async def test_time_in_which_the_run_was_paused_is_no_time_of_asking(tmp_path: Path) -> None:
    async with watched(tmp_path, 4, concurrency=2) as run:
        await run.arrivals(2)
        await run.wish("pause")
        run.gates.open("0", "1")
        await run.committed(2)
        began = time.perf_counter()
        for _ in range(5):
            await run.wish("mark", "passes the time")
        paused_s = time.perf_counter() - began
        await run.wish("resume")
        await run.arrivals(2)
        run.gates.open("2", "3")
    asking_s = run.value("SELECT asking_s FROM iterations")
    span_s = run.value("SELECT MAX(sent_ms + e2e_ms) - MIN(sent_ms) FROM answers") / 1000
    assert 0 < asking_s < span_s - paused_s / 2


async def test_what_is_in_flight_while_the_run_is_paused_is_still_being_asked(
    tmp_path: Path,
) -> None:
    async with watched(tmp_path, 2, concurrency=2) as run:
        await run.arrivals(2)
        await run.wish("pause")
        run.gates.open("0")
        await run.committed(1)
        await run.wish("mark", "passes the time")
        run.gates.open("1")
        await run.committed(2)
    asking_s = run.value("SELECT asking_s FROM iterations")
    assert asking_s >= run.value("SELECT MAX(e2e_ms) FROM answers") / 1000


async def test_stop_ends_the_wait_after_a_refusal_and_nothing_more_is_sent(tmp_path: Path) -> None:
    async with watched(tmp_path, 4, agent="refused", concurrency=2, retries=5) as run:
        await run.arrivals(2)
        run.gates.open("0", "1")
        await run.until("SELECT COUNT(*) FROM attempts", 2)
        await run.wish("stop")
    assert run.task.result().status == "interrupted"
    assert run.gates.arrived.empty()
    assert run.value("SELECT COUNT(*) FROM answers") == 0


async def test_stop_lets_what_is_in_flight_finish_and_keeps_it(tmp_path: Path) -> None:
    async with watched(tmp_path, 6, concurrency=2) as run:
        assert await run.arrivals(2) == ["0", "1"]
        assert (await run.wish("stop")).startswith("stopping")
        run.gates.open("0", "1")
    assert run.task.result().status == "interrupted"
    assert run.task.result().stop_reason == "stopped on request"
    result = Result(run.task.result(), run.database)
    assert result.execution("gated")["cases"]["correct"] == 2
    assert result.execution("gated")["status"] == "interrupted"


async def test_stop_while_paused_asks_nothing_more(tmp_path: Path) -> None:
    async with watched(tmp_path, 6, concurrency=2) as run:
        await run.arrivals(2)
        await run.wish("pause")
        run.gates.open("0", "1", "2", "3", "4", "5")
        await run.committed(2)
        await run.wish("stop")
    assert run.value("SELECT COUNT(*) FROM answers") == 2


async def lose_the_store_while_paused(folder: Path) -> None:
    async with watched(folder, 2) as run:
        await run.arrivals(1)
        await run.wish("pause")
        run.gates.open("0")
        await run.committed(1)
        run.database.unlink()
        await asyncio.wait({run.task}, timeout=PATIENCE_S)
        assert run.task.done()


async def test_a_paused_run_ends_when_nothing_can_be_kept(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="everything up to then is in"):
        await lose_the_store_while_paused(tmp_path)


async def test_another_concurrency_holds_from_the_next_case_on(tmp_path: Path) -> None:
    async with watched(tmp_path, 9, concurrency=3) as run:
        assert await run.arrivals(3) == ["0", "1", "2"]
        assert (await run.wish("concurrency", "1")).startswith("at most 1 in flight")
        run.gates.open("0", "1", "2")
        (fourth,) = await run.arrivals(1)
        await run.committed(3)
        assert run.gates.arrived.empty()
        assert await run.wish("concurrency", "50")
        assert sorted([fourth, *await run.arrivals(2)]) == ["3", "4", "5"]
        run.gates.open(*map(str, range(9)))
    assert run.value("SELECT COUNT(*) FROM answers") == 9


async def test_one_case_is_canceled_and_the_others_go_on(tmp_path: Path) -> None:
    async with watched(tmp_path, 4, concurrency=2) as run:
        await run.arrivals(2)
        assert await run.wish("cancel", "c1") == "canceled 1 of case c1"
        run.gates.open("0", "2", "3")
    failure = run.value("SELECT stage || ' ' || kind || ' ' || detail FROM failures")
    assert failure == "answer harness canceled on request"
    assert run.task.result().status == "complete"
    execution = Result(run.task.result(), run.database).execution("gated")
    assert execution["cases"] == {"total": 4, "observed": 4, "answered": 3, "correct": 3}
    assert execution["failures"] == {"harness": 1}
    assert execution["metrics"]["accuracy"]["value"] == 1.0


async def test_canceling_many_cases_is_no_sign_of_a_broken_agent(tmp_path: Path) -> None:
    async with watched(tmp_path, 12, early_stop={"harness_failures": 2}) as run:
        for nth in range(11):
            await run.arrivals(1)
            assert await run.wish("cancel", f"c{nth}") == f"canceled 1 of case c{nth}"
        run.gates.open("11")
    assert run.task.result().status == "complete"
    assert run.value("SELECT COUNT(*) FROM answers WHERE failure_kind='harness'") == 11


@pytest.mark.parametrize(
    ("wish", "argument", "answer"),
    [
        ("dance", None, "refused: no control request 'dance' with argument None"),
        ("concurrency", "0", "refused: a concurrency is a whole number from 1 on, not '0'"),
        ("concurrency", "many", "refused: a concurrency is a whole number from 1 on, not 'many'"),
        # More digits than Python reads.
        (
            "concurrency",
            "9" * 5_000,
            f"refused: a concurrency is a whole number from 1 on, not '{'9' * 40}'",
        ),
        ("cancel", "c9", "canceled 0 of case c9"),
        ("mark", "here", "marked: here"),
    ],
)
async def test_what_cannot_be_done_is_said(
    tmp_path: Path, wish: str, argument: str | None, answer: str
) -> None:
    async with watched(tmp_path, 1) as run:
        await run.arrivals(1)
        assert await run.wish(wish, argument) == answer
        run.gates.open("0")
    assert run.task.result().status == "complete"


async def test_a_wish_made_before_the_run_was_taken_is_ignored(tmp_path: Path) -> None:
    async with watched(tmp_path, 2) as run:
        await run.arrivals(1)
        answer = await run.wish("stop", at=time.time() - 3600)
        assert answer == "ignored: made before this process took the run"
        run.gates.open("0", "1")
    assert run.task.result().status == "complete"
