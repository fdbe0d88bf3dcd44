"""Clients that wait as told: what they send, when, and what is counted of it."""

import asyncio
from collections import deque
from typing import Any, cast

import pytest
from faulty_process import faulty

from agentbench_tui.agents.registry import open_agent
from agentbench_tui.model.agent import AgentSpec
from agentbench_tui.model.answer import Agent, AgentFailure, Answer, FailureKind, Request
from agentbench_tui.stress.stand.retry_after_clients import (
    MOST_TRIES,
    PoliteClients,
    Try,
    count,
    polite_clients,
)


class Scripted:
    """An agent and a clock: gives what it is told to, and lets time pass at once."""

    def __init__(self, *replies: str | float | None) -> None:
        """A number refuses with that Retry-After, None without; text is served or fails so."""
        self._replies = deque(replies)
        self.over = asyncio.Event()
        self.slept: list[float] = []
        self.now = 0.0

    async def answer(self, request: Request) -> Answer:
        self.now += 0.25
        if not self._replies:
            self.over.set()
            await asyncio.Event().wait()
        reply = self._replies.popleft()
        if reply == "served":
            return Answer("yes")
        if isinstance(reply, str):
            raise AgentFailure(FailureKind(reply), "as told")
        raise AgentFailure(FailureKind.RATE_LIMITED, "429", retry_after_s=reply)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


async def asked(*replies: str | float | None) -> tuple[PoliteClients, list[float]]:
    """One client, until the replies are used up."""
    scripted = Scripted(*replies)
    async with polite_clients(
        cast(Agent, scripted),
        clients=1,
        pause_s=0.5,
        sleep=scripted.sleep,
        clock=lambda: scripted.now,
    ) as clients:
        await scripted.over.wait()
    return clients, scripted.slept


async def test_waits_as_told_and_tells_who_was_served_then() -> None:
    clients, slept = await asked("served", 3.0, "served", 2.0, 7.0, "served", "timeout")
    assert slept == [0.0, 0.5, 3.0, 0.5, 2.0, 7.0, 0.5, 0.5]
    found = clients.counts()
    assert (found.tries, found.served, found.refused, found.failed) == (7, 3, 3, 1)
    assert (found.told, found.longest_told_s) == (3, 7.0)
    assert (found.waited, found.served_after_wait, found.refused_after_wait) == (3, 2, 1)


async def test_waits_ever_longer_when_nothing_is_told() -> None:
    clients, slept = await asked(*[None] * 7, "served", None, "served")
    assert slept == [0.0, 1, 2, 4, 8, 16, 30, 30, 0.5, 1, 0.5]
    found = clients.counts()
    assert (found.refused, found.told, found.waited) == (8, 0, 0)
    assert found.longest_told_s is None


async def test_counts_a_stretch_of_time_by_when_requests_were_sent() -> None:
    # Each answer takes 0.25 s: sent at 0, 0.75, 2.0 and 2.75.
    clients, _ = await asked("served", 1.0, "served", "connection")
    assert [one.at_s for one in clients.tries] == [0.0, 0.75, 2.0, 2.75]
    assert clients.counts(0.75, 2.75) == count(
        [Try(0.75, "refused", 1.0), Try(2.0, "served", None, 1.0)]
    )
    assert clients.counts(2.75).failed == 1


async def test_the_log_is_bounded() -> None:
    clients = PoliteClients(lambda: 0.0)
    for _ in range(MOST_TRIES + 10):
        clients.keep(Try(0.0, "served"))
    assert len(clients.tries) == MOST_TRIES


async def test_a_server_that_refuses_whoever_waited_is_seen() -> None:
    with faulty("ignores_retry_after", slots=1, queue=0, retry_after_s=0) as server:
        spec = AgentSpec("faulty", "1", server.target)
        agent: Any = open_agent(spec, memory_limit_mb=None, concurrency=4)
        await agent.start()
        try:
            async with (
                polite_clients(agent, clients=4, pause_s=0.01) as clients,
                asyncio.timeout(60),
            ):
                while clients.counts().waited < 4:  # noqa: ASYNC110 - nobody says when
                    await asyncio.sleep(0.01)
        finally:
            await agent.close()
    found = clients.counts()
    assert found.longest_told_s == 0.0
    assert (found.refused_after_wait, found.served_after_wait) == (found.waited, 0)


async def test_when_one_client_breaks_none_goes_on() -> None:
    class Broken(Scripted):
        async def answer(self, request: Request) -> Answer:
            if request.case.id == "polite-0":
                raise ZeroDivisionError("a fault of ours")
            self.over.set()
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0)
                gone.append(request.case.id)
            raise AssertionError

    gone: list[str] = []
    broken = Broken()
    with pytest.raises(ZeroDivisionError, match="a fault of ours"):
        async with polite_clients(
            cast(Agent, broken), clients=3, sleep=broken.sleep, clock=lambda: 0.0
        ):
            await broken.over.wait()
    assert sorted(gone) == ["polite-1", "polite-2"]
