"""The expected answer of a case in the form that scorers read, and a certainly wrong answer."""

from __future__ import annotations

from string import ascii_uppercase
from typing import Any

import msgspec

from agentbench_tui.model.answer import Answer, Case, ToolCall

_WRONG_TEXT = "?"


def answer_expected(case: Case) -> Answer:
    """Return the expected answer, marked simulated.

    Text as text; numbers and booleans as text and data; for a list of accepted texts the first; the
    index of one of the case's `choices` as its letter; other structures as data with their JSON as
    text, and as tool calls if they look like them. Without an expectation the answer is empty.
    """
    expected = case.expected
    if expected is None:
        return Answer(simulated=True)
    if isinstance(expected, str):
        return Answer(text=expected, simulated=True)
    if isinstance(expected, int) and case.metadata.get("choices"):
        return Answer(text=ascii_uppercase[expected % 26], data=expected, simulated=True)
    text = msgspec.json.encode(expected).decode()
    if isinstance(expected, list) and expected and all(isinstance(x, str) for x in expected):
        text = expected[0]
    calls = tuple(_tool_calls(expected if isinstance(expected, list) else [expected]))
    return Answer(text=text, data=expected, tool_calls=calls, simulated=True)


def answer_wrong(case: Case) -> Answer:
    """Return an answer that no sensible scorer accepts, marked simulated."""
    expected = case.expected
    if isinstance(expected, bool):
        return Answer(text=str(not expected).lower(), data=not expected, simulated=True)
    if isinstance(expected, int | float):
        other = expected * 2 + 1 if expected >= 0 else expected * 2 - 1
        return Answer(text=str(other), data=other, simulated=True)
    return Answer(text=_WRONG_TEXT, simulated=True)


def _tool_calls(expected: list[Any]) -> list[ToolCall]:
    """Return the calls of a list of `{name, arguments}` or `{NAME: {argument: [allowed
    values]}}`.
    """
    calls = []
    for entry in expected:
        if not isinstance(entry, dict):
            return []
        if isinstance(entry.get("name"), str) and isinstance(entry.get("arguments"), dict):
            calls.append(ToolCall(entry["name"], entry["arguments"]))
        elif len(entry) == 1 and isinstance(allowed := next(iter(entry.values())), dict):
            calls.append(ToolCall(str(next(iter(entry))), _first_allowed(allowed)))
        else:
            return []
    return calls


def _first_allowed(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the first allowed value of each argument; `""` means that it may be omitted.

    An argument that is no list has that value as it is.
    """
    chosen = {}
    for name, allowed in arguments.items():
        if not isinstance(allowed, list):
            chosen[name] = allowed
        elif values := [value for value in allowed if value != ""]:
            chosen[name] = _plain(values[0])
    return chosen


def _plain(value: Any) -> Any:
    """Return one value that an allowed value permits: objects in it list the values of each key."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        chosen = _first_allowed(value)
        return {
            name: one if isinstance(value[name], list) else _plain(one)
            for name, one in chosen.items()
        }
    return value
