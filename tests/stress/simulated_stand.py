"""A stand whose target is the server of `faulty_server`, simulated: minutes pass in milliseconds.

Same behaviors, same figures; only time, chance and the wire are made up. What is left of one
window, such as a backlog, is there in the next.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import cast

import numpy as np
from faulty_server import Behavior

from agentbench_tui.load.schedule.arrivals import offsets_ns
from agentbench_tui.stress.advice.advice import advise
from agentbench_tui.stress.catalog import Scenario
from agentbench_tui.stress.report import ScenarioReport, WindowFacts
from agentbench_tui.stress.reporter import Reporter
from agentbench_tui.stress.spec import StressSpec
from agentbench_tui.stress.stand.measured import Measured
from agentbench_tui.stress.stand.normal import measure_normal
from agentbench_tui.stress.stand.stand import Stand
from agentbench_tui.stress.stand.window_plan import WindowPlan

DRAIN_S = 2.0
_TURN_S = 0.1


@dataclass(eq=False)
class _Asked:
    """A request, from its client's side."""

    due: float
    user: int | None
    tokens: int
    end: float | None = None
    failure: str | None = None
    done: bool = False


class SimulatedStand:
    """Stands in for `stress.stand.stand.Stand`."""

    proxy: object | None = None
    no_proxy = "simulated"
    simulated = True
    url = None
    scheme = "openai"
    agent: object | None = None
    owned = None
    inside = False

    def __init__(
        self,
        behavior: Behavior,
        *,
        most_users: int = 100,
        noise: float = 0.05,
        time_limit_s: float = 5.0,
        cores: float | None = None,
        ms_per_1000_tokens: float = 0.0,
        wire_s: float = 0.001,
        refusal_s: float = 0.02,
        seed: int = 1,
    ) -> None:
        """`noise`: coefficient of variation of service. `cores`: CPU when all slots are busy.

        `wire_s`: there and back; `refusal_s`: the same of what is refused, so that users of a
        closed loop ask again no sooner.
        """
        self._do = behavior
        self._random = np.random.default_rng(seed)
        self._sigma = math.sqrt(math.log1p(noise**2))
        self.time_limit_s = time_limit_s
        self.most_users = most_users
        self.pace_ms: float | None = None
        self._wire_s, self._refusal_s = wire_s, refusal_s
        self._cores = cores
        self._ms_per_1000 = ms_per_1000_tokens
        self._now = 0.0
        self._order = itertools.count()
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._serving = 0
        self._waiting: deque[_Asked] = deque()
        self._hurt, self._banned_until = 1.0, 0.0
        self._leaked_kb = 0
        self._busy_s = 0.0
        self._again: Callable[[int], None] | None = None
        self.every_second: Callable[[float], None] = lambda _: None
        """Called as time passes."""
        self._next_second = 1.0
        self._memory: list[tuple[float, float]] = []
        self.held: list[tuple[WindowPlan, str]] = []
        """Every window, in order."""

    def keep_limits(self, p95_ms: float) -> None:
        """See `Stand.keep_limits`: the time limit of the simulation stays as it is."""

    async def hold(self, course: WindowPlan, *, phase: str) -> Measured:
        """See `Stand.hold`."""
        self.held.append((course, phase))
        start, end = self._now, self._now + course.length_s
        most = math.inf if course.requests is None else course.requests
        limit_s = self.time_limit_s if course.time_limit_s is None else course.time_limit_s
        asked: list[_Asked] = []
        tokens = course.input_tokens or 50
        busy_before = self._busy_s

        def ask(due: float, user: int | None = None) -> None:
            nonlocal end
            if len(asked) >= most:
                end = min(end, due)
                return
            one = _Asked(due, user, tokens)
            asked.append(one)
            self._at(due, lambda: self._arrives(one, limit_s))

        def again(user: int) -> None:
            if self._now < end:
                ask(self._now, user)

        self._again = again
        if course.users is not None:
            for user in range(course.users):
                ask(start, user)
        else:
            assert course.arrivals is not None
            duration_ns = round(course.length_s * 1e9)
            seed = int(self._random.integers(1 << 30))
            for offset in offsets_ns(course.arrivals, seed, duration_ns=duration_ns):
                ask(start + offset / 1e9)
        while self._now < end:
            self._run(min(self._now + _TURN_S, end))
        cores = None
        if self._cores is not None:
            busy = (self._busy_s - busy_before) / (end - start) / self._do.slots
            cores = self._cores * min(1.0, busy)
        drain_s = DRAIN_S if course.drain_s is None else course.drain_s
        while self._now < end + drain_s and any(not one.done for one in asked):
            self._run(min(self._now + _TURN_S, end + drain_s))
        self._again = None
        return self._measured(asked, course, phase, start, end, cores)

    async def idle(self, limit_s: float | None = None) -> bool:
        """See `Stand.idle`."""
        end = self._now + (30.0 if limit_s is None else limit_s)
        while self._now < end and (self._serving or self._waiting):
            self._run(min(self._now + _TURN_S, end))
        at_rest = not self._serving and not self._waiting
        return at_rest and self._hurt == 1 and self._now >= self._banned_until

    @property
    def roots(self) -> tuple[int, ...]:
        """See `Stand.roots`."""
        return ()

    def memory_mb(self) -> float:
        """See `Stand.memory_mb`."""
        return 40 + self._leaked_kb * 1.024 / 1e3

    @property
    def refuses(self) -> bool:
        """Whether who comes now is sent away."""
        full = self._serving >= self._do.slots and len(self._waiting) >= self._do.queue
        return full or self._now < self._banned_until

    @property
    def now_s(self) -> float:
        """On the simulation's clock."""
        return self._now

    def _run(self, until: float) -> None:
        while self._next_second <= until:
            self.every_second(self._next_second)
            self._memory.append((self._next_second, self.memory_mb()))
            self._next_second += 1.0
        while self._events and self._events[0][0] <= until:
            self._now, _, event = heapq.heappop(self._events)
            event()
        self._now = max(self._now, until)

    def _at(self, time: float, event: Callable[[], None]) -> None:
        heapq.heappush(self._events, (time, next(self._order), event))

    def _arrives(self, one: _Asked, limit_s: float) -> None:
        do = self._do
        self._at(one.due + limit_s, lambda: self._gives_up(one))
        if do.most_tokens is not None and one.tokens > do.most_tokens:
            if do.long != "hang":
                self._ends(one, "server" if do.long == "refuse" else "connection")
        elif self._now < self._banned_until:
            self._ends(one, "rate_limited")
        elif do.rate is not None or self._serving < do.slots:
            self._begins(one)
        elif len(self._waiting) < do.queue:
            self._waiting.append(one)
        else:
            self._hurt = do.hurt
            if do.ban_s:
                self._banned_until = self._now + do.ban_s
            self._ends(one, "rate_limited" if do.shed == "429" else "connection")

    def _begins(self, one: _Asked) -> None:
        do = self._do
        self._serving += 1
        if do.rate is not None:
            others = self._serving - 1
            lost = do.contention * others + do.coherency * self._serving * others
            service = (1 + lost) / do.rate
        else:
            service = do.service_ms / 1e3 * self._hurt * (1 + do.thrash * len(self._waiting))
        service += one.tokens * self._ms_per_1000 / 1e6
        service *= float(self._random.lognormal(-(self._sigma**2) / 2, self._sigma))
        self._busy_s += service
        self._at(self._now + service, lambda: self._served(one))

    def _served(self, one: _Asked) -> None:
        self._serving -= 1
        self._leaked_kb += self._do.leak_kb
        self._ends(one, None)
        while self._waiting and self._serving < self._do.slots:
            following = self._waiting.popleft()
            if not following.done or self._do.serves_gone:
                self._begins(following)

    def _gives_up(self, one: _Asked) -> None:
        self._ends(one, "timeout")

    def _ends(self, one: _Asked, failure: str | None) -> None:
        if one.done:
            return
        wire_s = self._wire_s if failure is None else self._refusal_s
        one.done, one.failure, one.end = True, failure, self._now + wire_s
        if one.user is not None and self._again is not None:
            again, user = self._again, one.user
            self._at(one.end, lambda: again(user))

    def _measured(
        self,
        asked: list[_Asked],
        course: WindowPlan,
        phase: str,
        start: float,
        end: float,
        cores: float | None,
    ) -> Measured:
        asked.sort(key=lambda one: one.due)
        ok = np.array([one.done and one.failure is None for one in asked], dtype=bool)
        due = np.array([one.due for one in asked], dtype=float) - start
        ends = np.array([np.nan if one.end is None else one.end for one in asked]) - start
        failures = Counter(one.failure for one in asked if one.failure is not None)
        unfinished = sum(not one.done for one in asked)
        if unfinished:
            failures["timeout"] += unfinished
        for one in asked:
            one.done = True  # whoever asked has gone
        expected = course.asked
        return Measured(
            phase=phase,
            repeat=len(self.held) - 1,
            asked_per_s=None if expected is None else expected / course.length_s,
            users=course.users,
            length_s=end - start,
            due_s=due,
            ok=ok,
            e2e_ms=np.where(ok, 1e3 * (ends - due), np.nan),
            end_s=ends,
            failures=dict(failures),
            kinds=np.array(
                [
                    "" if one.end is not None and not one.failure else one.failure or "timeout"
                    for one in asked
                ],
                dtype=np.str_,
            ),
            memory_mb=tuple((at - start, held) for at, held in self._memory if start <= at <= end),
            cpu_share=cores,
        )


class Kept:
    """Stands in for `stress.reporter.Reporter`: keeps the report in memory."""

    def __init__(self, scenario: Scenario) -> None:
        self.report = ScenarioReport(scenario=scenario)

    async def window(self, facts: WindowFacts) -> None:
        """See `Reporter.window`."""
        self.report.windows.append(facts)

    async def save(self) -> None:
        """See `Reporter.save`."""


async def simulated(scenario: Scenario, stand: SimulatedStand, **given: object) -> ScenarioReport:
    """Normal load, then the scenario, with its advice, as `stress.kind` does it."""
    module = import_module(f"agentbench_tui.stress.scenarios.{scenario}")
    spec = StressSpec.model_validate({"scenario": scenario, **given})
    stand.most_users = min(stand.most_users, spec.most_concurrency)
    kept = Kept(scenario)
    on, reporter = cast(Stand, stand), cast(Reporter, kept)
    normal = await measure_normal(on, spec, reporter)
    await module.run(on, spec, normal, reporter)
    kept.report.advice = advise([kept.report])
    return kept.report
