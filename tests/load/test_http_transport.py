"""The measuring transport in this process."""

import asyncio

import pytest
from driving import constant, model_target, plan, practice_server, request_type

from agentbench_tui.agents.chat_completions import ChatCompletions
from agentbench_tui.load.http_transport import HttpTransport
from agentbench_tui.load.sample import STATUSES
from agentbench_tui.load.sender import Call, Reply
from agentbench_tui.model.answer import AgentFailure


async def test_a_fault_of_ours_while_an_answer_is_read_ends_its_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise KeyError("usage")

    monkeypatch.setattr(ChatCompletions, "read_whole", fail)
    ended: asyncio.Queue[tuple[Call, Reply, AgentFailure]] = asyncio.Queue()
    async with practice_server(ttft="1ms", tokens=1) as server:
        target = model_target(server.url, stream=False)
        asked = plan(target, constant(1), workload=(request_type(),))
        transport = HttpTransport(asked, target, asyncio.get_running_loop())
        await transport.open(lambda *told: ended.put_nowait(told))
        call = Call(0, asked.workload[0].conversations[0], None, due_ns=0)
        transport.send(call)
        async with asyncio.timeout(30):
            told, reply, failure = await ended.get()
        await transport.close()

    assert told is call
    assert STATUSES[reply.status] == "harness"
    assert failure.detail == "KeyError while an answer was read"
