"""Code of the user's that breaks Python for agentbench: no traceback, no hang, nothing lost."""

import asyncio
import json
import sqlite3
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
from processes import Place, make_place

from agentbench_tui.cli import main as command
from agentbench_tui.model import interpreter_state
from agentbench_tui.process.event_loop import run_shared

RUN = ("run", "suite.json", "--no-ui", "--format", "json")
RESTORED = {
    "recursion": "sys.setrecursionlimit(60)",
    "path": "sys.path.clear()",
    "path replaced": "sys.path = []",
}
BROKEN = {
    "length": ("builtins.len = None", "builtins.len"),
    "wrong length": ("builtins.len = lambda one: 3", "builtins.len"),
    "types": ("builtins.dict = builtins.str = None", "builtins.dict, builtins.str"),
    "imports": ("builtins.__import__ = None", "builtins.__import__"),
    "exceptions": ("del builtins.Exception", "builtins.Exception"),
}
LIMITS = {
    "memory": ("resource.setrlimit(resource.RLIMIT_AS, (1 << 27, 1 << 27))", "setrlimit"),
    "soft": ("resource.prlimit(0, resource.RLIMIT_AS, (1 << 27, -1))", "prlimit"),
    "files": ("resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))", "setrlimit"),
    "size": ("resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))", "setrlimit"),
}
HARMLESS = (
    "resource.setrlimit(resource.RLIMIT_CORE, (0, 0));"
    "resource.setrlimit(resource.RLIMIT_AS, (1 << 40, -1));"
    "resource.prlimit(0, resource.RLIMIT_AS)"
)
HOOKS = [(sys, "excepthook"), (sys, "unraisablehook"), (threading, "excepthook")]
BY_LIBRARY = """ctypes.CDLL(None).setrlimit(
        resource.RLIMIT_AS, ctypes.byref((ctypes.c_ulong * 2)(1 << 27, 1 << 27)))"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = make_place(tmp_path)
    made.suite(3)
    return made


def breaking(place: Place, what: str) -> tuple[str, ...]:
    """Write an agent that does it at the second case; return the command that runs it."""
    (place.folder / "breaking.py").write_text(
        "import builtins, ctypes, resource, sys\n"
        "from pathlib import Path\n"
        "mended = Path(__file__).with_name('mended').exists()\n"
        f"def agent(prompt):\n    if prompt == '1' and not mended:\n        {what}\n"
        "    return prompt\n"
    )
    return (*RUN, "--agent", "it=python:breaking.py:agent")


@pytest.mark.parametrize("what", [*RESTORED.values(), HARMLESS], ids=[*RESTORED, "harmless"])
def test_what_can_be_restored_is(place: Place, what: str) -> None:
    ended = place.run(*breaking(place, what))
    assert (ended.returncode, "Traceback" in ended.stderr) == (0, False), ended.stderr
    assert json.loads(ended.stdout)["executions"][0]["cases"]["correct"] == 3


@pytest.mark.parametrize(("what", "name"), BROKEN.values(), ids=list(BROKEN))
def test_broken_built_in_functions_are_named_and_the_run_can_be_resumed(
    place: Place, what: str, name: str
) -> None:
    ended = place.run(*breaking(place, what))
    assert ended.returncode == 3
    assert "Traceback" not in ended.stderr
    (line,) = (one for one in ended.stderr.splitlines() if one.startswith("agentbench: "))
    assert f"replaced or removed {name}, which agentbench needs" in line
    assert "`worker:` or `command:`" in line

    (place.folder / "mended").touch()
    resumed = place.run("resume", "latest", "--format", "json")
    assert resumed.returncode == 0, resumed.stderr
    document = json.loads(resumed.stdout)
    assert document["status"] == "complete"
    assert document["executions"][0]["cases"]["answered"] == 3


@pytest.mark.parametrize(("what", "name"), LIMITS.values(), ids=list(LIMITS))
def test_a_limit_that_would_end_the_run_fails_one_case(place: Place, what: str, name: str) -> None:
    ended = place.run(*breaking(place, what))
    assert ended.returncode == 0, ended.stderr
    document = json.loads(ended.stdout)
    assert document["status"] == "complete"
    assert document["executions"][0]["failures"] == {"agent": 1}
    assert document["executions"][0]["cases"]["correct"] == 2
    with closing(sqlite3.connect(place.database)) as store:
        ((detail,),) = store.execute("SELECT detail FROM failures").fetchall()
    assert f"resource.{name}() at breaking.py:6 would have left agentbench" in detail


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, and calls the C library")
def test_a_memory_limit_set_behind_our_back_ends_the_run(place: Place) -> None:
    ended = place.run(*breaking(place, BY_LIBRARY))
    assert ended.returncode == 3
    assert "lowered the limit of its memory (RLIMIT_AS) to 128 MiB, of which it" in ended.stderr
    assert "`agentbench resume " in ended.stderr


def test_an_interpreter_that_opens_no_file_prints_no_traceback(place: Place) -> None:
    refuse = "sys.addaudithook(lambda name, _: 1 / 0 if name == 'open' else None)"
    ended = place.run(*breaking(place, refuse))
    assert ended.returncode in {3, 70}, ended.stderr
    assert "Traceback" not in ended.stderr
    assert "run it as `worker:` or `command:`" in ended.stderr


def test_what_user_code_adds_to_python_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreter_state, "_state", None)
    monkeypatch.setattr(interpreter_state, "_restored", {})
    monkeypatch.setattr(sys, "path", [*sys.path])
    limit, before = sys.getrecursionlimit(), [*sys.path]
    interpreter_state.restore_imports()  # nothing was remembered
    interpreter_state.remember()
    try:
        sys.path.insert(0, "/added")
        sys.setrecursionlimit(limit + 1000)
        assert interpreter_state.restore() == ()
        assert sys.path == ["/added", *before]
        assert sys.getrecursionlimit() == limit + 1000

        del sys.path[1:]
        sys.setrecursionlimit(limit - 1)
        interpreter_state.restore_imports()
        assert sys.path == ["/added", *before]
        assert sys.getrecursionlimit() == limit
        assert interpreter_state.restore() == ("sys.path", "sys.setrecursionlimit()")
    finally:
        sys.setrecursionlimit(limit)


@pytest.fixture
def remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remember the present state of the interpreter until the end of the test."""
    monkeypatch.setattr(interpreter_state, "_state", None)
    monkeypatch.setattr(interpreter_state, "_restored", {})
    for owner, name in HOOKS:
        monkeypatch.setattr(owner, name, getattr(owner, name))
    interpreter_state.remember()


