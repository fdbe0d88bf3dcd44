"""Signals at moments when nobody listens: each run ends, and keeps what it had."""

import os
import pty
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest
from processes import (
    COMMAND,
    INTERRUPT,
    KILL,
    PATIENCE_S,
    TERMINATE,
    Place,
    line_with,
    make_place,
    until,
)

HANG_UP = signal.SIGHUP
# Each says that it has come and then waits for a door that nobody opens.
BLOCKING = """
import os, signal, sys
from agents import here

def wait():
    if "ELSEWHERE" in os.environ:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    (here / "arrived").write_text("x")
    (here / "go").read_text()

async def agent(prompt):
    if prompt == "2":
        try:
            wait()
        except Exception:
            pass
    return prompt

def scorer(case, answer):
    if case.input == "2":
        try:
            wait()
        except Exception:
            pass
    return True

def cases():
    yield {"id": "c0", "input": "0", "expected": "0"}
    wait()

def cases_for_the_run():
    yield {"id": "c0", "input": "0", "expected": "0"}
    if "carry-out" in sys.argv:
        wait()
"""
RUN = ("run", "suite.json", "--no-ui", "--quiet", "--format", "json")
ECHO = ("--agent", "echo=python:agents.py:echo")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = make_place(tmp_path)
    (tmp_path / "blocking.py").write_text(BLOCKING)
    made.suite(4)
    made.doors()
    return made


def send(process: "subprocess.Popen[str]", *numbers: signal.Signals) -> None:
    """Signals one by one: the next is sent when the one before has been taken.

    Of one kind, two would come as one; and one that comes while another is on its way may be taken
    by a thread that does not wait, so that the one that does is not woken.
    """
    status = Path(f"/proc/{process.pid}/status")
    for number in numbers:
        process.send_signal(number)
        until(lambda: process.poll() is not None or _pending(status.read_text()) == 0)


def _pending(status: str) -> int:
    fields = dict(line.split(":", 1) for line in status.splitlines())
    return int(fields["SigPnd"], 16) | int(fields["ShdPnd"], 16)


def observed(place: Place) -> list[str]:
    rows = place.rows("SELECT c.case_id FROM answers a JOIN cases c ON c.key=a.case_key")
    return sorted(row[0] for row in rows)


@pytest.mark.parametrize("taken_by", ["main thread", "another"])
@pytest.mark.parametrize("blocks", ["agent", "scorer"])
def test_code_that_never_gives_the_loop_back_is_broken_off(
    place: Place, blocks: str, taken_by: str
) -> None:
    agent = ("--agent", "echo=python:blocking.py:agent") if blocks == "agent" else ECHO
    if blocks == "scorer":
        place.suite(4, scorers=[{"python:blocking.py:scorer": {}}])
    environment = {"ELSEWHERE": "1"} if taken_by == "another" else {}
    with place.started(*RUN, *agent, **environment) as process:
        place.someone_at_the_door()
        send(process, INTERRUPT, TERMINATE)
        _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert "agentbench resume" in err
    # The one that was broken off is asked again by `resume`: nothing is recorded of it.
    assert observed(place) == ["c0", "c1"]
    assert place.rows("SELECT status FROM runs") == [("interrupted",)]


def test_a_generator_of_cases_that_never_ends_is_broken_off(place: Place) -> None:
    dataset = {"data_source": "python:blocking.py:cases"}
    place.suite(4, dataset=dataset)
    with place.started(*RUN, *ECHO) as process:
        place.someone_at_the_door()
        send(process, INTERRUPT, TERMINATE, HANG_UP)
        _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode != 0
    assert "Traceback" not in err


@pytest.mark.parametrize("number", [INTERRUPT, HANG_UP])
def test_a_signal_ignored_at_start_stays_ignored(place: Place, number: signal.Signals) -> None:
    before = signal.signal(number, signal.SIG_IGN)
    try:
        with place.started(*RUN, *ECHO, DOOR="2") as process:
            signal.signal(number, before)
            assert place.someone_at_the_door() == "2"
            process.send_signal(number)
            place.open_the_door()
            out, err = process.communicate(timeout=PATIENCE_S)
    finally:
        signal.signal(number, before)
    assert (process.returncode, '"status": "complete"' in out) == (0, True), err


def test_a_terminal_that_hangs_up_ends_the_run_and_keeps_it(place: Place) -> None:
    with place.started(*RUN, *ECHO, DOOR="2") as process:
        assert place.someone_at_the_door() == "2"
        process.send_signal(HANG_UP)
        line_with(process.stderr, "interrupted")
        place.open_the_door()
        process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 129
    assert observed(place) == ["c0", "c1", "c2"]
    assert place.rows("SELECT status FROM runs") == [("interrupted",)]


