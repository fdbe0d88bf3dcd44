"""New run: what is chosen is a command line, the preview is what that would do, and it is run."""

import json
import sqlite3
import subprocess
from contextlib import closing
from functools import cache
from pathlib import Path
from threading import Event

import pytest
from stores import HOSTILE, screen_text, settle, shows, told
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from agentbench_tui.engine.suite.loading import load_suite
from agentbench_tui.tui.app import AgentbenchApp
from agentbench_tui.tui.pages.new_run import page as new_run
from agentbench_tui.tui.pages.new_run import plan as new_run_plan
from agentbench_tui.tui.pages.new_run.choice import (
    FIELDS,
    GATES,
    OWNED,
    Choice,
    field_of_fault,
    typed_fault,
)
from agentbench_tui.tui.pages.new_run.plan import Preview, asked, preview_words, refusal
from agentbench_tui.tui.pages.new_run.suite_shelf import ShelvedSuite, read_shelf
from agentbench_tui.tui.shared import Shared
from agentbench_tui.tui.widgets.forms.field_line import FieldLine
from agentbench_tui.tui.widgets.forms.suite_tree import Place, SuiteTree
from agentbench_tui.tui.widgets.grid import Grid
from agentbench_tui.tui.widgets.key_bar import KeyBar
from agentbench_tui.tui.widgets.sentences import Sentences
from agentbench_tui.verdicts.cost.run_estimate import RunEstimate

FIRST = "a=reference:perfect"


