"""Completion in real shells: what TAB offers, and that it leaves no other trace."""

import fcntl
import json
import os
import pty
import shutil
import sqlite3
import struct
import subprocess
import sys
import termios
from contextlib import suppress
from pathlib import Path

import pytest
from processes import PATIENCE_S, Place, make_place

RUN = (
    "run", "suite.json", "--agent", "echo=python:agents.py:echo", "--no-ui", "--tag", "nightly",
)  # fmt: skip
BASH = """
eval "$(agentbench completion bash)"
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
"_${1//-/_}_completion" "$1"
printf "%s\\n" "${COMPREPLY[@]}"
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A folder with a finished run, and `agentbench` on PATH."""
    made = make_place(tmp_path)
    made.suite(2)
    (tmp_path / "bin").mkdir()
    (tmp_path / "temporary").mkdir()
    for name, way_in in (("agentbench", "agentbench"), ("agentbench-tui", "agentbench_tui")):
        program = tmp_path / "bin" / name
        code = f"from agentbench_tui.cli.entrance import {way_in}; {way_in}()"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{code}" "$@"\n')
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setenv("PYTHONPATH", f"{Path(__file__).parents[2]}:{os.environ['PYTHONPATH']}")
    return made


def in_shell(place: Place, command: list[str]) -> "subprocess.CompletedProcess[str]":
    """What a shell that runs a command in the folder of the place prints."""
    return subprocess.run(
        command,
        cwd=place.folder,
        env=place.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


def offered(place: Place, shell: str, *words: str, program: str = "agentbench") -> list[str]:
    """Words that the shell offers after the program and `words`; stderr must stay empty."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    if shell == "bash":
        command = ["bash", "-c", BASH, "bash", program, *words]
    else:
        line = " ".join([program, *words])
        command = ["fish", "-c", f"agentbench completion fish | source; complete -C '{line}'"]
    done = in_shell(place, command)
    assert done.stderr == ""
    return [line.split("\t")[0] for line in done.stdout.splitlines() if line]


def complete_in_bash(place: Place, words: str) -> subprocess.CompletedProcess[str]:
    """What `agentbench` answers a bash that completes the last of these words."""
    return subprocess.run(
        ["agentbench"],
        cwd=place.folder,
        env=place.environment(
            _AGENTBENCH_COMPLETE="bash_complete",
            COMP_WORDS=words,
            COMP_CWORD=str(len(words.split(" ")) - 1),
        ),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_a_shell_completes_commands_options_and_names(place: Place, shell: str) -> None:
    place.run(*RUN)
    ((run_id,),) = place.rows("SELECT id FROM runs")
    assert offered(place, shell, "ru") == ["run", "runs"]
    assert offered(place, shell, "run", "--iter") == ["--iterations"]
    assert offered(place, shell, "run", "quicks") == ["quickstart"]
    assert offered(place, shell, "runs", "show", run_id[:-2]) == [run_id]
    assert offered(place, shell, "regressions", "ec") == ["echo"]
    assert offered(place, shell, "resume", run_id[:-2]) == []
    assert offered(place, shell, "rerun", run_id[:-2]) == [run_id]
    assert offered(place, shell, "rerun", "--case", "c") == ["c0", "c1"]
    assert offered(place, shell, "leaderboard", "--metric", "reliab") == [
        "reliability", "reliability_score",
    ]  # fmt: skip
    assert offered(place, shell, "compare", "--metric", "e2e_ms.p9") == [
        "e2e_ms.p90", "e2e_ms.p95", "e2e_ms.p99", "e2e_ms.p999",
    ]  # fmt: skip
    assert offered(place, shell, "run", "--fail-on", "no-") == ["no-regression"]
    assert offered(place, shell, "leaderboard", "--suite", "numb") == ["numbers"]
    assert offered(place, shell, "leaderboard", "--benchmark", "ec") == ["echo"]
    assert offered(place, shell, "runs", "list", "--tag", "nigh") == ["nightly"]
    assert offered(place, shell, "schema", "leaderb") == ["leaderboard"]
    assert "ttft_ms" in offered(place, shell, "explain", "ttft")
    assert offered(place, shell, "--asc", program="agentbench-tui") == ["--ascii"]


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_a_shell_completes_the_scorers_of_a_suite(place: Place, shell: str) -> None:
    place.suite(2, scorers=[{"exact": {}, "as": "answer"}, {"contains": {}, "as": "style"}])
    place.run(*RUN)
    check = ("judge", "check", "--suite", "suite.json", "--scorer")
    assert offered(place, shell, *check, "st") == ["style"]
    # Once a run has measured them, they are metrics.
    assert offered(place, shell, "leaderboard", "--metric", "styl") == ["style"]
    assert offered(place, shell, "judge", "check", "--scorer", "st") == []
    missing = ("judge", "check", "--suite", "missing.yaml", "--scorer")
    assert offered(place, shell, *missing, "st") == []


PROMPT = "your turn> "
COLUMNS = 200
"""Room for each line that is typed, which a dumb terminal would scroll otherwise."""


def type_in_bash(place: Place, *lines: str) -> str:
    """Type lines at the prompts of a bash on a terminal; what it shows."""
    shell, terminal = pty.fork()
    if not shell:
        os.chdir(place.folder)
        command = ["bash", "--norc", "--noprofile", "-i"]
        os.execvpe("bash", command, place.environment(PS1=PROMPT, TERM="dumb"))
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    shown = b""
    try:
        for line in (*lines, "exit\r"):
            while not shown.endswith(PROMPT.encode()):
                shown += os.read(terminal, 4096)
            os.write(terminal, line.encode())
            shown += os.read(terminal, 1)
        with suppress(OSError):  # the terminal is gone with its shell
            while data := os.read(terminal, 4096):
                shown += data
    finally:
        os.close(terminal)
        os.waitpid(shell, 0)
    return shown.decode(errors="replace")


def test_tab_completes_in_a_bash_terminal(place: Place) -> None:
    shown = type_in_bash(
        place,
        'eval "$(agentbench completion bash)"\r',
        "agentbench leaderb\t--help > command\r",
        "agentbench-tui --asc\t--help > program\r",
    )
    assert "agentbench leaderboard --help" in shown
    assert (place.folder / "command").read_text().startswith("Usage: agentbench leaderboard")
    assert "agentbench-tui --ascii --help" in shown
    assert (place.folder / "program").read_text().startswith("Usage: agentbench session")
    assert "fault" not in shown


@pytest.mark.parametrize(
    ("typed", "item"),
    [
        ("run my", "file,my"),
        ("run quicks", "plain,quickstart"),
        ("run --db st", "file,st"),
        ("run --spec my", "file,my"),
        ("run --prices pr", "file,pr"),
        ("load x --trace tr", "file,tr"),
        ("load x --dataset da", "file,da"),
        ("suites new x --from da", "file,da"),
        ("judge check la", "file,la"),
        ("suites validate my", "file,my"),
        ("suites show quicks", "plain,quickstart"),
        ("agents check x --suite my", "file,my"),
        ("stats summary sa", "file,sa"),
        ("experiments run x --output pr", "dir,pr"),
    ],
)
def test_files_are_offered_where_no_name_fits(place: Place, typed: str, item: str) -> None:
    words = f"agentbench {typed}"
    done = complete_in_bash(place, words)
    assert (done.stdout, done.stderr) == (f"{item}\n", "")


def test_tab_completes_a_file_in_a_bash_terminal(place: Place) -> None:
    (place.folder / "my-suite.yaml").write_text("suite_id: mine\n")
    shown = type_in_bash(
        place,
        'eval "$(agentbench completion bash)"\r',
        "agentbench suites validate my\t2> said\r",
        "agentbench run --db my\t--help > help\r",
    )
    assert "agentbench suites validate my-suite.yaml 2> said" in shown
    assert "my-suite.yaml:1:1: `benchmarks` is missing" in (place.folder / "said").read_text()
    assert "agentbench run --db my-suite.yaml --help" in shown


TARGETS = """
def answer(question): return "yes"
async def another(question): return "yes"
def _own(): pass
class Agent:
    def answer(self, question): return "yes"
class Other: pass
raise SystemExit("imported")
"""


@pytest.fixture
def targets(place: Place) -> Place:
    """A folder with files that hold agents."""
    (place.folder / "agent_file.py").write_text(TARGETS)
    (place.folder / "my").mkdir()
    (place.folder / "my" / "bot.py").write_text("def reply(question): return 'yes'\n")
    (place.folder / "broken.py").write_text("def (")
    return place


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("python:agent_f", ["answer", "another", "Agent"]),
        ("a@v1=python:./agent_file.py:an", ["answer", "another"]),
        ("python:my", ["reply"]),
        ("python:agent_file.py:_", []),
        ("python:nothing.py:", []),
        ("openai:", []),
    ],
)
def test_a_target_is_completed_with_its_functions_and_nothing_is_executed(
    targets: Place, typed: str, completed: list[str]
) -> None:
    done = complete_in_bash(targets, f"agentbench run --agent {typed}")
    offered = [line.removeprefix("plain,") for line in done.stdout.splitlines() if line]
    assert [one.rpartition(":")[2] for one in offered] == completed
    assert all(one.startswith(typed) for one in offered)
    assert done.stderr == ""


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_a_shell_offers_python_files_and_folders_of_a_target(targets: Place, shell: str) -> None:
    names = ("agent_file.py", "agents.py", "bin/", "broken.py", "my/", "temporary/")
    assert sorted(offered(targets, shell, "load", "python:")) == [f"python:{one}" for one in names]
    assert offered(targets, shell, "load", "python:bro") == ["python:broken.py"]


def test_tab_completes_a_target_in_a_bash_terminal(targets: Place) -> None:
    # Bash has `:` and `=` as ends of words, so that its own words are parts of the target.
    shown = type_in_bash(
        targets,
        'eval "$(agentbench completion bash)"\r',
        "agentbench run --agent a=python:my/b\t--help > help\r",
        "agentbench run --agent python:m\t--help\r",
        "agentbench run --agent 'python:my/b\t--help\r",
        "agentbench run --fail-on no-r\t--agent python:agent_file.py:Ag\t--help\r",
    )
    assert "agentbench run --agent a=python:my/bot.py:reply --help > help" in shown
    assert (targets.folder / "help").read_text().startswith("Usage: agentbench run")
    assert "agentbench run --agent python:my/bot.py:reply --help" in shown
    assert "agentbench run --agent 'python:my/bot.py:reply' --help" in shown
    assert "--fail-on no-regression --agent python:agent_file.py:Agent --help" in shown


HOSTILE = "x $(touch executed) `touch executed` ; touch executed #"


def test_no_name_in_the_store_is_executed_when_tab_completes_it(place: Place) -> None:
    place.run(*RUN[:-1], HOSTILE)
    place.run(*RUN[:-1], "broken\nplain,forged $(touch executed)")
    assert place.rows("SELECT COUNT(*) FROM runs") == [(2,)]
    shown = type_in_bash(
        place,
        'eval "$(agentbench completion bash)"\r',
        "agentbench runs list --tag x\t--format json > listed\r",
        "agentbench runs list --tag bro\t> other\r",
        "agentbench runs list --tag forg\t> other\r",
        'agentbench runs list --tag "x\t"> third\r',
    )
    assert "x\\ \\$\\(touch\\ executed" in shown
    assert "nightly" not in shown
    assert not (place.folder / "executed").exists()
    (listed,) = json.loads((place.folder / "listed").read_text())["runs"]
    assert listed["tags"] == [HOSTILE]
    assert "forged" not in shown.replace("forg", "", 1)


ASK = """
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'PROMPT= ; autoload -Uz compinit && compinit -D -u'
zpty -w shell 'eval "$(agentbench completion zsh)"; print rea""dy'
zpty -r shell output "*ready*"
zpty -n -w shell "$1"$'\\t'
zpty -r shell output "*$2*" && print -r -- "$output"
zpty -d shell
"""


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("agentbench leaderb", "leaderboard"),
        ("agentbench run quicks", "quickstart"),
        ("agentbench-tui --asc", "--ascii"),
        ("agentbench leaderboard --metric reliability_", "reliability_score"),
        ("agentbench explain goodp", "goodput"),
        ("agentbench run --agent echo=python:agents.py:ech", "echo=python:agents.py:echo"),
    ],
)
def test_tab_completes_in_a_zsh_terminal(place: Place, typed: str, completed: str) -> None:
    done = in_shell(place, ["zsh", "-f", "-c", ASK, "zsh", typed, completed])
    assert completed in done.stdout, done.stderr
    assert "fault" not in done.stdout


@pytest.mark.parametrize("state", ["missing", "damaged", "pipe", "locked", "sound"])
def test_completion_is_silent_and_writes_nothing(place: Place, state: str) -> None:
    if state in {"sound", "locked"}:
        place.run(*RUN)
    elif state == "damaged":
        place.database.write_bytes(b"not a database" * 100)
    elif state == "pipe":
        os.mkfifo(place.database)
    lock = sqlite3.connect(place.database if state == "locked" else ":memory:")
    lock.execute("BEGIN EXCLUSIVE")
    before = files(place)
    for words in ("agentbench runs show ", "agentbench compare ec", "agentbench none --x "):
        done = complete_in_bash(place, words)
        assert (done.returncode, done.stderr) == (0, "")
    assert files(place) == before
    lock.close()


def files(place: Place) -> dict[str, int]:
    return {
        str(path): path.stat().st_size
        for path in place.folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
