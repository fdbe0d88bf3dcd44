"""What each key of a page on stored runs is for."""

from functools import partial

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
    goes,
    gone,
    marked,
    over,
    tells,
    types,
)
from known_stores import copied, rows
from stores import session

from agentbench_tui.tui.app import AgentbenchApp
from agentbench_tui.tui.dialogs.asking import Sure
from agentbench_tui.tui.dialogs.choice import Choice
from agentbench_tui.tui.dialogs.run_choice import RunChoice
from agentbench_tui.tui.pages.cases.detail import CaseDetail
from agentbench_tui.tui.pages.cases.page import Cases
from agentbench_tui.tui.pages.compare.cases import CasesBeside
from agentbench_tui.tui.pages.compare.page import Compare
from agentbench_tui.tui.pages.compare.sides import Sides, _Offers
from agentbench_tui.tui.pages.cost.page import Cost
from agentbench_tui.tui.pages.history.page import History
from agentbench_tui.tui.pages.home import Home
from agentbench_tui.tui.pages.leaderboard.executions import LeaderExecutions
from agentbench_tui.tui.pages.leaderboard.page import Leaderboard
from agentbench_tui.tui.pages.profile.page import Profile
from agentbench_tui.tui.widgets.filter_line import FilterLine
from agentbench_tui.tui.widgets.grid import Grid
from agentbench_tui.tui.widgets.scatter import ScatterPlot

cases, detail, profile, cost, history, home, leaders, executions, compare, sides = (
    partial(Step, made)
    for made in (Cases, CaseDetail, Profile, Cost, History, Home, Leaderboard, LeaderExecutions,
                 Compare, Sides)
)  # fmt: skip


def few_a_page(given: Given) -> AgentbenchApp:
    given.patch.setattr("agentbench_tui.tui.pages.cases.page.PAGE_ROWS", 5)
    return session(given.store, "cases")


def marked_run(app: AgentbenchApp) -> bool:
    """That of `steady` and nothing else."""
    (selector,) = app.shared.marked or [""]
    return selector.startswith("run:") and selector.endswith("/steady")


def last_kind(app: AgentbenchApp) -> bool:
    """Only failures of the last of the kinds are shown."""
    page = app.screen
    assert isinstance(page, Cases)
    assert page.looked is not None
    return bool(page._query.kind == [*page.looked.seen.failures][-1])


