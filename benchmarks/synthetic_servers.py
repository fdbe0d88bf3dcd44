"""Servers whose breaking point is known, simulated on a clock of their own: nothing is waited for.

Each has a `truth`: by a closed form of queueing theory where there is one. `measure` gives what a
window of a level would have shown: whether each request was answered, how long it took, and how
many answers came within the window.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from agentbench_tui.analysis.load.level_verdict import Limits, judge_level
from agentbench_tui.stress.search.axis import Axis
from agentbench_tui.stress.search.breaking_point import BreakingPoint, Search

Floats = NDArray[np.float64]
Answers = tuple[NDArray[np.bool_], Floats, int]
"""Of the requests due in a window: ok, latency in s; and answers within it."""
SLOTS, SERVICE_S = 8, 0.05
CAPACITY = SLOTS / SERVICE_S
WINDOW_S, WARM_UP_S = 30.0, 5.0
SLO_S = 0.3


def wait_share(rate: float, service_s: float, slots: int) -> float:
    """Erlang's C: the chance to wait in an M/M/c queue."""
    offered, blocked = rate * service_s, 1.0
    for busy in range(1, slots + 1):
        blocked = offered * blocked / (busy + offered * blocked)
    used = offered / slots
    return blocked / (1 - used * (1 - blocked))


def slower_than(limit_s: float, rate: float, service_s: float = SERVICE_S) -> float:
    """P(time in an M/M/8 queue > limit): service plus, with Erlang's C, an exponential wait."""
    waits = wait_share(rate, service_s, SLOTS)
    serving, leaving = 1 / service_s, SLOTS / service_s - rate
    both = serving * math.exp(-leaving * limit_s) - leaving * math.exp(-serving * limit_s)
    return (1 - waits) * math.exp(-serving * limit_s) + waits * both / (serving - leaving)


def lost_share(rate: float, places: int, service_s: float = SERVICE_S) -> float:
    """P(all places taken) in an M/M/8 queue with so many places, those served included."""
    offered = rate * service_s
    weights = [1.0]
    for there in range(1, places + 1):
        weights.append(weights[-1] * offered / min(there, SLOTS))
    return weights[-1] / sum(weights)


def poisson_cdf(most: int, mean: float) -> float:
    """P(count <= most)."""
    return math.fsum(
        math.exp(count * math.log(mean) - mean - math.lgamma(count + 1))
        for count in range(most + 1)
    )


def slower_closed(clients: float, limit_s: float = SLO_S) -> float:
    """P(time > limit): the wait is Erlang of clients - 8 stages, the service exponential."""
    stages, serving, leaving = round(clients) - SLOTS, 1 / SERVICE_S, CAPACITY
    waiting = poisson_cdf(stages - 1, leaving * limit_s)
    tilted = (leaving / (leaving - serving)) ** stages
    served_late = 1 - poisson_cdf(stages - 1, (leaving - serving) * limit_s)
    return waiting + math.exp(-serving * limit_s) * tilted * served_late


def crossing(share_at: Callable[[float], float], limit: float, low: float, high: float) -> float:
    """Where a rising function passes the limit, by bisection."""
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if share_at(middle) < limit else (low, middle)
    return low


@dataclass
class Server:
    """M/M/8 with an unbounded queue, on a clock that measuring and cooling down move on."""

    draw: np.random.Generator
    limits: Limits = field(default_factory=lambda: Limits(0.01, ((0.95, SLO_S),), "s"))
    now_s: float = 0.0
    thrashing: ClassVar[float] = 0.0
    """By which every waiting request slows down service."""
    truth: ClassVar[float] = crossing(lambda rate: slower_than(SLO_S, rate), 0.05, 1, 159.99)
    axis: ClassVar[Axis] = Axis(on="rate", start=16, most=1600, unit="requests/s")

    def arrivals(self, rate: float, seconds: float) -> Floats:
        count = self.draw.poisson(rate * seconds)
        return np.sort(self.draw.uniform(0, seconds, count))

    def service(self, count: int) -> Floats:
        return self.draw.exponential(SERVICE_S, count)

    def places(self) -> float:
        return math.inf

    def cool_down(self) -> None:
        self.now_s += 10

    def window(self, rate: float, seconds: float) -> Answers:
        due = self.arrivals(rate, WARM_UP_S + seconds)
        work = self.service(due.size).tolist()
        free, leaving = [0.0] * SLOTS, []  # when each slot is free; ends of those in the system
        ends = np.full(due.size, np.inf)
        places = self.places()
        for number, at in enumerate(due.tolist()):
            while leaving and leaving[0] <= at:
                heapq.heappop(leaving)
            if len(leaving) >= places:
                continue
            start = max(at, free[0])
            waiting = min(max(0, len(leaving) - SLOTS), 100)
            end = start + work[number] * (1 + self.thrashing * waiting)
            heapq.heapreplace(free, end)
            heapq.heappush(leaving, end)
            ends[number] = end
        self.now_s += WARM_UP_S + seconds
        inside = due >= WARM_UP_S
        last = WARM_UP_S + seconds
        ok = np.isfinite(ends)
        completed = int(np.count_nonzero((ends >= WARM_UP_S) & (ends < last)))
        completed += int(np.count_nonzero(~ok[inside]))  # a refusal is an answer, too
        return ok[inside], np.where(ok, ends - due, 0.0)[inside], completed


