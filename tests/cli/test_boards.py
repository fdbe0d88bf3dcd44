"""What `leaderboard` and `cost` print: every format, every slip, and no line too wide."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from processes import Place, make_place

from agentbench_tui.cli.main import _run

AGENTS = """
from agentbench_tui.model.answer import Answer
def said(prompt, right, usd):
    return Answer(prompt if right else "?", cost_usd=usd)
def dear(prompt):
    return said(prompt, int(prompt) % 10 != 0, 0.004)
def cheap(prompt):
    return said(prompt, int(prompt) % 10 != 1, 0.001)
def poor(prompt):
    return said(prompt, int(prompt) % 4 == 0, 0.002)
"""
Said = Callable[..., str]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = make_place(tmp_path_factory.mktemp("boards"))
    place.suite(40)
    (place.folder / "agents.py").write_text(AGENTS)
    agents = [f"{name}=python:agents.py:{name}" for name in ("dear", "cheap", "poor")]
    agents.append("ideal=reference:perfect")
    options = [word for agent in agents for word in ("--agent", agent)]
    done = place.run("run", "suite.json", *options, "--no-ui", "--runs", "2")
    assert done.returncode == 0, done.stderr
    return place


@pytest.fixture
def said(
    measured: Place, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Said:
    """Runs a command in this process: its stdout, or stderr of one that ends with 2."""
    monkeypatch.setenv("AGENTBENCH_DB", str(measured.database))

    def run(*arguments: str, code: int = 0) -> str:
        capfd.readouterr()
        ended = _run(list(arguments))
        out, err = capfd.readouterr()
        assert ended == code, (out, err)
        assert "Traceback" not in err
        return err if code else out

    return run


def test_the_table_shows_ties_and_simulated_agents_apart(said: Said) -> None:
    shown = said("leaderboard")
    first, second = shown.split("\n\n")[:2]
    assert (
        first.splitlines()[0] == "accuracy suites: by accuracy, case by case on 40 cases of numbers"
    )
    cells = [line.split() for line in first.splitlines()[2:]]
    assert [(row[0], row[1], row[2]) for row in cells] == [
        ("1=", "cheap", "90.0%"), ("1=", "dear", "90.0%"), ("3", "poor", "25.0%")
    ]  # fmt: skip
    assert "1-2" in cells[0]
    assert "$0.0011" in cells[0]
    assert second.startswith("accuracy suites, simulated agents: ")
    assert "1  ideal (simulated)" in second


def test_the_table_fits_into_80_columns(said: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.console import Console

    from agentbench_tui.cli.console import output
    from agentbench_tui.cli.leaderboard import command as leaderboard

    monkeypatch.setattr(output, "screen_width", lambda: 80)
    for module in (output, leaderboard):
        monkeypatch.setattr(module, "console", lambda **_: Console(width=80, highlight=False))
    for command in (
        "leaderboard",
        "leaderboard --rating",
        "leaderboard --wide",
        "cost",
        "cost dear",
    ):
        table = [line for line in said(*command.split()).splitlines() if "  " in line]
        assert max(map(len, table)) <= 80
    columns = said("leaderboard").splitlines()[1]
    assert columns.split() == ["#", "agent", "accuracy", "[95%]", "ranks", "overall",
                               "USD/right", "harness"]  # fmt: skip


def test_wide_shows_everything_there_is(said: Said) -> None:
    shown = said("leaderboard", "--wide", "--rating")
    for title in ("right/USD", "IQM [95%]", "beats the next", "rating [95%]", "profile", "last"):
        assert title in shown
    assert "██" in shown


def test_boards_in_every_format(said: Said) -> None:
    document = json.loads(said("leaderboard", "--format", "json"))
    assert [board["simulated"] for board in document["boards"]] == [False, True]
    rows = list(csv.DictReader(io.StringIO(said("leaderboard", "--format", "csv"))))
    assert [(row["agent"], row["rank"], row["rank_shown"]) for row in rows[:3]] == [
        ("cheap", "1", "1="), ("dear", "1", "1="), ("poor", "3", "3")
    ]  # fmt: skip
    assert float(rows[0]["usd_per_success"]) == pytest.approx(0.04 / 36)
    listed = [json.loads(line) for line in said("leaderboard", "--format", "jsonl").splitlines()]
    assert [one["agent"] for one in listed] == ["cheap", "dear", "poor", "ideal"]
    assert "| 1= | cheap | 90.0%" in said("leaderboard", "--format", "md")


def test_a_run_is_a_filter_of_boards(said: Said) -> None:
    document = json.loads(said("leaderboard", "--run", "latest", "--format", "json"))
    assert [one["agent_id"] for one in document["leaderboard"]] == [
        "cheap", "dear", "poor", "ideal"
    ]  # fmt: skip
    assert [board["simulated"] for board in document["boards"]] == [False, True]
    assert document["window_days"] is None
    assert said("leaderboard", "--run", "latest").splitlines()[0].split()[:3] == [
        "#", "agent", "overall"
    ]  # fmt: skip
    ranked = said("leaderboard", "--run", "latest", "--metric", "cost_usd_per_task")
    assert "by cost_usd_per_task" in ranked
    assert said("leaderboard", "--run", "latest", "--category", "speed").splitlines()[-1] == (
        "no complete execution of category speed in this run; there are some of category accuracy"
    )


def test_costs_are_told_with_what_a_switch_saves(said: Said) -> None:
    shown = said("cost", "dear", "--margin", "0.25")
    assert shown.startswith("40 cases of numbers\n")
    assert "cheap instead of dear saves 75.0% [75.0, 75.0] ($3.00 in 1,000 tasks) at equal" in shown
    assert "best value (eff. above 0.8): cheap" in shown
    shown = said("cost", "dear")
    assert "no switch instead of dear is shown to save" in shown
    assert "poor: 75.0% of its cost went into answers that were not right" in said("cost")


def test_costs_in_every_format(said: Said) -> None:
    document = json.loads(said("cost", "--format", "json"))
    assert document["schema"] == "agentbench.cost/1"
    rows = {
        row["agent"]: row for row in csv.DictReader(io.StringIO(said("cost", "--format", "csv")))
    }
    assert float(rows["poor"]["usd_per_success"]) == pytest.approx(0.008)
    assert rows["cheap"]["on_front"] == "True"
    assert len(said("cost", "--format", "jsonl").splitlines()) == 3
    assert "| cheap | 90.0% |" in said("cost", "--format", "md")


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("leaderboard --metric acuracy", 'did you mean "accuracy"?'),
        ("leaderboard --suite number", 'did you mean "numbers"?'),
        ("leaderboard --category acuracy", 'did you mean "accuracy"?'),
        ("leaderboard --benchmark number", "nothing was measured on it"),
        ("leaderboard --run nothing", "no run 'nothing'"),
        ("cost deer", "did you mean"),
        ("cost --category acuracy", 'did you mean "accuracy"?'),
        ("cost dear --margin 0", "--margin"),
        ("cost --suite number", 'did you mean "numbers"?'),
    ],
)
def test_a_slip_is_one_line(said: Said, command: str, told: str) -> None:
    assert told in said(*command.split(), code=2)


def test_an_empty_window_says_what_to_do(said: Said, tmp_path: Path) -> None:
    from agentbench_tui.store.database import create_or_migrate

    create_or_migrate(tmp_path / "empty.db")
    for command in ("leaderboard", "cost"):
        shown = said(command, "--db", str(tmp_path / "empty.db"))
        assert "no complete execution in the last 30 days; start one with `agentbench run`" in shown


def test_of_few_cases_what_has_no_interval_says_why(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = make_place(tmp_path)
    weights = {"accuracy": 0.5, "speed": 0.5, "efficiency": 0, "cost": 0, "reliability": 0}
    speed = {"metric": "e2e_ms.p50", "target": 0.001, "limit": 1000, "scale": "log"}
    place.suite(3, suite={"weights": weights}, scoring_rubric={"speed": speed})
    (place.folder / "agents.py").write_text(AGENTS)
    agents = ("--agent", "dear=python:agents.py:dear", "--agent", "poor=python:agents.py:poor")
    done = place.run("run", "suite.json", *agents, "--no-ui")
    assert done.returncode == 0, done.stderr
    # a median's interval by order statistics: 1 - 2/2^n >= 95% takes n = 6
    why = "[–] under overall of dear, poor: e2e_ms.p50 needs 6 (have 3)."
    assert why in done.stdout
    monkeypatch.setenv("AGENTBENCH_DB", str(place.database))
    assert _run(["leaderboard", "--run", "latest"]) == 0
    shown = capfd.readouterr().out
    assert why in shown
    rows = [line for line in shown.splitlines() if " dear " in line or " poor " in line]
    assert [" [–] " in row for row in rows] == [True, True]
    assert _run(["leaderboard", "--rating"]) == 0
    shown = " ".join(capfd.readouterr().out.split())
    assert "[–] under rating of dear, poor: needs 15 independent cases (have 3)" in shown
    assert _run(["leaderboard", "--metric", "overall"]) == 0
    assert why.removesuffix(".") in " ".join(capfd.readouterr().out.split())


COUNTED = """
from typing import ClassVar
from pydantic import BaseModel
from agentbench_tui.experiments.experiment import Experiment, register_experiment

@register_experiment("counted")
class Counted(Experiment):
    better: ClassVar = {"squares": "higher"}
    class Parameters(BaseModel):
        size: int = 3
    variants = {"small": {"size": 3}, "large": {"size": 5}}
    def execute_once(self, context):
        return {"squares": self.params["size"] ** 2, "other": 1.0}
"""


def test_what_an_experiment_returns_ranks_its_variants(
    said: Said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "counted.py").write_text(COUNTED)
    database = str(tmp_path / "experiments.db")
    target = f"python:{tmp_path / 'counted.py'}:Counted"
    said("experiments", "run", target, "--runs", "4", "--no-ui", "--db", database)
    monkeypatch.setenv("AGENTBENCH_DB", database)
    (board,) = json.loads(said("leaderboard", "--metric", "squares", "--format", "json"))["boards"]
    lines = board["standings"]
    assert [(one["name"], one["rank_shown"]) for one in lines] == [("large", "1"), ("small", "2")]
    assert [one["score"] for one in lines] == pytest.approx([25, 9])
    told = said("leaderboard", "--metric", "other", code=2)
    assert "does not say which way is better" in told
