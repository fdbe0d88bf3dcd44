"""Load on any agent: Python functions, programs, workers, endpoints with their own format."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.load.sending.protocol import ClosedLoop
from agentbench_tui.load.sending.sample import STATUS_CODE, STREAMED
from agentbench_tui.load.sending.sender import Reply, Traffic
from agentbench_tui.load.sending.target import CLOSE_LIMIT_S
from agentbench_tui.model.answer import AgentFailure, Answer, Case, FailureKind, Request
from agentbench_tui.model.clock import perf_counter_ns
from agentbench_tui.model.identity import derive_seed

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentbench_tui.load.sending.protocol import AgentTarget, WorkerPlan
    from agentbench_tui.load.sending.sender import Call
    from agentbench_tui.model.answer import Agent

_OK = STATUS_CODE["ok"]
UNBOUNDED_AT_ONCE = 1024
"""Concurrency of a session whose plan does not limit in-flight requests."""
LONGEST_TTFT_MS = 1e7
"""Longer times to first token, as reported by agents, are invalid."""


class AgentTransport:
    """See `load.sending.sender.Transport`. A task for each request."""

    traffic = Traffic()
    """The adapters do not report traffic."""

    def __init__(self, plan: WorkerPlan, target: AgentTarget) -> None:
        self._plan = plan
        self._target = target
        self._agent: Agent | None = None
        self._tasks: dict[Call, asyncio.Task[None]] = {}
        self._count = 0
        self._ended: Callable[..., None] = lambda *_: None

    async def open(self, ended: Callable[..., None]) -> None:
        """See `Transport`. Raises AgentFailure also if a program would be started for each in-
        flight request and their number is unlimited.
        """
        from agentbench_tui.agents.programs.worker_agent import WorkerAgent
        from agentbench_tui.agents.registry import open_agent

        self._ended = ended
        places = _places(self._plan)
        agent = open_agent(
            self._target.spec,
            memory_limit_mb=self._target.memory_limit_mb,
            concurrency=places or UNBOUNDED_AT_ONCE,
        )
        if places is None and isinstance(agent, WorkerAgent):
            raise AgentFailure(
                FailureKind.AGENT,
                "a program is started for each request that may be in flight: say how many"
                " (`max_in_flight`, --max-in-flight)",
            )
        self._agent = agent
        await self._agent.start()

    async def close(self) -> None:
        """See `Transport`."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        if self._agent is not None:
            async with asyncio.timeout(CLOSE_LIMIT_S):
                await self._agent.close()

    def send(self, call: Call) -> None:
        """See `Transport`."""
        self._count += 1
        request = self._request(call, self._count)
        self._tasks[call] = asyncio.get_running_loop().create_task(self._ask(call, request))

    def cancel(self, call: Call) -> None:
        """See `Transport`."""
        task = self._tasks.pop(call, None)
        if task is not None:  # else it is just ending
            task.cancel()

    def _request(self, call: Call, number: int) -> Request:
        turn = call.conversation.turns[min(call.turn, len(call.conversation.turns) - 1)]
        if call.script is not None:
            *before, last = call.script.next_messages()
            case = Case("load", last.content, messages=tuple(before), tools=call.conversation.tools)
        elif turn.case is not None:
            case = msgspec.convert(turn.case, Case)
        else:
            *before, last = turn.messages
            case = Case("load", last.content, messages=tuple(before))
        seed = derive_seed(self._plan.seed, self._plan.worker, number)
        return Request(case, seed, iteration=number, time_limit_s=self._plan.time_limit_s)

    async def _ask(self, call: Call, request: Request) -> None:
        failure: AgentFailure | None = None
        answer: Answer | None = None
        try:
            async with asyncio.timeout(self._plan.time_limit_s):
                assert self._agent is not None, "open() comes first"
                answer = await self._agent.answer(request)
        except AgentFailure as raised:
            failure, answer = raised, raised.partial
        except TimeoutError:
            limit = f"no answer within {self._plan.time_limit_s:g} s"
            failure = AgentFailure(FailureKind.TIMEOUT, limit)
        except Exception as error:  # noqa: BLE001  # adapters raise AgentFailure; this is our fault
            failure = AgentFailure(FailureKind.HARNESS, f"{type(error).__name__}: {error}")
        if self._tasks.pop(call, None) is not None:
            self._ended(call, _reply(call, perf_counter_ns(), answer, failure), failure)


def _places(plan: WorkerPlan) -> int | None:
    """Return the maximum number of this worker's in-flight requests; None if unlimited."""
    most = plan.max_in_flight
    if isinstance(plan.schedule, ClosedLoop):
        users = max(1, plan.schedule.users)
        return users if most is None else min(users, most)
    return most


def _reply(call: Call, ended_ns: int, answer: Answer | None, failure: AgentFailure | None) -> Reply:
    reply = Reply(_OK if failure is None else STATUS_CODE[failure.kind], ended_ns)
    if answer is None:
        return reply
    if answer.ttft_ms is not None and 0 <= answer.ttft_ms < LONGEST_TTFT_MS:
        reply.first_token_ns = call.sent_ns + int(answer.ttft_ms * 1e6)
        reply.flags = STREAMED
        first_output_ms = answer.metadata.get("ttfo_ms")
        if isinstance(first_output_ms, float) and 0 <= first_output_ms < LONGEST_TTFT_MS:
            reply.first_output_ns = call.sent_ns + int(first_output_ms * 1e6)
    usage = answer.usage
    if usage is not None:
        reply.count(usage)
    reply.text, reply.tool_calls = answer.text, answer.tool_calls
    return reply
