"""Numbers on the command line, within the range of the store and the clocks."""

from __future__ import annotations

import math
from typing import Any

import click

from agentbench_tui.model.bounds import LARGEST_NUMBER, MOST_ROWS


class Number(click.FloatRange):
    """A finite number within a range, converted to int if whole: click accepts NaN for any
    range.
    """

    def __init__(
        self,
        least: float = 0,
        most: float = LARGEST_NUMBER,
        *,
        above: bool = False,
        below: bool = False,
    ) -> None:
        """From `least` to `most`, exclusive if it must be `above` or `below`."""
        low, high = (None if abs(end) == LARGEST_NUMBER else end for end in (least, most))
        super().__init__(low, high, min_open=above, max_open=below)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number. Raises a usage error."""
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number", param, ctx)
        if abs(number) > LARGEST_NUMBER:
            self.fail(f"{value!r} is too large", param, ctx)
        return int(number) if number == int(number) else number


ABOVE_ZERO = Number(above=True)
ROWS = click.IntRange(min=1, max=MOST_ROWS)
"""Maximum number of rows of a list, or cases of a benchmark."""
