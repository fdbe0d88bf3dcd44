"""The planner's tools in a separate process: calculator, units, calendar, table.

One JSON line `{"tool", "arguments"}` in, one line `{"result"}` or `{"error"}` out.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import date, timedelta
from fractions import Fraction
from typing import Any

from agentbench_tui.agents.quickstart.language import WEEKDAYS, plain

_METRES = {"miles": Fraction("1609.344"), "kilometres": Fraction(1000), "metres": Fraction(1)}
_GRAMS = {"pounds": Fraction("453.59237"), "kg": Fraction(1000), "grams": Fraction(1)}


def calculate(operation: str, values: list[str]) -> str:
    """Apply `add`, `subtract`, `multiply`, `divide`, `floor_divide` or `round` from left to
    right.
    """
    first, *rest = (Fraction(value) for value in values)
    for value in rest:
        if operation == "add":
            first += value
        elif operation == "subtract":
            first -= value
        elif operation == "multiply":
            first *= value
        elif operation == "divide":
            first /= value
        elif operation == "floor_divide":
            first = Fraction(first // value)
        else:
            raise ValueError(f"no operation {operation}")
    if operation == "round":
        first = Fraction(int(first + Fraction(1, 2)))
    return str(first)


def convert(value: str, unit: str, into: str) -> str:
    """Convert a length or a weight to another unit, exactly."""
    for table in (_METRES, _GRAMS):
        if unit in table and into in table:
            return str(Fraction(value) * table[unit] / table[into])
    raise ValueError(f"cannot convert {unit} into {into}")


def calendar(day: str, plus_days: int = 0, until: str | None = None) -> dict[str, Any]:
    """Return the date this many days later with its weekday, or the days until another date."""
    start = date.fromisoformat(day)
    if until is not None:
        return {"days": (date.fromisoformat(until) - start).days}
    end = start + timedelta(days=plus_days)
    return {"date": end.isoformat(), "weekday": WEEKDAYS[end.weekday()]}


def look_up(table: str, names: list[str]) -> list[str]:
    """Return values of a table written `name value; name value; …`, by singular or plural name."""
    rows = [entry.strip().rpartition(" ") for entry in table.split(";")]
    values = {name.strip(): value for name, _, value in rows}
    return [plain(Fraction(values[name])) for name in names]


TOOLS: dict[str, Callable[..., Any]] = {
    "calculate": calculate,
    "convert": convert,
    "calendar": calendar,
    "look_up": look_up,
}


def main() -> None:
    """Serve until the end of the input."""
    for line in sys.stdin:
        call = json.loads(line)
        try:
            reply = {"result": TOOLS[call["tool"]](**call["arguments"])}
        except (ValueError, TypeError, KeyError, ZeroDivisionError) as error:
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), flush=True)  # noqa: T201  # the pipe to the planner


if __name__ == "__main__":
    main()
