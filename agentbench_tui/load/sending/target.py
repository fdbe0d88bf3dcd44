"""Opens the target of a load, which the workers call."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.agents.model_apis.model_call import ModelAgent, ModelCall
from agentbench_tui.agents.schemes import BUILT_IN, OF_MODELS
from agentbench_tui.agents.target import parse_target
from agentbench_tui.load.sending.protocol import AgentTarget, HttpTarget
from agentbench_tui.model.answer import AgentFailure, FailureKind

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from agentbench_tui.model.agent import AgentSpec
    from agentbench_tui.model.answer import Agent

START_LIMIT_S = 60.0
CLOSE_LIMIT_S = 15.0


class OpenTarget(msgspec.Struct, frozen=True):
    """An agent that is ready for requests."""

    target: HttpTarget | AgentTarget
    agent: Agent | None
    """The session here, where what answers is kept alive by it; None for agents that the workers
    open themselves."""
    clean: Callable[[str], str]
    """Masks the session's secrets in a text."""

    @property
    def pids(self) -> tuple[int, ...]:
        """Return the root processes of the session on this machine."""
        return () if self.agent is None else self.agent.pids


@asynccontextmanager
async def open_target(
    spec: AgentSpec, *, stream: bool | None, memory_limit_mb: float | None
) -> AsyncIterator[OpenTarget]:
    """Open an agent for load. Raises AgentFailure if it does not start.

    Model APIs are asked by the workers' own HTTP client; every other agent is opened inside the
    workers.
    """
    from agentbench_tui.agents.registry import open_agent

    agent = open_agent(spec, memory_limit_mb=memory_limit_mb, concurrency=1)
    if not isinstance(agent, ModelAgent):
        yield OpenTarget(AgentTarget(spec, memory_limit_mb), None, _as_it_is)
        return
    try:
        await start(agent)
        endpoint, options, call = agent.endpoint, agent.endpoint.options, agent.call
        if options.transport != "own" or options.proxy is not None:
            # What the measuring client leaves out; slower, as the calibration's absence tells.
            yield OpenTarget(AgentTarget(spec, memory_limit_mb), agent, endpoint.clean)
            return
        target = HttpTarget(
            url=endpoint.url,
            headers=dict(endpoint.headers),
            call=call if stream is None else _streamed(call, stream=stream),
            key_from=endpoint.key_from,
            connect_timeout_s=options.connect_timeout_s,
            first_byte_timeout_s=options.first_byte_timeout_s,
            idle_timeout_s=options.idle_timeout_s,
            max_body_bytes=options.max_answer_bytes,
        )
        yield OpenTarget(target, agent, endpoint.clean)
    finally:
        with suppress(Exception):  # what was measured is measured
            async with asyncio.timeout(CLOSE_LIMIT_S):
                await agent.close()


async def start(agent: Agent) -> None:
    """Start an agent under load. Raises AgentFailure, at the latest after a minute."""
    try:
        async with asyncio.timeout(START_LIMIT_S):
            await agent.start()
    except TimeoutError:
        slow = f"did not start within {START_LIMIT_S:g} s"
        raise AgentFailure(FailureKind.TIMEOUT, slow) from None


def why_not_broken_off(agent: AgentSpec, *, stream: bool | None) -> str | None:
    """Return why `cancel_after_tokens` is impossible with an agent, as far as its target and
    options show; None otherwise. `stream`: the load's setting, which overrides the agent's.
    """
    counts = "`cancel_after_tokens` (--cancel-after) counts what is streamed"
    scheme = parse_target(agent.target).scheme
    if scheme in BUILT_IN and scheme not in OF_MODELS:
        return (
            f"{counts}, and only openai:, anthropic: and mock stream to a load: leave it out for"
            f" {scheme}: agents"
        )
    if agent.options.get("transport", "own") != "own" or agent.options.get("proxy") is not None:
        return (
            f"{counts}, and that is not seen with a proxy or `transport: aiohttp`: leave"
            " `cancel_after_tokens` out, or those"
        )
    streams = agent.options.get("stream", True) if stream is None else stream
    if str(streams).lower() == "false":
        return f"{counts}, and this agent is set not to stream: give `stream: true` (--stream)"
    return None


def _streamed(call: ModelCall, *, stream: bool) -> ModelCall:
    return msgspec.structs.replace(call, stream=stream)


def _as_it_is(text: str) -> str:
    return text
