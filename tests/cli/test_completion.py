"""`agentbench completion`: the script is one the shell takes, and it completes our words."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from agentbench_tui.cli.completion import completion

PROGRAM = """
import click
from agentbench_tui.cli.completion import completion

@click.group()
def agentbench(): pass

@agentbench.command()
@click.option("--concurrency", type=int)
def leaderboard(concurrency): pass

agentbench.add_command(completion)
agentbench(prog_name="agentbench")
"""


def script(shell: str) -> str:
    root = click.Group("agentbench", commands=[completion])
    result = CliRunner().invoke(root, ["completion", shell])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize(
    ("shell", "check"), [("bash", ["-n"]), ("zsh", ["-n"]), ("fish", ["--no-execute"])]
)
def test_the_shell_accepts_its_script(shell: str, check: list[str], tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    file = tmp_path / "script"
    file.write_text(script(shell))
    done = subprocess.run([shell, *check, str(file)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_asks_agentbench_for_words(shell: str) -> None:
    assert f"_AGENTBENCH_COMPLETE={shell}_complete" in script(shell)


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("typed", "words"), [("lea", ["leaderboard"]), ("leaderboard --con", ["--concurrency"])]
)
def test_bash_completes_a_word(typed: str, words: list[str], tmp_path: Path) -> None:
    program = tmp_path / "agentbench"
    (tmp_path / "program.py").write_text(PROGRAM)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{tmp_path}/program.py" "$@"\n')
    program.chmod(0o755)
    line = typed.split()
    press_tab = (
        'eval "$(agentbench completion bash)"\n'
        f"COMP_WORDS=(agentbench {typed}); COMP_CWORD={len(line)}\n"
        "_agentbench_completion agentbench\n"
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run(
        ["bash", "-c", press_tab],
        env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == words, done.stderr


def test_an_unknown_shell_is_a_usage_error() -> None:
    root = click.Group("agentbench", commands=[completion])
    result = CliRunner().invoke(root, ["completion", "tcsh"])
    assert result.exit_code == 2
    assert "'bash', 'zsh', 'fish'" in result.output
