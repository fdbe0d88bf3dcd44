"""Secrets of a plan: declared once, and masked from then on in everything that is stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from agentbench_tui.agents.secret_names import keys_on_command_lines, named_variables
from agentbench_tui.model.text.secrets import declare_secrets

if TYPE_CHECKING:
    from agentbench_tui.engine.run.plan import Group, Plan


def declare_secrets_of(plan: Plan) -> None:
    """Mask the secrets that a plan's agents and judges receive in every text that is stored or
    shown.
    """
    agents = {id(one.agent): one.agent for _, one in plan.executions()}.values()
    benchmarks = _distinct_parts(group.benchmark for group in plan.groups)
    declare_secrets(
        named_variables([msgspec.to_builtins(agent) for agent in agents])
        | named_variables(benchmarks),
        keys_on_command_lines([[agent.target for agent in agents], benchmarks]),
    )


def _distinct_parts(documents: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return each distinct part of the documents by name: once, where documents share it, as the
    thousands of points of a sweep do.
    """
    parts = {
        (name, id(part)): {name: part} for document in documents for name, part in document.items()
    }
    return list(parts.values())


def exposed_keys(groups: Sequence[Group]) -> Iterator[str]:
    """A warning for each agent and each benchmark whose command line holds a key."""
    risk = (
        "holds a key, which other users of this machine see in the list of processes; put it into "
        "an environment variable"
    )
    targets = {one.agent.id: one.agent.target for group in groups for one in group.executions}
    for agent_id, target in targets.items():
        if keys_on_command_lines(target):
            yield f"agent {agent_id}: its command line {risk} and name that with the option `env`"
    benchmarks = {group.benchmark["benchmark_id"]: group.benchmark for group in groups}
    for benchmark_id, benchmark in benchmarks.items():
        if keys_on_command_lines(benchmark):
            yield f"benchmark {benchmark_id}: the command line of its judge or server {risk}"
