"""What a session sends to a real terminal: what was asked for in colors, nothing that agents say
as commands; and how it leaves the terminal."""

import json
import re
import shlex
import shutil
import signal
import sqlite3
import sys
from collections.abc import Collection
from contextlib import closing
from pathlib import Path

import psutil
import pytest
from terminals import PATIENCE_S, Terminal

from agentbench_tui.store.database import connect_to_read
from agentbench_tui.tui.page_list import PAGES
from agentbench_tui.tui.terminal import RESET

PAYLOADS = (
    "\x1b[1337X", "\x9b1337X", "\x1b]0;owned\x07", "\x1b]8;;http://owned/\x1b\\", "\x1b[31;7;35m",
    "\x1b]52;c;b3duZWQ=\x07", "\x1bPowned\x1b\\", "\x00", "\u202e", "\u2066",
)  # fmt: skip
HOSTILE = "".join(PAYLOADS)
CTRL_Z = "\x1a"
NAMES = ("good", "fair", "echo", "echoes", "echo-0", "quick", "dash")
SGR = re.compile(rb"\x1b\[([0-9;]*)m")
COLORS = {
    "16": ({"TERM": "xterm"}, r"[34]8"),
    "256": ({"TERM": "xterm-256color"}, r"[34]8;2"),
    "none": ({"NO_COLOR": "1"}, r"[349][0-8]|10[0-7]"),
}
"""What the terminal says → parameters of SGR that may not be sent to it."""


@pytest.fixture(scope="module")
def hostile(measured: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store with payloads in ids, names, answers, messages, errors, notes, and a long line."""
    path = tmp_path_factory.mktemp("hostile") / "store.db"
    with closing(connect_to_read(measured)) as source, closing(sqlite3.connect(path)) as target:
        source.backup(target)
        target.execute("PRAGMA foreign_keys=OFF")
        tables = target.execute("SELECT name FROM sqlite_master WHERE type='table'").fetchall()
        for (table,) in tables:
            for column in target.execute(f"PRAGMA table_info({table})").fetchall():
                if column[2] == "TEXT":
                    _poison(target, table, column[1])
        target.execute("UPDATE answers SET answer=json_set(answer,'$.text',?)", (HOSTILE * 2000,))
        target.execute("UPDATE runs SET notes=?, error=?", (HOSTILE, HOSTILE))
        target.execute("UPDATE failures SET detail=?", (HOSTILE,))
        target.commit()
    return path


def _poison(database: sqlite3.Connection, table: str, column: str) -> None:
    for name in NAMES:
        new = f"{name}{HOSTILE}"
        database.execute(f"UPDATE {table} SET {column}=? WHERE {column}=?", (new, name))
        database.execute(
            f"UPDATE {table} SET {column}=replace({column}, ?, ?) WHERE {column} LIKE ?",
            (json.dumps(name), json.dumps(new), f'%"{name}"%'),
        )


COLORFUL = {"home", "leaders", "compare", "profile"}
"""Between them they have plots, intervals, notices, marks and tables."""


def walk(terminal: Terminal, pages: Collection[str] = ()) -> None:
    """Every page or these, each until nothing more comes."""
    terminal.until(lambda sent: b"Home" in sent)
    for page in PAGES:
        if pages and page.name not in pages:
            continue
        place = len(terminal.sent)
        terminal.press(page.key)
        if page.name != "home":
            terminal.until(lambda sent: sent, since=place)
        terminal.until_quiet()


def test_nothing_that_agents_said_reaches_the_terminal_as_a_command(
    hostile: Path, tmp_path: Path
) -> None:
    with Terminal("session", "--db", str(hostile), folder=tmp_path) as terminal:
        walk(terminal)
        terminal.press("q")
        assert terminal.until_end() == 0
    sent = terminal.sent
    assert b"1337X" in sent, "what agents said is not shown at all"
    for payload in PAYLOADS:
        assert payload.encode() not in sent, payload
    # The shape of the mouse pointer is the toolkit's; no title, link or clipboard.
    assert set(re.findall(rb"\x1b\](\d*)", sent)) <= {b"22"}
    text = sent.decode()
    assert not re.search("[\x80-\x9f\u202a-\u202e\u2066-\u2069]", text)


@pytest.mark.parametrize("name", COLORS)
def test_colors_are_those_that_the_terminal_has(name: str, measured: Path, tmp_path: Path) -> None:
    variables, forbidden = COLORS[name]
    options = ("--ascii",) if name == "none" else ()
    arguments = ("session", "--db", str(measured), *options)
    with Terminal(*arguments, folder=tmp_path, **variables) as terminal:
        walk(terminal, () if options else COLORFUL)
        terminal.press("q")
        assert terminal.until_end() == 0
    told = {found.decode() for found in SGR.findall(terminal.sent)}
    assert told
    assert not {one for one in told if re.search(rf"(^|;)({forbidden})(;|$)", one)}
    if options:
        assert terminal.sent.isascii()


def session_in_a_shell(terminal: Terminal, wrapper: str, database: Path) -> psutil.Process:
    """Start the session below a wrapper in the shell; return its process when it is drawn."""
    line = shlex.join([sys.executable, "-m", "agentbench_tui", "session", "--db", str(database)])
    terminal.press(f"{wrapper.format(shlex.quote(line))}\n")
    terminal.until(lambda sent: b"recent runs" in sent)
    terminal.until_quiet()  # so that nothing else is drawn after it
    shell = psutil.Process(terminal.process.pid)
    return next(one for one in shell.children(recursive=True) if "python" in one.name())


@pytest.mark.parametrize("wrapper", ["sh -c {}", "sh -c {}'; true'"], ids=["bare", "wrapped"])
def test_a_session_that_is_stopped_gives_its_shell_the_terminal_until_it_is_continued(
    wrapper: str, measured: Path, tmp_path: Path
) -> None:
    """Below a wrapper, such as a script, the whole job stops: the shell waits for the wrapper."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not installed")
    shell = (bash, "--norc", "--noprofile", "-i")
    with Terminal(folder=tmp_path, program=shell, PS1="ready> ") as terminal:
        terminal.until(lambda sent: b"ready> " in sent)
        modes = terminal.modes()
        process = session_in_a_shell(terminal, wrapper, measured)
        assert terminal.modes() != modes
        place = len(terminal.sent)
        terminal.press(CTRL_Z)
        terminal.until(lambda sent: b"Stopped" in sent and b"ready> " in sent, since=place)
        terminal.until(lambda sent: process.status() == psutil.STATUS_STOPPED)
        assert terminal.sent.rfind(b"\x1b[?1049l") > terminal.sent.rfind(b"\x1b[?1049h")
        place = len(terminal.sent)
        terminal.press("echo it is $((6 * 7))\n")
        terminal.until(lambda sent: b"it is 42" in sent, since=place)
        place = len(terminal.sent)
        terminal.press("fg\n")
        terminal.until(lambda sent: b"recent runs" in sent, since=place)
        terminal.press("q")
        terminal.until(lambda sent: sent.rstrip().endswith(b"ready>"), since=place)
        terminal.press("exit\n")
        assert terminal.until_end() == 0


