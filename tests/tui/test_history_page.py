"""The page History: what was found about an agent, where it began, and what one can do about it."""

from pathlib import Path

import pytest
from known_stores import rows
from stores import session, settle, shows, told

from agentbench_tui.contracts.regressions import RegressionFinding, ValueCounts
from agentbench_tui.store.database import create_or_migrate
from agentbench_tui.tui.dialogs.choice import Choice
from agentbench_tui.tui.pages.history.plot import course_plot
from agentbench_tui.tui.widgets.grid import Grid
from agentbench_tui.verdicts.evidence.place import Place
from agentbench_tui.verdicts.regression.metric_series import Series, SeriesPoint


def series_of(unit: str, points: tuple[SeriesPoint, ...]) -> Series:
    finding = RegressionFinding(
        suite_id="s", benchmark_id="b", parameters={}, metric="resilience", unit=unit,
        better="higher", verdict="not enough data", severity=None, gate=None, against=None,
        baseline_value=None, current_value=None, change=None, change_is="ratio", low=None,
        high=None, regression_percentage=None, at_least_percentage=None, p_value=None,
        margin=0.0, smallest_seen=None, values=ValueCounts(baseline=0, current=2, of="runs"),
        baseline_versions=(), current_versions=("1",), change_point=None, impact_analysis=None,
        reason=None, notes=(),
    )  # fmt: skip
    return Series(Place("s", "b"), "resilience", finding, points, (), None, 0)


@pytest.mark.parametrize(("unit", "top"), [("0..100", 100.0), ("share", 100.0), ("ms", 101.5)])
def test_a_score_has_no_unit_and_no_room_above_what_it_can_be(unit: str, top: float) -> None:
    values = (1.0, 1.0) if unit == "share" else (100.0, 100.0)
    points = tuple(SeriesPoint(f"r{n}", "2026-11-28", "1", value) for n, value in enumerate(values))
    plot = course_plot(series_of(unit, points), by_time=False)
    assert plot.y_unit == {"share": "%", "0..100": ""}.get(unit, unit)
    assert plot.y_range == pytest.approx((98.5, top))


def test_the_axis_holds_every_interval_whole() -> None:
    """Nearly equal values with wide intervals: 30 to 86 of 100, each 15% of the height free."""
    ends = ((0.62, 0.31, 0.86), (0.625, 0.30, 0.85))
    points = tuple(
        SeriesPoint(f"r{n}", "2026-11-28", "1", value, low=low, high=high)
        for n, (value, low, high) in enumerate(ends)
    )
    plot = course_plot(series_of("share", points), by_time=False)
    assert plot.y_range == pytest.approx((30 - 0.15 * 56, 86 + 0.15 * 56))


async def test_a_planted_regression_is_found_and_drawn(history: Path) -> None:
    app = session(history, "history")
    async with app.run_test(size=(120, 40)) as pilot:
        text = await shows(
            pilot, "bot@2.0: regression", "▼ major +22.9%", "all agents", "no regression"
        )
        assert "History ▸ bot" in text
        assert "e2e_ms.p50 of" in text
        assert "28 runs" in text
        assert "● 1.0" in text
        assert "▲ 2.0" in text
        assert "the 20 runs before" in text
        assert "at least 21.7% worse" in text
        assert "block" in text
        first = next(line for line in text.splitlines() if "▸ ▼ regression major" in line)
        assert "+22.9%" in first
        assert "▲ improvement" in text
        # the worst agent first
        alarms = app.screen.query_one("#alarms", Grid)._data.rows
        assert [row.key for row in alarms] == ["bot", "calm", "once"]


async def test_the_narrowest_terminal_shows_plot_and_findings_then_the_side(history: Path) -> None:
    app = session(history, "history")
    async with app.run_test(size=(80, 24)) as pilot:
        text = await shows(pilot, "▼ major +22.9%", "regression major")
        assert "all agents" not in text
        await pilot.press("v")
        text = await shows(pilot, "all agents", "of 100")
        assert "findings" not in text
        await pilot.press("escape")
        await shows(pilot, "findings")


async def test_another_agent_without_a_regression_says_what_it_could_have_seen(
    history: Path,
) -> None:
    app = session(history, "history")
    async with app.run_test(size=(120, 40)) as pilot:
        await shows(pilot, "bot@2.0: regression")
        await pilot.press("a")
        await settle(pilot, lambda: isinstance(app.screen, Choice))
        grid = app.screen.query_one(Grid)
        grid.move_to("calm")
        await pilot.press("enter")
        text = await shows(pilot, "calm@3: no regression", "have been noticed")
        assert "a worsening of" in text
        assert "▼ major" not in text


async def test_enter_on_an_alarm_shows_the_agent_and_hostile_names_do_nothing(
    history: Path,
) -> None:
    app = session(history, "history")
    async with app.run_test(size=(120, 40)) as pilot:
        await shows(pilot, "calm", "once")
        alarms = app.screen.query_one("#alarms", Grid)
        alarms.focus()
        alarms.move_to("once")
        await pilot.press("enter")
        text = await shows(pilot, "History ▸ once", "there is no earlier run")
        assert "\x1b" not in text
        assert "[bold red]" in text
        await pilot.press("enter")
        await settle(pilot, lambda: told(app))
        assert "nothing to be compared with" in told(app)[-1]


async def test_enter_compares_the_run_before_the_change_with_the_newest(history: Path) -> None:
    ids = [str(row[0]) for row in rows(history, "SELECT id FROM runs ORDER BY key")]
    app = session(history, "history")
    async with app.run_test(size=(120, 40)) as pilot:
        await shows(pilot, "bot@2.0: regression")
        await pilot.press("enter")
        await settle(pilot, lambda: app.current_mode == "compare")
        assert app.shared.marked == [f"run:{ids[21]}/bot", f"run:{ids[-1]}/bot"]


async def test_what_is_no_change_cannot_be_accepted(history: Path) -> None:
    app = session(history, "history")
    app.shared.agent = "calm"
    async with app.run_test(size=(120, 40)) as pilot:
        await shows(pilot, "calm@3: no regression")
        await pilot.press("A")
        await settle(pilot, lambda: told(app))
        assert "is not a change that can be accepted" in told(app)[-1]
        await pilot.press("o")
        await settle(pilot, lambda: len(told(app)) > 1)
        assert told(app)[-1] == "there are no other metrics of this benchmark"
        await pilot.press("b")
        await settle(pilot, lambda: len(told(app)) > 2)
        assert told(app)[-1] == "there are no other benchmarks"


async def test_an_empty_store_says_what_to_do(tmp_path: Path) -> None:
    database = tmp_path / "empty.db"
    create_or_migrate(database)
    app = session(database, "history")
    async with app.run_test(size=(80, 24)) as pilot:
        await shows(pilot, "No run is stored yet")
        for key in "abosBAgxye":
            await pilot.press(key)
        await pilot.press("enter")
        assert all(words for words in told(app))
