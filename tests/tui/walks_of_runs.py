"""What each key is for of the pages that start, watch and replay, and of the session itself."""

import json
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

from key_walk import (
    Do,
    Given,
    Step,
    Walk,
    around,
    at,
    copies,
    every,
    focus,
    focuses,
    gone,
    over,
    tells,
    types,
)
from known_records import EPISODE, with_episodes
from known_stores import copied, stress_store
from page_pictures import unpacked
from stores import HOSTILE, screen_text, session
from textual.command import CommandPalette

from agentbench_tui.store.database import reading
from agentbench_tui.tui.app import AgentbenchApp
from agentbench_tui.tui.dialogs.asking import Line, Sure
from agentbench_tui.tui.dialogs.choice import Choice
from agentbench_tui.tui.dialogs.help import Help
from agentbench_tui.tui.dialogs.leaving import Leaving
from agentbench_tui.tui.dialogs.run_choice import RunChoice
from agentbench_tui.tui.drawing.painting import text_of
from agentbench_tui.tui.page_list import PAGES
from agentbench_tui.tui.pages.live.page import Live
from agentbench_tui.tui.pages.market.page import EXAMPLE, Market
from agentbench_tui.tui.pages.new_run import plan as new_run_plan
from agentbench_tui.tui.pages.new_run.page import NewRun, _Agents
from agentbench_tui.tui.pages.stress.page import Stress
from agentbench_tui.tui.pages.training.page import Training
from agentbench_tui.tui.shared import Shared
from agentbench_tui.tui.theme import THEMES
from agentbench_tui.tui.widgets.forms.field_line import FieldLine
from agentbench_tui.tui.widgets.forms.suite_tree import SuiteTree
from agentbench_tui.tui.widgets.grid import Grid
from agentbench_tui.tui.widgets.scrubber import Scrubber

RECORDED = Path(__file__).parent / "data" / "recorded.db.gz"
LONGEST = 2
"""Of the recorded runs: ten seconds."""

stress, market, training, live, new, tree, keys = (
    partial(Step, made)
    for made in (Stress, Market, Training, Live, NewRun, SuiteTree, AgentbenchApp)
)


def two_under_stress(given: Given) -> AgentbenchApp:
    store, _ = stress_store(given.folder / "s.db", "target@1", "other@1")
    return session(store, "stress")


STRESS = Walk("stress", "", "high_load: p95 of latency over load", (
    stress("n", "(2 of 2, n)"),
    stress("v", "high_load: latency of the windows"),
    stress("d", focus("facts")),
    stress("escape", focus("scenarios")),
    stress("y", copies("high_load: breaks between 100 and 110 requests/s")),
    stress("e", every(tells("agentbench runs show "), tells("\nagentbench profile "))),
    stress("o", "which stress run"),
    Step(Choice, "escape", over(Stress)),
    stress("w", lambda app: app.current_mode == "live" and app.shared.run_id),
), two_under_stress)  # fmt: skip


def two_episodes(given: Given) -> AgentbenchApp:
    later = EPISODE | {"equity": [1, 2, 3, 4, 7_654]}
    return session(with_episodes(given.store, given.folder / "s.db", EPISODE, later), "market")


def plays(app: Any) -> bool:
    return bool(app.screen._playing)


def held(app: Any) -> bool:
    return not app.screen._playing


AT_THE_END = every("rain 100% (yes)", "X-PERP $40", "tick 4 of 4", "it rains", gone(HOSTILE),
                   gone(EXAMPLE))  # fmt: skip
MARKET = Walk("market", "varied", AT_THE_END, (
    market("comma", every("tick 3 of 4", "! -32602: market")),
    market("full_stop", "tick 4 of 4"),
    market("less_than_sign", "tick 3 of 4"),
    market("greater_than_sign", "tick 4 of 4"),
    Do(lambda app: app.screen._go(0), every("tick 0 of 4", "nothing yet")),
    market("a", every("tick 1 of 4", "60.0%")),
    market("y", copies('a2a.buyShares(market="m", amount=10)')),
    market("right_square_bracket", "episode 2 of 2"),
    market("left_square_bracket", "episode 1 of 2"),
    Do(lambda app: app.screen._go(4), "tick 4 of 4"),
    Do(lambda app: app.focused.action_end(1)),
    Step(Grid, "enter", "tick 1 of 4"),
    market("d", EXAMPLE),
    market("minus", tells("1 ticks a second")),
    market("space", plays),
    market("space", held),
    market("plus", tells("4 ticks a second")),
    market("equals_sign", tells("16 ticks a second")),
    market("v", focus("positions")),
    market("o", "runs: enter opens"),
    Step(RunChoice, "escape", over(Market)),
), two_episodes)  # fmt: skip


async def enters(app: Any) -> None:
    """The line that is typed in is done."""
    await app.focused.action_submit()


