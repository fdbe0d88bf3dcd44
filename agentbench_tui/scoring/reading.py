"""Extracts from a case and an answer what scorers read: text, accepted texts, JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NoReturn

import msgspec

from agentbench_tui.model.answer import Answer, Case, GraderFailure
from agentbench_tui.scoring.code.fences import fenced_blocks

_MAX_JSON_STARTS = 2_000
"""Braces tried before a text is taken to hold no JSON; bounds the work on hostile text."""
_MOST_IN_VAIN = 32 << 20
"""Characters read, again and again, of what then is not JSON: some 0.6 s. Bounds it as well."""


class NoJson(ValueError):
    """Raised for a text without a JSON value."""


def as_text(value: Any) -> str:
    """Return `value` as text: text unchanged, anything else as compact JSON."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def answer_text(answer: Answer) -> str:
    """Return the agent's text; its structured output as JSON if there is no text."""
    if answer.text or answer.data is None:
        return answer.text
    return as_text(answer.data)


def expected_of(case: Case) -> Any:
    """Return the expected answer of the case. Raises GraderFailure if there is none."""
    if case.expected is None:
        raise GraderFailure(f"case {case.id} has no `expected` to compare with")
    return case.expected


def accepted_texts(case: Case) -> list[str]:
    """Return the accepted texts: `expected`, or each item if it is a list."""
    expected = expected_of(case)
    if isinstance(expected, str):
        return [expected]
    items = expected if isinstance(expected, list | tuple) else [expected]
    if not items:
        raise GraderFailure(f"case {case.id} has an empty list as `expected`")
    return [as_text(item) for item in items]


def find_json(answer: Answer) -> Any:
    """Return the JSON value of an answer.

    Looked for in this order: `data`; the whole text; the last fenced block that parses; the
    longest object or array inside the text. Raises NoJson.
    """
    if answer.data is not None:
        return answer.data
    text = answer.text.strip()
    for candidate in (text, *(block.content for block in reversed(fenced_blocks(text)))):
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


def last_object(text: str, key: str) -> dict[str, Any]:
    """Return the last JSON object in a text that has `key`, else the last one. Raises NoJson."""
    found = [value for _, value in _values_inside(text) if isinstance(value, dict)]
    if not found:
        raise NoJson("the text holds no JSON object")
    return next((value for value in reversed(found) if key in value), found[-1])


def _longest_json(text: str) -> Any:
    longest, found = 0, None
    for length, value in _values_inside(text):
        if length > longest:
            longest, found = length, value
    if not longest:
        raise NoJson("the answer holds no JSON")
    return found


def _values_inside(text: str) -> Iterator[tuple[int, Any]]:
    """Return (length, value) of each outermost object and array in a text, in order."""
    position, in_vain = 0, 0
    for _ in range(_MAX_JSON_STARTS):
        start = min(
            (at for at in (text.find("{", position), text.find("[", position)) if at >= 0),
            default=-1,
        )
        if start < 0 or in_vain > _MOST_IN_VAIN:
            return
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            stopped_at = error.pos if isinstance(error, json.JSONDecodeError) else len(text)
            in_vain += stopped_at - start
            position = start + 1
            continue
        yield end - start, value
        position = end
