"""The page Live on real runs: as they go on, after their end, and again."""

from __future__ import annotations

import sqlite3
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from live_runs import command, suite
from stores import PATIENCE_S, screen_text
from textual.pilot import Pilot
from textual.screen import ModalScreen

from agentbench_tui.store.database import connect_to_read
from agentbench_tui.store.viewer import Update
from agentbench_tui.tui.app import AgentbenchApp
from agentbench_tui.tui.dialogs.asking import Line, Sure
from agentbench_tui.tui.dialogs.leaving import Leaving
from agentbench_tui.tui.drawing.painting import text_of
from agentbench_tui.tui.pages.cases.detail import CaseDetail
from agentbench_tui.tui.pages.cases.page import Cases
from agentbench_tui.tui.pages.live.page import Live
from agentbench_tui.tui.pages.live.state import LiveState
from agentbench_tui.tui.shared import Shared
from agentbench_tui.tui.widgets.grid import Grid
from agentbench_tui.tui.widgets.key_bar import KeyBar
from agentbench_tui.tui.widgets.painted import Painted
from agentbench_tui.tui.widgets.scrubber import Scrubber


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one complete run of two simulated agents."""
    folder = tmp_path_factory.mktemp("over")
    (folder / "suite.json").write_text(suite(*(f"{n}?" for n in range(6))))
    agents = ["--agent", "good=reference:perfect", "--agent", "bad=reference:noop"]
    subprocess.run(command(*agents), cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return folder / "s.db"


def text(app: AgentbenchApp, selector: str = "") -> str:
    """What the painted widgets of the page in front show."""
    found = app.screen.query(selector or Painted).results(Painted)
    return "\n".join(
        line
        for widget in found
        for line in [str(widget.border_title or ""), *text_of(getattr(widget, "_rows", []))]
    )


async def settle(pilot: Pilot[None], condition: Callable[[], object]) -> None:
    """Let the app work until `condition()` holds."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(text(pilot.app))  # type: ignore[arg-type]
        await pilot.pause(0.02)


def session(database: Path, **more: object) -> AgentbenchApp:
    shared = Shared(database, **more)  # type: ignore[arg-type]
    return AgentbenchApp(shared, first="live")


def value(database: Path, statement: str) -> object:
    with closing(connect_to_read(database)) as connection:
        row = connection.execute(statement).fetchone()
    return None if row is None else row[0]


async def test_the_newest_run_is_shown_with_all_its_panels(database: Path) -> None:
    app = session(database)
    async with app.run_test(size=(120, 40)) as pilot:
        # Once the run has ended, the title is its verdict, as the command line prints it.
        await settle(
            pilot,
            lambda: all(w in text(app, "#board") for w in ("overall score", "good (simulated)")),
        )
        assert "small  complete  12/12 100%" in text(app, "StatusBar")
        assert "needs 299" in str(app.screen.query_one("#latency").border_subtitle)
        assert "12/12" not in text(app, "#progress")
        assert text(app, "#progress").count("6/6") == 2
        board = text(app, "#board").splitlines()
        assert "good (simulated)" in board[2]
        assert "1.000" in board[2]
        assert "at the end" in text(app, "Scrubber")
        # Nothing failed and nothing is in flight: those panels leave their room to others.
        assert not app.screen.query_one("#failures").display
        assert not app.screen.query_one("#load").display
        assert app.screen.query_one("#log").display


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_a_run_that_has_ended_begins_with_its_answer_and_what_is_next(
    database: Path, size: tuple[int, int]
) -> None:
    app = session(database)
    async with app.run_test(size=size) as pilot:
        answer = "good is the best of 2 agents"
        await settle(pilot, lambda: answer in screen_text(app) and "9 ans" in screen_text(app))
        lines = [line for line in screen_text(app).splitlines() if line.strip()]
        (place,) = [number for number, line in enumerate(lines) if answer in line]
        assert place <= 3  # below the breadcrumbs and the status alone


async def test_a_small_screen_shows_a_few_panels_at_a_time(database: Path) -> None:
    app = session(database)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot, lambda: "values" in text(app, "#latency"))

        def seen() -> list[str]:
            names = ("latency", "rates", "progress", "board", "machine", "load", "slow", "log")
            return [name for name in names if app.screen.query_one(f"#{name}").region.height]

        assert seen() == ["latency", "rates"]
        views: list[list[str]] = []
        for _ in range(4):
            await pilot.press("v")
            await settle(pilot, lambda: seen() not in views)
            views.append(seen())
        assert views == [
            ["progress", "board"], ["machine"], ["slow", "log"], ["latency", "rates"]
        ]  # fmt: skip
        footer = app.screen.query_one(KeyBar)
        assert footer.region.height == 1


