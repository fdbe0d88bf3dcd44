"""Standard streams as they may be: closed, full, gone, or knowing only ASCII."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from processes import COMMAND, PATIENCE_S, Place, make_place

NOTE = "café – 😀 …"
RUN = ("run", "suite.json", "--agent", "echo=python:agents.py:echo", "--no-ui")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = make_place(tmp_path)
    made.suite(2)
    return made


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A place with a run that has ended, to look at only."""
    made = make_place(tmp_path_factory.mktemp("finished"))
    made.suite(2)
    made.run(*RUN, "--notes", NOTE)
    return made


def through_shell(place: Place, redirection: str, *arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of the command with a shell's redirection."""
    ended = subprocess.run(
        ["sh", "-c", f'"$@" {redirection}', "sh", *COMMAND, *arguments],
        cwd=place.folder,
        env=place.environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    return ended.returncode, ended.stdout, ended.stderr


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams_harm_no_run(place: Place, closed: str) -> None:
    code, out, err = through_shell(place, closed, *RUN, "--format", "json")
    out_is_closed = ">&-" in closed.replace("2>&-", "")
    # A result that nobody gets is no success.
    assert (code, "fault" in err) == (3 if out_is_closed else 0, False)
    assert place.rows("SELECT status FROM runs") == [("complete",)]
    assert place.rows("SELECT COUNT(*) FROM answers") == [(2,)]
    if not out_is_closed:
        assert json.loads(out)["status"] == "complete"


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="no /dev/full here")
def test_a_result_that_cannot_be_written_is_told_and_the_run_is_kept(place: Place) -> None:
    code, _, err = through_shell(place, ">/dev/full", *RUN)
    assert code == 3
    assert "agentbench: output: no space left on device" in err
    assert place.rows("SELECT status FROM runs") == [("complete",)]


@pytest.fixture(params=["buffered", "unbuffered"])
def buffering(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the command with both settings of PYTHONUNBUFFERED."""
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    if request.param == "unbuffered":
        monkeypatch.setenv("PYTHONUNBUFFERED", "1")


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="no /dev/full here")
@pytest.mark.usefixtures("buffering")
@pytest.mark.parametrize(
    "command", [("runs", "list"), ("--help",), ("--version",), ("completion", "zsh")]
)
def test_output_to_a_full_disk_is_an_environment_error(
    finished: Place, command: tuple[str, ...]
) -> None:
    code, _, err = through_shell(finished, ">/dev/full", *command)
    assert (code, err) == (3, "agentbench: output: no space left on device\n")


@pytest.mark.usefixtures("buffering")
@pytest.mark.parametrize("command", [("runs", "list"), ("--help",), ("--version",)])
def test_a_closed_pipe_ends_every_command_like_sigpipe(
    finished: Place, command: tuple[str, ...]
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        ended = subprocess.run(
            [*COMMAND, *command],
            cwd=finished.folder,
            env=finished.environment(),
            stdout=writer,
            stderr=subprocess.PIPE,
            text=True,
            timeout=PATIENCE_S,
        )
    finally:
        os.close(writer)
    assert (ended.returncode, ended.stderr) == (141, "")


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="no /dev/full here")
def test_progress_that_cannot_be_written_harms_no_run(place: Place) -> None:
    code, out, _ = through_shell(place, "2>/dev/full", *RUN, "--format", "json")
    assert (code, json.loads(out)["status"]) == (0, "complete")


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="no /dev/full here")
@pytest.mark.usefixtures("buffering")
@pytest.mark.parametrize(("gate", "code"), [("accuracy>=0", 0), ("accuracy>=2", 1)])
def test_notes_that_cannot_be_written_harm_no_run(place: Place, gate: str, code: int) -> None:
    given = ("run", "quickstart", "--benchmark", "word-problems", "--limit", "2", "--no-ui")
    agent = ("--agent", "reference:perfect", "--fail-on", gate, "--format", "json")
    # A note before the run says that the suite's limit on memory does not hold for this agent.
    assert "does not hold" in place.run(*given, *agent).stderr
    ended, out, _ = through_shell(place, "2>/dev/full", *given, *agent)
    assert (ended, json.loads(out)["status"]) == (code, "complete")
    assert place.rows("SELECT COUNT(*) FROM runs") == [(2,)]


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="no /dev/full here")
def test_a_note_beside_a_result_may_be_lost(place: Place) -> None:
    place.suite(60)
    place.run(*RUN)
    code, out, _ = through_shell(
        place, "2>/dev/full", "runs", "show", "--answers", "--format", "csv"
    )
    assert code == 0
    assert len(out.splitlines()) == 1 + 50  # stderr says how many more there are


@pytest.mark.parametrize(
    ("encoding", "seen"),
    [
        ("latin-1", "café - \\U0001f600 ..."),
        ("cp1252", "café – \\U0001f600 …"),
        # click takes ASCII for a setting that is missing, and writes UTF-8.
        ("ascii", "café – 😀 …"),
    ],
)
def test_a_terminal_that_knows_few_characters_gets_others(
    finished: Place, encoding: str, seen: str
) -> None:
    def shown(*options: str) -> bytes:
        return subprocess.run(
            [*COMMAND, "runs", "show", *options],
            cwd=finished.folder,
            env=finished.environment(PYTHONIOENCODING=encoding),
            capture_output=True,
            check=True,
            timeout=PATIENCE_S,
        ).stdout

    assert seen in shown().decode("utf-8" if encoding == "ascii" else encoding)
    assert json.loads(shown("--format", "json").decode("ascii"))["notes"] == NOTE


def test_an_argument_that_is_no_text_is_refused(place: Place) -> None:
    raw = [os.fsencode(part) for part in (*COMMAND, *RUN, "--tag")]
    ended = subprocess.run(
        [*raw, b"\xff\xfe"],
        cwd=place.folder,
        env=place.environment(),
        capture_output=True,
        timeout=PATIENCE_S,
    )
    assert ended.returncode == 2
    assert ended.stderr.decode() == "agentbench: argument is not UTF-8 text: '\\udcff\\udcfe'\n"


def test_a_folder_that_is_gone_is_told(place: Place) -> None:
    (place.folder / "gone").mkdir()
    gone = f'cd gone && rmdir "{place.folder}/gone" && "$@"'
    ended = subprocess.run(
        ["sh", "-c", gone, "sh", *COMMAND, "run", str(place.folder / "suite.json")],
        cwd=place.folder,
        env=place.environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert ended.returncode == 2
    assert "the current folder no longer exists" in ended.stderr


def test_a_home_that_cannot_be_written_hinders_no_detached_run(place: Place) -> None:
    (place.folder / "home").touch()
    home = str(place.folder / "home")
    ended = place.run(*RUN[:4], "--detach", HOME=home, TMPDIR=str(place.folder))
    assert ended.returncode == 0, ended.stderr


def test_a_fault_of_ours_is_told_also_where_no_report_can_be_written(place: Place) -> None:
    code = "import sys; from agentbench_tui.cli import main; main.main = None; main.run()"
    ended = subprocess.run(
        [COMMAND[0], "-c", code],
        cwd=place.folder,
        env=place.environment(TMPDIR="/nonexistent", PYTHONPATH=os.environ.get("PYTHONPATH", "")),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert ended.returncode == 70
    assert ended.stderr.startswith("agentbench: a bug in agentbench: AttributeError")


def test_a_reader_that_has_gone_before_a_table_came_is_no_fault(place: Place) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run(
        [*COMMAND, "explain"],
        cwd=place.folder,
        env=place.environment(),
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        timeout=PATIENCE_S,
    )
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (141, "")


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="no /dev/full here")
def test_a_file_on_a_full_disk_is_an_environment_error(place: Place) -> None:
    ended = place.run("suites", "schema", "--output", "/dev/full")
    assert ended.returncode == 3
    assert ended.stderr == "agentbench: /dev/full cannot be written: No space left on device\n"


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="no /dev/full here")
@pytest.mark.parametrize("command", [("--nonsense",), ("runs", "show", "nothing")])
def test_a_message_that_cannot_be_written_keeps_its_exit_code(
    finished: Place, command: tuple[str, ...]
) -> None:
    code, out, _ = through_shell(finished, "2>/dev/full", *command)
    assert (code, out) == (2, "")


@pytest.mark.usefixtures("buffering")
@pytest.mark.parametrize(
    "command", [("runs", "list"), ("--help",), ("--version",), ("completion", "zsh")]
)
def test_output_that_is_closed_is_an_environment_error(
    finished: Place, command: tuple[str, ...]
) -> None:
    code, _, err = through_shell(finished, ">&-", *command)
    assert (code, err) == (3, "agentbench: output: standard output is closed\n")


def test_a_command_that_prints_nothing_needs_no_output(place: Place) -> None:
    place.run(*RUN)
    code, _, err = through_shell(place, ">&-", "runs", "delete", "latest", "--yes")
    assert code == 0, err
    assert place.rows("SELECT COUNT(*) FROM runs") == [(0,)]
