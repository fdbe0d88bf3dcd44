"""Finds secrets that a specification passes on: by environment variable, or in plain text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote_plus

from agentbench_tui.process.environment import PASSED

_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")
_IN_TARGET = re.compile(r"[?&](?:key_env|env)=([\w,%+]*)")
_NAME = re.compile(r"[A-Za-z_]\w*")
_NAMES = frozenset({"env", "key_env"})
"""Options that name variables."""
_TEMPLATES = frozenset({"headers", "proxy"})
"""Options in whose texts `$NAME` stands for a variable."""


_FLAG = re.compile(
    r"""(?ix) (?:^|\s) --?[\w-]*(?:key|token|secret|passw(?:or)?d|credential)[\w-]*
        (?:=|\s+) (?P<quote>["']?) (?P<value>[^\s"'$-][^\s"']{3,}) (?P=quote)"""
)
"""An option of a program whose name says that its value is a key."""
_COMMAND_TARGET = re.compile(r"(?:[^=:?#/]*=)?\s*(?:command|worker)[?:]")
"""Begins a target that is a command line. A judge may have a name before the scheme."""
_SERVE = "serve"
"""Option of a stress scenario: the command line that starts the server."""


def command_lines(specification: Any, option: str = "") -> Iterator[str]:
    """Yield the command lines in an agent's target, a scorer or a suite as plain data."""
    if isinstance(specification, Mapping):
        for name, inner in specification.items():
            yield from command_lines(inner, str(name))
    elif isinstance(specification, list | tuple):
        for inner in specification:
            yield from command_lines(inner, option)
    elif isinstance(specification, str) and (
        option == _SERVE or _COMMAND_TARGET.match(specification)
    ):
        yield specification


def keys_on_command_lines(specification: Any) -> list[str]:
    """Return the values on `command_lines` whose option names call them keys."""
    lines = command_lines(specification)
    return [found["value"] for line in lines for found in _FLAG.finditer(line)]


def named_variables(specification: Any) -> frozenset[str]:
    """Return the variables named in an agent, a scorer or a suite as plain data: by `env`,
    `key_env`, `$NAME` in headers and proxies, and in the query of a target given as text. Variables
    that every program gets, such as PATH, are excluded.
    """
    return frozenset(_found(specification)) - PASSED


def _found(value: Any, option: str = "") -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _found(inner, str(name) if option not in _TEMPLATES else option)
            yield from _found(name)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _found(inner, option)
    elif isinstance(value, str):
        if option in _NAMES:
            yield from _listed(value)
        elif option in _TEMPLATES:
            yield from (found[1] or found[2] for found in _VARIABLE.finditer(value))
        else:
            for found in _IN_TARGET.finditer(value):
                yield from _listed(unquote_plus(found[1]))


def _listed(names: str) -> Iterator[str]:
    """Yield the names in a list as `NameList` reads it, with optional blanks around commas."""
    return filter(_NAME.fullmatch, map(str.strip, names.split(",")))