def training_files(given: Given) -> AgentbenchApp:
    given.patch.chdir(given.store)
    return session(given.folder / "none.db", "training")


TRAINING = Walk("training", "folders", "press o to open", (
    training("o", over(Line)),
    Step(Line, "escape", over(Training)),
    training("o", over(Line)),
    types("old new", "old new"),
    Do(enters, every("old (5 runs)", "new (5 runs)", "window", "is more of value", gone(EXAMPLE))),
    training("b", every("paired by seed", "verdict, area")),
    training("s", "single runs"),
    training("y", copies("run-seed0")),
    training("e", "agentbench stats variance old new"),
    training("u", "The column that holds the metric"),
    types("loss", "loss"),
    Do(enters, "does not log loss"),
    training("v", lambda app: app.screen.has_class("-at-runs")),
    training("d", EXAMPLE),
), training_files)  # fmt: skip


def scrubber(app: Any) -> Any:
    return app.screen.query_one(Scrubber).data


def panel_text(app: Any, name: str) -> str:
    """Its words, wherever lines end."""
    lines = [line for one in app.screen.query(name) for line in text_of(one._rows)]
    return " ".join(" ".join(lines).split())


def moment(second: float) -> Any:
    return lambda app: abs(scrubber(app).at_s - second) < 0.01


def to_moment(second: float) -> Do:
    return Do(lambda app: app.screen._viewer.seek(second), moment(second))


def recorded_run(given: Given) -> AgentbenchApp:
    store = unpacked(RECORDED, given.folder)
    with reading(store) as connection:
        (run,) = connection.execute("SELECT id FROM runs WHERE key=?", (LONGEST,)).fetchone()
    return AgentbenchApp(Shared(store, str(run), fixed_run=True), first="live")


def offered(app: Any) -> str:
    return panel_text(app, "KeyBar")


OVER = Walk("live", "", lambda app: "Replay" in offered(app) and "512/512" in screen_text(app), (
    live("S", tells("this run is over"), "say_why_not"),
    live("g", "latency end to end, linear"),
    live("h", every("latency to the first token (TTFT)", "nothing was streamed")),
    live("v", focus("board")),
    live("y", lambda app: app.clipboard == app.shared.run_id),
    live("e", tells("agentbench runs show ")),
    live("greater_than_sign", tells("the speed applies to a replay")),
    live("space", every("replay ×1 ", lambda app: "Pause/go on" in offered(app)), "replay"),
    live("space", "held", "hold"),
    live("left_square_bracket", "replay ×1 "),
    live("less_than_sign", "replay ×0.5"),
    live("greater_than_sign", "replay ×1 "),
    live("space", "held", "hold"),
    to_moment(5.0),
    live("full_stop", moment(6.0)),
    live("comma", moment(5.0)),
    live("right_square_bracket", "at the end"),
    live("escape", lambda app: not app.is_running),
), recorded_run)  # fmt: skip


def limit(count: int) -> Any:
    """The run has heard it and does so."""
    words = f"concurrency {count}: at most {count}"
    return lambda app: (
        words in panel_text(app, "#log")
        and any(state.get("limit") == count for state in app.screen._state.live.values())
    )


def wished(app: Any) -> list[str]:
    """What the session asked of the run."""
    with reading(app.shared.database) as connection:
        return [row[0] for row in connection.execute("SELECT wish FROM wishes")]


def two_in_flight(app: Any) -> bool:
    return (
        app.shared.database.exists()
        and "running 2/4" in panel_text(app, "StatusBar")
        and "in flight" in panel_text(app, "#slow")
        and "server" in panel_text(app, "#failures")
        and "boom [bold]" in panel_text(app, "#log")
        and "\x1b" not in screen_text(app)
        and any(state.get("limit") == 4 for state in app.screen._state.live.values())
    )


GOES_ON = Walk("live", "going_on", two_in_flight, (
    live("space", lambda app: "paused" in panel_text(app, "StatusBar"), "hold"),
    live("space", lambda app: "resume: resumed" in panel_text(app, "#log"), "hold"),
    live("minus", limit(3)),
    live("minus", limit(2)),
    live("plus", limit(3)),
    live("equals_sign", limit(4)),
    live("M", over(Line)),
    Step(Line, "escape", over(Live)),
    live("M", over(Line)),
    types("here", "here"),
    Do(enters, every(lambda app: "mark here" in panel_text(app, "#log"),
                     lambda app: "here" in panel_text(app, "#rates"))),
    focuses("slow"),
    live("x", lambda app: "canceled 1 of" in panel_text(app, "#log")),
    live("S", over(Sure), "stop"),
    Step(Sure, "escape", lambda app: over(Live)(app) and "stop" not in wished(app)),
    live("S", over(Sure), "stop"),
    Step(Sure, "enter", lambda app: "stop" in wished(app)),
))  # fmt: skip

started: list[list[str]] = []


