"""Answers are kept as long as they are true, and computed again before anyone asks."""

import asyncio
import shutil
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

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
