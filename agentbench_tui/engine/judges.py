"""Opening the agents that grade: model-graded scorers ask for them by target."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentbench_tui.model.answer import Agent

CONCURRENCY = 4
"""Questions to one judge at once."""


async def open_judge(target: str) -> Agent:
    """A started session with the agent at `target`; the scorer closes it."""
    from agentbench_tui.agents.registry import open_agent
    from agentbench_tui.agents.target import parse_agent

    agent = open_agent(
        parse_agent(target, base_dir=""), memory_limit_mb=None, concurrency=CONCURRENCY
    )
    await agent.start()
    return agent
