"""Opens a target for a stress test, and closes it without leaving anything behind."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import TYPE_CHECKING

from agentbench_tui.agents.registry import open_agent
from agentbench_tui.agents.target import parse_target
from agentbench_tui.load.sending.target import CLOSE_LIMIT_S, open_target, start
from agentbench_tui.load.sending.worker_process import end_ahead, start_ahead
from agentbench_tui.stress.catalog import DEFAULTS
from agentbench_tui.stress.faults.proxy_process import FaultProxy
from agentbench_tui.stress.stand.proxied_target import (
    environment_with,
    told_of_upstream,
    url_of,
    why_not_behind,
)
from agentbench_tui.stress.stand.served import Served, owned_by
from agentbench_tui.stress.stand.stand import PROGRAMS, Stand

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from agentbench_tui.engine.run.context import RunContext, StopSignal
    from agentbench_tui.engine.run.plan import ExecutionPlan, Group
    from agentbench_tui.model.agent import AgentSpec
    from agentbench_tui.model.answer import Agent
    from agentbench_tui.stress.spec import StressSpec

SESSION_PLACES = 64
"""Concurrent requests of agentbench's own session, in addition to the load."""


@asynccontextmanager
async def open_stand(
    context: RunContext, group: Group, execution: ExecutionPlan, spec: StressSpec
) -> AsyncIterator[Stand]:
    """Start the target's server if the suite says how, open the target, and put a proxy in front
    of it if the scenario needs one. Raises AgentFailure, UsageError, and `Stopped` if the run is
    to end.
    """
    benchmark, agent = group.resolved(), execution.agent
    no_proxy = "" if DEFAULTS[spec.scenario].faults else "the scenario puts in no faults"
    async with AsyncExitStack() as stack:
        proxy: FaultProxy | None = None
        environment: dict[str, str] = {}
        if spec.upstream is not None and not no_proxy:
            proxy = await stack.enter_async_context(FaultProxy(spec.upstream))
            variable = spec.upstream_variable
            environment[variable] = proxy.through(spec.upstream)
            stack.enter_context(environment_with(variable, environment[variable]))
            agent = told_of_upstream(agent, variable)
        start_ahead()  # it starts while the target does
        stack.callback(end_ahead)
        served = await _serve(stack, spec, agent.target, group.base_dir, environment, context.stop)
        # Of a server that is ours the scenario sets the limit itself, in time.
        is_program = parse_target(agent.target).scheme in PROGRAMS
        own_limit_mb = spec.memory_limit_mb if is_program else None
        opened = await stack.enter_async_context(
            open_target(
                agent,
                stream=spec.stream,
                memory_limit_mb=own_limit_mb or benchmark.constraints.memory_limit_mb,
            )
        )
        session = opened.agent or await _session(stack, agent)
        if proxy is None and not no_proxy:
            no_proxy = why_not_behind(opened.target) or ""
            if not no_proxy:
                url = url_of(opened.target)
                assert url is not None, "why_not_behind looks for it"
                proxy = await stack.enter_async_context(FaultProxy(url))
        stand = Stand(
            context,
            group,
            execution,
            spec,
            opened,
            agent=session,
            owned=owned_by(opened.agent, served),
            proxy=proxy,
            no_proxy=no_proxy,
        )
        stack.push_async_callback(stand.close)
        yield stand


async def _session(stack: AsyncExitStack, spec: AgentSpec) -> Agent | None:
    """Open a session with a server that has its own format; None for other agents."""
    if parse_target(spec.target).scheme not in {"http", "https"}:
        return None
    agent = open_agent(spec, memory_limit_mb=None, concurrency=SESSION_PLACES)
    stack.push_async_callback(_close, agent)
    await start(agent)
    return agent


async def _close(agent: Agent) -> None:
    with suppress(Exception):  # what was measured is measured
        async with asyncio.timeout(CLOSE_LIMIT_S):
            await agent.close()


async def _serve(
    stack: AsyncExitStack,
    spec: StressSpec,
    target: str,
    base_dir: str,
    environment: dict[str, str],
    stop: StopSignal,
) -> Served | None:
    if spec.serve is None:
        return None
    served = Served(
        spec.serve,
        parse_target(target).rest,
        base_dir=base_dir,
        environment=environment,
        why_end=lambda: (stop.reason or "stopped") if stop.is_set else None,
    )
    return await stack.enter_async_context(served)
