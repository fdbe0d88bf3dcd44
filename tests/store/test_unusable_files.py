"""Databases that cannot be used: refused in words, and never touched."""

import errno
import os
import socket
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from agentbench_tui.model.errors import AgentbenchError, StoreError, UsageError
from agentbench_tui.store.archive import export_run, import_runs
from agentbench_tui.store.database import (
    connect_to_read,
    connect_to_write,
    create_or_migrate,
    reading,
    real_path,
    schema_of,
    workspace_id,
)
from agentbench_tui.store.faults import faults_named
from agentbench_tui.store.location import Location
from agentbench_tui.store.locking import Lease, WriteLock
from agentbench_tui.store.removal import remove_unfinished
from agentbench_tui.store.transaction import write_once
from agentbench_tui.store.writer import Writer

ADD = "INSERT INTO meta VALUES (?,?)"


def other_program(path: Path, version: int = 0) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE notes (text)")
        connection.execute("INSERT INTO notes VALUES ('mine')")
        connection.execute(f"PRAGMA user_version={version}")
        connection.commit()


def damaged(path: Path) -> None:
    """Ours, with its second page, where a table begins, overwritten."""
    create_or_migrate(path)
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 4096)


FILES: dict[str, tuple[Callable[[Path], object], str]] = {
    "folder": (lambda path: path.mkdir(), "a folder"),
    "pipe": (lambda path: os.mkfifo(path), "not a regular file"),
    "device": (lambda path: path.symlink_to("/dev/zero"), "not a regular file"),
    "link to nowhere": (lambda path: path.symlink_to("nowhere"), "not there"),
    "link to itself": (lambda path: path.symlink_to(path), "symbolic links"),
    "text": (lambda path: path.write_text("no database " * 100), "another file"),
    "other program": (other_program, "another program"),
    "other program, version 1": (lambda path: other_program(path, 1), "another program"),
    "other program, version 9": (lambda path: other_program(path, 9), "another program"),
    "begin of a database": (
        lambda path: (create_or_migrate(path), os.truncate(path, 5000)),
        "it is damaged",
    ),
}


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("use", [create_or_migrate, connect_to_write, connect_to_read])
def test_what_is_no_database_of_ours_is_refused_untouched(
    tmp_path: Path, kind: str, use: Callable[[Path], object]
) -> None:
    path = tmp_path / "store.db"
    make, words = FILES[kind]
    make(path)
    there = path.read_bytes() if path.is_file() else None
    with pytest.raises(StoreError, match=words):
        use(path)
    assert there == (path.read_bytes() if path.is_file() else None)


