"""Answers by the usual meaning of cue words, without parsing sentences."""

from __future__ import annotations

import re
from fractions import Fraction
from math import prod
from typing import Any

from agentbench_tui.agents.quickstart.language import NUMBER, numbers, plain, read_number

_CUES = (
    ("together|in all|altogether|total", "add"),
    ("left|remain|change|fewer|now|still", "subtract"),
    ("each|every|per|km/h|holds|an hour|a night", "multiply"),
    ("%|percent", "percent"),
    ("equally|evenly|split|share", "divide"),
)
_FACTORS = {"miles": Fraction("1.609344"), "pounds": Fraction("453.59237"), "kg": Fraction(1000)}
_LABELS = {
    "invoice_number": ("Invoice number", "Invoice"),
    "date": ("Date", "When"),
    "customer": ("Customer",),
    "total": ("Total",),
    "subject": ("Subject",),
    "place": ("Where",),
    "deliver_by": ("Deliver by",),
}


def reckon(text: str) -> str:
    """Apply the operation of the first cue to the numbers in the order they occur."""
    if day := re.search(r"\d{4}-\d\d-\d\d", text):
        return day[0]
    values = numbers(text)
    if not values:
        return ""
    for unit, factor in _FACTORS.items():
        if unit in text:
            return str(round(values[0] * factor))
    operation = next((name for cue, name in _CUES if re.search(cue, text)), "add")
    if operation == "subtract":
        return plain(values[0] - sum(values[1:]))
    if operation == "multiply":
        return plain(prod(values, start=Fraction(1)))
    if operation == "percent":
        return plain(values[0] * values[-1] / 100)
    if operation == "divide":
        return plain(Fraction(values[0] // values[-1] if values[-1] else 0))
    return plain(sum(values, Fraction(0)))


def labelled_values(document: str) -> dict[str, Any]:
    """Return the values after labels at the start of lines."""
    found: dict[str, Any] = {}
    for key, labels in _LABELS.items():
        for label in labels:
            if match := re.search(rf"^{label}:? (.+)$", document, re.MULTILINE):
                found[key] = match[1]
                break
    if "total" in found and (amount := re.search(NUMBER, found["total"])):
        found["total"] = float(read_number(amount[0]))
    for code, sign in (("EUR", "€"), ("USD", "$"), ("GBP", "£")):
        if code in document or sign in document:
            found["currency"] = code
    if time := re.search(r"\d\d:\d\d", document):
        found["time"] = time[0]
        found["date"] = found.get("date", "").partition(",")[0]
    items = re.findall(r"^- (\d+) x (.+)$", document, re.MULTILINE)
    if items:
        found["items"] = [{"name": name, "quantity": int(many)} for many, name in items]
    return found


def call_by_words(text: str, tools: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    """Call the tool that shares most words with the request; fill arguments according to their
    type.
    """
    words = set(re.findall(r"[a-z]+", text.lower()))
    tool = max(
        tools,
        key=lambda one: len(
            words & set(re.findall(r"[a-z]+", f"{one['name']} {one['description']}".lower()))
        ),
    )
    names = re.findall(r"(?<!^)\b[A-Z][a-z]+", text)
    arguments: dict[str, Any] = {}
    for name, schema in tool["parameters"]["properties"].items():
        if schema["type"] == "number":
            arguments[name] = next((float(value) for value in numbers(text)), 0)
        elif name == "date":
            day = re.search(r"\d{4}-\d\d-\d\d", text)
            arguments[name] = day[0] if day else ""
        elif quoted := re.search(r'"(.+?)"', text) if name == "text" else None:
            arguments[name] = quoted[1]
        else:
            arguments[name] = names.pop(0) if names else ""
    return {"name": tool["name"], "arguments": arguments}
