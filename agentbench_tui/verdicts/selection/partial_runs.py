"""Runs that asked only some of the cases, and why they do not count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.store.queries.latest import NEWER_PARTIAL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentbench_tui.store.queries.latest import PartialRun
    from agentbench_tui.verdicts.evidence.place import Execution

_SHOWN_OF_ID = 13
"""Characters of a run id that tell runs of different milliseconds apart."""


def partial_run_words(executions: Iterable[Execution], choose: str) -> list[str]:
    """Say which newer runs were passed over because they asked only some of the cases.

    `choose` says how to see such a run, with `{run}` for its id and `{agent}` for the agent.
    """
    found: dict[tuple[str, PartialRun], dict[str, None]] = {}
    for row in executions:
        partial: PartialRun | None = row.get(NEWER_PARTIAL)
        if partial is not None:
            of_agent = found.setdefault((row["agent_id"], partial), {})
            of_agent[row["benchmark_id"]] = None
    said = []
    for (agent, partial), benchmarks in found.items():
        run = partial.run_id[:_SHOWN_OF_ID]
        said.append(
            f"run {run} of {agent} asked {partial.cases:,} of {partial.whole:,} cases of"
            f" {', '.join(benchmarks)}, so the whole run before it counts;"
            f" {choose.format(run=run, agent=agent)}"
        )
    return said
