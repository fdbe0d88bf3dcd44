"""Alarms of runs in progress on every page: the line, the key that leads on, notifications."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from live_runs import HOSTILE
from stores import PATIENCE_S, screen_text, settle, told
from walks_of_runs import panel_text
from whole_rows import assert_whole

from agentbench_tui.tui.alarm_watch import AlarmWatch, Notifier
from agentbench_tui.tui.app import AgentbenchApp
from agentbench_tui.tui.drawing.glyphs import ASCII, UNICODE
from agentbench_tui.tui.drawing.painting import text_of
from agentbench_tui.tui.look import NOTIFICATIONS
from agentbench_tui.tui.page_list import PAGES
from agentbench_tui.tui.pages.live.page import Live
from agentbench_tui.tui.shared import Shared
from agentbench_tui.tui.theme import DARK, palette
from agentbench_tui.tui.widgets.alarm_strip import AlarmStrip, paint_alarms
from agentbench_tui.verdicts.runs.run_alarms import KINDS, Alarm

COLORS = palette(DARK)
FAILING = Alarm("failures", "r", 60.0, "bot", "b", 0.42, 0.1)
THROTTLED = Alarm("gpu", "r", 90.0, "3", "power cap")


def line(*alarms: Alarm, width: int) -> str:
    (shown,) = text_of([paint_alarms(alarms, 94.0, width, COLORS, UNICODE)])
    return shown


def test_each_alarm_stands_with_its_age_and_those_without_room_are_counted() -> None:
    first = "‼ bot: 42.0% failed (limit 10.0%) for 0:34"
    second = "! GPU 3 throttled: power cap for 0:04"
    assert line(FAILING, width=60) == f"{first:53}! shows"
    assert line(FAILING, THROTTLED, width=100) == f"{f'{first}  {second}':93}! shows"
    assert line(FAILING, THROTTLED, width=60).split("  ")[1].strip() == "+1"


@given(
    st.lists(
        st.builds(
            Alarm, st.sampled_from(KINDS), st.just("r"), st.floats(0, 1e9),
            st.text("ab日\x1b\n", max_size=60), st.text("ab日\x1b.", max_size=20),
            st.floats(0, 1e6), st.floats(0, 1e6), st.floats(0, 1e6),
        ),
        min_size=1, max_size=4,
    ),
    st.integers(30, 200),
    st.sampled_from([ASCII, UNICODE]),
)  # fmt: skip
def test_any_alarms_are_one_whole_row(alarms: list[Alarm], width: int, glyphs: object) -> None:
    assert_whole([paint_alarms(alarms, 1e6, width, COLORS, glyphs)], width, 1)


@pytest.fixture
def alarming(going_on: Path, monkeypatch: pytest.MonkeyPatch) -> AgentbenchApp:
    """A session on a run in progress with two alarms, which are those of its readings."""
    app = AgentbenchApp(Shared(going_on), first="home")

    def read(watch: AlarmWatch) -> tuple[Alarm, ...]:
        return tuple(
            Alarm(one.kind, app.shared.run_id or "latest", one.since, one.subject, one.name)
            for one in (FAILING, THROTTLED)
        )

    monkeypatch.setattr(AlarmWatch, "read", read)
    return app


async def test_alarms_are_on_every_page_and_their_key_leads_to_the_evidence(
    alarming: AgentbenchApp,
) -> None:
    async with alarming.run_test(size=(80, 24), notifications=True) as pilot:
        for page in PAGES:
            await pilot.press(page.key)
            await settle(pilot, lambda name=page.name: alarming.current_mode == name)
            await settle(pilot, lambda: "bot: " in screen_text(alarming))
            assert alarming.screen.query_one(AlarmStrip).region.y == 1
            if page.name == "new":
                await pilot.press("escape")
        await pilot.press("1", "exclamation_mark")
        await settle(pilot, lambda: isinstance(alarming.screen, Live))
        await settle(pilot, lambda: alarming.screen.query_one("#failures").region.height)
        assert "failed" in told(alarming)[-1]
        await pilot.press("exclamation_mark")
        await settle(pilot, lambda: alarming.screen.query_one("#machine").region.height)
        assert "GPU 3 throttled: power cap" in told(alarming)[-1]


async def test_runs_in_progress_are_read_and_those_that_have_ended_are_not(going_on: Path) -> None:
    """One of four cases failed, too few for an alarm; the machine may be noisy."""
    watch = AlarmWatch(going_on)
    app = AgentbenchApp(Shared(going_on), first="live")
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot, lambda: "server" in panel_text(app, "#failures"))
        assert {one.kind for one in watch.read()} <= {"noise", "disk"}
        assert len(watch._readers) == 1
        (going_on.parent / "gate").touch()
        await settle(pilot, lambda: "complete" in panel_text(app, "StatusBar"))
    deadline = time.monotonic() + PATIENCE_S
    while watch.read() or watch._readers:  # its process is on its way out
        assert time.monotonic() < deadline


async def test_without_an_alarm_the_key_says_so(tmp_path: Path) -> None:
    app = AgentbenchApp(Shared(tmp_path / "none.db"))
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await pilot.press("exclamation_mark")
        await settle(pilot, lambda: "no alarm" in told(app)[-1])
        assert not app.screen.query_one(AlarmStrip).display


def test_a_new_alarm_is_reported_once_in_the_chosen_ways() -> None:
    sent: list[str] = []
    notifier = Notifier(NOTIFICATIONS, sent.append)
    notifier.report([FAILING])
    words = "bot: 42.0% failed (limit 10.0%)"
    assert sent == [
        "\x1b[22;0t", "\x1b]2;1 alarm - agentbench\x1b\\", "\a",
        f"\x1b]9;agentbench: {words}\x1b\\", f"\x1b]777;notify;agentbench;{words}\x1b\\",
    ]  # fmt: skip
    sent.clear()
    notifier.report([FAILING])
    assert sent == ["\x1b]2;1 alarm - agentbench\x1b\\"]
    sent.clear()
    notifier.close()
    assert sent == ["\x1b[23;0t"]


def test_what_agents_say_does_not_reach_the_terminal_as_a_command() -> None:
    sent: list[str] = []
    Notifier(("osc9", "osc777"), sent.append).report([Alarm("failures", "r", 0.0, HOSTILE)])
    assert [one.count("\x1b") for one in sent] == [2, 2]  # its own, at both ends
    assert not any("\a" in one for one in sent)
    assert Notifier((), sent.append).report([FAILING]) is None
    assert len(sent) == 2
