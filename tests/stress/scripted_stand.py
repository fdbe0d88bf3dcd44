"""A stand that measures nothing: each window is made up from a rule, so that the truth is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from agentbench_tui.analysis.load.level_verdict import Limits
from agentbench_tui.stress.report import ScenarioReport, WindowFacts
from agentbench_tui.stress.reporter import Reporter
from agentbench_tui.stress.stand.measured import Measured
from agentbench_tui.stress.stand.normal import Normal
from agentbench_tui.stress.stand.stand import Stand
from agentbench_tui.stress.stand.window_plan import WindowPlan


@dataclass(frozen=True)
class Answered:
    """What became of the requests of a window; arrays as long as `due_s`."""

    ok: Any
    e2e_ms: Any
    memory_mb: Sequence[tuple[float, float]] = ()


Rule = Callable[[WindowPlan, str, Any], Answered]
"""From a course, its phase and when requests are due to what became of them."""


def even(course: WindowPlan) -> Any:
    """When requests of an open loop are due; of a closed one, ten a second for each user."""
    rate = course.rate if course.rate is not None else 10.0 * (course.users or 1)
    return np.arange(0.5, rate * course.length_s) / rate


def window(
    course: WindowPlan, phase: str, answered: Answered, due_s: Any, repeat: int = 0
) -> Measured:
    ok = np.asarray(answered.ok, dtype=bool)
    e2e_ms = np.where(ok, answered.e2e_ms, np.nan)
    return Measured(
        phase=phase,
        repeat=repeat,
        asked_per_s=course.rate,
        users=course.users,
        length_s=course.length_s,
        due_s=due_s,
        ok=ok,
        e2e_ms=e2e_ms,
        end_s=due_s + np.asarray(answered.e2e_ms) / 1e3,
        failures={} if ok.all() else {"connection": int((~ok).sum())},
        memory_mb=tuple(answered.memory_mb),
    )


@dataclass
class ScriptedStand:
    """Stands in for `stress.stand.stand.Stand`."""

    rule: Rule
    proxy: Any = None
    no_proxy: str = "none here"
    url: str | None = None
    scheme: str = "openai"
    owned: Any = None
    most_users: int = 100
    roots: tuple[int, ...] = ()
    idles: list[bool] = field(default_factory=list)
    """What `idle` says, in turn; then that it is."""
    held: list[tuple[WindowPlan, str]] = field(default_factory=list)
    gone: bool = False
    """Whether nobody listens there any more."""
    acts: bool = False
    """Whether the actions of a course are carried out, in their order."""

    async def hold(self, course: WindowPlan, *, phase: str) -> Measured:
        due_s = even(course)
        self.held.append((course, phase))
        if self.acts:
            for action in sorted(course.actions, key=lambda one: one.at_s):
                await action.act()
        answered = self.rule(course, phase, due_s)
        return window(course, phase, answered, due_s, len(self.held) - 1)

    async def idle(self, limit_s: float | None = None) -> bool:
        return self.idles.pop(0) if self.idles else True

    async def nobody_listens(self) -> bool:
        return self.gone

    @property
    def typed(self) -> Stand:
        return cast(Stand, self)


class Notebook(Reporter):
    """A reporter that keeps nothing."""

    def __init__(self, scenario: Any) -> None:
        self.report = ScenarioReport(scenario=scenario)

    async def window(self, facts: WindowFacts) -> None:
        self.report.windows.append(facts)

    async def save(self) -> None:
        pass


def normal_load(rate: float = 20.0, *, p95_ms: float = 50.0, piece_s: float = 1.0) -> Normal:
    """A target that answers every request in half of `p95_ms`."""
    course = WindowPlan(10 * piece_s, rate=rate)
    due_s = even(course)
    fine = Answered(np.ones(len(due_s)), np.full(len(due_s), p95_ms / 2))
    return Normal(
        rate=rate,
        concurrency=2,
        p50_ms=p95_ms / 2,
        p95_ms=p95_ms,
        capacity=2 * rate,
        limits=Limits(0.01, ((0.95, 3 * p95_ms),), "ms", 0.95),
        limit_p95_ms=3 * p95_ms,
        piece_s=piece_s,
        baseline=window(course, "normal", fine, due_s),
    )
