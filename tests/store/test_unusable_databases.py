"""Files that cannot be a database: one line that names them, and nothing is lost."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agentbench_tui.model.errors import StoreError
from agentbench_tui.store.database import Location, connect_to_read, create_or_migrate
from agentbench_tui.store.faults import faults_named
from agentbench_tui.store.writer import Writer

ADD = "INSERT INTO meta (key, value) VALUES (?, ?)"


async def write_until_it_fails(writer: Writer) -> None:
    for _ in range(50):
        writer.add(ADD, (os.urandom(4).hex(), "v"))
        await writer.flush()


def saved_files(folder: Path) -> list[Path]:
    return list(folder.glob("store-saved-*.db"))


def test_a_folder_is_no_database(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="a folder; give a database file"):
        create_or_migrate(tmp_path)


def test_a_target_that_can_never_be_written_is_refused_before_the_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(StoreError, match="not a directory"):
        Location.resolve(":memory:", str(tmp_path / "file" / "kept.db"))


def test_a_link_to_nothing_is_told_as_such(tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(tmp_path / "gone.db")
    with pytest.raises(StoreError, match="link to a file that is not there"):
        create_or_migrate(tmp_path / "link.db")


async def test_a_database_removed_during_a_run_is_saved_beside_its_place(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    writer = Writer(path)
    writer.add(ADD, ("before", "v"))
    await writer.flush()
    path.unlink()
    with pytest.raises(StoreError, match="removed or replaced"):
        await write_until_it_fails(writer)
    writer.close()
    (saved,) = saved_files(tmp_path)
    with closing(connect_to_read(saved)) as connection:
        assert connection.execute("SELECT value FROM meta WHERE key='before'").fetchone()[0] == "v"


def test_a_fault_of_ours_stays_what_it_is(tmp_path: Path) -> None:
    """Only circumstances become StoreError: a wrong statement is a bug and must be seen as one."""
    with (
        closing(sqlite3.connect(":memory:")) as connection,
        pytest.raises(sqlite3.OperationalError),
        faults_named(tmp_path / "x.db"),
    ):
        connection.execute("SELECT nothing FROM nowhere")