class Constant(Server):
    """Arrivals and service like clockwork: breaks at its capacity."""

    truth = CAPACITY

    def arrivals(self, rate: float, seconds: float) -> Floats:
        return np.arange(math.ceil(rate * seconds)) / rate

    def service(self, count: int) -> Floats:
        return np.full(count, SERVICE_S)


class Poisson(Constant):
    """Service like clockwork, arrivals at random: `agentbench mock --slots 8`."""

    def arrivals(self, rate: float, seconds: float) -> Floats:
        return Server.arrivals(self, rate, seconds)


class Shedding(Server):
    """Refuses at once when 16 are there; breaks by errors."""

    truth = crossing(lambda rate: lost_share(rate, 16), 0.01, 1, 1000)

    def places(self) -> float:
        return 16


class Collapsing(Constant):
    """Thrashes: each that waits makes all slower, so that overload halves what it does."""

    thrashing = 0.05


class Noisy(Constant):
    """A neighbor takes half of it in one window of ten, whatever the level."""

    def service(self, count: int) -> Floats:
        slow = 2.0 if self.draw.random() < 0.1 else 1.0
        return np.full(count, slow * SERVICE_S) * self.draw.lognormal(0, 0.2, count)


class Throttled(Constant):
    """Loses a third of its speed for good after 5 minutes."""

    truth = CAPACITY / 1.5

    def service(self, count: int) -> Floats:
        return super().service(count) * (1.5 if self.now_s > 300 else 1.0)


class Metastable(Constant):
    """Stays at half of its speed for good after the first overload."""

    truth = CAPACITY / 2

    hurt = False

    def window(self, rate: float, seconds: float) -> Answers:
        answers = super().window(rate, seconds)
        self.hurt |= rate > 1.1 * CAPACITY
        return answers

    def service(self, count: int) -> Floats:
        return super().service(count) * (2.0 if self.hurt else 1.0)


class Clients(Server):
    """Closed loop: so many clients, each asks again as soon as it is answered."""

    truth = crossing(slower_closed, 0.05, SLOTS + 1, 200)
    axis = Axis(on="concurrency", start=2, most=200, unit="clients")

    def window(self, level: float, seconds: float) -> Answers:
        asking = [0.0] * round(level)
        free = [0.0] * SLOTS
        last = WARM_UP_S + seconds
        due, ends = [], []
        while asking[0] < last:
            at = asking[0]
            end = max(at, free[0]) + float(self.draw.exponential(SERVICE_S))
            heapq.heapreplace(free, end)
            heapq.heapreplace(asking, end)
            due.append(at)
            ends.append(end)
        inside = np.array(due) >= WARM_UP_S
        latency = (np.array(ends) - np.array(due))[inside]
        completed = sum(WARM_UP_S <= end < last for end in ends)
        return np.ones(latency.size, dtype=bool), latency, completed


class Inputs(Server):
    """600 requests of a size in a window; the longer, the likelier an error, steeply."""

    truth = 100_000.0
    axis = Axis(on="input", start=1_000, most=1_000_000, unit="tokens")

    def window(self, level: float, seconds: float) -> Answers:
        error = 1 / (1 + 99 * math.exp(-40 * math.log(level / self.truth)))  # 1% at the truth
        ok = self.draw.random(round(20 * seconds)) >= error
        return ok, np.full(ok.size, 0.1), int(ok.size)


SERVERS: tuple[type[Server], ...] = (
    Server,
    Constant,
    Poisson,
    Shedding,
    Collapsing,
    Noisy,
    Throttled,
    Metastable,
    Clients,
    Inputs,
)


def run(server: Server, search: Search) -> BreakingPoint:
    """Drive a search to its end against a server, extending windows as asked."""
    ok, latency, completed = np.empty(0, dtype=bool), np.empty(0), 0
    while (probe := search.probe) is not None:
        if probe.cool_down:
            server.cool_down()
        if probe.length == 1:
            ok, latency, completed = np.empty(0, dtype=bool), np.empty(0), 0
        more = server.window(probe.level, WINDOW_S)
        ok, latency = np.concatenate([ok, more[0]]), np.concatenate([latency, more[1]])
        completed += more[2]
        search.take(judge_level(ok, latency, completed, server.limits, length=probe.length))
    return search.report()
