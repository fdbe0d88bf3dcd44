"""Answers are kept as long as they are true, and computed again before anyone asks."""

import asyncio
import shutil
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Event

import pytest

from agentbench_tui.api import store_reader
from agentbench_tui.api.reading_connections import ReadingConnections
from agentbench_tui.api.store_reader import StoreReader
from agentbench_tui.model.errors import StoreError
from agentbench_tui.store.database import connect_to_write

SUITE = "INSERT INTO benchmark_suites VALUES ('h','s','s','accuracy','1','','{}',NULL,'')"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "a.db"
    connect_to_write(path).close()
    return path


@pytest.fixture
def writer(database: Path) -> Iterator[sqlite3.Connection]:
    connection = connect_to_write(database)
    yield connection
    connection.close()


class Counted:
    """Computes the number of baselines, and notes every time that it does."""

    def __init__(self) -> None:
        self.times: asyncio.Queue[None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()

    def __call__(self, connection: sqlite3.Connection) -> bytes:
        self._loop.call_soon_threadsafe(self.times.put_nowait, None)
        return b"%d" % connection.execute("SELECT COUNT(*) FROM baselines").fetchone()[0]

    async def again(self) -> None:
        """Wait until it has been computed once more."""
        async with asyncio.timeout(60):
            await self.times.get()


@asynccontextmanager
async def kept_current(reader: StoreReader) -> AsyncIterator[None]:
    task = asyncio.create_task(reader.keep_current())
    yield
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    reader.close()


async def test_an_answer_is_computed_again_before_the_next_request(
    database: Path, writer: sqlite3.Connection
) -> None:
    reader, compute = StoreReader(database, 1), Counted()
    async with kept_current(reader):
        assert await reader.answer("key", compute, of_history=True) == b"0"
        await compute.again()
        insert_baseline(writer, "first")
        await compute.again()  # though nobody has asked
        assert await reader.answer("key", compute, of_history=True) == b"1"
        assert compute.times.empty()


async def test_a_commit_that_changes_no_result_outdates_nothing(
    database: Path, writer: sqlite3.Connection
) -> None:
    reader, compute = StoreReader(database, 1), Counted()
    await reader.answer("key", compute, of_history=True)
    await compute.again()
    writer.execute(SUITE)
    assert await reader.answer("key", compute, of_history=True) == b"0"
    assert compute.times.empty()
    reader.close()


async def test_an_answer_is_never_older_than_the_newest_commit(
    database: Path, writer: sqlite3.Connection
) -> None:
    reader, compute = StoreReader(database, 1), Counted()
    for count in range(4):
        assert await reader.answer("key", compute, of_history=True) == b"%d" % count
        assert await reader.answer("other", compute) == b"%d" % count
        insert_baseline(writer, str(count))
    reader.close()


async def test_an_answer_that_fails_is_not_followed(
    database: Path, writer: sqlite3.Connection
) -> None:
    reader, compute = StoreReader(database, 1), Counted()
    failures = asyncio.Queue[None]()
    loop = asyncio.get_running_loop()

    def fails(_: sqlite3.Connection) -> bytes:
        loop.call_soon_threadsafe(failures.put_nowait, None)
        raise StoreError("no such agent")

    async with kept_current(reader):
        await reader.answer("key", compute, of_history=True)
        await compute.again()
        with pytest.raises(StoreError, match="no such agent"):
            await reader.answer("fails", fails, of_history=True)
        for name in ("first", "second"):  # the other answer is still followed
            insert_baseline(writer, name)
            await compute.again()
    assert failures.qsize() <= 2  # of the request, and of one further attempt


async def test_an_answer_that_others_displace_while_one_is_computed_is_forgotten(
    database: Path, writer: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, compute = StoreReader(database, 2), Counted()
    began, released, is_slow = asyncio.Queue[None](), Event(), False
    loop = asyncio.get_running_loop()

    def slow(connection: sqlite3.Connection) -> bytes:
        if is_slow:
            loop.call_soon_threadsafe(began.put_nowait, None)
            assert released.wait(60)
        return compute(connection)

    now = 0.0
    monkeypatch.setattr(store_reader, "monotonic", lambda: now)
    await reader.answer("oldest", lambda _: b"", of_history=True)
    now = store_reader.FOLLOWED_S + 1  # from now on the oldest is not followed any more
    for number in range(62):
        await reader.answer(number, lambda _: b"", of_history=True)
    await reader.answer("slow", slow, of_history=True)
    await compute.again()
    insert_baseline(writer, "first")
    is_slow = True
    async with kept_current(reader), asyncio.timeout(60):
        await began.get()
        await reader.answer("the 65th", lambda _: b"", of_history=True)
        is_slow = False
        released.set()
        for name in ("second", "third"):  # it still renews
            await compute.again()
            insert_baseline(writer, name)


@pytest.mark.parametrize("code", [sqlite3.SQLITE_IOERR, None], ids=["disk", "unknown"])
async def test_answers_are_kept_current_after_the_database_could_not_be_read_for_a_time(
    database: Path,
    writer: sqlite3.Connection,
    monkeypatch: pytest.MonkeyPatch,
    code: int | None,
) -> None:
    reader, compute = StoreReader(database, 1), Counted()
    failed = asyncio.Event()

    def fails(_: sqlite3.Connection) -> int:
        failed.set()
        error = sqlite3.OperationalError("disk I/O error")
        if code is not None:
            error.sqlite_errorcode = code
        raise error

    async with kept_current(reader), asyncio.timeout(60):
        await reader.answer("key", compute, of_history=True)
        await compute.again()
        with monkeypatch.context() as patched:
            patched.setattr(store_reader, "data_version", fails)
            await failed.wait()
            if code is not None:
                with pytest.raises(StoreError, match=r"a\.db: the disk reports an error"):
                    await reader.answer("key", compute, of_history=True)
        insert_baseline(writer, "first")
        await compute.again()
        assert await reader.answer("key", compute, of_history=True) == b"1"


@pytest.mark.parametrize("sizes", [(11,), (6, 6)], ids=["one too large", "two too large"])
async def test_an_answer_that_is_too_large_to_keep_is_not_computed_in_the_background(
    database: Path,
    writer: sqlite3.Connection,
    monkeypatch: pytest.MonkeyPatch,
    sizes: tuple[int, ...],
) -> None:
    monkeypatch.setattr(store_reader, "_MOST_BYTES", 10)
    reader, compute = StoreReader(database, 1), Counted()
    computed: list[int] = []

    def compute_large(place: int, _: sqlite3.Connection) -> bytes:
        computed.append(place)
        return b"x" * sizes[place]

    for place in range(len(sizes)):
        await reader.answer(place, partial(compute_large, place), of_history=True)
    async with kept_current(reader):
        await reader.answer("small", compute, of_history=True)
        await compute.again()
        for name in ("first", "second", "third"):
            insert_baseline(writer, name)
            await compute.again()
    assert computed.count(0) == 1  # by its request alone


def test_a_connection_is_used_again_until_another_file_takes_the_path(
    database: Path, writer: sqlite3.Connection, tmp_path: Path
) -> None:
    other = tmp_path / "other.db"
    shutil.copy(database, other)
    connections = ReadingConnections(database)
    first = connections.read(lambda connection: connection)
    assert connections.read(lambda connection: connection) is first
    insert_baseline(writer, "seen")
    count = "SELECT COUNT(*) FROM baselines"
    assert connections.read(lambda one: one.execute(count).fetchone()[0]) == 1
    writer.close()
    for log in ("-wal", "-shm"):
        Path(f"{database}{log}").unlink(missing_ok=True)
    other.replace(database)
    assert connections.read(lambda one: one.execute(count).fetchone()[0]) == 0
    connections.close()


def test_an_open_connection_keeps_little_of_the_file_in_memory(database: Path) -> None:
    """SQLite keeps 2,000 KiB of pages for each connection by default."""
    connections = ReadingConnections(database)
    (size,) = connections.read(lambda one: one.execute("PRAGMA cache_size").fetchone())
    connections.close()
    assert size == -512  # negative: in KiB


def test_a_connection_on_which_something_failed_is_closed(database: Path) -> None:
    connections = ReadingConnections(database)
    held: list[sqlite3.Connection] = []

    def fails(connection: sqlite3.Connection) -> None:
        held.append(connection)
        connection.execute("SELECT * FROM unknown_table")

    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        connections.read(fails)
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        held[0].execute("SELECT 1")


def insert_baseline(writer: sqlite3.Connection, name: str) -> None:
    writer.execute(
        "INSERT INTO baselines VALUES ('bot', ?, '', '', 'version', '1', '2026-01-01')", (name,)
    )
