"""A run goes on without the terminal that it was begun in, and can be come back to."""

import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from terminals import Terminal

sys.path.insert(0, str(Path(__file__).parents[1] / "cli"))

from processes import COMMAND, Place, make_place, until

RUN = ("run", "suite.json", "--agent", "echo=python:agents.py:echo", "--db", "store.db")
DOOR = "4"
CASES = 6


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A suite whose agent waits at a door before its last but one case."""
    made = make_place(tmp_path)
    made.suite(CASES, concurrency=1)
    made.doors()
    monkeypatch.setenv("DOOR", DOOR)
    return made


def answered(place: Place) -> int:
    return int(place.rows("SELECT COUNT(*) FROM answers")[0][0]) if place.tables() else 0


def has_ended(place: Place) -> bool:
    return place.rows("SELECT status FROM runs") == [("complete",)]


def let_it_end(place: Place) -> None:
    place.open_the_door()
    until(lambda: has_ended(place))
    assert answered(place) == CASES


def test_detached_it_goes_on_and_is_come_back_to(place: Place) -> None:
    with Terminal(*RUN, folder=place.folder) as terminal:
        assert place.someone_at_the_door() == DOOR
        terminal.until_shown("4/6")
        terminal.press("q")
        terminal.until_shown("or stop it?")
        terminal.press("d")
        assert terminal.until_end() == 0
        assert b"`agentbench attach " in terminal.sent
    with Terminal("attach", "--db", "store.db", folder=place.folder) as terminal:
        terminal.until_shown("4/6")
        let_it_end(place)
        terminal.until_shown("6/6")
        terminal.press("q")
        assert terminal.until_end() == 0
        result = terminal.sent.rpartition(b"\x1b[?1049l")[2]
    assert b"4/6/6" in result, "right, answered and asked"


def test_its_result_is_printed_when_the_session_about_it_is_left(place: Place) -> None:
    with Terminal(*RUN, folder=place.folder) as terminal:
        assert place.someone_at_the_door() == DOOR
        let_it_end(place)
        terminal.until_shown("6/6")
        terminal.press("q")
        assert terminal.until_end() == 0
        result = terminal.sent.rpartition(b"\x1b[?1049l")[2]
    assert b"4/6/6" in result, "right, answered and asked"


@pytest.mark.parametrize("how", [signal.SIGHUP, signal.SIGKILL, signal.SIGTERM])
def test_nothing_that_ends_the_session_ends_its_run(place: Place, how: signal.Signals) -> None:
    with Terminal(*RUN, folder=place.folder) as terminal:
        assert place.someone_at_the_door() == DOOR
        terminal.until_shown("4/6")
        terminal.process.send_signal(how)
        terminal.until_end()
    let_it_end(place)


@pytest.fixture
def tmux(place: Place, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The command of a tmux server of its own, to be given in the place's folder: the whole path
    may be longer than that of a socket can be."""
    program = shutil.which("tmux")
    if program is None:
        pytest.skip("tmux is not installed")
    # It stays when its last session ends: the next one would come while it is on its way out.
    settings = place.folder / "tmux.conf"
    settings.write_text("set -g exit-empty off\n")
    monkeypatch.chdir(place.folder)
    command = [program, "-S", "tmux", "-f", str(settings)]
    yield command
    subprocess.run([*command, "kill-server"], check=False, stderr=subprocess.DEVNULL)


def test_in_tmux_a_killed_client_is_no_matter(place: Place, tmux: list[str]) -> None:
    def window(*arguments: str) -> None:
        line = shlex.join([*COMMAND, *arguments])
        start = [*tmux, "new-session", "-d", "-x", "120", "-y", "40", line]
        subprocess.run(start, cwd=place.folder, env=place.environment(DOOR=DOOR), check=True)

    def shown() -> str:
        done = subprocess.run([*tmux, "capture-pane", "-p"], capture_output=True, text=True)
        return done.stdout

    window(*RUN)
    assert place.someone_at_the_door() == DOOR
    until(lambda: "4/6" in shown())
    subprocess.run([*tmux, "kill-session"], check=True)
    window("attach", "--db", "store.db")
    until(lambda: "4/6" in shown())
    let_it_end(place)
    until(lambda: "6/6" in shown())
