"""The page Stress: scenarios with brackets and scores, their pictures, and what to do."""

from contextlib import closing
from pathlib import Path

from known_stores import copied, high_load
from stores import session, settle, shows, told

from agentbench_tui.store.database import connect_to_write, create_or_migrate
from agentbench_tui.tui.pages.stress.rows import title_of
from agentbench_tui.tui.widgets.grid import Grid
from agentbench_tui.verdicts.stress.stress_document import scenario_result


async def test_scenarios_with_bracket_score_and_recovery(stress: tuple[Path, str]) -> None:
    app = session(stress[0], "stress")
    async with app.run_test(size=(160, 50)) as pilot:
        # the geometric mean of 59 and 90
        text = await shows(pilot, "target: resilience 72.9 of 100", "worst: high_load 59")
        lines = text.splitlines()
        high = next(line for line in lines if "▸ high_load" in line)
        assert "yes" in high
        assert "100 … 110/s" in high
        assert "p95 of latency" in high
        assert "59" in high
        assert "├" in high
        recovery = next(line for line in lines if " failure_recovery " in line)
        assert "not recovered" in recovery
        assert "limit 120 ms" in text
        assert "passes 100" in text
        assert "fails 110" in text
        assert "Queueing starts at 100 requests/s." in text
        assert "cpu cores 0.07" in text


async def test_the_law_over_users_and_the_course_in_time(stress: tuple[Path, str]) -> None:
    app = session(stress[0], "stress")
    async with app.run_test(size=(120, 40)) as pilot:
        await shows(pilot, "high_load: p95 of latency over load")
        await pilot.press("down")
        text = await shows(pilot, "concurrent_requests: answered a second over users")
        assert "law: usl" in text
        assert "N* 20 users" in text
        await pilot.press("down")
        text = await shows(pilot, "after reset", "● sent")
        assert "reset" in text
        assert "failed" in text
        assert "\x1b" not in text
        assert "[bold red]" in text


async def test_v_goes_through_the_pictures(stress: tuple[Path, str]) -> None:
    app = session(stress[0], "stress")
    async with app.run_test(size=(80, 24)) as pilot:
        await shows(pilot, "high_load: p95 of latency over load")
        await pilot.press("v")
        await shows(pilot, "high_load: latency of the windows")
        await pilot.press("v")
        await shows(pilot, "high_load: memory of the target", "MB")
        await pilot.press("v")
        await shows(pilot, "high_load: p95 of latency over load")
        await pilot.press("end")
        await shows(pilot, "failure_recovery: requests a second")
        await pilot.press("v")
        await settle(pilot, lambda: told(app))
        assert told(app)[-1] == "there is no other picture of this scenario yet"


async def test_details_stand_in_for_the_pictures_where_it_is_narrow(
    stress: tuple[Path, str],
) -> None:
    app = session(stress[0], "stress")
    async with app.run_test(size=(80, 24)) as pilot:
        await shows(pilot, "high_load: p95 of latency over load")
        await pilot.press("d")
        text = await shows(pilot, "50 requests/s, 4 users")
        assert "p95 of latency over load" not in text
        await pilot.press("escape")
        await shows(pilot, "p95 of latency over load")
        await pilot.press("enter")
        await shows(pilot, "50 requests/s, 4 users")


async def test_a_run_that_goes_on_is_read_again(stress: tuple[Path, str], tmp_path: Path) -> None:
    store = copied(stress[0], tmp_path)
    with closing(connect_to_write(store)) as connection:
        connection.execute("UPDATE runs SET status='running'")
        connection.execute("UPDATE benchmark_executions SET status='running'")
    app = session(store, "stress")
    async with app.run_test(size=(120, 40)) as pilot:
        # its process is gone, so that it is interrupted though nobody has marked it so
        await shows(pilot, "run interrupted", "100 … 110/s")
        with closing(connect_to_write(store)) as connection:
            connection.execute(
                "UPDATE stress_reports SET document=replace(document, '\"fail\":110.0',"
                " '\"fail\":120.0')"
            )
        await shows(pilot, "100 … 120/s")


def test_what_goes_on_is_told_by_how_far_it_is() -> None:
    scenario = scenario_result(high_load())
    assert title_of(scenario, "running") == "high_load: running, 3 windows so far"
    assert title_of(scenario, "complete").startswith("high_load: breaks between 100 and 110")


async def test_without_a_stress_run_it_says_how_to_make_one(tmp_path: Path) -> None:
    database = tmp_path / "empty.db"
    create_or_migrate(database)
    app = session(database, "stress")
    async with app.run_test(size=(80, 24)) as pilot:
        await shows(pilot, "No stress run is stored yet")
        for key in "ovnwye":
            await pilot.press(key)
        assert len(told(app)) == 6
        assert app.screen.query_one("#scenarios", Grid).cursor_key is None
