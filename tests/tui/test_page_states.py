"""A page that is reading, has nothing to show, or could not be read says which of the three."""

import sqlite3
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from stores import screen_text, session, settle, shows

from agentbench_tui.store.database import create_or_migrate
from agentbench_tui.tui.pages.leaderboard.page import Leaderboard

NOTHING = ("nothing here yet", "no scores", "no data yet")


async def test_a_page_that_is_reading_says_nothing_of_the_data(
    measured: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on = Event()
    read = Leaderboard.read

    def held(page: Leaderboard, connection: sqlite3.Connection) -> Any:
        goes_on.wait(60)
        return read(page, connection)

    monkeypatch.setattr(Leaderboard, "read", held)
    app = session(measured, "leaders")
    async with app.run_test(size=(120, 40)) as pilot:
        text = await shows(pilot, "reading the database")
        assert not any(words in text for words in NOTHING)
        goes_on.set()
        await settle(pilot, lambda: "reading the database" not in screen_text(app))
        await shows(pilot, "fair")


async def test_a_database_without_runs_is_not_called_unreadable(tmp_path: Path) -> None:
    database = tmp_path / "empty.db"
    create_or_migrate(database)
    async with session(database, "cases").run_test(size=(120, 40)) as pilot:
        text = await shows(pilot, "nothing here yet")
        assert "could not be read" not in text


async def test_panels_that_need_no_database_stay_without_a_readable_one(tmp_path: Path) -> None:
    database = tmp_path / "damaged.db"
    database.write_bytes(b"no database, but longer than the header of one" * 50)
    async with session(database, "home").run_test(size=(120, 40)) as pilot:
        await shows(pilot, "quickstart")


async def test_a_page_that_could_not_be_read_says_so(
    measured: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> Any:
        raise sqlite3.DatabaseError("database disk image is malformed")

    monkeypatch.setattr(Leaderboard, "read", fails)
    async with session(measured, "leaders").run_test(size=(120, 40)) as pilot:
        text = await shows(pilot, "could not be read", "malformed")
        assert not any(words in text for words in NOTHING)
