"""How numbers are written for people, the same on every screen and table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from agentbench_tui.model.text.plain_number import plain

NOTHING = "–"
"""Shown where a number could not be measured."""
_LEAST_USD = 1e-9
"""Nobody counts the zeros of less."""


def number(digits: int = 3) -> Callable[[Any], str]:
    """Shows a number with so many decimals."""
    return lambda value: NOTHING if value is None else f"{value:,.{digits}f}"


def dollars(value: float | None) -> str:
    """An amount of money, small ones with the digits that matter."""
    if value is None:
        return NOTHING
    if value >= 1 or value == 0:
        return f"${value:,.2f}"
    # The same way of writing for all that may stand below each other.
    return f"${Decimal(f'{value:#.2g}'):f}" if abs(value) >= _LEAST_USD else f"${value:.1e}"


def milliseconds(value: float | None) -> str:
    """A time, in the unit that suits it."""
    if value is None:
        return NOTHING
    if value >= 10_000:
        return f"{value / 1000:,.1f} s"
    return f"{value:,.0f} ms" if value >= 100 else plain(value, 3, filled=True) + " ms"


def rate(value: float) -> str:
    """A number of somethings a second."""
    return f"{value:,.0f}" if abs(value) >= 1000 else plain(value, 4)


def with_interval(value: float | None, low: float | None, high: float | None) -> str:
    """`0.812 [0.700, 0.900]`."""
    if value is None:
        return NOTHING
    return f"{value:.3f}" if low is None or high is None else f"{value:.3f} [{low:.3f}, {high:.3f}]"


def ending_words(of: Mapping[str, Any]) -> str:
    """The status of a run or an execution, and why it ended, where that says more."""
    status, reason = of["status"], of["stop_reason"]
    return str(status) if reason in {None, status} else f"{status} ({reason})"


def point_words(parameters: Mapping[str, Any]) -> str:
    """A point of a sweep: `rate=5, concurrency=8`; empty where nothing was swept."""
    return ", ".join(f"{name}={value}" for name, value in parameters.items())
