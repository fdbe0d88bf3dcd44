"""The leaderboard: boards by category, metric and window, and what stands behind an agent."""

from pathlib import Path

from stores import screen_text, session, settle, shows

from agentbench_tui.tui.widgets.grid import Grid


def line_of(text: str, name: str) -> str:
    """The table's row about an agent."""
    return next(
        line
        for line in text.splitlines()
        if f" {name} " in line and "%" in line and "[95" not in line
    )


async def test_agents_are_ranked_with_intervals_and_ties_simulated_ones_apart(
    measured: Path,
) -> None:
    app = session(measured, "leaders")
    async with app.run_test(size=(120, 40)) as pilot:
        title = "agents by accuracy on 52 cases, last 30 days"
        text = await shows(pilot, title, f"simulated {title}", "may equal", "perfect")
        # 1 - 6/52 and 1 - 6/52 (0, 10, …; 1, 11, …), and 13/52, by hand
        assert "88.5%" in line_of(text, "good")
        assert "88.5%" in line_of(text, "fair")
        assert "25.0%" in line_of(text, "bad")
        # who shares a place is told apart by the marker of its profile all the same
        assert "▲  1=" in line_of(text, "good")
        assert "●  1=" in line_of(text, "fair")
        assert "■   3" in line_of(text, "bad")
        assert "● fair  ▲ good  ■ bad" in text
        # the radar has the first and the second, each with that marker
        legend = next(line for line in text.splitlines() if "A fair" in line)
        assert "● A fair" in legend
        assert "▲ B good" in legend
        assert "├" in line_of(text, "good")
        assert "104" in line_of(text, "good")  # answers: 52 cases, twice
        below = text.index(f"simulated {title}")
        assert text.index("perfect") > below > text.index("good")
        row = line_of(text, "perfect")
        assert "100%" in row
        assert "●   1" not in row


async def test_the_filter_keeps_ranks_and_esc_removes_it(measured: Path) -> None:
    app = session(measured, "leaders")
    async with app.run_test(size=(120, 40)) as pilot:
        await shows(pilot, "agents by accuracy on 52 cases")
        await pilot.press("slash", "b", "a", "d", "enter")
        grid = app.screen.query_one("#measured", Grid)
        await settle(pilot, lambda: grid.cursor_key == "0/bad")
        assert "■   3" in line_of(screen_text(app), "bad")
        assert grid.has_focus
        await pilot.press("y")
        assert app.clipboard == "3 bad accuracy 0.25"
        await pilot.press("slash", "escape")
        await settle(pilot, lambda: "fair" in screen_text(app))


async def test_details_follow_the_cursor_and_marks_go_to_the_comparison(measured: Path) -> None:
    app = session(measured, "leaders")
    went: list[str] = []
    app.action_go = went.append  # type: ignore[method-assign]
    async with app.run_test(size=(120, 40)) as pilot:
        await shows(pilot, "fair: what is known")
        await pilot.press("x", "down", "x")
        text = await shows(pilot, "good: what is known", "beats bad", "+ good")
        assert "100% of repeats" in text  # too few of them for an interval
        assert app.shared.marked == ["fair", "good"]
        await pilot.press("c", "end", "h")
        await shows(pilot, "bad: what is known", "no agent is below")
        assert (went, app.shared.agent) == (["compare", "history"], "bad")


async def test_a_narrow_screen_has_the_details_behind_a_key(measured: Path) -> None:
    app = session(measured, "leaders")
    async with app.run_test(size=(80, 24)) as pilot:
        text = await shows(pilot, "agents by accuracy on 52 cases")
        assert "fair: what is known" in text
        assert "scores, 0 to 100" not in text
        assert "├" in line_of(text, "good")
        await pilot.press("v")
        text = await shows(pilot, "fair: what is known", "scores, 0 to 100")
        assert "agents by accuracy" not in text
        await pilot.press("escape")
        await shows(pilot, "agents by accuracy on 52 cases")
