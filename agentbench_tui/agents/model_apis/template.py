"""Templates of JSON requests: `{name}` in any string is a placeholder for a part of the case.

A string that is one placeholder and nothing else takes the value itself (a number, a list of
turns); a placeholder within a longer string takes its text. Other braces stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from agentbench_tui.model.answer import Request, plain_turn

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


PLACEHOLDERS: dict[str, Callable[[Request], Any]] = {
    "input": lambda request: request.case.input,
    "text": Request.text,
    "messages": lambda request: [plain_turn(turn) for turn in request.conversation()],
    "tools": lambda request: list(request.case.tools),
    "seed": lambda request: request.seed,
    "case_id": lambda request: request.case.id,
    "repeat": lambda request: request.repeat,
    "iteration": lambda request: request.iteration,
    "attempt": lambda request: request.attempt,
    "parameters": lambda request: dict(request.parameters),
    "time_limit_s": lambda request: request.time_limit_s,
}
"""Placeholders of a template. `input` keeps its type, `text` is the input as text."""


def fill(template: Any, request: Request) -> Any:
    """Return the template with every placeholder replaced by its part of the request."""
    if isinstance(template, str):
        return _fill_text(template, request)
    if isinstance(template, list):
        return [fill(part, request) for part in template]
    if isinstance(template, dict):
        return {name: fill(part, request) for name, part in template.items()}
    return template


def unknown_placeholders(template: Any) -> Iterator[str]:
    """Return the names of unknown placeholders."""
    if isinstance(template, str):
        yield from (name for name in _PLACEHOLDER.findall(template) if name not in PLACEHOLDERS)
    elif isinstance(template, list | dict):
        for part in template.values() if isinstance(template, dict) else template:
            yield from unknown_placeholders(part)


def _fill_text(template: str, request: Request) -> Any:
    whole = _PLACEHOLDER.fullmatch(template)
    if whole is not None:
        return PLACEHOLDERS[whole[1]](request)
    return _PLACEHOLDER.sub(lambda found: _text(PLACEHOLDERS[found[1]](request)), template)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
