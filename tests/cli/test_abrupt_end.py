"""Code of the user's that ends our process: never exit code 0, and what was measured is kept."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from processes import COMMAND, KILL, PATIENCE_S, Place, make_place, until

ENDING = """
import atexit, ctypes, os, sys
from pathlib import Path
c_exit = ctypes.CDLL(None)._exit

here = Path(__file__).parent
ends = {
    "exit-0": lambda: c_exit(0),
    "exit-1": lambda: c_exit(1),
    "exec": lambda: ctypes.CDLL(None).execl(b"/bin/true", b"true", None),
    "abort": os.abort,
    "kill": lambda: os.kill(os.getpid(), 9),
}

def end():
    if not (here / "mended").exists():
        ends[os.environ.get("ENDS", "exit-0")]()

def agent(prompt):
    if prompt == "2":
        end()
    return prompt

async def waits(prompt):
    return agent(prompt)

def at_exit(prompt):
    atexit.register(os._exit, 0)
    return "wrong"

def forks(prompt):
    if prompt == "2" and os.fork() == 0:
        return "of the child"
    return prompt

async def forks_on_the_loop(prompt):
    return forks(prompt)

def waits_for_its_child(prompt):
    child = os.fork()
    if child == 0:
        sys.exit(0)
    return prompt if os.waitpid(child, 0)[1] == 0 else "?"

def scorer(case, answer):
    if case.input == "2":
        end()
    return True

def forking_scorer(case, answer):
    if case.input == "2" and os.fork() == 0:
        return False
    return True

def cases():
    yield {"id": "c0", "input": "0", "expected": "0"}
    end()

def forked_cases():
    yield {"id": "c0", "input": "0", "expected": "0"}
    os.fork()