@cache
def asked_in(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return asked(*arguments)


@cache
def shelf_in(folder: Path, *others: str) -> list[ShelvedSuite]:
    return read_shelf(others)


@pytest.fixture(autouse=True)
def nothing_is_asked_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a command would do is asked of a process: half a second, and the same for each test."""
    monkeypatch.setattr(new_run_plan, "asked", lambda *words: asked_in(Path.cwd(), *words))
    monkeypatch.setattr(new_run, "read_shelf", lambda others: shelf_in(Path.cwd(), *others))


def opened(database: Path, suite: str | None = "quickstart") -> AgentbenchApp:
    return AgentbenchApp(Shared(database, suite=suite), first="new")


def line(app: AgentbenchApp, option: str) -> FieldLine:
    return next(one for one in app.screen.query(FieldLine) if one.option == option)


async def says(pilot: Pilot[None], *words: str) -> None:
    """Once all these words are in the preview, and on the screen if there is room."""

    def said() -> str:
        preview = pilot.app.screen.query("#preview").results(Sentences)
        return "\n".join(one.words for panel in preview for one in panel.sentences)

    await settle(pilot, lambda: all(word in said() for word in words))


async def typed(pilot: Pilot[None], app: AgentbenchApp, option: str, text: str) -> FieldLine:
    """In the line of this option; "\n" is enter."""
    found = line(app, option)
    found.enter()
    found.value = text.rstrip("\n")
    await pilot.press(*["enter"] * text.count("\n"))
    return found


def stored_command(database: Path) -> tuple[str, str] | None:
    """(status, command) of the only run."""
    if not database.exists():
        return None
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        try:
            return connection.execute("SELECT status, command FROM runs").fetchone()
        except sqlite3.OperationalError:  # the tables are being made
            return None


@pytest.mark.parametrize(
    ("choice", "arguments"),
    [
        (Choice(suite="s", agents=[FIRST], own_agents=[FIRST]), ["run", "s"]),
        (Choice(suite="s", agents=[FIRST]), ["run", "s", "--agent", FIRST]),
        (
            Choice(suite="s", agents=["b@2=mock", FIRST], own_agents=[FIRST, "b@2=mock", "c=mock"]),
            ["run", "s", "--agent", "b", "--agent", "a"],
        ),
        (
            Choice(
                suite="s", agents=[FIRST], own_agents=[FIRST], benchmarks=["b"], cases=["c 1"],
                values={"--set n": "3", "--runs": "2", GATES: "accuracy>=0.8 verdict==clean",
                        "--seed": "-1", "--limit": ""},
            ),
            ["run", "s", "--benchmark", "b", "--case", "c 1", "--set", "n=3", "--runs", "2",
             "--seed=-1", GATES, "accuracy>=0.8", GATES, "verdict==clean"],
        ),
        (
            Choice("load", agents=[FIRST], values={"--rate": "5", "--slo": "ttft_ms=1 e2e_ms=2"}),
            ["load", FIRST, "--rate", "5", "--slo", "ttft_ms=1", "--slo", "e2e_ms=2"],
        ),
        (
            Choice("stress", agents=[FIRST], values={"--scenario": "high_load", OWNED: "yes"}),
            ["stress", FIRST, "--scenario", "high_load", OWNED],
        ),
        (Choice("stress", agents=[FIRST], values={OWNED: "no"}), ["stress", FIRST]),
    ],
)  # fmt: skip
def test_a_choice_is_a_command_line(choice: Choice, arguments: list[str]) -> None:
    assert choice.arguments() == arguments
    assert choice.lacking() == ""


def test_an_agent_of_a_suite_is_asked_as_that_of_the_suite() -> None:
    own = "a=python:near.py:answer"
    choice = Choice(suite="other/suite.json", own_agents=[own], agents=[own, FIRST])
    there = ["agents", "check", "a", "--ask", "--suite", "other/suite.json"]
    assert choice.check_arguments(own) == there
    assert choice.check_arguments("b=mock") == ["agents", "check", "b=mock", "--ask"]


def shelved(folder: Path, name: str, category: str, *, agents: bool = True) -> ShelvedSuite:
    written = folder / f"{name.replace('/', '-')}.json"
    listed = [{"id": "a", "target": "mock"}] if agents else []
    suite = {
        "suite_id": "s", "category": category, "description": "About it.", "agents": listed,
        "benchmarks": [{"benchmark_id": "b", "scorers": ["exact"],
                        "dataset": {"cases": [{"id": "c", "input": "1", "expected": "1"}]}}],
    }  # fmt: skip
    written.write_text(json.dumps(suite))
    return ShelvedSuite(name, "folder", load_suite(str(written)))


class Shelf(App[None]):
    def compose(self) -> ComposeResult:
        yield SuiteTree()


async def test_what_can_be_run_at_once_is_told_first_and_folders_last(tmp_path: Path) -> None:
    app = Shelf()
    async with app.run_test(size=(60, 20)) as pilot:
        tree = app.screen.query_one(SuiteTree)
        tree.fill(
            [
                shelved(tmp_path, "infrastructure/b", "comprehensive"),
                shelved(tmp_path, "a", "accuracy", agents=False),
                shelved(tmp_path, "z", "accuracy"),
                ShelvedSuite("broken", "folder", fault="no such file"),
                shelved(tmp_path, "alone", "comprehensive"),
                shelved(tmp_path, "quickstart", "comprehensive"),
            ]
        )
        await shows(pilot, "no such file")
        lines = [line.strip("▼ │├└╶─╴").rstrip() for line in screen_text(app).splitlines()]
        assert [line for line in lines if line] == [
            "load a target: how fast is it?",
            "stress a target: where does it break?",
            "comprehensive", "quickstart  About it.", "alone  About it.",
            "accuracy", "z  About it.", "a  needs an agent. About it.",
            "infrastructure", "b  About it.",
            "faulty", "broken: no such file",
        ]  # fmt: skip
        at = lambda: tree.cursor_node.data if tree.cursor_node is not None else None  # noqa: E731
        await settle(pilot, at)
        assert at() == Place("suite", "quickstart", about="About it.")


def test_what_was_not_chosen_yet_is_told() -> None:
    assert "choose a suite" in Choice().lacking()
    assert "pick an agent" in Choice(suite="s").lacking()
    assert "one target" in Choice("load", agents=[FIRST, "b=mock"]).lacking()


def test_a_shell_reads_the_command_as_it_was_meant() -> None:
    choice = Choice(suite="my suite", agents=["a=command:x 'y'"])
    assert choice.command(Path("/d/s.db")) == (
        """agentbench run 'my suite' --agent 'a=command:x '"'"'y'"'"'' --db /d/s.db"""
    )


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("Invalid value for '--runs': 0 is not in the range 1<=x<=10000.", "--runs"),
        ("--set n: expected a whole number", "--set n"),
        ("suite s needs --set n=…", "--set n"),
        ("gate 'x>1': unknown metric 'x'", GATES),
        ("something else is wrong", None),
    ],
)
def test_a_fault_of_the_plan_belongs_to_its_line(words: str, option: str | None) -> None:
    assert field_of_fault(words, ["--set n", "--runs", GATES]) == option


def test_words_and_gates_are_judged_without_a_plan() -> None:
    lines = {one.option: one for one in FIELDS["load"]}
    assert typed_fault(lines["--arrivals"], "poi") == ""
    assert typed_fault(lines["--arrivals"], "fast") == "one of constant, poisson, gamma, max"
    assert 'did you mean "accuracy"' in typed_fault(lines[GATES], "acuracy>0.5")
    assert typed_fault(lines[GATES], "accuracy>0.5 e2e_ms.p95<=10") == ""


def test_a_refusal_is_one_line_without_the_usage() -> None:
    usage = "Usage: agentbench run\nTry --help\n\nError: Invalid value for '--runs': no.\n"
    assert refusal(usage) == "Invalid value for '--runs': no."
    assert refusal("agentbench: no suite\n") == "no suite"
    assert refusal("") == "the command failed without a message"


def test_a_preview_says_plan_time_and_cost() -> None:
    row = {
        "agent_id": "a", "benchmark_id": "b", "cases": 10, "repeats": 2, "iterations": 3,
        "observations": 60,
    }  # fmt: skip
    preview = Preview((row, {**row, "agent_id": "c"}), RunEstimate(90.0, "why", None, "no price"))
    assert [(one.label, one.words) for one in preview_words(preview)] == [
        (
            "plan",
            "2 executions (2 agents × b), 20 cases × 2 repeats × 3 iterations = 120 questions",
        ),
        ("time", "about 90 s: why"),
        ("cost", "–: no price"),
    ]


async def test_parts_of_a_suite_are_picked_in_the_tree(tmp_path: Path) -> None:
    app = opened(tmp_path / "none.db")
    async with app.run_test(size=(120, 40)) as pilot:
        await shows(pilot, "16 executions (4 agents ×", "1,096 questions")
        await says(pilot, "agentbench run quickstart --db", "no earlier run of")
        app.screen.query_one(SuiteTree).focus()
        await pilot.press("down", "space")
        await says(pilot, "--benchmark word-problems", "4 executions (4 agents × word-problems)")
        await pilot.press("right")
        await settle(pilot, lambda: "reading the cases" not in str(_labels(app)))
        assert len(_labels(app)) > 30
        await pilot.press("down", "space")
        case = _labels(app)[0]
        await shows(pilot, f"--case {case}", "4 cases × 1 repeat")
        tree = app.screen.query_one(SuiteTree)
        node = tree.cursor_node
        await pilot.press("left")
        await settle(pilot, lambda: tree.cursor_node is node.parent)
        assert not (tmp_path / "none.db").exists()


def _labels(app: AgentbenchApp) -> list[str]:
    """The cases below word-problems."""
    tree = app.screen.query_one(SuiteTree)
    suites = [node for heading in tree.root.children for node in heading.children]
    quickstart = next(node for node in suites if node.data and node.data.suite == "quickstart")
    return [node.data.about for node in quickstart.children[0].children if node.data is not None]


async def test_two_agents_on_quickstart_by_keyboard_alone(tmp_path: Path) -> None:
    database = tmp_path / "s.db"
    app = opened(database, None)
    async with app.run_test(size=(80, 24)) as pilot:
        await says(pilot, "choose a suite", "Word problems, extraction")
        await pilot.press("enter")
        await says(pilot, "16 executions")
        await pilot.press("v", "enter", "space")  # two of the four no longer
        await says(pilot, "8 executions (2 agents")
        assert "Open" not in [key.does for key in app.screen.query_one(KeyBar).keys]
        await pilot.press("v", "down")
        await pilot.press("2", "down", "1", "down", "0", "down", "1")
        await says(pilot, "8 executions (2 agents", "× 2 repeats × 1 iteration")
        command = app.screen._choice.command(database)
        await pilot.press("ctrl+r")
        await settle(pilot, lambda: app.current_mode == "live")
        await settle(pilot, lambda: (stored_command(database) or ("",))[0] == "complete")
        found = stored_command(database)
        assert found is not None
        assert found[1].replace(" --detach", "") == command
        assert "--runs 2 --iterations 1 --warmup 0 --limit 1" in command
        with closing(sqlite3.connect(database)) as connection:
            agents = connection.execute("SELECT model_configuration FROM benchmark_executions")
            assert {json.loads(one)["hourly_price_usd"] for (one,) in agents} == {0.1}


async def test_keys_that_come_before_the_suites_are_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = Event()
    monkeypatch.setattr(new_run, "read_shelf", lambda others: there.wait(60) and read_shelf(others))
    app = opened(tmp_path / "s.db", suite=None)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot, lambda: any(one.has_focus for one in app.screen.query(SuiteTree)))
        await pilot.press("home", "down", "enter")
        there.set()
        await shows(pilot, "New run ▸ stress", "how: a stress")


async def test_a_label_has_the_room_that_it_needs(tmp_path: Path) -> None:
    app = opened(tmp_path / "s.db", suite="stress")
    async with app.run_test(size=(120, 40)) as pilot:
        await shows(pilot, "most_input_tokens 131072", "most_concurrency  100")


async def test_wrong_values_tell_why_and_start_nothing(tmp_path: Path) -> None:
    app = opened(tmp_path / "none.db")
    async with app.run_test(size=(120, 40)) as pilot:
        await says(pilot, "16 executions")
        repeats = await typed(pilot, app, "--runs", "0")
        await settle(pilot, lambda: repeats.fault)
        assert repeats.fault.startswith("0 is not in the range")
        await pilot.press("ctrl+r")
        assert told(app) == [repeats.fault]
        assert app.current_mode == "new"
        repeats.value = ""
        gates = await typed(pilot, app, GATES, "acuracy>1")
        await settle(pilot, lambda: 'did you mean "accuracy"' in gates.fault)
        assert repeats.fault == ""


async def test_parameters_are_judged_by_their_declaration(tmp_path: Path) -> None:
    app = opened(tmp_path / "none.db", "stress-smoke")
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot, lambda: "--set time_scale" in [x.option for x in _lines(app)])
        found = await typed(pilot, app, "--set time_scale", "x")
        await settle(pilot, lambda: found.fault)
        assert found.fault == 'expected a number, got "x"'


async def test_a_parameter_that_is_needed_is_asked_for(tmp_path: Path) -> None:
    app = opened(tmp_path / "none.db", "gsm8k")
    async with app.run_test(size=(120, 40)) as pilot:
        await says(pilot, "pick an agent with space")
        await typed(pilot, app, "--agent", "mock\n")
        await settle(pilot, lambda: line(app, "--set dataset").fault)
        assert "needs --set dataset" in line(app, "--set dataset").fault


def _lines(app: AgentbenchApp) -> list[FieldLine]:
    return list(app.screen.query(FieldLine))


async def test_another_agent_is_judged_while_it_is_typed(tmp_path: Path) -> None:
    app = opened(tmp_path / "none.db")
    async with app.run_test(size=(120, 40)) as pilot:
        await says(pilot, "16 executions")
        found = await typed(pilot, app, "--agent", "pyhton:a:b")
        await settle(pilot, lambda: 'did you mean "python"' in found.fault)
        await pilot.press("enter")
        assert "pyhton" not in str(app.screen.query_one("#agents", Grid).selected)
        found.value = "python:no_such_module:b"
        await settle(pilot, lambda: "cannot import" in found.fault)
        found.value = "x=reference:perfect"
        await shows(pilot, "enter adds it")
        assert found.fault == ""
        await pilot.press("enter")
        await says(pilot, "20 executions (5 agents")
        assert "x=reference:perfect" in app.screen.query_one("#agents", Grid).selected


async def test_agents_of_the_store_can_be_picked(measured: Path) -> None:
    app = opened(measured, None)
    async with app.run_test(size=(120, 40)) as pilot:
        await says(pilot, "choose a suite", "Word problems, extraction")
        text = await shows(pilot, "perfect (simulated)", "store", "good", "noop")
        assert HOSTILE not in text
        await pilot.press("v", "space")
        await says(pilot, "agentbench run --agent")
        assert len(app.screen.query_one("#agents", Grid).selected) == 1


async def test_a_load_of_one_target_is_started(tmp_path: Path) -> None:
    database = tmp_path / "s.db"
    app = opened(database, None)
    async with app.run_test(size=(80, 24)) as pilot:
        await says(pilot, "choose a suite", "Word problems, extraction")
        await pilot.press("home", "enter")
        await shows(pilot, "New run ▸ load", "pick an agent")
        await typed(pilot, app, "--agent", "reference:noop\n")
        await typed(pilot, app, "--agent", "reference:perfect\n")
        await says(pilot, "closed loop, 1 user, 10 s", "agentbench load perfect=reference")
        await typed(pilot, app, "--requests", "5")
        await says(pilot, "--requests 5", "5 requests")
        await pilot.press("ctrl+r")
        await settle(pilot, lambda: app.current_mode == "live")
        await settle(pilot, lambda: (stored_command(database) or ("",))[0] != "running")
        found = stored_command(database)
        assert found is not None
        assert found[1].startswith("agentbench load perfect=reference:perfect --requests 5")


async def test_a_stress_says_how_long_it_takes(tmp_path: Path) -> None:
    app = opened(tmp_path / "none.db", None)
    async with app.run_test(size=(120, 40)) as pilot:
        await says(pilot, "choose a suite", "Word problems, extraction")
        await pilot.press("home", "down", "enter")
        await shows(pilot, "New run ▸ stress")
        await typed(pilot, app, "--agent", "openai:http://192.0.2.1/v1#m\n")
        owned = line(app, OWNED)
        await settle(pilot, lambda: "192.0.2.1 is not this machine" in owned.fault)
        await typed(pilot, app, OWNED, "yes")
        await says(pilot, "at most", "8 executions")
        assert owned.fault == ""


async def test_an_agent_is_asked_only_when_that_is_meant(tmp_path: Path) -> None:
    app = opened(tmp_path / "none.db")
    async with app.run_test(size=(120, 40)) as pilot:
        await says(pilot, "16 executions")
        await pilot.press("v", "a")
        await shows(pilot, "This may cost money", "keyword=worker")
        await pilot.press("n")
        assert told(app) == []
        await typed(pilot, app, "--agent", "x=reference:perfect\n")
        app.screen.query_one("#agents", Grid).focus()
        await pilot.press("home", "a")
        await settle(pilot, lambda: any("ok, answered in" in words for words in told(app)))


async def test_a_suite_that_is_faulty_is_told_in_the_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "suites").mkdir()
    (tmp_path / "suites" / "broken.yaml").write_text("suite_id: [bold]broken\nbenchmarks: []\n")
    monkeypatch.chdir(tmp_path)
    app = opened(tmp_path / "none.db", None)
    async with app.run_test(size=(200, 60)) as pilot:
        await shows(pilot, "faulty", "broken: ")
