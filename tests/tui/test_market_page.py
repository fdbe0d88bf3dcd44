"""The page Market: an episode at any tick, from the store or made up and called so."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from known_records import EPISODE, with_episodes
from stores import screen_text, session, settle, shows, told

from agentbench_tui.model.errors import StoreError
from agentbench_tui.store.database import connect_to_read, reading
from agentbench_tui.tui.app import AgentbenchApp
from agentbench_tui.tui.pages.market.page import EXAMPLE, Market
from agentbench_tui.tui.pages.market.rows import equity_plot, positions_table, prices_plot
from agentbench_tui.tui.pages.market.state import EXAMPLE_TICKS, demo, episode_view
from agentbench_tui.tui.shared import Shared
from agentbench_tui.verdicts.runs.market_episode import episode_of, newest_with_episodes


def test_an_episode_is_found_among_the_answers_of_a_run(played: Path, varied: Path) -> None:
    with reading(played) as connection:
        found = episode_of(connection)
    assert found.document == EPISODE
    assert (found.agent, found.case_id, found.episodes) == ("steady", "echo-0", 1)
    with reading(varied) as connection:
        assert episode_of(connection).document is None
        assert "no episode of a market world" in episode_of(connection).reason


def test_the_newest_run_of_a_market_is_found() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE runs (key, id, plan, started_at)")
        assert newest_with_episodes(connection) is None
        games = ((1, "market"), (2, "market"), (3, None))
        rows = [
            (key, f"run-{key}", json.dumps({"groups": [{"benchmark": {"game": game}}]}), key)
            for key, game in games
        ]
        connection.executemany("INSERT INTO runs VALUES (?, ?, ?, ?)", rows)
        assert newest_with_episodes(connection) == "run-2"


def test_at_a_tick_nothing_later_is_known() -> None:
    view = episode_view(EPISODE, "a")
    assert view.positions(0) == []
    assert [(one.instrument, one.amount) for one in view.positions(3)] == [("m", 10), ("p", 1)]
    assert [one.instrument for one in view.positions(4)] == ["p"]
    assert view.said_until(0, 9) == []
    assert [one.ok for one in view.acts_until(4, 9)] == [False, True]
    (line,) = prices_plot(view, 2, "market").lines
    assert [*line.y] == [50, 60, 70]
    (line,) = prices_plot(view, 2, "perpetual").lines
    assert [*line.y] == pytest.approx([100, 110, 90])
    assert [*equity_plot(view, 1).lines[0].y] == [100, 100]


def test_a_position_that_gained_is_told_from_one_that_lost() -> None:
    rows = positions_table(episode_view(EPISODE, "a"), 3).rows
    assert [row.cells[4].role for row in rows] == ["good", "bad"]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "damage",
    [
        {"equity": ["x"]},
        {"instruments": ["m"]},
        {"acts": [{"tick": 1, "method": "m", "arguments": [], "ok": True, "result": ""}]},
        {"holdings": [{"tick": None}]},
    ],
)
def test_a_damaged_record_is_told(damage: dict[str, Any]) -> None:
    with pytest.raises(StoreError, match="damaged"):
        episode_view(EPISODE | damage, "a")


async def test_a_damaged_episode_does_not_end_the_session(played: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "store.db"
    with closing(connect_to_read(played)) as source, closing(sqlite3.connect(damaged)) as target:
        source.backup(target)
        target.execute("UPDATE answers SET answer=json_set(answer, '$.data.ticks', 'many')")
        target.commit()
    app = session(damaged, "market")
    async with app.run_test(size=(120, 40)) as pilot:
        await shows(pilot, "this episode cannot be shown: its record is damaged")


async def test_the_session_opens_with_the_episode_that_was_asked_for(
    played: Path, tmp_path: Path
) -> None:
    later = EPISODE | {"equity": [1, 2, 3, 4, 7_654]}
    two = with_episodes(played, tmp_path / "store.db", EPISODE, later)
    app = AgentbenchApp(Shared(two, episode=1), first="market")
    async with app.run_test(size=(120, 40)) as pilot:
        await shows(pilot, "episode 2 of 2", "$5,000")


def test_the_example_says_that_it_is_one() -> None:
    assert demo().example
    assert not episode_view(EPISODE, "a").example


async def test_without_an_episode_it_says_how_to_get_one_and_offers_an_example(
    varied: Path,
) -> None:
    app = session(varied, "market")
    async with app.run_test(size=(80, 24)) as pilot:
        await shows(pilot, "has no episode of a market world", "d for an example")
        await pilot.press("space", "a")
        await settle(pilot, lambda: "there is no episode to play" in told(app)[-1])
        await pilot.press("d")
        shown = await shows(pilot, EXAMPLE, "prediction markets", "perpetuals")
        assert "has no episode" not in shown
        await pilot.press("v")
        await shows(pilot, "equity in $", "positions")
        await pilot.press("v")
        await shows(pilot, "feed and chats", "what example-agent (example data")
        screen = app.screen
        assert isinstance(screen, Market)
        await pilot.press("space")
        await settle(pilot, lambda: f"tick {EXAMPLE_TICKS - 1}" not in screen_text(app))
        await pilot.press("space")
        await settle(pilot, lambda: "held" in screen_text(app))