CASES = (
    Walk("cases", "varied", "moods/echo, steady: answers 1–5 of 16", (
        cases("greater_than_sign", "answers 6–10 of 16"),
        cases("less_than_sign", "answers 1–5 of 16"),
        cases("right_square_bracket", "moods/echo, moody"),
        cases("w", "wrong answers 1–1 of 1"),
        cases("f", "failures 1–4 of 4"),
        cases("f", "failures of kind"),
        cases("f", last_kind),
        cases("f", "answers 1–5 of 16"),
        cases("d", "judged differently each time 1–2 of 2"),
        cases("a", "answers 1–5 of 16"),
        cases("left_square_bracket", "moods/echo, steady"),
        cases("s", "slowest first"),
        cases("slash", focus("filter")),
        types("echo-2", "with 'echo-2' 1–2"),
        Step(FilterLine, "enter", focus("answers")),
        cases("slash", focus("filter")),
        Step(FilterLine, "escape", gone("with 'echo-2'")),
        cases("escape", "as they came"),
        cases("v", focus("preview")),
        cases("v", focus("answers")),
        cases("y", copies("echo-0\t0")),
        cases("e", "--agent steady --benchmark echo"),
        cases("x", marked_run),
        cases("c", at("compare")),
        goes("cases"),
        Step(Grid, "enter", every("case echo-0", "look_up(what=", "exact", "total", "input 10",
                                  "tool:look_up", "1 of 5")),
        detail("p", tells("this is the first one")),
        detail("n", "2 of 5"),
        detail("p", "1 of 5"),
        detail("n", "2 of 5"),
        detail("N", "1 of 5"),
        detail("y", lambda app: app.clipboard == "0"),
        detail("i", copies("echo-0")),
        detail("e", "--case echo-0"),
        detail("v", focus("judged")),
        detail("escape", over(Cases)),
    ), few_a_page),
    Walk("cases", "measured", "quick/dash", (
        cases("o", over(RunChoice)),
        Step(RunChoice, "escape", over(Cases)),
        cases("o", over(RunChoice)),
        Step(RunChoice, "q", over(Cases)),
        cases("o", every("runs: enter opens", "echoes")),
        Step(Grid, "down", lambda app: app.focused._cursor == 1),
        Step(Grid, "enter", "echoes/echo"),
        cases("b", "answers over p95"),
    )),
)  # fmt: skip
PROFILE = Walk("profile", "varied", "moods/echo, steady", (
    profile("right_square_bracket", "moods/echo, moody"),
    profile("left_square_bracket", "moods/echo, steady"),
    profile("y", copies("n = 16")),
    profile("e", "agentbench profile "),
    profile("x", marked_run),
    profile("c", at("compare")),
    goes("profile"),
    profile("n", "look_up(what="),
    goes("profile"),
    profile("v", focus("typical")),
    profile("o", over(RunChoice)),
))  # fmt: skip
COST = Walk("cost", "measured", "52 cases of echoes", (
    cost("g", lambda app: app.screen.query_one(ScatterPlot).scatter.log_x),
    cost("w", tells("all days")),
    cost("v", focus("prices")),
    cost("escape", focus("agents")),
    Do(lambda app: app.screen.query_one("#agents", Grid).move_to("bad")),
    cost("x", marked("bad")),
    cost("y", copies("bad 25.0% right, $")),
    cost("e", tells("agentbench cost --days 36500")),
    cost("b", "good@"),
    cost("n", "(group 2 of 2)"),
    cost("slash", focus("filter")),
    types("nobody", "no agent is called 'nobody'"),
    Step(FilterLine, "escape", focus("agents")),
    cost("c", at("compare")),
))  # fmt: skip
ACCEPTED = ("bot", "plans", "cost_usd_per_task", "2026-01-01T22:00:00.000Z")
HISTORY = Walk("history", "history", "e2e_ms.p50 of sums: 28 runs", (
    history("y", copies("at least 21.7% worse than the 20 runs before")),
    history("b", "e2e_ms.p50 of plans: 28 runs"),
    history("o", every("cost_usd_per_task of plans: 28 runs", "▲ -20.1%", "$0.0020")),
    history("g", "28 runs, in hours since 2026-01-01 00:00"),
    history("s", "benchmark ▲"),
    history("e", tells("agentbench regressions bot")),
    history("x", marked("bot@2.0")),
    history("v", focus("verdict")),
    history("escape", focus("findings")),
    history("A", "Accept cost_usd_per_task of plans since 2026-01-01T22:00"),
    Step(Sure, "n", over(History)),
    history("A", over(Sure)),
    Step(Sure, "escape", over(History)),
    history("A", over(Sure)),
    Step(Sure, "q", lambda app: over(History)(app) and not accepted(app)),
    history("A", over(Sure)),
    Step(Sure, "y", lambda app: accepted(app) == [ACCEPTED]),
    history("B", "with from now on"),
    Step(Choice, "q", over(History)),
    history("B", "with from now on"),
    Step(Choice, "escape", over(History)),
    history("B", over(Choice)),
    Step(Grid, "down", lambda app: app.focused._cursor == 1),
    Step(Grid, "enter", lambda app: baselines(app) == [("bot", "default", "version", "1.0")]),
    history("a", "whose history"),
    Step(Choice, "q", over(History)),
    history("slash", focus("filter")),
    Step(FilterLine, "escape", focus("findings")),
    history("c", at("compare")),
), lambda given: session(copied(given.store, given.folder), "history"))  # fmt: skip


def accepted(app: AgentbenchApp) -> list[tuple[object, ...]]:
    sql = "SELECT agent_id, benchmark_id, metric, since FROM accepted_changes"
    return rows(app.shared.database, sql)


def baselines(app: AgentbenchApp) -> list[tuple[object, ...]]:
    return rows(app.shared.database, "SELECT agent_id, name, kind, target FROM baselines")


started: list[object] = []


def starts_nothing(given: Given) -> AgentbenchApp:
    """What it would start or watch is noted instead."""
    around(given.patch)
    started.clear()
    given.patch.setattr(AgentbenchApp, "start_run", lambda app, words: started.append([*words]))
    given.patch.setattr(
        AgentbenchApp, "watch_run", lambda app, run_id, replay=False: started.append(replay)
    )
    return session(given.store, "home")


