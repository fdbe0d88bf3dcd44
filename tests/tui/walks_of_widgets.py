"""What each key of a widget is for, on its example."""

from functools import partial

from key_walk import Seen, Step, Walk
from widget_demo import DemoApp, demos

from agentbench_tui.tui.theme import THEMES
from agentbench_tui.tui.widgets.flame import FlameView, Gaze
from agentbench_tui.tui.widgets.grid import Grid
from agentbench_tui.tui.widgets.scrolled import Scrolled
from agentbench_tui.tui.widgets.transcript import Spot, TranscriptView
from agentbench_tui.tui.widgets.waterfall import WaterfallView


def example(name: str, *steps: Step, size: tuple[int, int]) -> Walk:
    """Of the widget in this module, which has the keys from the start."""
    return Walk(name, "", "an example", steps, lambda _: DemoApp(demos()[name]), size)


def row(cursor: int) -> Seen:
    return lambda app: app.focused._cursor == cursor


def top(line: int) -> Seen:
    return lambda app: app.focused.top == line


def first(line: int) -> Seen:
    return lambda app: app.focused.first == line


def spot(pair: int) -> Seen:
    return lambda app: app.focused.top == Spot(pair)


def gaze(focus: tuple[int, ...], at: tuple[int, ...]) -> Seen:
    return lambda app: app.focused.gaze == Gaze(focus, at)


grid, flame, reading, waterfall = (
    partial(Step, made) for made in (Grid, FlameView, TranscriptView, WaterfallView)
)
WALKS = (
    example(
        "grid",
        grid("down", row(1)),
        grid("j", row(2)),
        grid("k", row(1)),
        grid("up", row(0)),
        grid("pagedown", row(4)),
        grid("pageup", row(0)),
        grid("end", row(7)),
        grid("home", row(0)),
        grid("space", lambda app: app.focused.selected == {"atlas-70b"}),
        size=(80, 7),
    ),
    example(
        "flame",
        flame("down", gaze((), (1,))),
        flame("left", gaze((), (0,))),
        flame("right", gaze((), (1,))),
        flame("enter", gaze((1,), (1,))),
        flame("backspace", gaze((), (1,))),
        flame("up", gaze((), ())),
        size=(80, 8),
    ),
    example(
        "sentences",
        Step(Scrolled, "down", top(1)),
        Step(Scrolled, "up", top(0)),
        Step(Scrolled, "pagedown", lambda app: app.focused.top > 1),
        Step(Scrolled, "pageup", top(0)),
        Step(Scrolled, "end", lambda app: app.focused.top == app.focused.last_top() > 0),
        Step(Scrolled, "home", top(0)),
        size=(30, 4),
    ),
    example(
        "transcript",
        reading("down", spot(1)),
        reading("up", spot(0)),
        reading("pagedown", spot(3)),
        reading("pageup", spot(0)),
        reading("space", spot(3)),
        reading("home", spot(0)),
        reading("n", spot(5)),
        reading("end", spot(7)),
        reading("N", spot(5)),
        size=(80, 7),
    ),
    example(
        "waterfall",
        waterfall("down", first(1)),
        waterfall("up", first(0)),
        waterfall("pagedown", first(7)),
        waterfall("pageup", first(0)),
        waterfall("end", first(7)),
        waterfall("home", first(0)),
        size=(80, 7),
    ),
    example(
        "gauge",
        Step(DemoApp, "t", lambda app: app.theme == THEMES[1]),
        Step(DemoApp, "q", lambda app: not app.is_running),
        size=(60, 6),
    ),
)
