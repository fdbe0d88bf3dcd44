"""The rules that make the database a safe bus between processes."""

import asyncio
import fcntl
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from agentbench_tui.model.errors import StoreError
from agentbench_tui.store import location as store_location
from agentbench_tui.store.database import (
    SCHEMA_VERSION,
    connect_to_read,
    connect_to_write,
    create_or_migrate,
    migrations,
    workspace_id,
)
from agentbench_tui.store.location import Location, filesystem_of
from agentbench_tui.store.locking import Lease, LeaseHolder, WriteLock, boot_id, is_leased
from agentbench_tui.store.transaction import in_transaction, write_once
from agentbench_tui.store.writer import CHECKPOINT_BYTES, Writer

ADD_TAG = "INSERT INTO meta (key, value) VALUES (?, ?)"


def python(script: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "store.db"
    create_or_migrate(path)
    return path


def test_the_newest_migration_is_the_schema_version() -> None:
    assert [number for number, _ in migrations()] == list(range(1, SCHEMA_VERSION + 1))


def test_a_new_database_is_a_strict_wal_database_with_a_workspace(path: Path) -> None:
    with closing(connect_to_read(path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        assert len(workspace_id(connection)) == 36
        loose = connection.execute(
            "SELECT name FROM pragma_table_list WHERE type='table' AND NOT strict"
            " AND name NOT LIKE 'sqlite_%'"
        ).fetchall()
        assert [row[0] for row in loose] == []


def test_every_followed_table_is_numbered_for_ever_and_indexed_by_run(path: Path) -> None:
    followed = ["answers", "attempts", "failures", "gauges", "iterations", "ticks", "wishes"]
    with closing(connect_to_read(path)) as connection:
        for table in followed:
            sql = connection.execute(
                "SELECT sql FROM sqlite_master WHERE name=?", (table,)
            ).fetchone()[0]
            assert "AUTOINCREMENT" in sql, table
            indexes = connection.execute(f"PRAGMA index_list({table})").fetchall()
            columns = [
                [row[2] for row in connection.execute(f"PRAGMA index_info({index[1]})")]
                for index in indexes
            ]
            assert ["run_key", "seq"] in columns, table


def test_writers_never_checkpoint_on_their_own(path: Path) -> None:
    with closing(connect_to_write(path)) as connection:
        assert connection.execute("PRAGMA wal_autocheckpoint").fetchone()[0] == 0
        assert connection.execute("PRAGMA foreign_keys").fetchone()[0] == 1
        assert connection.execute("PRAGMA synchronous").fetchone()[0] == 1
        assert connection.execute("PRAGMA busy_timeout").fetchone()[0] >= 5000


async def test_the_log_shrinks_after_it_was_checkpointed(path: Path) -> None:
    log = path.with_name(path.name + "-wal")
    with closing(Writer(path)) as writer:
        for number in range(6):
            await writer.apply(lambda c, n=number: c.execute(ADD_TAG, (f"big{n}", "x" * 1_000_000)))
        assert log.stat().st_size < CHECKPOINT_BYTES + 2_000_000
        await writer.apply(lambda c: c.execute(ADD_TAG, ("small", "")))
        # Else every later transaction, however small, would be followed by a checkpoint.
        assert log.stat().st_size < CHECKPOINT_BYTES


def test_a_newer_database_is_refused_and_left_alone(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version={SCHEMA_VERSION + 1}")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="newer agentbench"):
        create_or_migrate(path)
    with pytest.raises(StoreError, match="newer agentbench"):
        connect_to_read(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "content", [b"this is no database" * 100, b"SQLite format 3\0" + b"x" * 200]
)
def test_a_file_that_is_no_database_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "not.db"
    path.write_bytes(content)
    with pytest.raises(StoreError) as caught:
        create_or_migrate(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == content


def test_a_missing_database_is_not_made_by_looking(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no database there yet"):
        connect_to_read(tmp_path / "none.db")
    assert list(tmp_path.iterdir()) == []


def test_viewers_cannot_write(path: Path) -> None:
    with (
        closing(connect_to_read(path)) as connection,
        pytest.raises(sqlite3.OperationalError, match="readonly"),
    ):
        connection.execute(ADD_TAG, ("a", "b"))


async def test_rows_are_committed_soon_without_asking(path: Path) -> None:
    writer = Writer(path)
    try:
        with closing(connect_to_read(path)) as connection:
            began = time.monotonic()
            writer.add(ADD_TAG, ("k", "v"))
            while not connection.execute("SELECT 1 FROM meta WHERE key='k'").fetchone():
                assert time.monotonic() - began < 60
                await asyncio.sleep(0.01)
    finally:
        writer.close()


async def test_a_change_comes_after_the_rows_before_it(path: Path) -> None:
    writer = Writer(path)
    try:
        for number in range(2500):
            writer.add(ADD_TAG, (f"k{number}", "v"))
        count = await writer.apply(
            lambda c: c.execute("SELECT COUNT(*) FROM meta WHERE key LIKE 'k%'").fetchone()[0]
        )
        assert count == 2500
    finally:
        writer.close()


async def test_a_failed_change_is_rolled_back_and_told_to_who_asked(path: Path) -> None:
    def change(connection: sqlite3.Connection) -> None:
        connection.execute(ADD_TAG, ("half", "done"))
        raise ValueError("no")

    writer = Writer(path)
    try:
        with pytest.raises(ValueError, match="no"):
            await writer.apply(change)
        rows = await writer.apply(
            lambda c: c.execute("SELECT COUNT(*) FROM meta WHERE key='half'").fetchone()[0]
        )
        assert rows == 0
    finally:
        writer.close()


async def test_a_full_queue_makes_producers_wait_and_loses_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentbench_tui.store.writer.BOUND_ROWS", 50)
    writer = Writer(path)
    lock = WriteLock(path)
    try:
        with lock.held():
            for number in range(50):
                writer.add(ADD_TAG, (f"k{number}", "v"))
            assert writer.is_full
            waiting = asyncio.ensure_future(writer.room())
            await asyncio.sleep(0)
            assert not waiting.done()
        await waiting
        assert not writer.is_full
    finally:
        writer.close()
        lock.close()
    with closing(connect_to_read(path)) as connection:
        assert (
            connection.execute("SELECT COUNT(*) FROM meta WHERE key LIKE 'k%'").fetchone()[0] == 50
        )


async def test_who_no_longer_waits_for_a_change_does_not_end_the_writer(path: Path) -> None:
    writer = Writer(path)
    busy, go = threading.Event(), threading.Event()

    def hold(_: sqlite3.Connection) -> None:
        busy.set()
        go.wait(10)

    holding = writer.submit(hold)
    await asyncio.to_thread(busy.wait, 10)
    given_up = writer.submit(lambda c: c.execute(ADD_TAG, ("asked", "yes")))
    assert given_up.cancel()
    go.set()
    await asyncio.wrap_future(holding)
    await writer.flush()
    writer.close()
    with closing(connect_to_read(path)) as connection:
        assert connection.execute("SELECT value FROM meta WHERE key='asked'").fetchone()[0]


async def test_a_failing_writer_says_so_instead_of_hanging(path: Path) -> None:
    writer = Writer(path)
    writer.add("INSERT INTO nowhere VALUES (?)", (1,))
    with pytest.raises(StoreError):
        await writer.flush()
    with pytest.raises(StoreError, match="cannot write"):
        await writer.flush()
    writer.close()


def test_a_full_disk_at_the_last_checkpoint_is_told_and_loses_nothing(path: Path) -> None:
    script = """
        import os, resource, signal, sys
        from pathlib import Path
        from agentbench_tui.model.errors import StoreError
        from agentbench_tui.store.writer import Writer
        path = Path(sys.argv[1])
        writer = Writer(path)
        add = "INSERT INTO meta VALUES (?, 'v')"
        writer.submit(lambda c: c.executemany(add, [(f"k{n}",) for n in range(20_000)])).result()
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(path),) * 2)
        try:
            writer.close()
        except StoreError as error:
            print(error)
    """
    said, _ = python(script, path).communicate()
    assert said.startswith(f"{path}: the disk ")
    with closing(connect_to_read(path)) as connection:
        assert connection.execute("SELECT COUNT(*) FROM meta").fetchone()[0] == 20_001


def test_a_foreign_writer_that_ignores_our_lock_is_waited_for(path: Path) -> None:
    foreign = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    foreign.execute("BEGIN IMMEDIATE")
    ours = connect_to_write(path)
    ours.execute("PRAGMA busy_timeout=1")
    lock = WriteLock(path)
    retries: list[int] = []

    def on_busy() -> None:
        retries.append(1)
        if len(retries) == 3:
            foreign.execute("COMMIT")

    in_transaction(ours, lock, lambda c: c.execute(ADD_TAG, ("k", "v")), on_busy)
    assert len(retries) == 3
    for connection in (foreign, ours):
        connection.close()
    lock.close()


def test_write_transactions_of_two_processes_take_turns(path: Path) -> None:
    script = """
        import sys
        from pathlib import Path
        from agentbench_tui.store.transaction import write_once
        path, name = Path(sys.argv[1]), sys.argv[2]
        print("ready", flush=True); sys.stdin.readline()
        for n in range(100):
            write_once(path, [lambda c: c.execute(
                "INSERT INTO meta VALUES (?, 'v')", (f"{name}{n}",))])
    """
    processes = [python(script, path, name) for name in "ab"]
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    with closing(connect_to_read(path)) as reader:
        while any(process.poll() is None for process in processes):
            reader.execute("SELECT COUNT(*) FROM meta").fetchall()
        assert [process.wait() for process in processes] == [0, 0]
        count = reader.execute("SELECT COUNT(*) FROM meta WHERE value='v'").fetchone()[0]
    for process in processes:
        process.communicate()
    assert count == 200


async def test_a_reader_that_holds_a_transaction_harms_nobody(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It keeps its old picture; commits and checkpoints go on around it."""
    monkeypatch.setattr("agentbench_tui.store.writer.CHECKPOINT_BYTES", 1)
    holder = connect_to_read(path)
    holder.execute("BEGIN")
    before = holder.execute("SELECT COUNT(*) FROM meta").fetchone()[0]
    writer = Writer(path)
    for number in range(3000):
        writer.add(ADD_TAG, (f"k{number}", "v"))
    await writer.flush()
    assert writer.busy_retries == 0
    assert holder.execute("SELECT COUNT(*) FROM meta").fetchone()[0] == before
    with closing(connect_to_read(path)) as other:
        assert other.execute("SELECT COUNT(*) FROM meta").fetchone()[0] == before + 3000
    writer.close()
    holder.execute("COMMIT")
    assert holder.execute("SELECT COUNT(*) FROM meta").fetchone()[0] == before + 3000
    holder.close()


def test_a_checkpoint_waits_for_the_write_lock(path: Path) -> None:
    """SQLite before 3.51.3 may corrupt a file when a checkpoint meets a commit."""
    writer = Writer(path)
    lock = WriteLock(path)
    with lock.held():
        closing_thread = threading.Thread(target=writer.close)
        closing_thread.start()
        closing_thread.join(timeout=0.2)
        assert closing_thread.is_alive()
    closing_thread.join(timeout=60)
    assert not closing_thread.is_alive()
    lock.close()


def test_a_lease_has_one_holder_and_ends_with_its_process(path: Path) -> None:
    script = """
        import sys
        from pathlib import Path
        from agentbench_tui.store.locking import Lease
        assert Lease.take(Path(sys.argv[1]), "run") is not None
        print("held", flush=True); sys.stdin.readline()
    """
    process = python(script, path)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    assert is_leased(path, "run")
    assert Lease.take(path, "run") is None
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert not is_leased(path, "run")
    lease = Lease.take(path, "run", LeaseHolder(boot_id(), os.getpid(), 0.0))
    assert lease is not None
    lease.release()
    assert not is_leased(path, "run")
    assert list(Path(f"{path}.leases").iterdir()) == []


def test_who_asks_for_a_lease_meanwhile_keeps_nobody_from_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held_for_a_moment = iter([True, True])

    def flock(descriptor: int, operation: int) -> None:
        if operation & fcntl.LOCK_NB and next(held_for_a_moment, False):
            raise BlockingIOError
        fcntl_flock(descriptor, operation)

    fcntl_flock = fcntl.flock
    monkeypatch.setattr(fcntl, "flock", flock)
    lease = Lease.take(path, "run")
    assert lease is not None
    lease.release()


def test_memory_is_a_file_in_shared_memory_and_can_be_kept(tmp_path: Path) -> None:
    kept = tmp_path / "kept.db"
    location = Location.resolve(":memory:", str(kept))
    write_once(location.working, [lambda c: c.execute(ADD_TAG, ("k", "v"))])
    assert location.deliver() == kept
    location.discard()
    assert not location.working.exists()
    with closing(connect_to_read(kept)) as connection:
        assert connection.execute("SELECT value FROM meta WHERE key='k'").fetchone()[0] == "v"


def test_what_cannot_be_delivered_stays_where_it_was_written(tmp_path: Path) -> None:
    location = Location.resolve(":memory:", str(tmp_path / "file" / "kept.db"))
    (tmp_path / "file").write_text("no folder")
    write_once(location.working, [lambda c: c.execute(ADD_TAG, ("k", "v"))])
    with pytest.raises(StoreError, match=str(location.working)):
        location.deliver()
    assert location.working.exists()
    given = Location.resolve(str(location.working))  # what is there now is a file like others
    assert given.deliver() == location.working
    given.discard()
    assert location.working.exists()
    location.discard()


def keys_of(path: Path) -> list[str]:
    with closing(connect_to_read(path)) as connection:
        rows = connection.execute("SELECT key FROM meta WHERE value='v' ORDER BY key").fetchall()
    return [row[0] for row in rows]


def add(path: Path, key: str) -> None:
    write_once(path, [lambda c: c.execute(ADD_TAG, (key, "v"))])


def test_a_network_file_system_is_written_locally_and_copied_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what a process that was killed there has left in its log."""
    killed, shared = tmp_path / "killed.db", tmp_path / "shared.db"
    add(killed, "old")
    with closing(connect_to_write(killed)) as connection:
        connection.execute(ADD_TAG, ("last", "v"))
        for suffix in ("", "-wal"):
            Path(f"{shared}{suffix}").write_bytes(Path(f"{killed}{suffix}").read_bytes())
    monkeypatch.setattr(store_location, "filesystem_of", lambda _: "nfs4")
    location = Location.resolve(str(shared))
    assert location.working != shared
    add(location.working, "new")
    assert location.deliver() == shared
    location.discard()
    assert not location.working.exists()
    assert keys_of(shared) == ["last", "new", "old"]


def test_what_another_run_delivered_meanwhile_is_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tmp_path / "shared.db"
    add(shared, "old")
    monkeypatch.setattr(store_location, "filesystem_of", lambda _: "nfs4")
    one, other = Location.resolve(str(shared)), Location.resolve(str(shared))
    add(one.working, "one")
    add(other.working, "other")
    one.deliver()
    with pytest.raises(StoreError, match=f"in the meantime; everything is in {other.working}"):
        other.deliver()
    assert keys_of(shared) == ["old", "one"]
    assert keys_of(other.working) == ["old", "other"]
    one.discard()
    other.discard()


def test_the_file_system_of_proc_is_proc() -> None:
    assert filesystem_of(Path("/proc/self/status")) == "proc"


def test_mounts_of_any_name_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "mounts"
    table.write_bytes(
        b"none / ext4 rw 0 0\nnone /m\xff tmpfs rw 0 0\n"
        b"none /a\\040b\\134c nfs4 rw 0 0\nnone /a\\040b 9p rw 0 0\n"
    )
    monkeypatch.setattr(store_location, "_MOUNTS", table)
    assert filesystem_of(Path(os.fsdecode(b"/m\xff/x"))) == "tmpfs"
    assert filesystem_of(Path("/a b\\c/x")) == "nfs4"
    assert filesystem_of(Path("/a b/x")) == "9p"
    assert filesystem_of(Path("/elsewhere")) == "ext4"


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        *[(kind, True) for kind in ("nfs4", "cifs", "smb3", "9p", "lustre", "beegfs", "vboxsf")],
        *[(f"fuse.{kind}", True) for kind in ("sshfs", "s3fs", "rclone", "gcsfuse", "juicefs")],
        *[(kind, False) for kind in ("ext4", "xfs", "btrfs", "zfs", "tmpfs", "overlay", "apfs")],
        *[(f"fuse.{kind}", False) for kind in ("mergerfs", "lxcfs", "bindfs", "gocryptfs")],
    ],
)
def test_a_network_file_system_is_known_by_its_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, expected: bool
) -> None:
    table = tmp_path / "mounts"
    table.write_text(f"disk / ext4 rw 0 0\nserver:/x /remote {kind} rw 0 0\n")
    monkeypatch.setattr(store_location, "_MOUNTS", table)
    assert store_location.is_on_network(Path("/remote/a/bench.db")) is expected
    assert not store_location.is_on_network(Path("/remoter/bench.db"))


def test_a_read_only_folder_without_a_log_can_be_read(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for suffix in ("-wal", "-shm", ".lock"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    path.parent.chmod(0o500)
    try:
        with closing(connect_to_read(path)) as connection:
            assert connection.execute("SELECT COUNT(*) FROM meta").fetchone()[0] == 1
    finally:
        path.parent.chmod(0o700)


def test_kill_9_loses_nothing_that_was_committed(path: Path) -> None:
    script = """
        import asyncio, sys
        from pathlib import Path
        from agentbench_tui.store.writer import Writer
        async def main():
            writer = Writer(Path(sys.argv[1]))
            number = 0
            while True:
                for _ in range(100):
                    writer.add("INSERT INTO meta VALUES (?, 'v')", (f"k{number}",))
                    number += 1
                await writer.flush()
                print(number, flush=True)
        asyncio.run(main())
    """
    process = python(script, path)
    assert process.stdout is not None
    acknowledged = 0
    for _ in range(20):
        acknowledged = int(process.stdout.readline())
    os.kill(process.pid, signal.SIGKILL)
    rest = process.communicate()[0].split()
    acknowledged = int(rest[-1]) if rest else acknowledged
    with closing(connect_to_read(path)) as connection:
        count = connection.execute("SELECT COUNT(*) FROM meta WHERE value='v'").fetchone()[0]
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    assert count >= acknowledged
