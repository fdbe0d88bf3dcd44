"""Agents that run inside a worker: what they say of themselves, their garbage, and their end."""

import asyncio
import gc
from pathlib import Path
from typing import Any, cast

import pytest
from driving import heard, plan, request_type, said, users

from agentbench_tui.load.sending.agent_transport import AgentTransport
from agentbench_tui.load.sending.protocol import AgentTarget, Frames, Start, decode_from_worker
from agentbench_tui.load.sending.sample import NONE, STREAMED
from agentbench_tui.load.sending.sender import Call
from agentbench_tui.load.sending.target import CLOSE_LIMIT_S
from agentbench_tui.load.sending.worker import Worker
from agentbench_tui.load.sending.workers import OVERTIME_S
from agentbench_tui.model.agent import AgentSpec

AGENT = """
import gc
from pathlib import Path

class Agent:
    def answer(self, text):
        if text == "gc":
            return {"text": "x", "ttft_ms": 20.0 if gc.isenabled() else 1.0}
        if text.startswith("tokens"):
            return {"text": "x", "usage": {"output_tokens": int(text[6:]), "input_tokens": 3}}
        return {"text": "x", "ttft_ms": float(text)}

    def close(self):
        (Path(__file__).parent / "closed").touch()
"""


@pytest.fixture
def target(tmp_path: Path) -> AgentTarget:
    (tmp_path / "inside.py").write_text(AGENT)
    return AgentTarget(AgentSpec("a", "1", "python:inside.py:Agent", base_dir=str(tmp_path)))


async def test_times_and_counts_that_cannot_be_are_none(target: AgentTarget) -> None:
    texts = ["nan", "inf", "1e308", "-1", "12.5", "gc", "tokens-5", f"tokens{10**30}", "tokens7"]
    kind = request_type(*(said(text) for text in texts))
    asked = plan(target, users(1), requests=9, warmup_requests=0, workload=(kind,))
    found = await heard([asked])

    assert found.statuses() == {"ok": 9}
    # The collector goes on: the agent's own code may leave cycles, which nothing else frees.
    assert [row["ttft_us"] for row in found.rows] == [NONE] * 4 + [12_500, 20_000] + [NONE] * 3
    assert [bool(row["flags"] & STREAMED) for row in found.rows] == (
        [False] * 4 + [True] * 2 + [False] * 3
    )
    assert [row["output_tokens"] for row in found.rows] == [NONE] * 8 + [7]


async def test_what_has_ended_can_be_broken_off_and_the_next_is_answered(
    target: AgentTarget,
) -> None:
    asked = plan(target, users(1), requests=2, workload=(request_type(said("1")),))
    transport = AgentTransport(asked, target)
    ended: asyncio.Queue[Call] = asyncio.Queue()
    await transport.open(lambda call, *_: ended.put_nowait(call))
    for place in range(2):
        call = Call(place, asked.workload[0].conversations[0], None, 0)
        transport.send(call)
        assert await ended.get() is call
        transport.cancel(call)
    await transport.close()
    assert ended.empty()


class Heard:
    """What a worker in this process says, each with whether its agent was closed by then."""

    def __init__(self, closed: Path) -> None:
        self._frames = Frames()
        self._closed = closed
        self.ready = asyncio.Event()
        self.said: list[tuple[str, bool]] = []

    def write(self, data: bytes) -> None:
        for body in self._frames.feed(data):
            name = type(decode_from_worker(body)).__name__
            self.said.append((name, self._closed.exists()))
            if name == "Ready":
                self.ready.set()


async def test_an_agent_is_closed_before_the_worker_says_its_last(
    target: AgentTarget, tmp_path: Path
) -> None:
    """Whoever hears it may end the process."""
    out = Heard(tmp_path / "closed")
    asked = plan(target, users(1), requests=1, workload=(request_type(said("5")),))
    worker = Worker(asked, cast("Any", out))
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        group.create_task(worker.carry_out())
        await out.ready.wait()
        worker.hear(Start(0))
    gc.unfreeze()  # in a process of its own it would not matter

    assert out.said[0] == ("Ready", False)
    assert out.said[-2] == ("Chunk", False)
    assert out.said[-1] == ("Done", True)
    assert OVERTIME_S > CLOSE_LIMIT_S