async def test_another_run_has_its_keys_as_the_one_before(database: Path) -> None:
    app = session(database)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot, lambda: "at the end" in text(app, "Scrubber"))
        await pilot.press("1")
        app.shared.speed = 0.25
        app.watch_run(str(value(database, "SELECT id FROM runs")), replay=True)
        await settle(pilot, lambda: "replay" in text(app, "StatusBar"))
        await pilot.press("space")
        await settle(pilot, lambda: "held" in text(app, "Scrubber"))


async def test_a_click_on_the_scrubber_leads_to_its_moment(database: Path) -> None:
    app = session(database)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot, lambda: "at the end" in text(app, "Scrubber"))
        await pilot.click(Scrubber, offset=(14, 0))
        await settle(pilot, lambda: "held" in text(app, "Scrubber"))
        await settle(pilot, lambda: "replay" in text(app, "StatusBar"))


async def test_enter_leads_to_the_single_answers_of_an_agent(database: Path) -> None:
    app = session(database)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot, lambda: "good (simulated)" in text(app, "#board"))
        app.screen.query_one("#board").focus()
        await pilot.press("down", "enter")
        await settle(pilot, lambda: app.current_mode == "cases")
        assert app.shared.agent == "bad"
        assert app.shared.run_id == value(database, "SELECT id FROM runs")


async def test_enter_on_an_answer_leads_to_that_very_answer(database: Path) -> None:
    app = session(database)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot, lambda: "answered" in text(app, "#slow"))
        for _ in range(2):  # the second time from the one that is open already
            slow = app.screen.query_one("#slow", Grid)
            slow.focus()
            await pilot.press("down")
            case, _, seq = (slow.cursor_key or "").split("/", 2)[2].rpartition("/")
            await pilot.press("enter")
            await settle(pilot, lambda: isinstance(app.screen, CaseDetail)
                         and app.screen.crumbs()[1])  # fmt: skip
            assert isinstance(app.screen, CaseDetail)
            assert app.screen.crumbs()[1] == case
            assert app.screen._row is not None
            assert app.screen._row["seq"] == int(seq)
            await pilot.press("3")
            await settle(pilot, lambda: isinstance(app.screen, Live))
        await pilot.press("9", "escape")
        assert isinstance(app.screen, Cases)
        assert app.screen.query_one("#answers", Grid).cursor_key == seq


async def test_enter_on_progress_leads_to_that_execution(database: Path) -> None:
    app = session(database)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot, lambda: "6/6" in text(app, "#progress"))
        await pilot.press("down", "enter")
        await settle(pilot, lambda: app.current_mode == "cases"
                     and "small/echo, bad" in text(app, "#answers"))  # fmt: skip


async def test_a_case_without_an_answer_is_told(going_on: Path) -> None:
    app = session(going_on)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await settle(pilot, lambda: "c-slow" in text(app, "#slow"))
        app.screen.query_one("#slow", Grid).focus()
        await pilot.press("enter")
        await settle(pilot, lambda: any(
            "c-slow" in one.message and "has no answer yet" in one.message
            for one in app._notifications
        ))  # fmt: skip
        assert isinstance(app.screen, Cases)


async def test_a_key_that_is_pressed_twice_at_once_counts_twice(going_on: Path) -> None:
    async with session(going_on).run_test(size=(120, 40)) as pilot:
        page = pilot.app.screen
        assert isinstance(page, Live)

        def limits() -> list[object]:
            return [live.get("limit") for live in page._state.live.values()]

        await settle(pilot, lambda: limits() == [4])
        await pilot.press("minus", "minus")
        await settle(pilot, lambda: limits() == [2])


async def test_a_ranking_that_lags_behind_says_so(going_on: Path) -> None:
    app = session(going_on)
    async with app.run_test(size=(120, 40)) as pilot:
        page = app.screen
        assert isinstance(page, Live)
        await settle(pilot, lambda: page._document is not None and page._state.live)
        board = page.query_one("#board", Grid)
        page._shown_at = time.monotonic() - 100
        page._changed.add("moment")
        page._draw()
        assert "as of 100 s ago" in str(board.border_title)


