"""User code that holds Python's lock, so that no handler of a signal runs, can be ended."""

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from processes import COMMAND, PATIENCE_S, Place, make_place, until

# A loop in C, which takes years, holds the lock all the while.
BLOCKING = """
from pathlib import Path
def agent(prompt):
    if prompt == "2":
        Path(__file__).with_name("arrived").touch()
        sum(range(10**15))
    return prompt
async def waits(prompt):
    return agent(prompt)
def scorer(case, answer):
    return agent(case.input) == case.expected
"""
RUN = ("run", "suite.json", "--no-ui", "--quiet", "--agent")
CASES = {
    "agent": ("mine=python:blocking.py:agent", "exact", "agent mine, case c2"),
    "coroutine": ("mine=python:blocking.py:waits", "exact", "agent mine, case c2"),
    "scorer": (
        "echo=python:agents.py:echo",
        "python:blocking.py:scorer",
        "scorer python:blocking.py:scorer, case c2",
    ),
}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = make_place(tmp_path)
    (tmp_path / "blocking.py").write_text(BLOCKING)
    return made


def blocked(place: Place, agent: str, before: Callable[[], object]) -> "subprocess.Popen[str]":
    """A run whose agent or scorer blocks it by now."""
    process = subprocess.Popen(
        [*COMMAND, *RUN, agent],
        cwd=place.folder,
        env=place.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=before,
    )
    until((place.folder / "arrived").exists)
    return process


def heed() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.parametrize(("agent", "scorer", "call"), CASES.values(), ids=list(CASES))
def test_a_second_interrupt_ends_a_blocked_run_and_names_the_call(
    place: Place, agent: str, scorer: str, call: str
) -> None:
    place.suite(4, scorers=[scorer])
    with blocked(place, agent, heed) as process:
        assert process.stderr is not None
        process.send_signal(signal.SIGINT)
        assert f"{call}: blocks agentbench; interrupt again" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 130
    ((run,),) = place.rows("SELECT id FROM runs")
    assert f"run {run} stopped before its end: its process did not react to SIGINT" in told
    assert f"The last call that began: {call}." in told
    assert f"`agentbench resume {run}` continues the run" in told
    assert '"interrupted"' in place.run("runs", "list", "--format", "json").stdout


def test_termination_ends_a_blocked_run_without_being_repeated(place: Place) -> None:
    place.suite(4)
    with blocked(place, "mine=python:blocking.py:agent", heed) as process:
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 143
    assert "did not react to SIGTERM" in told


def test_an_interrupt_that_is_ignored_ends_no_blocked_run(place: Place) -> None:
    place.suite(4)
    ignore = lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)  # noqa: E731
    with blocked(place, "mine=python:blocking.py:agent", ignore) as process:
        for _ in range(3):
            os.kill(process.pid, signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 143
    assert "did not react to SIGTERM" in told
