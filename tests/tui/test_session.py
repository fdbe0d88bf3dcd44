"""The session around its pages: where it begins, what leads where, and how it is left."""

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from stores import screen_text, session, settle, shows, told
from textual.app import App

from agentbench_tui.store.database import connect_to_read
from agentbench_tui.store.locking import Lease
from agentbench_tui.tui.app import AgentbenchApp
from agentbench_tui.tui.dialogs.asking import Line
from agentbench_tui.tui.dialogs.leaving import Leaving
from agentbench_tui.tui.shared import Shared
from agentbench_tui.tui.theme import ANSI_DARK, LIGHT


def copied(database: Path, copy: Path, *statements: str) -> Path:
    """A copy of the store in which something else stands."""
    with closing(connect_to_read(database)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
        for statement in statements:
            target.execute(statement)
        target.commit()
    return copy


def newest_run(database: Path) -> str:
    with closing(connect_to_read(database)) as connection:
        return str(connection.execute("SELECT id FROM runs ORDER BY key DESC").fetchone()[0])


def wishes(database: Path) -> list[str]:
    with closing(connect_to_read(database)) as connection:
        return [row[0] for row in connection.execute("SELECT wish FROM wishes")]


def files_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@contextmanager
def carried_out(database: Path, run_id: str) -> Iterator[None]:
    """While it lasts, somebody holds the run's lease."""
    lease = Lease.take(database, run_id)
    assert lease is not None
    try:
        yield
    finally:
        lease.release()


async def test_an_empty_place_says_what_to_do_first_and_stays_empty(tmp_path: Path) -> None:
    async with session(tmp_path / "none.db", "home").run_test() as pilot:
        await shows(pilot, "Press 2 to choose one", "run quickstart now")
    assert files_in(tmp_path) == []


async def test_leaving_asks_about_a_run_of_its_own_that_goes_on(
    measured: Path, tmp_path: Path
) -> None:
    database = copied(measured, tmp_path / "a.db", "UPDATE runs SET status='running'")
    run_id = newest_run(database)
    app = AgentbenchApp(Shared(database, run_id), first="live", own_run=run_id)
    with carried_out(database, run_id):
        async with app.run_test() as pilot:
            await pilot.press("q")
            await settle(pilot, lambda: isinstance(app.screen, Leaving))
            await pilot.press("escape")
            await settle(pilot, lambda: not isinstance(app.screen, Leaving))
            assert app.is_running
            assert wishes(database) == []
            await pilot.press("q", "s")
            await settle(pilot, lambda: not app.is_running)
    assert app.choice == "stop"
    assert wishes(database) == ["stop"]


async def test_detached_is_the_answer_of_a_second_interrupt(measured: Path, tmp_path: Path) -> None:
    database = copied(measured, tmp_path / "a.db", "UPDATE runs SET status='running'")
    run_id = newest_run(database)
    app = AgentbenchApp(Shared(database, run_id), first="live", own_run=run_id)
    with carried_out(database, run_id):
        async with app.run_test() as pilot:
            await pilot.press("ctrl+c")
            await settle(pilot, lambda: isinstance(app.screen, Leaving))
            await pilot.press("ctrl+c")
            await settle(pilot, lambda: not app.is_running)
    assert app.choice != "stop"
    assert wishes(database) == []


async def test_a_run_that_has_ended_is_left_without_a_question(measured: Path) -> None:
    run_id = newest_run(measured)
    app = AgentbenchApp(Shared(measured, run_id), first="live", own_run=run_id)
    async with app.run_test() as pilot:
        await pilot.press("q")
        await settle(pilot, lambda: not app.is_running)


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("no-such-python", "no run could be started: no such file or directory"),
        ("/bin/false", "the run did not start: exit code 1, without a word"),
    ],
)
async def test_a_run_that_cannot_be_started_is_told_and_ends_no_session(
    measured: Path, monkeypatch: pytest.MonkeyPatch, program: str, words: str
) -> None:
    app = session(measured, "home")
    async with app.run_test(size=(80, 24)) as pilot:
        with monkeypatch.context() as patched:
            patched.setattr(sys, "executable", program)
            app.start_run(["run", "quickstart"])
            await settle(pilot, lambda: len(told(app)) > 1)
        assert told(app)[-1] == words
        assert app.is_running


async def test_a_folder_that_cannot_be_written_is_told(measured: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    app = AgentbenchApp(Shared(measured), screenshots=tmp_path / "file")
    async with app.run_test() as pilot:
        await pilot.press("ctrl+s")
        await settle(pilot, lambda: told(app))
        assert told(app)[0].startswith("no picture: ")


async def test_a_line_is_asked_for_and_may_be_taken_back_before_it_is_there() -> None:
    app: App[None] = App()
    async with app.run_test() as pilot:
        app.push_screen(Line("Where?"))
        app.pop_screen()
        await pilot.pause()
        heard: list[str | None] = []
        app.push_screen(Line("Where?"), heard.append)
        await pilot.press("h", "o", "enter")
        assert heard == ["ho"]


async def test_what_is_copied_cannot_steer_a_terminal(measured: Path) -> None:
    app = session(measured, "home")
    async with app.run_test():
        app.copy_to_clipboard("one\x1b[2Jtwo\u202e")
        assert app.clipboard == "one\\x1b[2Jtwo\\u202e"


async def test_themes_are_chosen_by_name_key_and_no_color(
    measured: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen: list[str] = []
    app = AgentbenchApp(Shared(measured), theme=LIGHT, keep_theme=chosen.append)
    async with app.run_test() as pilot:
        assert pilot.app.theme == LIGHT
        await pilot.press("t")
        assert pilot.app.theme != LIGHT
        assert chosen == [pilot.app.theme]
    monkeypatch.setenv("NO_COLOR", "1")
    async with AgentbenchApp(Shared(measured)).run_test() as pilot:
        assert pilot.app.theme == ANSI_DARK


async def test_a_store_that_goes_away_is_told(measured: Path, tmp_path: Path) -> None:
    database = copied(measured, tmp_path / "store.db")
    app = session(database, "leaders")
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await shows(pilot, "good")
        database.rename(tmp_path / "elsewhere.db")
        await shows(pilot, "store.db was deleted or moved.")
        app.notify("another thing")
        await shows(pilot, "another thing", "was deleted or moved.")


async def test_ascii_is_all_of_the_screen(measured: Path) -> None:
    app = AgentbenchApp(Shared(measured), ascii_only=True)
    async with app.run_test(size=(120, 40)) as pilot:
        await shows(pilot, "complete")
        assert screen_text(app).isascii()


@pytest.mark.parametrize("command", [("session",), ("open",)])
def test_without_a_terminal_it_says_what_does_without(
    command: tuple[str, ...], measured: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "agentbench_tui", *command, "--db", str(measured)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "needs a terminal" in done.stderr
    assert "`agentbench runs " in done.stderr


async def test_a_page_has_nothing_to_show_anything_in_before_it_is_mounted(tmp_path: Path) -> None:
    async with session(tmp_path / "none.db", "home").run_test() as pilot:
        app = pilot.app
        assert isinstance(app, AgentbenchApp)
        assert app.page is app.screen
        switched = app.switch_mode("live")
        assert app.page is None  # in front, but without panels
        await switched
        assert app.page is app.screen
