"""Reads requests into tool calls by rules: which tool, with which arguments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from agentbench_tui.agents.quickstart.language import first_date, first_time, numbers

_UNITS = "kilometres|kilograms|gallons|litres|pounds|miles"
_DATE_WORDS = r"(?:,| on | at | for \d| of \d|\.|$)"
_PLACE = r"([A-Z][a-z]+)"

_CLUES = {
    "convert_units": rf"\b({_UNITS})\b.*\b({_UNITS})\b",
    "get_weather": r"\b(weather|forecast|rain)\b",
    "create_event": r"\b(calendar|appointment|schedule)\b",
    "send_message": r"\b(message|text)\b.*\"",
    "search_trains": r"\b(train|trains|rail)\b",
}
"""Words that suggest a tool, by its name."""

_PATTERNS: dict[str, tuple[str, ...]] = {
    "from_unit": (rf"\d ({_UNITS})",),
    "to_unit": (rf"(?:to|into|in|many) ({_UNITS})",),
    "city": (rf"(?:for|in) {_PLACE}",),
    "title": (
        rf"put (.+?) into|appointment for (.+?){_DATE_WORDS}|schedule (.+?) for|for ([a-z ]+)\.?$",
    ),
    "recipient": (rf"(?:send|to|text|let) {_PLACE}",),
    "text": (r'"(.+?)"',),
    "origin": (rf"(?:from|starting in) {_PLACE}",),
    "destination": (rf"to {_PLACE}",),
}
"""Patterns of a parameter's value, by its name."""


def read_request(text: str, tools: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return the first call that the clues and all required parameters support, or None."""
    for tool in tools:
        clue = _CLUES.get(tool["name"])
        if clue is None or not re.search(clue, text):
            continue
        schema = tool["parameters"]
        arguments = read_arguments(text, schema["properties"])
        if set(schema.get("required", ())) <= set(arguments):
            return {"name": tool["name"], "arguments": arguments}
    return None


def read_arguments(text: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the parameters that the text contains."""
    found: dict[str, Any] = {}
    for name, schema in properties.items():
        value = _value(name, schema, text)
        if value is not None:
            found[name] = value
    return found


def _value(name: str, schema: Mapping[str, Any], text: str) -> Any:
    if name == "date":
        return first_date(text)
    if name == "time":
        return first_time(text)
    if schema["type"] == "number":
        values = numbers(text)
        return float(values[0]) if values else None
    for pattern in _PATTERNS.get(name, ()):
        if match := re.search(pattern, text):
            return next(group for group in match.groups() if group is not None)
    return None
