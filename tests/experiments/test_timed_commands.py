"""`agentbench time`: how often commands are run, in which order, and what comes of it."""

from __future__ import annotations

import json
import sqlite3
import statistics
import sys
from contextlib import closing
from pathlib import Path

import pytest
from measuring import Said

from agentbench_tui.cli.time.suite import suite_of_commands
from agentbench_tui.experiments.commands.timed_command import words_of
from agentbench_tui.experiments.kind import accesses
from agentbench_tui.model.errors import UsageError


def appends(letter: str) -> str:
    """A command that adds a letter to the file `order`."""
    return f"sh -c 'printf {letter} >> order'"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("grep -r 'a b' .", ["grep", "-r", "a b", "."]),
        ("a | b", ["/bin/sh", "-c", "a | b"]),
        ("echo $HOME", ["/bin/sh", "-c", "echo $HOME"]),
        ("ls *.py", ["/bin/sh", "-c", "ls *.py"]),
        ("LANG=C sort x", ["/bin/sh", "-c", "LANG=C sort x"]),
        ("dd if=x of=y", ["dd", "if=x", "of=y"]),
        ("cd /tmp", ["/bin/sh", "-c", "cd /tmp"]),
        ("! grep -q a file", ["/bin/sh", "-c", "! grep -q a file"]),
    ],
)
def test_a_shell_runs_only_what_needs_one(command: str, words: list[str]) -> None:
    assert words_of(command) == words


def test_each_command_runs_as_often_as_asked_and_they_take_turns(said: Said) -> None:
    code, out, err = said(
        "time", appends("a"), appends("b"), "-n", "one", "-n", "two", "--runs", "4", "--warmup",
        "2", "--no-ui", "--format", "json",
    )  # fmt: skip
    assert code == 0, err
    order = Path("order").read_text()
    assert (order.count("a"), order.count("b")) == (6, 6)
    # After the warm-up of both, each takes its turn once before either has its next.
    measured = order[4:]
    assert all(set(measured[at : at + 2]) == {"a", "b"} for at in range(0, len(measured), 2))
    executions = json.loads(out)["executions"]
    assert [one["agent_id"] for one in executions] == ["one", "two"]
    assert all(one["metrics"]["e2e_ms.mean"]["n"] == 4 for one in executions)


def test_what_prepares_runs_before_each_measurement(said: Said) -> None:
    command = ("time", appends("a"), "--prepare", appends("p"), "--runs", "3", "--no-ui")
    code, _, err = said(*command)
    assert code == 0, err
    assert Path("order").read_text() == "papapa"


def test_a_slower_command_is_called_worse(said: Said) -> None:
    """One that does nothing against one that computes for a fifth of a second."""
    fast = f"{sys.executable} -S -c pass"
    slow = (
        f"{sys.executable} -S -c 'import time; t = time.process_time() + 0.2\n"
        "while time.process_time() < t: pass'"
    )
    code, out, err = said("time", fast, slow, "-n", "fast", "-n", "slow", "--runs", "6", "--no-ui")
    assert code == 0, err
    line = next(line for line in out.splitlines() if line.startswith("slow") and "cpu_ms" in line)
    assert "cpu_ms" in line
    assert "worse" in line, out


def test_a_command_that_fails_is_told_with_its_last_line(said: Said) -> None:
    code, out, err = said("time", "sh -c 'echo broken >&2; exit 7'", "--runs", "2", "--no-ui")
    assert code == 3
    assert "2 of 2 iterations failed" in out
    assert "the command ended with 7: broken (--ignore-failure accepts that)" in err

    code, _, err = said("time", "sh -c 'exit 7'", "--runs", "2", "--no-ui", "--ignore-failure")
    assert code == 0, err


def test_a_program_that_is_not_there_is_named(said: Said) -> None:
    code, _, err = said("time", "no-such-program-at-all", "--runs", "2", "--no-ui")
    assert code == 3
    assert "cannot be started" in err
    assert "no-such-program-at-all" in err


def test_the_times_are_exported_as_hyperfine_does(said: Said) -> None:
    code, _, err = said("time", "true", "--runs", "5", "--no-ui", "--export-json", "times.json")
    assert code == 0, err
    (result,) = json.loads(Path("times.json").read_text())["results"]
    assert (result["command"], len(result["times"])) == ("true", 5)
    assert result["mean"] == statistics.fmean(result["times"])
    assert result["min"] <= result["median"] <= result["max"]
    with closing(sqlite3.connect("runs.db")) as store:
        stored = [row[0] / 1000 for row in store.execute("SELECT e2e_ms FROM answers ORDER BY seq")]
    assert result["times"] == stored


def test_a_file_in_no_folder_is_refused_before_anything_runs(said: Said) -> None:
    code, _, err = said("time", appends("a"), "--no-ui", "--export-json", "none/times.json")
    assert code == 2
    assert "--export-json none/times.json: there is no folder none" in err
    assert not Path("order").exists()


@pytest.mark.parametrize(
    ("commands", "said_of"),
    [(["echo 'a"], "No closing quotation"), ([" "], "the command is empty")],
)
def test_what_is_no_command_is_a_usage_error(said: Said, commands: list[str], said_of: str) -> None:
    code, _, err = said("time", *commands)
    assert code == 2
    assert said_of in err


def test_commands_have_names_of_their_own() -> None:
    given = {
        "names": ("first",), "prepare": "", "warmup": 0, "ignore_failure": False, "gates": (),
        "seed": None, "max_cost": None, "max_tokens": None, "prices": None,
        "token_prices": (),
    }  # fmt: skip
    suite = suite_of_commands(["a", "sleep 0.1", "sleep  0.1", "|||"], given)
    assert [one["id"] for one in suite["agents"]] == [
        "first",
        "sleep-0.1",
        "sleep-0.1-2",
        "command",
    ]
    with pytest.raises(UsageError, match="given twice"):
        suite_of_commands(["a", "b"], {**given, "names": ("x", "x")})
    with pytest.raises(UsageError, match="is given 2 times for 1 commands"):
        suite_of_commands(["a"], {**given, "names": ("x", "y")})


def test_an_imported_run_names_the_commands_that_it_would_run() -> None:
    benchmark = {
        "experiment": "command",
        "parameters": {"commands": {"a": "rm -rf x", "b": "true"}, "prepare": "curl y"},
    }
    named = [access.what for access in accesses(benchmark, "")]
    assert [any(one in what for what in named) for one in ("rm -rf x", "true", "curl y")] == [
        True, True, True,
    ]  # fmt: skip
