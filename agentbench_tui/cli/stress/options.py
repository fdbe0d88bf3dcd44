"""Values of `agentbench stress` on the command line: names of scenarios."""

from __future__ import annotations

from typing import Any

import click

from agentbench_tui.model.errors import did_you_mean


class Scenarios(click.ParamType):  # type: ignore[type-arg]  # generic in click's newest only
    """Names of scenarios, with `_` or `-` between words, separated by commas."""

    name = "scenarios"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """Return the names. Raises a usage error."""
        from agentbench_tui.stress.catalog import SCENARIOS

        names = tuple(one.strip().replace("-", "_") for one in value.split(","))
        for name in names:
            if name not in SCENARIOS:
                hint = did_you_mean(name, SCENARIOS)
                listed = ", ".join(SCENARIOS)
                self.fail(f"no scenario '{name}'{hint}; there are {listed}", param, ctx)
        return names
