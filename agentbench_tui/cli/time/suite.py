"""The suite that `agentbench time` builds from its options."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from agentbench_tui.cli.suite_parts import Block, run_keys
from agentbench_tui.experiments.commands.timed_command import SLUG, words_of
from agentbench_tui.experiments.variants import TARGET
from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.identity import is_name

if TYPE_CHECKING:
    from collections.abc import Sequence

_LONGEST_NAME = 40


def suite_of_commands(commands: Sequence[str], given: dict[str, Any]) -> Block:
    """Return the suite as plain data. Raises UsageError for an invalid command or name."""
    for command in (*commands, *filter(None, [given["prepare"]])):
        try:
            words_of(command)
        except ValueError as error:
            raise UsageError(f"'{command}' is not a command: {error}") from None
    names = _names(commands, given["names"])
    names_of_settings = ("prepare", "warmup", "ignore_failure")
    settings = {name: given[name] for name in names_of_settings if given[name]}
    return {
        "suite_id": "time",
        "name": "Times of commands",
        "category": "speed",
        "description": "Put together by `agentbench time`.",
        "weights": {"accuracy": 0, "speed": 1, "efficiency": 0, "cost": 0, "reliability": 0},
        "benchmarks": [
            {
                "benchmark_id": "time",
                "kind": "experiment",
                "experiment": SLUG,
                "parameters": {
                    "commands": dict(zip(names, commands, strict=True)),
                    **settings,
                },
                # A run of a command shares nothing with the next, so each is a repeat.
                "iterations": {"warmup": 0, "measured": 1},
            }
        ],
        "agents": [{"id": name, "target": TARGET, "options": {"name": name}} for name in names],
        **run_keys(given),
    }


def _names(commands: Sequence[str], given: Sequence[str]) -> list[str]:
    """Return a name for each command: as given, else from its words; equal ones are numbered."""
    if len(given) > len(commands):
        raise UsageError(f"--name is given {len(given)} times for {len(commands)} commands")
    for name in given:
        if not is_name(name):
            raise UsageError(f'--name: "{name}" is not a name: letters, digits, ".", "_" and "-"')
        if given.count(name) > 1:
            raise UsageError(f"--name {name} is given twice")
    names = list(given)
    for command in commands[len(given) :]:
        plain = re.sub(r"[^A-Za-z0-9._-]+", "-", command).strip("._-")[:_LONGEST_NAME]
        plain = plain.strip("._-") or "command"
        name, number = plain, 1
        while name in names:
            number += 1
            name = f"{plain}-{number}"
        names.append(name)
    return names
