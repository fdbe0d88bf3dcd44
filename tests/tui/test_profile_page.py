"""The page Profile: phases, one typical and the slowest answer, spans, tokens, machine."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from stores import screen_text, session, settle, shows, told

from agentbench_tui.contracts.run import GaugeSummary
from agentbench_tui.store.database import reading
from agentbench_tui.store.queries.runs import executions_of, find_run
from agentbench_tui.tui.drawing.glyphs import ASCII
from agentbench_tui.tui.drawing.painting import text_of
from agentbench_tui.tui.pages.profile.rows import (
    bottlenecks_of,
    flame_of,
    phases_table,
    resources_table,
    tokens_table,
)
from agentbench_tui.tui.theme import DARK, palette
from agentbench_tui.tui.widgets.grid import Grid, GridData, GridState, paint_grid
from agentbench_tui.verdicts.profile.profile import ExecutionProfile, read_profile


@pytest.fixture(scope="module")
def profiles(varied: Path) -> Iterator[list[ExecutionProfile]]:
    """Of `steady` and of `moody`."""
    with reading(varied) as connection:
        run = find_run(connection, "latest")
        yield [read_profile(connection, one) for one in executions_of(connection, run["key"])]


def painted(data: GridData, width: int = 100, height: int = 12) -> str:
    return "\n".join(text_of(paint_grid(data, GridState(), width, height, palette(DARK), ASCII)))


def test_spans_have_their_own_time_and_tools_theirs(profiles: list[ExecutionProfile]) -> None:
    phases = {one.name: one for one in profiles[0].times.phases}
    assert phases["plan"].n == phases["tool:look_up"].n == 16
    assert phases["plan"].p50_ms == pytest.approx(0.01)
    assert phases["tools"].total_ms == pytest.approx(0.16)
    assert "tool:look_up" in painted(phases_table(profiles[0].times.phases))


def test_a_share_of_nothing_has_no_bar(profiles: list[ExecutionProfile]) -> None:
    phases = [
        replace(one, share=share)
        for one, share in zip(profiles[0].times.phases, (0.0, 4e-4), strict=False)
    ]
    nothing, little = painted(phases_table(phases)).splitlines()[1:3]
    assert " 0% " in nothing
    assert "0.04%" in little
    assert ("=" in nothing, "=" in little) == (False, True)


def test_what_was_not_measured_is_told_with_its_reason(profiles: list[ExecutionProfile]) -> None:
    table = painted(phases_table(profiles[1].times.phases))
    assert "no spans reported" in table
    assert "not streamed" in table
    assert "not timed" in table
    said = [one.words for one in bottlenecks_of(profiles[1]) if one.label == "not known"]
    assert "first token, generation: not streamed" in said
    assert flame_of(profiles[1]).root is None
    assert "not reported by the agent" in painted(tokens_table(profiles[1].times.tokens))


def test_tokens_and_bottlenecks_in_words(profiles: list[ExecutionProfile]) -> None:
    tokens = painted(tokens_table(profiles[0].times.tokens))
    assert "160" in tokens, "16 answers of 10 input tokens"
    assert "32" in tokens, "16 answers that read 2 from a cache"
    assert "% of all time" in bottlenecks_of(profiles[0])[0].words


def test_gauges_are_told_with_units_and_the_agents_own_first() -> None:
    reading = GaugeSummary(low=1.0, mean=2.5, high=4.0, n=3)
    resources = {"host": {"cpu_percent": reading}, "agent:a": {"rss_mb": reading}}
    resources |= {"gpu:10": {"clock_mhz": reading}, "gpu:2.0": {"memory_used_mb": reading}}
    rows = painted(resources_table(resources)).splitlines()
    assert rows[1].split() == [">", "agent", "memory", "2.5", "MB", "1", "MB", "4", "MB", "3"]
    assert "2.5%" in rows[2]
    assert rows[3].split()[:5] == ["GPU", "2.0", "memory", "used", "2.5"]
    assert rows[4].split()[:5] == ["GPU", "10", "clock", "2.5", "MHz"]


async def test_all_panels_stand_beside_each_other_where_there_is_room(varied: Path) -> None:
    app = session(varied, "profile")
    async with app.run_test(size=(160, 48)) as pilot:
        shown = await shows(
            pilot, "moods/echo, steady", "tool:look_up", "a typical one", "the slow"
        )
        assert "agent's spans, mean ms" in shown
        assert "machine during the run" in shown
        await pilot.press("right_square_bracket")
        await shows(pilot, "moods/echo, moody", "the agent reports no spans")
        await pilot.press("y", "x", "e")
        await shows(pilot, "agentbench profile ")
        assert app.clipboard.endswith("n = 16")
        assert app.shared.marked[0].endswith("/moody")


async def test_the_number_of_tokens_is_beside_their_kind(varied: Path) -> None:
    """Of 16 answers each reports 10 input and 2 cached tokens; no panel of the row is narrower."""
    app = session(varied, "profile")
    async with app.run_test(size=(120, 40)) as pilot:
        await shows(pilot, "share of all time", "tokens")
        grid = app.screen.query_one("#tokens", Grid)
        await settle(pilot, lambda: grid.cursor_key is not None)
        head, *lines = text_of(grid._rows)
        assert "number" in head
        figures = {line[2:-7].strip(): line[-7:].strip() for line in lines if line.strip()}
        assert (figures["input"], figures["cached"]) == ("160", "32")


async def test_a_small_terminal_shows_one_panel_after_the_other(varied: Path) -> None:
    app = session(varied, "profile")
    async with app.run_test(size=(80, 24)) as pilot:
        shown = await shows(pilot, "share of all time", "bottlenecks", "plan")
        assert "a typical one" not in shown
        await pilot.press("v")
        await shows(pilot, "a typical one", "the slowest")
        await pilot.press("v")
        await shows(pilot, "agent's spans, mean ms")
        await pilot.press("down", "down")
        await shows(pilot, "tool:look_up  10 µs")
        await pilot.press("v")
        await shows(pilot, "tokens", "machine during the run")
        await pilot.press("v")
        await shows(pilot, "share of all time")


async def test_without_a_run_keys_say_why(tmp_path: Path) -> None:
    app = session(tmp_path / "none.db", "profile")
    async with app.run_test(size=(80, 24)) as pilot:
        await shows(pilot, "Press 2 to choose one")
        await pilot.press("n", "y", "e", "x")
        await settle(pilot, lambda: len(told(app)) >= 4)
        assert "nothing was answered yet" in told(app)
        assert "▸" in screen_text(app)


async def test_of_a_load_the_time_of_its_requests_is_shown(loaded: Path) -> None:
    with reading(loaded) as connection:
        run = find_run(connection, "latest")
        profile = read_profile(connection, executions_of(connection, run["key"])[0])
    phases = {one.name: one for one in profile.times.phases}
    # 32 streamed requests with 40 ms to the first token, one after 50 ms of waiting, and one that
    # failed after 5 ms without a token: 31 * 100 + 900 + 50 + 5 ms in all.
    assert profile.times.total_ms == pytest.approx(31 * 100 + 900 + 50 + 5)
    assert phases["first token"].total_ms == pytest.approx(32 * 40)
    assert phases["generation"].total_ms == pytest.approx(31 * 60 + 860)
    assert (phases["waiting"].n, phases["waiting"].total_ms) == (1, 50)
    assert (phases["answer, whole"].n, phases["answer, whole"].total_ms) == (1, 5)
    app = session(loaded, "profile")
    async with app.run_test(size=(120, 40)) as pilot:
        await shows(pilot, "33 requests", "a load has no spans", "the slowest: request 32")
        await pilot.press("n")
        await settle(pilot, lambda: "nothing to open" in told(app)[-1])