def test_a_session_without_a_shell_is_not_stopped(measured: Path, tmp_path: Path) -> None:
    """Nothing could continue it: a stop would leave the terminal dead."""
    with Terminal("session", "--db", str(measured), folder=tmp_path) as terminal:
        terminal.until(lambda sent: b"recent runs" in sent)
        terminal.press(CTRL_Z)
        terminal.until_shown("continue it")
        terminal.press("q")
        assert terminal.until_end() == 0


def test_a_session_whose_terminal_is_gone_ends_without_a_signal(
    measured: Path, tmp_path: Path
) -> None:
    """Below `nohup` SIGHUP is ignored; here it is not sent, since the terminal controls nobody."""
    with Terminal("session", "--db", str(measured), folder=tmp_path) as terminal:
        terminal.until(lambda sent: b"recent runs" in sent)
        terminal.vanish()
        assert terminal.process.wait(PATIENCE_S) == 128 + signal.SIGHUP


def test_a_terminated_session_leaves_the_terminal_as_it_was(measured: Path, tmp_path: Path) -> None:
    with Terminal("session", "--db", str(measured), folder=tmp_path) as terminal:
        terminal.until(lambda sent: b"Home" in sent)
        terminal.until_quiet()
        assert terminal.modes() != terminal.modes_before
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.until_end() == 128 + signal.SIGTERM
        assert terminal.modes() == terminal.modes_before
    for off in ("\x1b[?1049l", "\x1b[?25h", "\x1b[?1000l", "\x1b[?1003l", "\x1b[?2004l"):
        assert off in RESET
        assert terminal.sent.rfind(off.encode()) > terminal.sent.rfind(
            off.replace("l", "h").encode() if off.endswith("l") else b"\x1b[?25l"
        )
