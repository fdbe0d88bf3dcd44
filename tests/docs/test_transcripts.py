"""Commands shown in README.md and docs/ run, and print what the page says they print.

A page marks a block of commands by a comment on the line before it:

    <!-- test -->            each command must succeed
    <!-- test exit=1 -->     the last command must end with this status, the others succeed
    <!-- test output -->     besides, the lines below a command are what it prints; `…` is any text
    <!-- test page -->       besides, the block goes on in the folder of the page's block before

In the block, a line that starts with `$ ` is a command, and one that starts with `> ` (or is
`>`) continues it. Each block runs in an empty folder with an empty home and no terminal. A
shell runs the commands, but for those that are `agentbench` and its arguments alone: these need
no second start of Python.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "servers"))

from ready_commands import ROOT, ready_commands

BLOCK = re.compile(r"(?m)^<!-- test(?P<options>[^>]*)-->\n+```console\n(?P<text>(?:.*\n)*?)```$")
TIME_LIMIT_S = 100


@dataclass(frozen=True, slots=True)
class Command:
    """One command and the lines shown below it."""

    line: str
    shown: str


@dataclass(frozen=True, slots=True)
class Block:
    """A marked block of one page."""

    commands: tuple[Command, ...]
    exit_status: int
    compares_output: bool
    continues: bool


def blocks(page: str) -> list[Block]:
    found = []
    for match in BLOCK.finditer(page):
        options = match["options"].split()
        status = [o.removeprefix("exit=") for o in options if o.startswith("exit=")]
        unknown = [o for o in options if o not in {"output", "page"} and not o.startswith("exit=")]
        assert not unknown, f"unknown option of a test comment: {unknown}"
        found.append(
            Block(
                commands=commands(match["text"]),
                exit_status=int(status[0]) if status else 0,
                compares_output="output" in options,
                continues="page" in options,
            )
        )
    return found


def commands(text: str) -> tuple[Command, ...]:
    parts = re.split(r"(?m)^\$ ", text)
    assert not parts[0].strip(), "a console block starts with a command"
    found = []
    for part in parts[1:]:
        lines = part.splitlines()
        ends = next(
            (i for i, line in enumerate(lines[1:], 1) if not f"{line} ".startswith("> ")),
            len(lines),
        )
        command = "\n".join([lines[0], *(line[2:] for line in lines[1:ends])])
        found.append(Command(command, "\n".join(lines[ends:]).strip()))
    return tuple(found)


def matches(shown: str, printed: str) -> bool:
    """Whether the shown text is what was printed, spaces at line ends aside; `…` is any text."""
    pattern = r"[\s\S]*?".join(re.escape(tidy(part)) for part in shown.split("…"))
    return re.fullmatch(rf"\s*{pattern}\s*", tidy(printed)) is not None


def tidy(text: str) -> str:
    return re.sub(r"(?m)[ \t]+$", "", text)


def alone(line: str) -> list[str] | None:
    """Arguments of `agentbench` where a shell would do nothing else with the line."""
    line = line.replace("\\\n", " ")
    if not line.startswith("agentbench ") or re.search(r"""[^\w\s@%+=:,./'-]""", unquoted(line)):
        return None
    return shlex.split(line)[1:]


def unquoted(line: str) -> str:
    return re.sub(r"'[^']*'", "''", line)


@dataclass(frozen=True, slots=True)
class Shell:
    """What runs the commands of a page."""

    path: str

    def run(self, line: str, folder: Path) -> tuple[int, str]:
        """Exit status, and what was written to stdout and stderr together."""
        arguments = alone(line)
        environment = os.environ | {"PATH": self.path}
        if arguments is not None:
            done = ready_commands().run(arguments, folder, environment, together=True)
            return done.returncode, done.stdout
        done = subprocess.run(
            ["sh", "-c", line],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIME_LIMIT_S,
            check=False,
        )
        return done.returncode, done.stdout


def try_out_page(page: str, folder: Path, shell: Shell) -> None:
    place = folder
    for i, block in enumerate(blocks(page)):
        if not block.continues:
            place = folder / f"block {i}"
            place.mkdir()
        try_out(block, place, shell)


def try_out(block: Block, folder: Path, shell: Shell) -> None:
    for i, command in enumerate(block.commands, 1):
        status, printed = shell.run(command.line, folder)
        expected = block.exit_status if i == len(block.commands) else 0
        what = f"$ {command.line}\n{printed}"
        assert status == expected, f"exit status {status}\n{what}"
        if block.compares_output:
            assert matches(command.shown, printed), f"{what}\n--- shown:\n{command.shown}"


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """With a PATH that has the `agentbench` of this checkout, installed or not."""
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    command = bin_folder / "agentbench"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m agentbench_tui "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ["PYTHONPATH"]]))
    path = [str(bin_folder), str(Path(sys.executable).parent), "/usr/bin", "/bin"]
    return Shell(os.pathsep.join(path))


@pytest.mark.parametrize(
    "page",
    [p for p in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]) if blocks(p.read_text())],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_commands_of_a_page_do_what_it_says(page: Path, tmp_path: Path, shell: Shell) -> None:
    text = page.read_text()
    if "\n$ curl " in text and shutil.which("curl") is None:
        pytest.skip("no curl on PATH")
    try_out_page(text, tmp_path, shell)


