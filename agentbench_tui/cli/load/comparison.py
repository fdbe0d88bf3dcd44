"""Compares several targets under the same load."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from agentbench_tui.model.errors import AgentbenchError
from agentbench_tui.model.text.untrusted import one_line

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.contracts.run import RunDocument
    from agentbench_tui.verdicts.comparison.selector_comparison import SelectorComparison

RUNS = 5
"""Repeats of each of several targets by default: fewer than three decide nothing."""
FEWEST_RUNS = 3


def targets_compared(run: RunDocument) -> list[str]:
    """Return the agents of a run that were put under load, if there are several."""
    loads = [one for one in run.executions if one.load_result is not None]
    agents = list(dict.fromkeys(one.agent_id for one in loads))
    return agents if len(agents) > 1 else []


def compare_targets(
    connection: sqlite3.Connection, run_id: str, agents: list[str]
) -> SelectorComparison | None:
    """Compare the agents of a run as `agentbench compare` does; None, with a message on stderr, if
    they cannot be compared."""
    from agentbench_tui.store.queries.runs import file_of
    from agentbench_tui.verdicts.comparison.selector_comparison import (
        ComparisonOptions,
        compare_selectors,
    )

    selectors = tuple(f"run:{run_id}/{agent}" for agent in agents)
    try:
        return compare_selectors(
            ComparisonOptions(selectors, labels=tuple(agents)), file_of(connection)
        )
    except AgentbenchError as error:  # such as no answers of one of them
        click.echo(f"not compared: {one_line(str(error), 300)}", err=True)
        return None
