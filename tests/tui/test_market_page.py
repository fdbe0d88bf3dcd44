"""The page Market: an episode at any tick, from the store or made up and called so."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from stores import HOSTILE, screen_text, session, settle, shows, told

from agentbench_tui.model.errors import StoreError
from agentbench_tui.store.database import connect_to_read, reading
from agentbench_tui.tui.app import AgentbenchApp
from agentbench_tui.tui.market_rows import equity_plot, positions_table, prices_plot
from agentbench_tui.tui.market_state import EXAMPLE_TICKS, demo, episode_view
from agentbench_tui.tui.screens.market import EXAMPLE, Market
from agentbench_tui.tui.shared import Shared
from agentbench_tui.verdicts.market_episode import SCHEMA, episode_of, newest_with_episodes

EPISODE: dict[str, Any] = {
    "schema": SCHEMA,
    "title": "two markets",
    "ticks": 5,
    "tick_s": 60,
    "instruments": [
        {"id": "m", "name": "rain", "kind": "market", "prices": [0.5, 0.6, 0.7, 0.8, 1.0],
         "resolved_tick": 4, "outcome": "yes"},
        {"id": "p", "name": "X-PERP", "kind": "perpetual", "prices": [50, 55, 45, 40, 40]},
    ],
    "equity": [100, 100, 101, 102, 104],
    "holdings": [
        {"tick": 1, "instrument": "m", "side": "yes", "amount": 10, "entry": 0.6},
        {"tick": 2, "instrument": "p", "side": "long", "amount": 1, "entry": 45},
        {"tick": 4, "instrument": "m", "side": "yes", "amount": 0, "entry": None},
    ],
    "said": [{"tick": 1, "where": "feed", "who": "trader", "text": HOSTILE + "it rains"}],
    "acts": [
        {"tick": 1, "method": "a2a.buyShares", "arguments": {"market": "m", "amount": 10},
         "ok": True, "result": "filled"},
        {"tick": 3, "method": "a2a.buyShares", "arguments": {"market": "z"},
         "ok": False, "result": "-32602: market: there is no z"},
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def played(varied: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of `varied`, one of whose answers is an episode."""
    path = tmp_path_factory.mktemp("market") / "store.db"
    with closing(connect_to_read(varied)) as source, closing(sqlite3.connect(path)) as target:
        source.backup(target)
        target.execute(
            "UPDATE answers SET answer=? WHERE seq=(SELECT MIN(seq) FROM answers"
            " WHERE execution_key=1)",
            (msgspec.json.encode({"data": EPISODE}).decode(),),
        )
        target.commit()
    return path


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
    two = tmp_path / "store.db"
    with closing(connect_to_read(played)) as source, closing(sqlite3.connect(two)) as target:
        source.backup(target)
        target.execute(
            "UPDATE answers SET answer=? WHERE seq=(SELECT MAX(seq) FROM answers"
            " WHERE execution_key=1)",
            (msgspec.json.encode({"data": EPISODE | {"equity": [1, 2, 3, 4, 7_654]}}).decode(),),
        )
        target.commit()
    app = AgentbenchApp(Shared(two, episode=1), first="market")
    async with app.run_test(size=(120, 40)) as pilot:
        await shows(pilot, "episode 2 of 2", "$5000")


def test_the_example_says_that_it_is_one() -> None:
    assert demo().example
    assert not episode_view(EPISODE, "a").example


async def test_an_episode_is_played_and_stepped_through(played: Path) -> None:
    app = session(played, "market")
    async with app.run_test(size=(120, 40)) as pilot:
        shown = await shows(pilot, "rain 100 % (yes)", "X-PERP $40", "tick 4 of 4")
        assert EXAMPLE not in shown
        assert "it rains" in shown
        assert HOSTILE not in shown
        await pilot.press("comma")
        await shows(pilot, "tick 3 of 4", "! -32602: market")
        await pilot.press("less_than_sign", "less_than_sign", "less_than_sign")
        await shows(pilot, "tick 0 of 4", "the agent has done nothing yet")
        await pilot.press("a")
        await shows(pilot, "tick 1 of 4", "60.0 %")
        await pilot.press("full_stop", "greater_than_sign")
        await shows(pilot, "tick 3 of 4")
        await pilot.press("plus", "plus", "plus", "space")
        await shows(pilot, "tick 4 of 4")
        await pilot.press("minus")
        await settle(pilot, lambda: "ticks a second" in told(app)[-1])
        await pilot.press("y")
        assert app.clipboard == 'a2a.buyShares(market="z")'
        await pilot.press("right_square_bracket", "a")
        await settle(pilot, lambda: "there is no other episode in this run" in told(app))
        await pilot.press("down", "enter")
        await shows(pilot, "tick 1 of 4")


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