async def test_what_is_marked_is_shown_as_it_is_written(database: Path) -> None:
    app = session(database)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        app.mark("[b]run[/x]\x1b[2J")
        await settle(pilot, lambda: app.screen.query("Toast"))
        shown = str(app.screen.query("Toast").first().render())
        assert "[b]run[/x]" in shown
        assert "\x1b" not in shown


async def test_a_replay_that_was_asked_for_begins_at_the_beginning(database: Path) -> None:
    app = session(database, replay=True, speed=0.01)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot, lambda: "replay ×0.01" in text(app, "Scrubber"))
        assert "complete" not in text(app, "StatusBar")
        assert "best of 2 agents" not in screen_text(app)  # a replay has no answer yet


async def test_an_empty_store_says_what_to_do(tmp_path: Path) -> None:
    app = session(tmp_path / "none.db")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot, lambda: app.screen.query("#notice").first().display)
        assert "no run" in text(app, "StatusBar")


async def test_a_run_without_its_process_is_interrupted(database: Path, tmp_path: Path) -> None:
    import sqlite3

    copy = tmp_path / "s.db"
    with closing(connect_to_read(database)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
        target.execute("UPDATE runs SET status='running', ended_at=NULL")
        target.commit()
    app = session(copy)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await settle(pilot, lambda: "interrupted" in text(app, "StatusBar"))
        await pilot.press("space")
        await settle(pilot, lambda: "replay" in text(app, "StatusBar"))


async def test_without_colors_it_is_shown_too(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = session(database)
    async with app.run_test(size=(200, 60)) as pilot:
        await settle(pilot, lambda: "values" in text(app, "#latency"))
        await settle(pilot, lambda: "good (simulated)" in text(app, "#board"))


async def test_a_store_that_is_back_before_the_session_looks_is_followed_again(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page's own reader finds it gone; the session's watch never does."""
    copy = tmp_path / "s.db"
    with closing(connect_to_read(database)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
    app = session(copy)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot, lambda: "12/12" in text(app, "StatusBar"))
        page = app.screen
        assert isinstance(page, Live)
        await settle(pilot, lambda: not page._wanted and not page._reading)
        watching = app._watch.changed
        monkeypatch.setattr(app._watch, "changed", lambda: False)
        away = copy.rename(tmp_path / "away.db")
        notice = page.query_one("#notice")
        await settle(pilot, lambda: "gone" in str(notice.render()))
        away.rename(copy)
        monkeypatch.setattr(app._watch, "changed", watching)

        await settle(pilot, lambda: "gone" not in str(notice.render()))
        await settle(pilot, lambda: page._viewer is not None and bool(page._state.run))


async def test_a_store_that_is_gone_is_told_and_followed_again_when_it_is_back(
    database: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "s.db"
    with closing(connect_to_read(database)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
    app = session(copy)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot, lambda: "12/12" in text(app, "StatusBar"))
        away = copy.rename(tmp_path / "away.db")
        notice = app.screen.query_one("#notice")
        await settle(pilot, lambda: "gone" in str(notice.render()))
        for key in ("1", "4", "9", "3"):
            await pilot.press(key)
        away.rename(copy)
        page = app.screen
        assert isinstance(page, Live)
        await settle(pilot, lambda: "gone" not in str(notice.render()))
        await settle(pilot, lambda: page._viewer is not None and page._state.run)
        await pilot.press("left_square_bracket")
        await settle(pilot, lambda: "replay" in text(app, "StatusBar"))


async def test_what_is_read_follows_the_execution_that_told_something_last(database: Path) -> None:
    app = session(database)
    async with app.run_test(size=(120, 40)) as pilot:
        page = app.screen
        assert isinstance(page, Live)
        await settle(pilot, lambda: page._document is not None and page._document.focus)
        await settle(pilot, lambda: not page.is_reading)
        assert page._document is not None
        state, read = page._state, page._document.focus
        with closing(connect_to_read(database)) as connection:
            statement = "SELECT * FROM ticks WHERE execution_key<>? LIMIT 1"
            tick = dict(connection.execute(statement, (read,)).fetchone())
        nothing = {name: [] for name in ("iterations", "gauges", "failures")}
        page._take(Update(state.run, state.executions, {}, {**nothing, "ticks": [tick]}))
        # Nothing is committed that would have the page read again.
        await settle(pilot, lambda: page._document.focus == tick["execution_key"])


async def test_a_replay_shows_the_board_of_the_moment_that_it_shows(database: Path) -> None:
    """What the board counts by then is what the ticks had counted, as the store has them."""
    app = session(database)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot, lambda: "overall score" in text(app, "#board"))
        page = app.screen
        assert isinstance(page, Live)
        assert page._viewer is not None
        began, length = page._viewer.began_at, page._viewer.length_s
        for share in (0.9, 0.3):
            page._viewer.seek(share * length)
            page._viewer.pause()
            await settle(pilot, lambda: page._state.is_replay and not page.is_reading)
            await settle(pilot, lambda: page._document.until == page._state.at)
            assert page._state.at == pytest.approx(began + share * length)
            await settle(pilot, lambda: " as of 0:0" in text(app, "#board"))
            by_then = {
                agent: int(str(value(
                    database,
                    "SELECT COALESCE(SUM(t.observed), 0) FROM ticks t JOIN benchmark_executions e"
                    f" ON e.key=t.execution_key WHERE e.agent_id='{agent}'"
                    f" AND t.at<={page._state.at}",
                )))
                for agent in ("good", "bad")
            }  # fmt: skip
            standings = page._document.board.standings
            assert {one.agent_id: one.observed for one in standings} == by_then
        await pilot.press("right_square_bracket")
        await settle(pilot, lambda: "overall score" in text(app, "#board"))


async def test_the_cursor_is_at_the_execution_whose_times_are_shown(database: Path) -> None:
    app = session(database)
    async with app.run_test(size=(120, 40)) as pilot:
        page = app.screen
        assert isinstance(page, Live)
        await settle(pilot, lambda: "overall score" in text(app, "#board"))
        grid, newest = page.query_one("#progress", Grid), page._state.newest_key
        agents = {str(row["key"]): row["agent_id"] for row in page._state.executions}
        title = page.query_one("#latency", Painted)
        assert grid.cursor_key == str(newest)
        assert f": {agents[str(newest)]} on" in str(title.border_title)
        for keys in (("home", "down"), ("up",), ("end",)):
            await pilot.press(*keys)
            await settle(
                pilot, lambda: f": {agents[grid.cursor_key or '']} on" in str(title.border_title)
            )
        await pilot.press("home", "right_square_bracket")
        await settle(pilot, lambda: grid.cursor_key == str(newest))


async def test_no_panel_is_called_empty_before_the_run_has_arrived(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page's reading is done first, the rows of the run come later."""
    taken: list[Update] = []
    taking = Live._take
    monkeypatch.setattr(Live, "_take", lambda page, update: taken.append(update))
    app = session(database)
    async with app.run_test(size=(120, 40)) as pilot:
        page = app.screen
        assert isinstance(page, Live)
        await settle(pilot, lambda: taken and not page.is_reading)
        shown = screen_text(app)
        assert "reading the database" in shown
        assert not any(words in shown for words in ("no run", "no data", "nothing here"))
        monkeypatch.setattr(Live, "_take", taking)
        taking(page, taken[0])
        await settle(pilot, lambda: "12/12" in text(app, "StatusBar"))


@pytest.mark.parametrize("sends_load", [True, False])
async def test_a_pause_is_offered_only_where_the_run_can_pause(
    going_on: Path, monkeypatch: pytest.MonkeyPatch, sends_load: bool
) -> None:
    app = session(going_on)
    monkeypatch.setattr(LiveState, "is_sending_load", property(lambda state: sends_load))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await settle(pilot, lambda: "running" in text(app, "StatusBar"))
        await settle(pilot, lambda: "Stop" in text(app, "KeyBar"))
        assert ("Pause" in text(app, "KeyBar")) is not sends_load
        assert "Replay" not in text(app, "KeyBar")
        await pilot.press("space")
        if sends_load:
            await settle(pilot, lambda: "cannot be paused" in screen_text(app))
        else:
            await settle(pilot, lambda: "paused" in text(app, "StatusBar"))
            await pilot.press("space")
            await settle(pilot, lambda: "running" in text(app, "StatusBar"))


async def test_the_page_is_seen_behind_the_question_about_its_run(database: Path) -> None:
    app = session(database)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot, lambda: "overall score" in text(app, "#board"))
        for dialog in (Leaving(1), Sure("really?"), Line("why?")):
            app.push_screen(dialog)
            await settle(pilot, lambda: isinstance(app.screen, ModalScreen))
            await settle(pilot, lambda: "latency end to end" in screen_text(app))
            assert app.screen.styles.background.a < 1
            app.pop_screen()