def test_a_hang_up_that_is_to_be_ignored_is_ignored(place: Place) -> None:
    ignoring = ["sh", "-c", 'trap "" HUP; exec "$@"', "sh", *COMMAND, *RUN, *ECHO]
    process = subprocess.Popen(
        ignoring,
        cwd=place.folder,
        env=place.environment(DOOR="2"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        place.someone_at_the_door()
        process.send_signal(HANG_UP)
        place.open_the_door()
        assert process.wait(PATIENCE_S) == 0
    finally:
        process.kill()
        process.wait()
    assert observed(place) == ["c0", "c1", "c2", "c3"]


def test_a_signal_counts_also_when_nobody_reads_what_is_said(place: Place) -> None:
    with place.started(*RUN, *ECHO, DOOR="2") as process:
        assert place.someone_at_the_door() == "2"
        assert process.stderr is not None
        process.stderr.close()
        send(process, INTERRUPT, TERMINATE)
        assert process.stdout is not None
        process.stdout.read()
        assert process.wait(PATIENCE_S) == 141  # its last words found no reader
    assert observed(place) == ["c0", "c1"]
    assert place.rows("SELECT status FROM runs") == [("interrupted",)]


def test_an_agent_that_raises_what_ends_programs_has_failed(place: Place) -> None:
    raised = {"key": "KeyboardInterrupt", "exit": "SystemExit(0)", "close": "GeneratorExit"}
    (place.folder / "raising.py").write_text(
        "".join(f"def {name}_(prompt):\n    raise {what}\n" for name, what in raised.items())
    )
    agents = [f"--agent={name}=python:raising.py:{name}_" for name in raised]
    ended = place.run(*RUN, *agents)
    assert ended.returncode == 3, ended.stderr
    kinds = place.rows("SELECT kind, COUNT(*) FROM failures GROUP BY execution_key, kind")
    assert kinds == [("agent", 4)] * 3


def test_an_agent_may_close_the_streams_it_has(place: Place) -> None:
    (place.folder / "closing.py").write_text(
        "import sys\ndef answer(prompt):\n    sys.stdout.close()\n    sys.stderr.close()\n"
        "    return prompt\n"
    )
    ended = place.run(*RUN, "--agent", "closing=python:closing.py:answer")
    assert ended.returncode == 0, ended.stderr
    assert '"status": "complete"' in ended.stdout


@contextmanager
def watched(place: Place, *arguments: str, **environment: str) -> Iterator["subprocess.Popen[str]"]:
    """A command whose stderr is a terminal, so that it draws, and somebody who reads it."""
    master, terminal = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=place.folder,
        env=place.environment(XDG_STATE_HOME=str(place.folder), TERM="xterm", **environment),
        stdout=subprocess.PIPE,
        stderr=terminal,
        text=True,
    )
    os.close(terminal)
    reader = threading.Thread(target=_read_to_the_end, args=(master,))
    reader.start()
    try:
        with process:
            try:
                yield process
            finally:
                process.kill()
    finally:
        reader.join(PATIENCE_S)


def _read_to_the_end(descriptor: int) -> None:
    with open(descriptor, "rb", buffering=0) as terminal, suppress(OSError):  # EIO: it is closed
        while terminal.read(4096):
            pass


@pytest.mark.parametrize(("number", "code"), [(INTERRUPT, 130), (TERMINATE, 143)])
def test_a_run_that_is_watched_gets_the_signals_of_who_watches(
    place: Place, number: signal.Signals, code: int
) -> None:
    with watched(place, "run", "suite.json", *ECHO, "--format", "json", DOOR="2") as process:
        assert place.someone_at_the_door() == "2"
        send(process, number)
        logs = place.folder / "agentbench" / "runs"
        until(lambda: any("in-flight requests" in log.read_text() for log in logs.iterdir()))
        place.open_the_door()
        assert process.stdout is not None
        assert '"status": "interrupted"' in process.stdout.read()
        assert process.wait(PATIENCE_S) == code
    assert observed(place) == ["c0", "c1", "c2"]


def test_who_watches_a_run_that_is_killed_is_told_so(place: Place) -> None:
    with watched(place, "run", "suite.json", *ECHO, DOOR="2") as process:
        assert place.someone_at_the_door() == "2"
        *_, run = psutil.Process(process.pid).children(recursive=True)
        until(lambda: observed(place) == ["c0", "c1"])
        run.kill()
        assert process.wait(PATIENCE_S) == 128 + KILL


def test_a_run_that_is_watched_and_ended_by_its_agent_does_not_end_with_0(place: Place) -> None:
    (place.folder / "ending.py").write_text(
        "import os\ndef agent(prompt): os.kill(os.getpid(), 11)\n"
    )
    agent = ("--agent", "mine=python:ending.py:agent")
    with watched(place, "run", "suite.json", *agent, "--format", "json") as process:
        assert process.stdout is not None
        assert process.stdout.read() == ""
        assert process.wait(PATIENCE_S) == 128 + signal.SIGSEGV
    (log,) = (place.folder / "agentbench" / "runs").iterdir()
    assert "The last call that began: agent mine, case c0." in log.read_text()


def test_a_signal_while_cases_are_read_ends_a_watched_run_before_it_begins(place: Place) -> None:
    place.suite(4, dataset={"data_source": "python:blocking.py:cases_for_the_run"})
    with watched(place, "run", "suite.json", *ECHO) as process:
        place.someone_at_the_door()
        process.send_signal(TERMINATE)
        assert process.wait(PATIENCE_S) == 143
    assert place.rows("SELECT COUNT(*) FROM runs") == [(0,)]


@pytest.mark.parametrize("ignored", [False, True], ids=["as usual", "ignored"])
def test_an_interrupt_while_the_program_is_imported_leaves_no_traceback(
    tmp_path: Path, *, ignored: bool
) -> None:
    (tmp_path / "click.py").write_text(
        "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nraise SystemExit('went on')\n"
    )
    begin = "from agentbench_tui.cli.entrance import agentbench; agentbench()"
    if ignored:
        begin = f"import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); {begin}"
    paths = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    ended = subprocess.run(
        [sys.executable, "-c", begin],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.stdout == ""
    wanted = (1, "went on\n") if ignored else (-INTERRUPT, "")
    assert (ended.returncode, ended.stderr) == wanted