HOME = Walk("home", "measured", "complete", (
    home("x", lambda app: app.shared.marked == ["run:" + app.focused.cursor_key]),
    home("y", lambda app: app.clipboard == app.focused.cursor_key),
    home("e", tells("agentbench runs list")),
    home("r", lambda app: started == [["run", "quickstart"]]),
    home("slash", focus("filter")),
    types("later", gone("echoes")),
    Step(FilterLine, "escape", "echoes"),
    home("v", focus("suites")),
    home("escape", focus("runs")),
    home("v", focus("suites")),
    Step(Grid, "enter", at("new")),
    goes("home"),
    home("v", focus("agents")),
    Step(Grid, "enter", at("history")),
    goes("home"),
    home("escape", focus("runs")),
    home("c", at("compare")),
    goes("home"),
    home("p", lambda app: started[1:] == [True]),
    Step(Grid, "enter", lambda app: started[2:] == [False]),
    home("n", at("new")),
), starts_nothing)  # fmt: skip
LEADERS = Walk("leaders", "measured", "agents by accuracy on 52 cases, last 30 days", (
    leaders("y", copies("1= fair accuracy 0.88")),
    leaders("x", marked("fair")),
    leaders("v", focus("simulated")),
    leaders("v", focus("facts")),
    leaders("escape", focus("measured")),
    leaders("c", at("compare")),
    goes("leaders"),
    Step(Grid, "enter", every("Leaderboard ▸ fair ▸ executions", "brief", "echo")),
    executions("x", lambda app: app.shared.marked[1:] and app.shared.marked[1].startswith("run:")),
    executions("c", at("compare")),
    Do(lambda app: app.action_go("leaders"), at("leaders")),
    Step(Grid, "enter", lambda app: app.current_mode == "cases" and app.shared.run_id),
    Do(lambda app: app.action_go("leaders"), at("leaders")),
    executions("h", lambda app: app.current_mode == "history" and app.shared.agent == "fair"),
    Do(lambda app: app.action_go("leaders"), at("leaders")),
    executions("escape", over(Leaderboard)),
    leaders("slash", focus("filter")),
    types("bad", "bad: what is known"),
    Step(FilterLine, "enter", focus("measured")),
    leaders("h", lambda app: app.current_mode == "history" and app.shared.agent == "bad"),
    goes("leaders"),
    leaders("o", "agents by overall on 2 benchmarks"),
    leaders("w", "all days"),
    leaders("g", every("agents by accuracy on 8 cases, all days", "Leaderboard ▸ speed")),
    leaders("e", tells("agentbench leaderboard --days 36500 --category speed")),
    leaders("g", "Leaderboard ▸ all"),
))  # fmt: skip
COMPARE = Walk("compare", "measured", every("agent, version, run or tag", "tag:first/good",
                                            "perfect (simulated)", "good@"), (
    sides("c", tells("choose two at least: a adds the one at the cursor")),
    sides("d", tells("the one at the cursor is not compared")),
    Do(lambda app: app.focused.move_to("bad")),
    sides("a", marked("bad")),
    sides("a", tells("bad is compared already")),
    sides("d", marked()),
    sides("x", marked("bad")),
    Do(lambda app: app.focused.move_to("fair")),
    Step(_Offers, "enter", marked("bad", "fair")),
    Do(lambda app: app.focused.move_to("good")),
    sides("a", marked("bad", "fair", "good")),
    sides("o", marked("good", "bad", "fair")),
    sides("c", "B bad against A good, the control (pair 1 of 3; n: the next)"),
    compare("n", "B fair against A good, the control (pair 2 of 3; n: the next)"),
    compare("b", "metrics on echoes/echo;"),
    compare("s", tells("worse and better first")),
    compare("y", copies("tests, adjusted by Benjamini and Hochberg")),
    compare("e", tells("agentbench compare good bad fair")),
    compare("slash", focus("filter")),
    types("accuracy", gone("reliability  ")),
    Step(FilterLine, "escape", focus("metrics")),
    compare("v", "▸ distributions"),
    compare("f", "output_tokens, share of answers"),
    compare("v", "▸ cases"),
    Step(Grid, "enter", focus("beside")),
    Step(CasesBeside, "enter", over(CaseDetail)),
    detail("escape", over(Compare)),
    compare("escape", focus("apart")),
    compare("v", every("what the row is against the column", "fair  ")),
    Step(Grid, "enter", "▸ overview"),
    compare("o", "Compare ▸ bad · fair · good"),
    compare("p", "▸ sides"),
    sides("c", gone("▸ sides")),
))  # fmt: skip

WALKS = (*CASES, PROFILE, COST, HISTORY, HOME, LEADERS, COMPARE)
