"""What scorers read out of a case and an answer: text, accepted texts, JSON, code blocks."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

import msgspec

from agentbench_tui.model.answer import Answer, Case, GraderFailure

_FENCE = re.compile(
    r"^[ \t]*```[ \t]*([\w+#.-]*)[^\n]*\n(.*?)(?:^[ \t]*```|\Z)", re.MULTILINE | re.DOTALL
)
_MAX_JSON_STARTS = 2_000
"""Braces tried before a text is taken to hold no JSON; bounds the work on hostile text."""


class NoJson(ValueError):
    """The text holds no JSON value."""


def as_text(value: Any) -> str:
    """`value` as text: text as it is, anything else as compact JSON."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def answer_text(answer: Answer) -> str:
    """What the agent said; its structured output as JSON when it said nothing."""
    if answer.text or answer.data is None:
        return answer.text
    return as_text(answer.data)


def expected_of(case: Case) -> Any:
    """What the case expects. Raises GraderFailure when it says nothing."""
    if case.expected is None:
        raise GraderFailure(f"case {case.id} has no `expected` to compare with")
    return case.expected


def accepted_texts(case: Case) -> list[str]:
    """The texts that count as right: `expected`, or each item when it is a list."""
    expected = expected_of(case)
    if isinstance(expected, str):
        return [expected]
    items = expected if isinstance(expected, list | tuple) else [expected]
    if not items:
        raise GraderFailure(f"case {case.id} has an empty list as `expected`")
    return [as_text(item) for item in items]


def fenced_blocks(text: str) -> list[tuple[str, str]]:
    """Fenced blocks as (language in lower case, content), in order; an open one runs to the end."""
    return [(match[1].lower(), match[2]) for match in _FENCE.finditer(text)]


def find_json(answer: Answer) -> Any:
    """The JSON value of an answer.

    Looked for in this order: `data`; the whole text; the last fenced block that parses; the
    longest object or array inside the text. Raises NoJson.
    """
    if answer.data is not None:
        return answer.data
    text = answer.text.strip()
    for candidate in (text, *(content for _, content in reversed(fenced_blocks(text)))):
        try:
            return _parse(candidate)
        except (ValueError, RecursionError):
            continue
    return _longest_json(text)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)


def _parse(text: str) -> Any:
    return _DECODER.decode(text)


def _longest_json(text: str) -> Any:
    longest, found = 0, None
    position = 0
    for _ in range(_MAX_JSON_STARTS):
        start = min(
            (at for at in (text.find("{", position), text.find("[", position)) if at >= 0),
            default=-1,
        )
        if start < 0:
            break
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            position = start + 1
            continue
        if end - start > longest:
            longest, found = end - start, value
        position = end
    if not longest:
        raise NoJson("the answer holds no JSON")
    return found