def test_a_table_that_cannot_be_cleaned_up_is_told(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    create_or_migrate(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
        roots = connection.execute("SELECT rootpage FROM sqlite_schema WHERE tbl_name='datasets'")
        pages = [page for (page,) in roots]
    with path.open("r+b") as file:
        for page in pages:
            file.seek((page - 1) * 4096)
            file.write(b"\xff" * 4096)
    with pytest.raises(StoreError, match="it is damaged"):
        remove_unfinished(path)


def test_a_text_that_is_not_utf_8_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    create_or_migrate(path)
    with pytest.raises(StoreError, match="it is damaged"), reading(path) as connection:
        connection.execute("SELECT CAST(X'FF' AS TEXT)").fetchone()


def test_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind("store.db")
        with pytest.raises(StoreError, match="not a regular file"):
            connect_to_read(tmp_path / "store.db")


def test_an_empty_file_becomes_a_database(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.touch()
    with pytest.raises(StoreError, match="nothing in it yet"):
        connect_to_read(path)
    create_or_migrate(path)
    connect_to_read(path).close()


def test_a_damaged_page_is_told_when_it_is_read_and_when_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    damaged(path)
    words = r"store\.db: not a readable SQLite database"
    with pytest.raises(StoreError, match=words), reading(path) as connection:
        connection.execute("SELECT * FROM meta").fetchall()
    with pytest.raises(StoreError, match=words):
        write_once(path, [lambda c: c.execute(ADD, ("k", "v"))])


def test_faults_of_ours_stay_what_they_are(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    create_or_migrate(path)
    no_table = pytest.raises(sqlite3.OperationalError, match="no such table")
    with no_table, reading(path) as connection:
        connection.execute("SELECT * FROM nowhere")
    with pytest.raises(BrokenPipeError), reading(path):
        raise BrokenPipeError


def test_a_database_gets_its_identity_together_with_its_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store.db"

    def breaks_off() -> str:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("agentbench_tui.store.database.new_id", breaks_off)
        with pytest.raises(KeyboardInterrupt):
            create_or_migrate(path)
    create_or_migrate(path)
    with reading(path) as connection:
        assert len(workspace_id(connection)) == 36


def test_locks_lie_beside_the_file_by_whatever_name_it_is_given(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    link = tmp_path / "link.db"
    link.symlink_to("folder/store.db")
    location = Location.resolve(str(link))
    assert location.working == real_path(link) == tmp_path / "folder" / "store.db"


def test_a_relative_database_stays_where_it_is_when_the_folder_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    location = Location.resolve("store.db")
    monkeypatch.chdir("/")
    create_or_migrate(location.working)
    assert (tmp_path / "store.db").is_file()


def test_a_lock_or_lease_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "store.db.lock").mkdir()
    (tmp_path / "store.db.leases").touch()
    with pytest.raises(StoreError, match=r"store\.db: cannot be used: is a directory"):
        WriteLock(tmp_path / "store.db")
    with pytest.raises(StoreError, match=r"store\.db: cannot be used: "):
        Lease.take(tmp_path / "store.db", "run")


def saved_keys(folder: Path) -> set[str]:
    [saved] = folder.glob("store-saved-*.db")
    with reading(saved) as connection:
        rows = connection.execute("SELECT key FROM meta WHERE value='v'").fetchall()
    return {row[0] for row in rows}


@pytest.mark.parametrize("replaced", [False, True])
async def test_a_database_that_is_removed_or_replaced_meanwhile_is_saved(
    tmp_path: Path, replaced: bool
) -> None:
    path = tmp_path / "store.db"
    writer = Writer(path)
    try:
        await writer.apply(lambda c: c.execute(ADD, ("before", "v")))

        def lose(_: sqlite3.Connection) -> None:
            path.unlink()
            if replaced:
                other_program(path)
            writer.add(ADD, ("after", "v"))

        with suppress(StoreError):  # told by this one or the next
            await writer.apply(lose)
        with pytest.raises(StoreError, match="was removed or replaced"):
            await writer.flush()
    finally:
        writer.close()
    assert saved_keys(tmp_path) == {"before", "after"}
    if replaced:
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("SELECT text FROM notes").fetchall() == [("mine",)]


async def test_a_change_that_comes_after_the_writer_ended_fails_at_once(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "store.db")
    try:
        writer.add("INSERT INTO nowhere VALUES (?)", (1,))
        with pytest.raises(StoreError):
            await writer.flush()
        failure, writer._failure = writer._failure, None  # as it is between check and append

        def check() -> None:
            writer._failure = failure

        writer.check = check  # type: ignore[method-assign]
        with pytest.raises(StoreError):
            await writer.flush()
    finally:
        writer.close()


def test_persist_never_writes_over_a_file(tmp_path: Path) -> None:
    kept = tmp_path / "kept.db"
    kept.write_text("precious")
    with pytest.raises(StoreError, match="already exists"):
        Location.resolve(":memory:", str(kept))
    assert kept.read_text() == "precious"


def test_a_file_that_cannot_be_finished_leaves_no_half_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Path, target: Path) -> Path:
        raise OSError(errno.ENOSPC, "No space left on device", str(target))

    location = Location.resolve(":memory:", str(tmp_path / "kept.db"))
    create_or_migrate(location.working)
    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(StoreError, match=f"No space left.*everything is in {location.working}"):
        location.deliver()
    assert list(tmp_path.iterdir()) == []
    assert schema_of(location.working) > 0
    location.discard()


def test_a_file_that_can_never_be_written_is_refused_before_the_run(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="not a directory"):
        Location.resolve(":memory:", str(tmp_path / "file" / "kept.db"))


@pytest.mark.parametrize("name", ["store.db", "link.db", "./store.db"])
def test_a_run_is_never_exported_over_its_own_database(tmp_path: Path, name: str) -> None:
    path = tmp_path / "store.db"
    create_or_migrate(path)
    (tmp_path / "link.db").symlink_to("store.db")
    before = path.read_bytes()
    with pytest.raises(UsageError, match="is a file of the database itself"):
        export_run(path, "run", tmp_path / name, force=True)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("name", "words"),
    [("folder", "a folder"), ("pipe", "not a regular file"), ("file/x", "not a directory")],
)
def test_an_export_goes_into_a_file_only(tmp_path: Path, name: str, words: str) -> None:
    path = tmp_path / "store.db"
    create_or_migrate(path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(AgentbenchError, match=words):
        export_run(path, "run", tmp_path / name, force=True)
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize("digest", [b"", b"\xff\xfe", b"0" * 64])
def test_an_import_with_another_digest_is_refused(tmp_path: Path, digest: bytes) -> None:
    source = tmp_path / "run.db"
    create_or_migrate(source)
    (tmp_path / "run.db.sha256").write_bytes(digest)
    with pytest.raises(StoreError, match="its sha256 is not the one in"):
        import_runs(tmp_path / "store.db", source)


@pytest.mark.parametrize("kind", [kind for kind in FILES if "nowhere" not in kind])
def test_garbage_is_not_imported(tmp_path: Path, kind: str) -> None:
    source = tmp_path / "run.db"
    FILES[kind][0](source)
    with pytest.raises((StoreError, UsageError)):
        import_runs(tmp_path / "store.db", source)


def test_a_full_disk_is_no_usage_error(tmp_path: Path) -> None:
    path = tmp_path / "full.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE filled (content)")
        connection.execute("PRAGMA max_page_count = 3")
        with pytest.raises(StoreError, match="the disk is full") as raised, faults_named(path):
            connection.execute("INSERT INTO filled VALUES (zeroblob(1000000))")
    assert raised.value.exit_code == 3
