"""Numbers on the command line, within what the store and the clocks can carry."""

from __future__ import annotations

import math
from typing import Any

import click

from agentbench_tui.model.bounds import LARGEST_NUMBER, MOST_ROWS


class Dollars(click.FloatRange):
    """An amount of money: a finite number, for click takes NaN for one of any range."""

    def __init__(self, *, above_zero: bool = False) -> None:
        super().__init__(min=0, max=LARGEST_NUMBER, min_open=above_zero)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number, or a usage error."""
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not an amount of money", param, ctx)
        return number


ROWS = click.IntRange(min=1, max=MOST_ROWS)
"""How many rows of a list, or cases of a benchmark, at most."""
