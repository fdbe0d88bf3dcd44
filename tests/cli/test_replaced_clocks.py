"""Code of the user's that replaces clocks does not change what is measured."""

import json
import re
from pathlib import Path

import pytest
from processes import Place, make_place

REPLACED = """
import datetime, itertools, time

back = itertools.count(10**15, -(10**12))

class Frozen(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls(1999, 1, 1, tzinfo=tz)

def replace():
    time.perf_counter_ns = time.monotonic_ns = time.time_ns = lambda: next(back)
    time.perf_counter = time.monotonic = time.time = lambda: next(back) / 1e9
    time.process_time = time.thread_time = lambda: next(back) / 1e9
    datetime.datetime = Frozen

def replace_everywhere():
    # As libraries that freeze time do: every reference that a loaded module holds.
    import sys
    real = {id(getattr(time, name)): name for name in (
        "time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns",
        "process_time", "thread_time", "gmtime", "strftime")}
    real[id(datetime.datetime)] = "datetime"
    held = [(module, name, real[id(value)]) for module in list(sys.modules.values())
            if getattr(module, "__name__", "").startswith("agentbench_tui")
            for name, value in list(vars(module).items()) if id(value) in real]
    replace()
    for module, name, source in held:
        setattr(module, name, Frozen if source == "datetime" else getattr(time, source))
"""
HOW = {
    "when asked": "def answer(prompt):\n    replace()\n    return prompt\n",
    "when imported": "replace()\ndef answer(prompt):\n    return prompt\n",
    "everywhere": "replace_everywhere()\ndef answer(prompt):\n    return prompt\n",
}


@pytest.fixture(params=HOW.values(), ids=list(HOW))
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    made = make_place(tmp_path)
    made.suite(3)
    (tmp_path / "turning.py").write_text(REPLACED + request.param)
    return made


AGENT = "it=python:turning.py:answer"
_THIS_CENTURY = re.compile(r"20[2-9]\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def test_an_agent_cannot_turn_the_clocks_of_a_run(place: Place) -> None:
    ended = place.run("run", "suite.json", "--no-ui", "--agent", AGENT)
    assert ended.returncode == 0, ended.stderr
    times = place.rows("SELECT e2e_ms, sent_ms FROM answers")
    assert len(times) == 3
    assert all(0 <= time_ms < 60_000 for row in times for time_ms in row)
    assert all(0 <= seconds < 60 for (seconds,) in place.rows("SELECT asking_s FROM iterations"))
    ((started, ended_at),) = place.rows("SELECT started_at, ended_at FROM runs")
    assert _THIS_CENTURY.fullmatch(started)
    assert _THIS_CENTURY.fullmatch(ended_at)
    assert started <= ended_at


def test_an_agent_cannot_move_its_own_deadline(place: Place) -> None:
    """It never answers the second case: only its deadline ends that."""
    place.suite(2, constraints={"time_limit_ms": 300})
    with (place.folder / "turning.py").open("a") as code:
        code.write(
            "import asyncio\n"
            "async def waits(prompt):\n"
            "    answer(prompt)\n"
            "    if prompt == '1':\n        await asyncio.Event().wait()\n"
            "    return prompt\n"
        )
    ended = place.run(
        "run", "suite.json", "--no-ui", "--format", "json",
        "--agent", "it=python:turning.py:waits",
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    (execution,) = json.loads(ended.stdout)["executions"]
    assert execution["failures"] == {"timeout": 1}
    assert execution["cases"]["correct"] == 1


def test_a_scorer_cannot_turn_the_clocks_of_a_run(place: Place) -> None:
    place.suite(3, scorers=["python:turning.py:score"])
    with (place.folder / "turning.py").open("a") as code:
        code.write("def score(case, given):\n    return bool(answer(case.input))\n")
    ended = place.run("run", "suite.json", "--no-ui", "--agent", "echo=python:agents.py:echo")
    assert ended.returncode == 0, ended.stderr
    times = place.rows("SELECT e2e_ms, sent_ms FROM answers")
    assert all(0 <= time_ms < 60_000 for row in times for time_ms in row)


def test_a_load_on_an_agent_keeps_its_times(place: Place) -> None:
    load = ("load", "python:turning.py:answer", "--rate", "20", "--requests", "5")
    ended = place.run(*load, "--warmup", "0", "--no-ui", "--format", "json")
    assert ended.returncode == 0, ended.stderr
    samples = place.run("runs", "samples", "--format", "jsonl")
    rows = [json.loads(line) for line in samples.stdout.splitlines()]
    assert len(rows) == 5
    assert all(0 <= row["e2e_ms"] < 60_000 for row in rows), rows


def test_an_experiment_keeps_its_times(place: Place) -> None:
    with (place.folder / "turning.py").open("a") as code:
        code.write(
            "from agentbench_tui.experiments.experiment import Experiment\n"
            "class Turns(Experiment):\n"
            "    def execute_once(self, context):\n"
            "        answer('')\n"
        )
    run = ("experiments", "run", "python:turning.py:Turns", "--no-ui", "--iterations", "3")
    ended = place.run(*run)
    assert ended.returncode == 0, ended.stderr
    times = place.rows("SELECT e2e_ms, sent_ms FROM answers")
    assert len(times) == 3
    assert all(0 <= time_ms < 60_000 for row in times for time_ms in row)
