"""Asks an agent one short question, to check before a run whether it answers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from agentbench_tui.agents.registry import open_agent
from agentbench_tui.model.answer import AgentFailure, Answer, Case, FailureKind, Request
from agentbench_tui.model.clock import bind, perf_counter

if TYPE_CHECKING:
    from agentbench_tui.model.agent import AgentSpec

QUESTION = "Reply with the single word: ready"
LIMIT_S = 30.0
"""For starting and answering together."""


async def ask_once(spec: AgentSpec) -> tuple[Answer, float]:
    """Return the agent's answer and its time in milliseconds, without the start. Raises
    AgentFailure (of kind `timeout` after 30 s in total) and UsageError.
    """
    bind(asyncio.get_running_loop())
    agent = open_agent(spec, memory_limit_mb=None, concurrency=1)
    try:
        async with asyncio.timeout(LIMIT_S):
            await agent.start()
            sent = perf_counter()
            answer = await agent.answer(Request(Case("trial", QUESTION), 1, time_limit_s=LIMIT_S))
            return answer, 1000 * (perf_counter() - sent)
    except TimeoutError:
        raise AgentFailure(FailureKind.TIMEOUT, f"no answer within {LIMIT_S:g} s") from None
    finally:
        await agent.close()