def chosen(given: Given) -> AgentbenchApp:
    """New run with `quickstart`; what it would start is noted instead, and no plan is made."""
    around(given.patch)
    started.clear()
    plan = CompletedProcess([], 0, json.dumps({"executions": []}), "")
    given.patch.setattr(new_run_plan, "asked", lambda *words: plan)
    given.patch.setattr(AgentbenchApp, "start_run", lambda app, words: started.append([*words]))
    return AgentbenchApp(Shared(given.store, suite="quickstart"), first="new")


def option(name: str) -> Any:
    """Whether one types in the line of this option."""
    return lambda app: any(
        isinstance(one, FieldLine) and one.option == name for one in app.focused.ancestors
    )


def repeats(app: Any) -> None:
    """Type in the line about them."""
    next(one for one in app.screen.query(FieldLine) if one.option == "--runs").enter()


def picked(count: int) -> Any:
    return lambda app: len(app.screen.query_one("#agents", Grid).selected) == count


def line(app: Any) -> int:
    return app.screen.query_one(SuiteTree).cursor_line


def folded(app: Any) -> bool:
    return not app.screen.query_one(SuiteTree).cursor_node.is_expanded


NEW = Walk("new", "", "0 executions", (
    new("ctrl+r", lambda app: started == [["run", "quickstart"]]),
    new("y", copies("agentbench run quickstart --db ")),
    tree("left", folded),
    tree("right", lambda app: not folded(app)),
    Do(lambda app: app.focused.action_cursor_down(), lambda app: line(app) == 4),
    tree("space", "--benchmark word-problems"),
    tree("end", lambda app: line(app) == app.screen.query_one(SuiteTree).last_line),
    tree("home", lambda app: line(app) == 0),
    new("v", focus("agents")),
    Step(_Agents, "space", picked(3)),
    Step(_Agents, "enter", picked(2)),
    new("a", "This may cost money"),
    Step(Sure, "n", over(NewRun)),
    new("escape", focus("suites")),
    Do(repeats, option("--runs")),
    Step(FieldLine, "down", option("--iterations")),
    Step(FieldLine, "up", option("--runs")),
), chosen)  # fmt: skip


answers: list[str | None] = []


def asks(app: Any) -> None:
    """What is to become of a run."""
    app.push_screen(Leaving(1), answers.append)


def answered(words: str) -> Any:
    return lambda app: not isinstance(app.screen, Leaving) and answers[-1:] == [words]


ASK = Do(asks, lambda app: over(Leaving)(app) and answers.clear() is None)


def quiet(given: Given) -> AgentbenchApp:
    """It reads when it is asked."""
    around(given.patch)
    shared = Shared(copied(given.store, given.folder))
    return AgentbenchApp(shared, rate_hz=0, screenshots=given.folder / "pictures")


def rename(app: Any) -> None:
    """In the store, of all suites."""
    with closing(sqlite3.connect(app.shared.database)) as connection, connection:
        connection.execute("""UPDATE runs SET suite_ids='["renamed"]'""")


def pictures(app: Any) -> list[str]:
    return [one.read_text()[:4] for one in app._screenshots.glob("*")]


SESSION = Walk("home", "measured", "echoes", (
    *(keys(page.key, at(page.name)) for page in PAGES[1:]),
    keys(PAGES[0].key, at("home")),
    keys("question_mark", every(*(f"{page.title}: {page.what}" for page in PAGES))),
    Step(Help, "escape", lambda app: not isinstance(app.screen, Help)),
    keys("question_mark", over(Help)),
    Step(Help, "question_mark", lambda app: not isinstance(app.screen, Help)),
    keys("question_mark", over(Help)),
    Step(Help, "q", lambda app: not isinstance(app.screen, Help)),
    keys("ctrl+s", lambda app: pictures(app) == ["<svg"]),
    keys("t", lambda app: app.theme == THEMES[1]),
    keys("ctrl+p", CommandPalette.is_open),
    Do(lambda app: app.screen.dismiss(), lambda app: not CommandPalette.is_open(app)),
    Do(rename),
    keys("f5", "renamed"),
    ASK, Step(Leaving, "d", answered("detach")),
    ASK, Step(Leaving, "enter", answered("detach")),
    ASK, Step(Leaving, "s", answered("stop")),
    ASK, Step(Leaving, "escape", answered("stay")),
    ASK, Step(Leaving, "n", answered("stay")),
    ASK, Step(Leaving, "q", answered("stay")),
    keys("ctrl+q", lambda app: not app.is_running),
), quiet)  # fmt: skip
LEFT = tuple(
    Walk("compare", "", "No run is stored yet", (keys(key, lambda app: not app.is_running),))
    for key in ("q", "ctrl+c")
)

WALKS = (STRESS, MARKET, TRAINING, OVER, GOES_ON, NEW, SESSION, *LEFT)
