"""Targets that take a connection and say nothing more."""

import asyncio

import msgspec
import pytest
from driving import constant, heard, model_target, plan

from agentbench_tui.model.answer import AgentFailure, FailureKind


async def test_a_handshake_that_hangs_ends_the_load_at_once() -> None:
    """After one time limit, not one for each request of the warm-up and of the window."""
    taken: list[asyncio.StreamWriter] = []

    def take(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        taken.append(writer)

    async with await asyncio.start_server(take, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        target = msgspec.structs.replace(
            model_target(f"https://127.0.0.1:{port}/v1"), connect_timeout_s=0.2
        )
        with pytest.raises(AgentFailure, match=r"connect time limit of 0\.2 s passed") as caught:
            await heard([plan(target, constant(20), requests=20, warmup_requests=3)])
        for writer in taken:
            writer.close()

    assert caught.value.kind is FailureKind.TIMEOUT
    assert len(taken) == 1
