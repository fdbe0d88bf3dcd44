"""Determines which limits of `constraints` can be enforced, by kind of benchmark and by target.

A limit that cannot be enforced is a problem of the suite that gives it. Of an agent that the
command line names the run says so, since the suite was written for others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from agentbench_tui.agents.python.session_objects import is_of_session
from agentbench_tui.agents.schemes import INSIDE
from agentbench_tui.agents.target import parse_target
from agentbench_tui.engine.suite.suite_problems import Finding

if TYPE_CHECKING:
    from agentbench_tui.engine.run.plan import Group
    from agentbench_tui.model.agent import AgentSpec
    from agentbench_tui.model.suite import Benchmark

_ELSEWHERE = frozenset({"http", "https", "openai", "anthropic", "a2a"})
"""Schemes whose memory belongs to a server."""


def refused_limits(benchmark: Benchmark, unknown: Iterable[str], instead: str) -> list[Finding]:
    """Return a finding for each limit in `constraints` that this kind of benchmark does not
    enforce.
    """
    return [
        Finding(
            ("constraints", name),
            f"`{name}` is not enforced in benchmarks of kind {benchmark.kind}: {instead}",
            at_key=True,
        )
        for name in unknown
        if getattr(benchmark.constraints, name) is not None
    ]


def unlimited_memory(benchmark: Benchmark, agent: AgentSpec) -> str | None:
    """Return why `memory_limit_mb` cannot be enforced for an agent of the benchmark; None if it
    can.
    """
    if benchmark.constraints.memory_limit_mb is None:
        return None
    scheme = parse_target(agent.target).scheme
    if scheme in _ELSEWHERE:
        return f"`memory_limit_mb` does not hold for {agent.id}: its memory is that of its server"
    # A Python agent has a process of its own where its memory is limited.
    if scheme == "python" and is_of_session(agent.target):
        return (
            f"`memory_limit_mb` does not hold for {agent.id}: it belongs to the calling program"
            " and runs in its process; a function of a module can be limited"
        )
    if scheme in INSIDE and scheme != "python":
        return (
            f"`memory_limit_mb` does not hold for {agent.id}: `{scheme}:` agents run in"
            " agentbench's own process; a `python:`, `worker:` or `command:` agent can be limited"
        )
    return None


def unlimited_agents(groups: Iterable[Group]) -> Iterator[str]:
    """Yield one remark for each benchmark and agent whose memory cannot be limited."""
    said = set()
    for group in groups:
        if group.benchmark["constraints"]["memory_limit_mb"] is None:
            continue
        benchmark = group.resolved()
        for execution in group.executions:
            reason = unlimited_memory(benchmark, execution.agent)
            if reason is not None and reason not in said:
                said.add(reason)
                yield f"benchmark {benchmark.benchmark_id}: {reason}"
