"""Shares on the command line and on the screen: `0.05` and `5%`."""

from __future__ import annotations

import math
from typing import Any

import click


class Share(click.ParamType[float]):
    """A positive share, as `0.05` or `5%`."""

    name = "share"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the share. Raises a usage error."""
        if isinstance(value, float):  # a default, as it is
            return value
        text = str(value).strip()
        number = _number(text)
        if not 0 < number < math.inf:
            self.fail(
                f"{text!r} is neither a share such as 0.05 nor a percentage such as 5%", param, ctx
            )
        return number


SHARE = Share()


class Part(click.ParamType[float]):
    """A share, as `0.7` or `70%`; the arguments say whether 0 and 1 are allowed."""

    name = "part"

    def __init__(self, *, ends: bool) -> None:
        self._ends = ends

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the share. Raises a usage error."""
        if isinstance(value, float):  # a default, as it is
            return value
        text = str(value).strip()
        number = _number(text)
        if math.isnan(number):
            self.fail(f"{text!r} is neither a share such as 0.05 nor a percentage such as 5%")
        if not 0 <= number <= 1 or (not self._ends and number in (0, 1)):
            self.fail(f"{text} is not between 0 and 100%", param, ctx)
        return number


PART, PART_WITH_ENDS = Part(ends=False), Part(ends=True)


def _number(text: str) -> float:
    """Return the number; NaN if the text is not one."""
    try:
        return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        return math.nan
