"""Commands shown in README.md and docs/ run, and print what the page says they print.

A page marks a block of commands by a comment on the line before it:

    <!-- test -->            each command must succeed
    <!-- test exit=1 -->     the last command must end with this status, the others succeed
    <!-- test output -->     besides, the lines below a command are what it prints; `…` is any text
    <!-- test page -->       besides, the block goes on in the folder of the page's block before

In the block, a line that starts with `$ ` is a command, and one that starts with `> ` continues it.
Each block runs in an empty folder with an empty home and no terminal.
"""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
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
            (i for i, line in enumerate(lines[1:], 1) if not line.startswith("> ")), len(lines)
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


def try_out_page(page: str, folder: Path, path: str) -> None:
    place = folder
    for i, block in enumerate(blocks(page)):
        if not block.continues:
            place = folder / f"block {i}"
            place.mkdir()
        try_out(block, place, path)


def try_out(block: Block, folder: Path, path: str) -> None:
    for i, command in enumerate(block.commands, 1):
        done = subprocess.run(
            ["sh", "-c", command.line],
            cwd=folder,
            env=os.environ | {"PATH": path},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIME_LIMIT_S,
            check=False,
        )
        expected = block.exit_status if i == len(block.commands) else 0
        what = f"$ {command.line}\n{done.stdout}"
        assert done.returncode == expected, f"exit status {done.returncode}\n{what}"
        if block.compares_output:
            assert matches(command.shown, done.stdout), f"{what}\n--- shown:\n{command.shown}"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A PATH with the `agentbench` of this checkout, installed or not."""
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    command = bin_folder / "agentbench"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m agentbench_tui "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ["PYTHONPATH"]]))
    return os.pathsep.join([str(bin_folder), str(Path(sys.executable).parent), "/usr/bin", "/bin"])


@pytest.mark.parametrize(
    "page",
    [p for p in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]) if blocks(p.read_text())],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_commands_of_a_page_do_what_it_says(page: Path, tmp_path: Path, path: str) -> None:
    try_out_page(page.read_text(), tmp_path, path)


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
        "for i in 1 2; do\n  echo $i; done",
    ]
    assert [c.shown for c in first.commands] == ["took … s", "1\n2"]
    assert (first.exit_status, first.compares_output, first.continues) == (0, True, False)
    assert (second.exit_status, second.compares_output, second.continues) == (3, False, True)


def test_a_page_that_tells_the_truth_passes(tmp_path: Path, path: str) -> None:
    try_out_page(PAGE, tmp_path, path)
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
def test_a_page_that_does_not_fails(was: str, becomes: str, tmp_path: Path, path: str) -> None:
    assert was in PAGE
    with pytest.raises(AssertionError):
        try_out_page(PAGE.replace(was, becomes), tmp_path, path)


def test_a_misspelt_option_is_refused() -> None:
    with pytest.raises(AssertionError, match="outputs"):
        blocks(PAGE.replace("test output", "test outputs"))
