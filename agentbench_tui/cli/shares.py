"""Shares on the command line and on the screen: `0.05` and `5%`."""

from __future__ import annotations

import math
from typing import Any

import click

from agentbench_tui.verdicts.figures import NOTHING


class Share(click.ParamType[float]):
    """A positive share, as `0.05` or `5%`."""

    name = "share"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The share, or a usage error."""
        if isinstance(value, float):  # a default, as it is
            return value
        text = str(value).strip()
        try:
            number = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            number = math.nan
        if not 0 < number < math.inf:
            self.fail(
                f"{text!r} is neither a share such as 0.05 nor a percentage such as 5%", param, ctx
            )
        return number


SHARE = Share()


def percent(value: float | None) -> str:
    """A share for people: three digits that matter."""
    if value is None:
        return NOTHING
    shown = f"{100 * value:#.3g}"
    return f"{100 * value:.0f} %" if abs(value) >= 10 else f"{shown.rstrip('.')} %"
