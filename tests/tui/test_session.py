"""The interactive session shows what is in the store, live, and wishes reach the run."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import DataTable, Static

from agentbench_tui.store.database import connect_to_read
from agentbench_tui.tui.first_app import AgentbenchApp, RunScreen

CASES = [{"id": f"c{n}", "input": f"{n}?", "expected": str(n)} for n in range(6)]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one complete run of two simulated agents."""
    folder = tmp_path_factory.mktemp("session")
    suite = {
        "suite_id": "small",
        "weights": {"accuracy": 1, "speed": 0, "efficiency": 0, "cost": 0, "reliability": 0},
        "benchmarks": [
            {
                "benchmark_id": "echo",
                "dataset": {"cases": CASES},
                "scorers": ["exact"],
                "iterations": {"warmup": 0, "measured": 1},
            }
        ],
    }
    (folder / "suite.json").write_text(json.dumps(suite))
    command = [sys.executable, "-m", "agentbench_tui", "run", "suite.json", "--no-ui", "--quiet"]
    command += ["--agent", "good=reference:perfect", "--agent", "bad=reference:noop"]
    subprocess.run([*command, "--db", "s.db"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return folder / "s.db"


async def settle(pilot: Pilot[None], condition: object) -> None:
    """Let the app work until `condition()` holds."""
    for _ in range(200):
        if condition():  # type: ignore[operator]
            return
        await pilot.pause(0.02)
    raise AssertionError("the screen did not get there")


def files_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def cells(table: DataTable[object]) -> list[list[str]]:
    return [[str(cell) for cell in table.get_row_at(n)] for n in range(table.row_count)]


async def test_home_lists_runs_and_leaders(database: Path) -> None:
    app = AgentbenchApp(database)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot, lambda: app.screen.query("#runs"))
        runs = app.screen.query_one("#runs", DataTable)
        await settle(pilot, lambda: runs.row_count == 1)
        assert cells(runs)[0][1:5] == ["complete", "small", "good, bad", "6/12/12"]
        leaders = cells(app.screen.query_one("#leaders", DataTable))
        assert [row[1:4] for row in leaders] == [
            ["1", "good (simulated)", "1.000"],
            ["2", "bad (simulated)", "0.000"],
        ]


def changed(database: Path, copy: Path, *statements: str) -> Path:
    """A copy of the store in which something else stands."""
    with closing(connect_to_read(database)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
        for statement in statements:
            target.execute(statement)
        target.commit()
    return copy


async def test_home_calls_no_answer_of_a_load_right_or_wrong(
    database: Path, tmp_path: Path
) -> None:
    as_load = "json_set(plan, '$.groups[0].benchmark.kind', 'load')"
    app = AgentbenchApp(changed(database, tmp_path / "a.db", f"UPDATE runs SET plan={as_load}"))
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot, lambda: app.screen.query("#runs"))
        runs = app.screen.query_one("#runs", DataTable)
        await settle(pilot, lambda: runs.row_count == 1)
        assert cells(runs)[0][4] == "–/12/12"


async def test_a_run_whose_process_was_killed_is_interrupted_on_its_own_screen_too(
    database: Path, tmp_path: Path
) -> None:
    killed = changed(database, tmp_path / "a.db", "UPDATE runs SET status='running'")
    with closing(connect_to_read(killed)) as connection:
        run_id = connection.execute("SELECT id FROM runs").fetchone()[0]
    app = AgentbenchApp(killed)
    async with app.run_test(size=(120, 40)) as pilot:
        app.push_screen(RunScreen(killed, run_id))
        await settle(pilot, lambda: isinstance(app.screen, RunScreen))
        await settle(pilot, lambda: f"run {run_id}: interrupted" in screen_text(app))


async def test_a_run_opens_with_its_figures_and_closes_again(database: Path) -> None:
    app = AgentbenchApp(database)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot, lambda: app.screen.query("#runs"))
        table = app.screen.query_one("#runs", DataTable)
        await settle(pilot, lambda: table.row_count == 1)
        table.focus()
        await pilot.press("enter")
        await settle(pilot, lambda: isinstance(app.screen, RunScreen))
        await settle(pilot, lambda: "complete" in screen_text(app))
        assert "6/6" in screen_text(app)
        await pilot.press("escape")
        assert not isinstance(app.screen, RunScreen)


def screen_text(app: AgentbenchApp) -> str:
    return "\n".join(
        "".join(part.text for part in line) for line in app.screen._compositor.render_strips()
    )


async def test_a_wish_is_a_row_for_the_run(database: Path) -> None:
    app = AgentbenchApp(database)
    with closing(connect_to_read(database)) as connection:
        run_id = connection.execute("SELECT id FROM runs").fetchone()[0]
        async with app.run_test() as pilot:
            app.push_screen(RunScreen(database, run_id))
            await settle(pilot, lambda: isinstance(app.screen, RunScreen))
            await settle(pilot, lambda: "complete" in screen_text(app))
            await pilot.press("p")
            rows = connection.execute("SELECT wish, answered_at FROM wishes").fetchall()
        assert [tuple(row) for row in rows] == [("pause", None)]


async def test_an_empty_place_says_what_to_do_first(tmp_path: Path) -> None:
    app = AgentbenchApp(tmp_path / "none.db")
    async with app.run_test() as pilot:
        await settle(pilot, lambda: app.screen.query("#notice"))
        notice = app.screen.query_one("#notice", Static)
        assert "Press r for a first one" in str(notice.render())
    assert files_in(tmp_path) == []


def test_without_a_terminal_the_session_says_so() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "agentbench_tui", "session"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "needs a terminal" in done.stderr
