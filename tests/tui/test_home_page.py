"""Home: what goes on and what was measured, what to press first, and how one gets further."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from stores import HOSTILE, session, settle, shows, told

from agentbench_tui.store.database import connect_to_read, create_or_migrate
from agentbench_tui.store.locking import Lease
from agentbench_tui.tui.app import AgentbenchApp
from agentbench_tui.tui.pages import home
from agentbench_tui.tui.pages.home import RUNS_SHOWN, Home
from agentbench_tui.tui.widgets.grid import Grid


def grid(app: AgentbenchApp, name: str) -> Grid:
    return app.screen.query_one(f"#{name}", Grid)


def keys(app: AgentbenchApp, name: str) -> list[str]:
    return [row.key for row in grid(app, name)._data.rows]


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_runs_are_listed_the_newest_first(measured: Path, size: tuple[int, int]) -> None:
    app = session(measured, "home")
    async with app.run_test(size=size) as pilot:
        text = await shows(pilot, "echoes", "quick", "complete")
        assert text.index("quick") < text.index("echoes")
        assert "when (UTC)" in text
        assert HOSTILE not in text
        assert "nothing was measured here yet" not in text


async def test_an_empty_place_says_what_to_press_first(tmp_path: Path) -> None:
    app = session(tmp_path / "none.db", "home")
    async with app.run_test(size=(80, 24)) as pilot:
        text = await shows(pilot, "what to press first", "run quickstart now", "Press 2")
        assert "choose a suite" in text
    assert not (tmp_path / "none.db").exists()


async def test_a_store_without_runs_is_as_good_as_none(tmp_path: Path) -> None:
    create_or_migrate(tmp_path / "empty.db")
    app = session(tmp_path / "empty.db", "home")
    async with app.run_test(size=(80, 24)) as pilot:
        await shows(pilot, "what to press first", "run quickstart now")


async def test_a_run_that_goes_on_is_on_top_with_its_progress(
    measured: Path, tmp_path: Path
) -> None:
    database = tmp_path / "copy.db"
    with closing(sqlite3.connect(measured)) as source, closing(sqlite3.connect(database)) as copy:
        source.backup(copy)
        copy.execute("UPDATE runs SET status='running' WHERE key=1")
        copy.execute("UPDATE benchmark_executions SET planned=2*planned WHERE run_key=1")
        copy.commit()
    lease = Lease.take(database, keys_of(database)[0])
    assert lease is not None
    try:
        app = session(database, "home")
        async with app.run_test(size=(120, 40)) as pilot:
            text = await shows(pilot, "running", "50%")
            assert text.index("echoes") < text.index("quick")
    finally:
        lease.release()


async def test_the_filter_keeps_what_holds_every_word(measured: Path) -> None:
    app = session(measured, "home")
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot, lambda: len(keys(app, "runs")) == 2)
        await pilot.press("slash", *"LATER")
        await settle(pilot, lambda: len(keys(app, "runs")) == 1)
        await pilot.press(*" x", "enter")
        await shows(pilot, "no run with “LATER x”")
        await pilot.press("slash", "escape")
        await settle(pilot, lambda: len(keys(app, "runs")) == 2)
        assert grid(app, "runs").has_focus


async def test_runs_and_agents_are_marked_where_they_stand(measured: Path) -> None:
    app = session(measured, "home")
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot, lambda: len(keys(app, "runs")) == 2)
        await pilot.press("x")
        newest = keys(app, "runs")[0]
        assert app.shared.marked == [f"run:{newest}"]
        assert grid(app, "runs").selected == {newest}
        grid(app, "agents").focus()
        await pilot.press("x")
        assert app.shared.marked[1:] == [grid(app, "agents").cursor_key]
        grid(app, "runs").focus()
        await pilot.press("x")
        assert grid(app, "runs").selected == frozenset()
        grid(app, "checks").focus()
        await pilot.press("x")
        assert "put the cursor on a run or an agent" in told(app)[-1]


def keys_of(database: Path) -> list[str]:
    with closing(connect_to_read(database)) as connection:
        return [row[0] for row in connection.execute("SELECT id FROM runs ORDER BY key")]


async def test_panels_below_have_the_page_where_it_is_small(measured: Path) -> None:
    app = session(measured, "home")
    async with app.run_test(size=(80, 24)) as pilot:
        await shows(pilot, "recent runs", "echoes")
        assert not grid(app, "suites").is_on_screen
        await pilot.press("v")
        text = await shows(pilot, "suites: enter starts one", "agentbench doctor", "noop")
        assert "recent runs" not in text
        await pilot.press("v", "v", "v")
        await shows(pilot, "recent runs")
        await pilot.press("v", "escape")
        await shows(pilot, "recent runs")


async def test_the_runs_take_no_more_rows_than_they_need(measured: Path) -> None:
    app = session(measured, "home")
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot, lambda: len(keys(app, "runs")) == 2)
        await settle(pilot, lambda: grid(app, "runs").size.height == 4)
        assert grid(app, "suites").size.height > 20


def test_the_year_is_told_where_it_is_another_one() -> None:
    assert home._when("2026-11-28T19:41:23.376Z", "2026") == "11-28 19:41"
    assert home._when("2025-11-28T19:41:23.376Z", "2026") == "2025-11-28"


def test_of_ten_thousand_runs_the_newest_are_read(measured: Path, tmp_path: Path) -> None:
    database = tmp_path / "many.db"
    with closing(sqlite3.connect(measured)) as source, closing(sqlite3.connect(database)) as many:
        source.backup(many)
        names = [row[1] for row in many.execute("PRAGMA table_info(runs)") if row[1] != "key"]
        values = ["'copy-' || n" if name == "id" else name for name in names]
        many.execute(
            "WITH RECURSIVE count(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM count WHERE n<9998)"
            f" INSERT INTO runs ({','.join(names)}) SELECT {','.join(values)}"
            " FROM runs, count WHERE runs.key=2"
        )
        many.commit()
    app = session(database, "home")
    page = Home()
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    with closing(connect_to_read(database)) as connection, pytest.MonkeyPatch.context() as patch:
        patch.setattr(Home, "shared", app.shared)
        assert connection.execute("SELECT COUNT(*) FROM runs").fetchone()[0] == 10_000
        connection.set_progress_handler(count, 1_000)
        found = page.read(connection)
    assert len(found.runs) == RUNS_SHOWN
    # Instructions of SQLite, in thousands: a scan for the newest, then 200 rows.
    assert steps < 2_000
    assert all(len(row.cells) == len(home._RUNS) for row in map(home._run_row, found.runs))
