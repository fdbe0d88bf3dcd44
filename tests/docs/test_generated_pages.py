"""Generated pages are what scripts/write_reference.py writes, and are complete."""

import re
import sys
from pathlib import Path

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))

import write_reference

from agentbench_tui.cli.main import COMMANDS, main
from agentbench_tui.verdicts.explanation import explanations

ROOT = Path(__file__).parents[2]
CLI = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")


def every_command() -> list[tuple[str, click.Command]]:
    root = click.Context(main, info_name="agentbench")
    return [(c.command_path, command) for command, c in write_reference.commands(main, root)]


def section(path: str) -> str:
    match = re.search(rf"(?ms)^##+ {re.escape(path)}\n(.*?)(?=^##+ |\Z)", CLI)
    assert match is not None, f"no section for {path}"
    return match[1]


def test_the_pages_are_what_the_script_writes() -> None:
    for path, text in write_reference.pages().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: run `./run fix`"


def test_every_command_of_the_help_has_a_section() -> None:
    listed = {f"agentbench {name}" for name, (_, line) in COMMANDS.items() if line}
    assert listed <= {path for path, _ in every_command()}


@pytest.mark.parametrize(("path", "command"), every_command(), ids=lambda value: str(value)[:40])
def test_every_argument_of_a_command_is_listed(path: str, command: click.Command) -> None:
    listed = re.findall(r"(?m)^- Argument `(.+?)`: ", section(path))
    usage = command.get_usage(click.Context(command, info_name=path))
    arguments = [p for p in command.params if isinstance(p, click.Argument)]
    assert len(listed) == len(arguments)
    assert all(metavar in " ".join(usage.split()) for metavar in listed)


@pytest.mark.parametrize(("path", "command"), every_command(), ids=lambda value: str(value)[:40])
def test_every_option_of_a_command_is_described(path: str, command: click.Command) -> None:
    text = section(path)
    for option in write_reference.visible_options(command):
        (row,) = re.findall(rf"(?m)^\| `{re.escape(option.opts[0])}[ `].*$", text)
        _, name, meaning, _, variables, _ = re.split(r"(?<!\\)\|", row)
        assert all(f"`{flag}" in name for flag in [*option.opts, *option.secondary_opts])
        assert option.help, f"{path} {option.opts[0]} has no help"
        assert meaning.strip()
        assert str(option.envvar) in variables


def test_the_glossary_has_every_explanation_once() -> None:
    names = re.findall(r"(?m)^\| `([^`]+)` \|", GLOSSARY)
    assert sorted(names) == sorted(row["name"] for row in explanations())


def test_an_outdated_page_is_reported_and_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "cli.md").write_text(CLI.replace("agentbench runs list", "agentbench runs lost"))
    (docs / "glossary.md").write_text(GLOSSARY)
    (docs / "python.md").write_text((ROOT / "docs" / "python.md").read_text())
    monkeypatch.setattr(write_reference, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "argv", ["write_reference.py", "--check"])
    with pytest.raises(SystemExit) as stop:
        write_reference.main()
    assert stop.value.code == 1
    assert "docs/cli.md is out of date" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["write_reference.py"])
    write_reference.main()
    assert (docs / "cli.md").read_text() == CLI


@given(st.text("ab-_*<>|[]()#'\\/!?.=~1 \n", min_size=1, max_size=40))
def test_a_table_shows_the_text_as_it_was(text: str) -> None:
    row = write_reference.table_row(write_reference.markdown(text), "next")
    tokens = MarkdownIt("commonmark").enable("table").parse(f"| a | b |\n|---|---|\n{row}\n")
    *_, first, last = [token for token in tokens if token.type == "inline"]
    assert "".join(t.content for t in first.children or ()) == " ".join(text.split())
    assert last.content == "next"


def test_a_vertical_bar_in_code_stays_in_its_cell() -> None:
    assert write_reference.table_row("`a|b`", "c") == "| `a\\|b` | c |"
