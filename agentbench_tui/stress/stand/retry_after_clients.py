"""Clients that respect Retry-After, running in parallel to a load that does not.

Whether a server keeps its own Retry-After shows when a client comes back after waiting. During an
overload, other requests take all capacity, so only clients that come back afterwards count.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from agentbench_tui.model.answer import AgentFailure, Case, FailureKind, Request
from agentbench_tui.model.clock import perf_counter
from agentbench_tui.model.identity import derive_seed

if TYPE_CHECKING:
    from agentbench_tui.model.answer import Agent

CLIENTS = 8
PAUSE_S = 1.0
"""Between an answer and a client's next request, so that they hardly add to the load."""
UNTOLD_S = 1.0
"""Wait after a refusal without Retry-After; doubled after each further one."""
LONGEST_UNTOLD_S = 30.0
TIME_LIMIT_S = 10.0
"""Time limit of one request."""
MOST_TRIES = 100_000
"""Kept in the log; further ones are made and not kept."""
PROMPT = "Say yes."

Outcome = Literal["served", "refused", "failed"]


class Try(NamedTuple):
    """One request of one client."""

    at_s: float
    """When it was sent, since the clients began."""
    outcome: Outcome
    """`refused`: with 429. `failed`: anything else that is no answer."""
    told_s: float | None = None
    """Retry-After of a refusal."""
    waited_s: float | None = None
    """Time that this client waited before this request because of a Retry-After."""


class PoliteCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Counts of attempts in a stretch of time."""

    tries: int
    served: int
    refused: int
    failed: int
    told: int
    """Number of refusals with a readable Retry-After."""
    longest_told_s: float | None
    waited: int
    """Attempts after waiting for Retry-After."""
    served_after_wait: int
    refused_after_wait: int
    """The rest of `waited` failed otherwise."""


def count(tries: Iterable[Try]) -> PoliteCounts:
    """Count the results."""
    all_tries = list(tries)
    refused = [one for one in all_tries if one.outcome == "refused"]
    told = [one.told_s for one in refused if one.told_s is not None]
    waited = [one for one in all_tries if one.waited_s is not None]
    return PoliteCounts(
        tries=len(all_tries),
        served=sum(one.outcome == "served" for one in all_tries),
        refused=len(refused),
        failed=sum(one.outcome == "failed" for one in all_tries),
        told=len(told),
        longest_told_s=max(told, default=None),
        waited=len(waited),
        served_after_wait=sum(one.outcome == "served" for one in waited),
        refused_after_wait=sum(one.outcome == "refused" for one in waited),
    )


class PoliteClients:
    """Counts of these clients so far."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._began = clock()
        self.tries: list[Try] = []
        """In the order in which they ended."""

    @property
    def now_s(self) -> float:
        """Return the seconds since the clients began."""
        return self._clock() - self._began

    def counts(self, from_s: float = 0.0, to_s: float = math.inf) -> PoliteCounts:
        """Return the counts of attempts sent in `from_s` … `to_s`."""
        return count(one for one in self.tries if from_s <= one.at_s < to_s)

    def keep(self, one: Try) -> None:
        """Add to the log, while it has room."""
        if len(self.tries) < MOST_TRIES:
            self.tries.append(one)


@asynccontextmanager
async def polite_clients(
    agent: Agent,
    *,
    clients: int = CLIENTS,
    pause_s: float = PAUSE_S,
    seed: int = 0,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    clock: Callable[[], float] = perf_counter,
) -> AsyncIterator[PoliteClients]:
    """Run clients of a started agent until the block ends; none is left afterwards.

    Each sends one request after another. After a refusal with Retry-After it waits that long (at
    least its pause) and tries again; after one without, 1 s, 2 s, … 30 s.
    """
    log = PoliteClients(clock)
    asking = [
        asyncio.create_task(_ask_on(agent, log, number, pause_s, seed, sleep))
        for number in range(clients)
    ]
    try:
        yield log
    finally:
        for task in asking:
            task.cancel()
        ended = await asyncio.gather(*asking, return_exceptions=True)
    broken = next((one for one in ended if isinstance(one, Exception)), None)
    if broken is not None:
        raise broken


async def _ask_on(
    agent: Agent,
    log: PoliteClients,
    client: int,
    pause_s: float,
    seed: int,
    sleep: Callable[[float], Awaitable[None]],
) -> None:
    number, untold_s = 0, UNTOLD_S
    waited: float | None = None
    await sleep(pause_s * client / CLIENTS)  # not all at once
    while True:
        asked = Request(
            Case(f"polite-{client}", PROMPT),
            derive_seed(seed, "polite", client, number),
            time_limit_s=TIME_LIMIT_S,
        )
        number += 1
        at_s = log.now_s
        outcome, told_s = await _ask(agent, asked)
        log.keep(Try(at_s, outcome, told_s, waited))
        waited = None
        if outcome != "refused":
            untold_s = UNTOLD_S
            await sleep(pause_s)
        elif told_s is None:
            await sleep(untold_s)
            untold_s = min(2 * untold_s, LONGEST_UNTOLD_S)
        else:
            waited = max(told_s, pause_s)
            await sleep(waited)


async def _ask(agent: Agent, asked: Request) -> tuple[Outcome, float | None]:
    try:
        async with asyncio.timeout(TIME_LIMIT_S):
            await agent.answer(asked)
    except AgentFailure as failure:
        if failure.kind is FailureKind.RATE_LIMITED:
            return "refused", failure.retry_after_s
        return "failed", None
    except TimeoutError:
        return "failed", None
    return "served", None
