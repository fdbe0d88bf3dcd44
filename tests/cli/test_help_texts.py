"""What `--help` says of every command and option."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from agentbench_tui.agents.mock.options import option_fields
from agentbench_tui.cli.main import COMMANDS, main

_DEFAULT_IN_PROSE = re.compile(r"; [\d,.]+\s?\w*\.$|\bby default\b|\bunless given\b", re.IGNORECASE)
"""A default belongs to `show_default`, which prints it at the same place everywhere."""


def _commands(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            part = command.get_command(context, name)
            assert part is not None
            yield from _commands(part, f"{path} {name}")


def _options() -> Iterator[tuple[str, str]]:
    for path, command in _commands(main, "agentbench"):
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                yield f"{path} {option.opts[0]}", option.help or ""


def test_every_option_is_explained_in_sentences() -> None:
    faulty = [
        place
        for place, text in _options()
        if not re.match(r"[A-Zp`]", text) or not text.endswith(".")
    ]

    assert faulty == []


def test_no_help_text_hides_a_default_in_its_prose() -> None:
    assert [place for place, text in _options() if _DEFAULT_IN_PROSE.search(text)] == []


def test_every_command_has_a_summary() -> None:
    assert [path for path, command in _commands(main, "agentbench") if not command.help] == []


def test_the_list_of_commands_fits_into_eighty_columns() -> None:
    longest = max(map(len, COMMANDS))

    assert [name for name, (_, line) in COMMANDS.items() if longest + 4 + len(line) > 80] == []


def test_the_mock_server_s_printed_defaults_are_those_it_uses() -> None:
    shown = [one for one in option_fields() if one.metadata["shown"] and one.metadata["unit"]]

    for one in shown:
        text = one.metadata["shown"]
        if one.default is None or one.name == "service_time":  # no number: until something happens
            assert not any(letter.isdigit() for letter in text), one.name
        else:
            assert one.metadata["read"](text) == one.default, one.name
    assert len(shown) > 10