"""
QUITTING = "import ctypes\nctypes.CDLL(None)._exit(0)\ndef agent(prompt): return prompt\n"
RUN = ("run", "suite.json", "--no-ui", "--quiet", "--format", "json")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = make_place(tmp_path)
    (tmp_path / "ending.py").write_text(ENDING)
    (tmp_path / "quitting.py").write_text(QUITTING)
    made.suite(4)
    return made


def agent(name: str) -> tuple[str, str]:
    return "--agent", f"mine=python:ending.py:{name}"


@pytest.mark.parametrize(
    ("ends", "code", "words"),
    [
        ("exit-0", 3, "code in its process ended it with exit code 0"),
        ("exit-1", 3, "code in its process ended it with exit code 1"),
        ("exec", 3, "code in its process ended it with exit code 0"),
        ("abort", 128 + signal.SIGABRT, "its process was killed by SIGABRT"),
        ("kill", 128 + signal.SIGKILL, "its process was killed by SIGKILL"),
    ],
)
def test_an_agent_that_ends_the_process_is_named_and_the_run_can_be_resumed(
    place: Place, ends: str, code: int, words: str
) -> None:
    ended = place.run(*RUN, *agent("agent"), "--fail-on", "accuracy>=0.1", ENDS=ends)
    ((run,),) = place.rows("SELECT id FROM runs")
    assert ended.returncode == code
    assert ended.stdout == ""
    assert f"run {run} stopped before its end: {words}" in ended.stderr
    assert "The last call that began: agent mine, case c2." in ended.stderr
    assert f"`agentbench resume {run}` continues the run" in ended.stderr

    again = place.run("resume", "--no-ui", "--quiet", ENDS=ends)
    assert again.returncode == code
    (place.folder / "mended").touch()
    resumed = place.run("resume", "--no-ui", "--format", "json")
    assert resumed.returncode == 0, resumed.stderr
    (execution,) = json.loads(resumed.stdout)["executions"]
    assert execution["cases"]["correct"] == 4
    assert place.rows("SELECT status FROM runs") == [("complete",)]


@pytest.mark.parametrize(
    ("arguments", "call"),
    [
        ((*RUN, *agent("waits")), "agent mine, case c2"),
        ((*RUN, "--agent", "mine=python:quitting.py:agent"), "import of quitting.py"),
        (("agents", "check", "mine=python:quitting.py:agent"), "import of quitting.py"),
        (("agents", "check", "mine=python:ending.py:end", "--ask"), "agent mine, case trial"),
    ],
)
def test_whatever_runs_code_of_the_users_says_what_ended_it(
    place: Place, arguments: tuple[str, ...], call: str
) -> None:
    (place.folder / "ending.py").write_text(ENDING.replace("def end():", "def end(given=None):"))
    ended = place.run(*arguments)
    assert ended.returncode == 3
    assert ended.stdout == ""
    assert f"The last call that began: {call}." in ended.stderr


def test_a_scorer_that_ends_the_process_ends_neither_run_nor_rescore_with_0(place: Place) -> None:
    place.suite(4, scorers=["python:ending.py:scorer"])
    ended = place.run(*RUN, *agent("at_exit"))
    assert ended.returncode == 3
    assert "began: scorer python:ending.py:scorer, case c2." in ended.stderr

    (place.folder / "mended").touch()
    assert place.run("resume", "--no-ui").returncode == 0
    (place.folder / "mended").unlink()
    ended = place.run("rescore", "latest")
    assert ended.returncode == 3
    assert "the command stopped before its end" in ended.stderr
    assert "began: scorer python:ending.py:scorer, case c2." in ended.stderr
    assert place.rows("SELECT COUNT(*) FROM answers WHERE correct") == [(4,)]


def test_a_generator_that_ends_the_process_makes_no_suite_valid(place: Place) -> None:
    place.suite(4, dataset={"data_source": "python:ending.py:cases"})
    for arguments in (("suites", "validate", "suite.json"), (*RUN, *agent("agent"))):
        ended = place.run(*arguments)
        assert ended.returncode == 3
        assert "suite ok" not in ended.stdout
        assert "began: generator ending.py:cases, record 2." in ended.stderr


def test_an_experiment_that_ends_the_process_is_named(place: Place) -> None:
    (place.folder / "ex.py").write_text(
        "import ctypes\nfrom agentbench_tui.experiments.experiment import Experiment\n"
        "class Quits(Experiment):\n"
        "    slug = 'quits'\n"
        "    def execute_once(self, context):\n"
        "        if context.iteration_index == 1: ctypes.CDLL(None)._exit(0)\n"
        "        return {'n': 1}\n"
    )
    arguments = ("experiments", "run", "python:ex.py:Quits", "--no-ui", "--iterations", "3")
    ended = place.run(*arguments)
    assert ended.returncode == 3
    assert "began: experiment python:ex.py:Quits, code, iteration 1." in ended.stderr
    assert "--fresh-process" in ended.stderr
    fresh = place.run(*arguments, "--fresh-process")
    assert fresh.returncode == 3
    assert "1 of 3 iterations failed" in fresh.stdout


def test_a_load_on_an_agent_that_ends_its_sender_is_not_measured(place: Place) -> None:
    (place.folder / "always.py").write_text(
        "import ctypes\ndef agent(prompt): ctypes.CDLL(None)._exit(0)\n"
    )
    load = ("load", "python:always.py:agent", "--rate", "5", "--requests", "5", "--warmup", "0")
    ended = place.run(*load, "--no-ui")
    assert ended.returncode == 3, ended.stderr


def test_code_at_exit_does_not_change_the_exit_code(place: Place) -> None:
    ended = place.run(*RUN, *agent("at_exit"), "--fail-on", "accuracy>=0.5")
    assert ended.returncode == 1
    assert json.loads(ended.stdout)["status"] == "complete"


@pytest.mark.parametrize("name", ["forks", "forks_on_the_loop", "waits_for_its_child"])
def test_a_process_that_an_agent_forks_is_no_second_run(place: Place, name: str) -> None:
    ended = place.run(*RUN, *agent(name))
    assert ended.returncode == 0, ended.stderr
    (execution,) = json.loads(ended.stdout)["executions"]
    assert execution["cases"]["correct"] == 4
    assert place.rows("SELECT COUNT(*) FROM answers") == [(4,)]


def test_a_process_that_a_scorer_or_a_generator_forks_prints_nothing(place: Place) -> None:
    place.suite(4, scorers=["python:ending.py:forking_scorer"])
    ended = place.run(*RUN, "--agent", "echo=python:agents.py:other")
    assert ended.returncode == 0, ended.stderr
    (execution,) = json.loads(ended.stdout)["executions"]
    assert execution["cases"]["correct"] == 4
    place.suite(4, dataset={"data_source": "python:ending.py:forked_cases"})
    valid = place.run("suites", "validate", "suite.json")
    assert valid.returncode == 0
    assert valid.stdout.count("suite ok") == 1


def test_a_detached_run_that_is_ended_by_its_agent_is_interrupted_and_its_log_says_why(
    place: Place,
) -> None:
    place.doors()
    (place.folder / "ending.py").write_text(
        ENDING.replace("def end():", "def end():\n    (here / 'go').read_text()")
    )
    state = str(place.folder / "state")
    detached = place.run(*RUN, *agent("agent"), "--detach", XDG_STATE_HOME=state)
    assert detached.returncode == 0, detached.stderr
    run = json.loads(detached.stdout)["run_id"]
    place.open_the_door()
    log = Path(state, "agentbench", "runs", f"{run}.log")
    until(lambda: "agent mine, case c2" in log.read_text())
    (listed,) = json.loads(place.run("runs", "list", "--format", "json").stdout)["runs"]
    assert listed["status"] == "interrupted"


def test_a_run_whose_supervisor_is_killed_is_killed_as_well(place: Place) -> None:
    place.doors()
    with place.started(*RUN, "--agent", "echo=python:agents.py:echo", DOOR="2") as process:
        place.someone_at_the_door()
        (run,) = psutil.Process(process.pid).children()
        process.send_signal(KILL)
        assert process.wait(PATIENCE_S) == -KILL
        until(lambda: not run.is_running() or run.status() == psutil.STATUS_ZOMBIE)


def test_a_signal_to_the_whole_process_group_is_heard_once(place: Place) -> None:
    place.doors()
    with subprocess.Popen(
        [*COMMAND, *RUN, "--agent", "echo=python:agents.py:echo"],
        cwd=place.folder,
        env=place.environment(DOOR="2"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert place.someone_at_the_door() == "2"
        os.killpg(process.pid, signal.SIGTERM)
        assert process.stderr is not None
        assert "waiting for in-flight requests" in process.stderr.readline()
        place.open_the_door()
        out, _ = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 143
    assert json.loads(out)["executions"][0]["cases"]["observed"] == 3


def test_a_run_started_with_nothing_of_the_environment_has_its_exit_code(place: Place) -> None:
    ended = subprocess.run(
        [*COMMAND, *RUN, *agent("agent"), "--db", str(place.database)],
        cwd=place.folder,
        env={"HOME": str(place.folder), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 3
    assert "agent mine, case c2" in ended.stderr
