"""Putting a target on its stand, and taking it off: nothing is left behind."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from agentbench_tui.agents.target import parse_target
from agentbench_tui.load.target import open_target
from agentbench_tui.stress.behind import (
    environment_with,
    told_of_upstream,
    url_of,
    why_not_behind,
)
from agentbench_tui.stress.catalogue import DEFAULTS
from agentbench_tui.stress.proxy_process import FaultProxy
from agentbench_tui.stress.served import Served, owned_by
from agentbench_tui.stress.stand import Stand

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from agentbench_tui.engine.context import RunContext
    from agentbench_tui.engine.plan import ExecutionPlan, Group
    from agentbench_tui.stress.spec import StressSpec


@asynccontextmanager
async def open_stand(
    context: RunContext, group: Group, execution: ExecutionPlan, spec: StressSpec
) -> AsyncIterator[Stand]:
    """Start the target's server where the suite says how, open the target, put a proxy before it
    where the scenario needs one. Raises AgentFailure, UsageError."""
    benchmark, agent = group.resolved(), execution.agent
    no_proxy = "" if DEFAULTS[spec.scenario].faults else "the scenario puts in no faults"
    async with AsyncExitStack() as stack:
        proxy: FaultProxy | None = None
        environment: dict[str, str] = {}
        if spec.upstream is not None and not no_proxy:
            proxy = await stack.enter_async_context(FaultProxy(spec.upstream))
            if spec.upstream_env is not None:
                environment[spec.upstream_env] = proxy.through(spec.upstream)
                stack.enter_context(environment_with(*next(iter(environment.items()))))
                agent = told_of_upstream(agent, spec.upstream_env)
        served = await _serve(stack, spec, agent.target, group.base_dir, environment)
        opened = await stack.enter_async_context(
            open_target(
                agent,
                stream=spec.stream,
                memory_limit_mb=benchmark.constraints.memory_limit_mb,
            )
        )
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
            owned=owned_by(opened.agent, served),
            proxy=proxy,
            no_proxy=no_proxy,
        )
        stack.push_async_callback(stand.close)
        yield stand


async def _serve(
    stack: AsyncExitStack,
    spec: StressSpec,
    target: str,
    base_dir: str,
    environment: dict[str, str],
) -> Served | None:
    if spec.serve is None:
        return None
    served = Served(
        spec.serve, parse_target(target).rest, base_dir=base_dir, environment=environment
    )
    return await stack.enter_async_context(served)