@pytest.mark.parametrize("name", ["README.md", "docs/tutorial.md"])
def test_every_console_block_runs_or_gives_a_reason(name: str) -> None:
    page = (ROOT / name).read_text()
    marks = re.findall(r"(?m)^(.*)\n```console$", page)
    assert marks
    for mark in marks:
        assert re.fullmatch(r"<!-- (test( .*)?|not tested: .+) -->", mark), mark
    assert all(block.continues for block in blocks(page)[1:]), "blocks run in one folder, in order"


def test_the_index_links_to_every_page() -> None:
    linked = set(re.findall(r"\]\(([\w-]+\.md)\)", (ROOT / "docs" / "index.md").read_text()))
    assert linked == {path.name for path in ROOT.glob("docs/*.md")} - {"index.md"}


PAGE = """
Not marked:

```console
$ exit 9
```

<!-- test output -->
```console
$ printf 'took %s s\\n' 0.25
took … s
$ for i in 1 2; do
>
>   echo $i; done
1
2
```
<!-- test page exit=3 -->

```console
$ pwd > where
$ exit 3
```
"""


def test_only_marked_blocks_are_taken() -> None:
    first, second = blocks(PAGE)
    assert [c.line for c in first.commands] == [
        "printf 'took %s s\\n' 0.25",
        "for i in 1 2; do\n\n  echo $i; done",
    ]
    assert [c.shown for c in first.commands] == ["took … s", "1\n2"]
    assert (first.exit_status, first.compares_output, first.continues) == (0, True, False)
    assert (second.exit_status, second.compares_output, second.continues) == (3, False, True)


def test_a_page_that_tells_the_truth_passes(tmp_path: Path, shell: Shell) -> None:
    try_out_page(PAGE, tmp_path, shell)
    assert (tmp_path / "block 0" / "where").exists()


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ("took … s", "takes … s"),
        ("1\n2\n", "1\n"),
        ("exit=3", "exit=0"),
        ("$ pwd > where", "$ false"),
    ],
)
def test_a_page_that_does_not_fails(was: str, becomes: str, tmp_path: Path, shell: Shell) -> None:
    assert was in PAGE
    with pytest.raises(AssertionError):
        try_out_page(PAGE.replace(was, becomes), tmp_path, shell)


@pytest.mark.parametrize(
    ("line", "arguments"),
    [
        ("agentbench runs list", "runs list"),
        (
            "agentbench load 'mock?ttft=2ms&itl=1ms' \\\n  --rate 5",
            "load mock?ttft=2ms&itl=1ms --rate 5",
        ),
        ("agentbench runs list > file", None),
        ("agentbench runs show $RUN", None),
        ("agentbench runs show *", None),
        ("AGENTBENCH_DB=a.db agentbench runs list", None),
        ("agentbench runs list; pwd", None),
        ('agentbench run "a b"', None),
        ("agentbench-old run", None),
        ("pwd", None),
    ],
)
def test_what_a_shell_is_needed_for_is_left_to_it(line: str, arguments: str | None) -> None:
    assert alone(line) == (arguments and arguments.split())


def test_commands_without_a_shell_do_what_those_with_one_do(tmp_path: Path, shell: Shell) -> None:
    for line in ("agentbench --version", "agentbench runs show nothing", "agentbench --nonsense"):
        assert shell.run(line, tmp_path) == shell.run(f"{line};", tmp_path)


def test_a_misspelled_option_is_refused() -> None:
    with pytest.raises(AssertionError, match="outputs"):
        blocks(PAGE.replace("test output", "test outputs"))
