"""Intervals drawn as text, one below the other on a common scale."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agentbench_tui.presentation.numbers import MISSING

Ends = tuple[float | None, float | None, float | None]
"""A value with the low and the high end of its interval."""

_WIDTH = 28
"""Characters of a bar."""
_EMPTY = 1e-12
"""A range of values below this has no length to draw."""


def interval_bars(
    intervals: Sequence[Ends], show: Callable[[float | None], str], width: int = _WIDTH
) -> tuple[str, list[str]]:
    """Return the scale and a bar for each interval: `├──●──┤`, `●` without known ends.

    The scale reaches from the lowest to the highest end; `show` formats them. All texts have
    `width` characters, or none if nothing can be drawn: no value, or all values equal.
    """
    known = [value for ends in intervals for value in ends if value is not None]
    if not known or max(known) - min(known) < _EMPTY:
        return "", ["" for _ in intervals]
    low, high = min(known), max(known)
    first, last = show(low), show(high)
    title = f"{first}{' ' * (width - len(first) - len(last))}{last}"
    return title, [_bar(ends, low, high, width) for ends in intervals]


def _bar(ends: Ends, lowest: float, highest: float, width: int) -> str:
    value, low, high = ends
    if value is None:
        return MISSING

    def place(of: float) -> int:
        return round((of - lowest) / (highest - lowest) * (width - 1))

    cells = [" "] * width
    if low is not None and high is not None:
        cells[place(low) : place(high) + 1] = "─" * (place(high) - place(low) + 1)
        cells[place(low)], cells[place(high)] = "├", "┤"
    cells[place(value)] = "●"
    return "".join(cells)
