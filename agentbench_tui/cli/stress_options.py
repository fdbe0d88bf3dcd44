"""Values of `agentbench stress` on the command line: scenarios and numbers above 0."""

from __future__ import annotations

import math
from typing import Any

import click

from agentbench_tui.model.bounds import LARGEST_NUMBER
from agentbench_tui.model.errors import did_you_mean


class Scenarios(click.ParamType):  # type: ignore[type-arg]  # generic in click's newest only
    """Names of scenarios, with `_` or `-` between their words, several put apart by commas."""

    name = "scenarios"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """The names, or a usage error."""
        from agentbench_tui.stress.catalogue import SCENARIOS

        names = tuple(one.strip().replace("-", "_") for one in value.split(","))
        for name in names:
            if name not in SCENARIOS:
                hint = did_you_mean(name, SCENARIOS)
                listed = ", ".join(SCENARIOS)
                self.fail(f"no scenario '{name}'{hint}; there are {listed}", param, ctx)
        return names


class Above(click.FloatRange):
    """A finite number above 0."""

    def __init__(self) -> None:
        super().__init__(min=0, max=LARGEST_NUMBER, min_open=True)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number, whole ones as such; or a usage error."""
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number", param, ctx)
        return int(number) if number == int(number) else number
