"""Opens agents by their target, as the engine does."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from agentbench_tui.agents.registry import check_agent, open_agent
from agentbench_tui.agents.target import parse_agent
from agentbench_tui.model.answer import Agent, AgentFailure, Case, FailureKind, Request


@asynccontextmanager
async def opened(
    target: str,
    base_dir: object = "",
    *,
    concurrency: int = 1,
    memory_limit_mb: float | None = None,
    **options: Any,
) -> AsyncIterator[Agent]:
    import msgspec

    spec = parse_agent(target, base_dir=str(base_dir))
    spec = msgspec.structs.replace(spec, options={**spec.options, **options})
    assert check_agent(spec) == []
    agent = open_agent(spec, memory_limit_mb=memory_limit_mb, concurrency=concurrency)
    try:
        await agent.start()
        yield agent
    finally:
        await agent.close()


def ask(given: Any = "question", **fields: Any) -> Request:
    """A request; fields of the case and of the request alike."""
    case_fields = {name: fields.pop(name) for name in list(fields) if name in _CASE_FIELDS}
    return Request(
        Case(id=case_fields.pop("id", "c1"), input=given, **case_fields),
        seed=fields.pop("seed", 7),
        **fields,
    )


_CASE_FIELDS = {"id", "expected", "messages", "tools", "metadata"}


async def failure(agent: Agent, request: Request, kind: FailureKind) -> AgentFailure:
    with pytest.raises(AgentFailure) as caught:
        await agent.answer(request)
    assert caught.value.kind == kind, caught.value
    return caught.value
