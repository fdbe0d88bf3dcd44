"""Many listeners of one run: one reader, the same events, and no listener that holds up others."""

import asyncio
import itertools
from pathlib import Path

import pytest
from service_process import place_with_runs

from agentbench_tui.api.events import EventHub, EventReader, position_of
from agentbench_tui.api.problems import ServiceError
from agentbench_tui.model.clock import unix_time
from agentbench_tui.store.database import reading
from agentbench_tui.store.locking import Lease
from agentbench_tui.store.queries.progress import EventPosition
from agentbench_tui.store.queries.runs import find_run
from agentbench_tui.store.transaction import write_once


class RunningRun:
    """A stored run that looks as if it were running, to which a test adds gauges."""

    def __init__(self, database: Path) -> None:
        with reading(database) as connection:
            row = find_run(connection, "latest")
        self.database, self.key, self.id = database, int(row["key"]), str(row["id"])
        self.lease = Lease.take(database, self.id)
        self._set("running")

    def add_gauges(self, count: int) -> None:
        statement = "INSERT INTO gauges (run_key, at, scope, reading) VALUES (?,?,'host','{}')"
        rows = [(self.key, unix_time())] * count
        write_once(self.database, [lambda c: c.executemany(statement, rows)])

    def end(self) -> None:
        self._set("complete")
        assert self.lease is not None
        self.lease.release()

    def _set(self, status: str) -> None:
        statement = "UPDATE runs SET status=? WHERE key=?"
        write_once(self.database, [lambda c: c.execute(statement, (status, self.key))])


@pytest.fixture
def run(tmp_path: Path) -> RunningRun:
    return RunningRun(place_with_runs(tmp_path).database)


def gauges(body: bytes) -> int:
    return body.count(b"event: gauge")


async def test_every_listener_gets_every_event_from_one_reader(
    run: RunningRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = 0
    read = EventReader.read

    def counted(*arguments: object) -> object:
        nonlocal reads
        reads += 1
        return read(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(EventReader, "read", counted)
    hub = EventHub(run.database, 100)
    ready = asyncio.Barrier(21)

    async def listen() -> bytes:
        received, is_ready = b"", False
        async for part in hub.follow(run.key, run.id, EventPosition()):
            received += part
            if not is_ready and b"event: state" in received:
                is_ready = True
                await ready.wait()
        return received

    listeners = [asyncio.create_task(listen()) for _ in range(20)]
    await ready.wait()
    before = reads
    await asyncio.to_thread(run.add_gauges, 7)
    await asyncio.to_thread(run.end)
    bodies = await asyncio.gather(*listeners)
    assert len({gauges(body) for body in bodies}) == 1
    assert all(b"event: end" in body for body in bodies)
    assert reads - before <= 4  # of one feed, not of twenty listeners
    assert hub.listeners == 0
    await hub.close()


async def test_nothing_is_told_twice_to_who_joins_later(run: RunningRun) -> None:
    hub = EventHub(run.database, 100)
    ids: list[list[bytes]] = [[], []]
    first_has_begun = asyncio.Event()

    async def listen(place: int) -> None:
        async for part in hub.follow(run.key, run.id, EventPosition()):
            lines = part.splitlines()
            found = [a for a, b in itertools.pairwise(lines) if b == b"event: gauge"]
            ids[place] += found
            first_has_begun.set()

    first = asyncio.create_task(listen(0))
    await first_has_begun.wait()
    await asyncio.to_thread(run.add_gauges, 1200)  # more than a page
    second = asyncio.create_task(listen(1))
    await asyncio.to_thread(run.add_gauges, 30)
    await asyncio.to_thread(run.end)
    await asyncio.gather(first, second)
    assert len(ids[0]) == len(set(ids[0])) == len(ids[1]) == len(set(ids[1])) >= 1230
    await hub.close()


async def test_a_listener_that_does_not_read_is_cut_off_and_others_go_on(run: RunningRun) -> None:
    hub = EventHub(run.database, 100)
    slow = hub.follow(run.key, run.id, EventPosition())
    fast = hub.follow(run.key, run.id, EventPosition())
    for listener in (slow, fast):
        while b"event: state" not in await anext(listener):
            pass
    received = 0
    for _ in range(70):  # more batches than wait for a listener
        pending = asyncio.create_task(anext(fast))
        await asyncio.to_thread(run.add_gauges, 1)
        received += gauges(await pending)
    assert received == 70
    rest = b"".join([part async for part in slow])  # which comes to an end
    assert gauges(rest) < 70
    await asyncio.to_thread(run.end)
    assert b"event: end" in b"".join([part async for part in fast])
    await hub.close()


async def test_a_run_whose_process_is_gone_ends_as_interrupted(run: RunningRun) -> None:
    hub = EventHub(run.database, 100)
    assert run.lease is not None
    run.lease.release()
    parts = [part async for part in hub.follow(run.key, run.id, EventPosition())]
    assert b'"status":"interrupted"' in parts[-1]
    await hub.close()


async def test_there_is_a_bound_on_listeners(run: RunningRun) -> None:
    hub = EventHub(run.database, 1)
    hub.check_room()
    listener = hub.follow(run.key, run.id, EventPosition())
    await anext(listener)
    with pytest.raises(ServiceError, match="1 clients follow"):
        hub.check_room()
    await listener.aclose()
    hub.check_room()
    run.end()
    await hub.close()


def test_an_id_is_a_position_and_nothing_else() -> None:
    assert position_of("1-20-3-0") == EventPosition(1, 20, 3, 0)
    for text in ("", "1-2-3", "1-2-3-4-5", "a-1-1-1", "-1-1-1-1", "1-1-1-1\n", "٣-1-1-1"):
        assert position_of(text) is None