@pytest.mark.usefixtures("remembered")
def test_replaced_hooks_are_restored_and_blamed_for_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def bug(*_: object, **__: object) -> None:
        for owner, name in HOOKS:
            setattr(owner, name, print)
        raise KeyError("a bug of agentbench")

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(command.main, "main", bug)
    intact = [getattr(owner, name) for owner, name in HOOKS]
    assert command._exit_code_of(["runs", "list"]) == 70
    assert [getattr(owner, name) for owner, name in HOOKS] == intact
    (report,) = tmp_path.glob("agentbench-fault-*.txt")
    assert "a bug of agentbench" in report.read_text()
    assert f"Please attach {report}" in capsys.readouterr().err


@pytest.mark.usefixtures("remembered")
def test_a_run_is_not_blamed_for_what_an_earlier_one_broke(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builtins.len", lambda _: 3)
    assert interpreter_state.restore() == ("builtins.len",)
    assert interpreter_state.restore() == ("builtins.len",)
    interpreter_state.remember_again()
    assert interpreter_state.restore() == ()


@pytest.mark.usefixtures("remembered")
@pytest.mark.parametrize(
    ("target", "is_reported"), [("sys.excepthook", True), ("builtins.len", False)]
)
def test_an_error_that_nothing_awaits_is_reported_unless_python_was_broken(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    target: str,
    is_reported: bool,
) -> None:
    async def work() -> None:
        monkeypatch.setattr(target, lambda *_: 3)
        asyncio.get_running_loop().call_exception_handler({"message": "an error of a task"})

    run_shared(work())
    assert ("an error of a task" in caplog.text) is is_reported
