"""Memory pressure: the target's memory with more users, and its behavior when memory is short.

First it measures memory at one number of users after another, and how much is released afterwards.
Then normal load runs while ballast takes memory from the machine, and under a limit for the
target's own memory. The score covers the requests at normal load: under ballast, and after each
kind of pressure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.model.clock import perf_counter
from agentbench_tui.stress.faults.ballast import Ballast
from agentbench_tui.stress.faults.host_memory import BYTES_PER_MB, oom_kills, read_host_memory
from agentbench_tui.stress.report import RecoveryFacts
from agentbench_tui.stress.reporter import facts_of
from agentbench_tui.stress.score import score_of
from agentbench_tui.stress.stand.ownership import is_here, why_not_ours, why_unseen
from agentbench_tui.stress.stand.window_plan import WindowPlan

if TYPE_CHECKING:
    from agentbench_tui.stress.report import ScenarioReport
    from agentbench_tui.stress.reporter import Reporter
    from agentbench_tui.stress.spec import StressSpec
    from agentbench_tui.stress.stand.measured import Measured
    from agentbench_tui.stress.stand.normal import Normal
    from agentbench_tui.stress.stand.served import Owned
    from agentbench_tui.stress.stand.stand import Stand

MOST_UNASKED_BALLAST_MB = 2048.0
LEAST_BALLAST_MB = 64.0
"""Less is no pressure on any machine."""
UNASKED_SHARE = 0.5
"""Default share of the available memory to take."""
LEAST_EACH_MB = 0.001
"""Memory per user below which nothing is reported."""
LEAST_GROWTH_MB = 10.0
"""From normal load to most users, without which no limit can lie between."""
_OTHER_WINDOWS = 6
"""Windows other than those of the levels: normal load, after it, ballast and limit, each with
its recovery.
"""
NOT_HERE = "the target runs on another machine: memory taken here would slow the senders alone"


async def run(stand: Stand, spec: StressSpec, normal: Normal, reporter: Reporter) -> None:
    """Fill observations, recoveries and score."""
    pressure = _Pressure(stand, spec, normal, reporter)
    await pressure.by_users()
    await pressure.by_ballast()
    await pressure.by_limit()


@dataclass
class _Pressure:
    """All kinds of memory pressure on one target."""

    stand: Stand
    spec: StressSpec
    normal: Normal
    reporter: Reporter
    scored: list[Measured] = field(default_factory=list)
    levels: dict[int, float] = field(default_factory=dict)
    """Users → MB."""

    def __post_init__(self) -> None:
        self.rate = min(self.normal.rate, self.spec.most_rate)
        self.users = levels_of(self.normal.concurrency, self.spec.multiple, self.stand.most_users)
        self.window_s = self.spec.length_s / (len(self.users) + _OTHER_WINDOWS)

    @property
    def report(self) -> ScenarioReport:
        return self.reporter.report

    async def by_users(self) -> None:
        """Measure memory at each level of concurrency, before and after."""
        before = memory_of(await self._at_normal("normal", scored=False))
        for users in self.users:
            measured = await self._hold(WindowPlan(self.window_s, users=users), "users")
            held = memory_of(measured)
            if held is not None:
                self.levels[users] = held
        if not await self.stand.idle():
            self.report.observations["idle_after_users"] = False
        after = memory_of(await self._at_normal("recovery"))
        if before is None or after is None or not self.levels:
            self.report.missing["memory"] = why_unseen(self.stand)
        else:
            self.report.observations |= memory_facts(before, self.levels, after)
        await self.reporter.save()

    async def by_ballast(self) -> None:
        """Hold normal load while the machine has little free memory."""
        if not is_here(self.stand):
            self.report.missing["ballast"] = NOT_HERE
            return
        memory = read_host_memory()
        possible_mb = (memory.available_bytes - memory.floor_bytes) / BYTES_PER_MB
        wanted_mb = self.spec.ballast_mb or min(
            MOST_UNASKED_BALLAST_MB, UNASKED_SHARE * possible_mb
        )
        if min(wanted_mb, possible_mb) < LEAST_BALLAST_MB:
            self.report.missing["ballast"] = (
                f"{max(0.0, possible_mb):.0f} MB may be taken, {wanted_mb:.0f} MB would be:"
                f" no pressure below {LEAST_BALLAST_MB:g} MB, and"
                f" {memory.floor_bytes / BYTES_PER_MB:.0f} MB are always left"
            )
            return
        async with Ballast() as ballast:
            held = await ballast.hold(wanted_mb)
            self.report.observations |= {
                "ballast_mb": held.held_mb,
                "left_beside_ballast_mb": held.available_mb,
            }
            kills = oom_kills()
            course = WindowPlan(self.window_s, rate=self.rate, may_die=self.stand.owned is not None)
            await self._hold(course, "ballast", scored=True)
            if ballast.now.held_bytes < held.held_bytes:
                self.report.observations["ballast_mb_at_end"] = ballast.now.held_mb
        owned = self.stand.owned
        if owned is not None and not owned.pids:
            killed = kills is not None and kills != oom_kills()
            why = "by the kernel, out of memory" if killed else "nobody says why"
            self.report.observations["ended_under_ballast"] = why
            await self._start_again(owned, "ballast", f"ended under ballast ({why})")
        await self._at_normal("recovery")

    async def by_limit(self) -> None:
        """Hold the most users under a limit on the target's memory, and watch the recovery."""
        reason, owned = why_not_ours(self.stand), self.stand.owned
        if reason is not None:
            self.report.missing["memory limit"] = reason
        elif owned is None:
            self._programs_limit()
        else:
            limit_mb = self.spec.memory_limit_mb or limit_between(self.levels)
            if limit_mb is None:
                self.report.missing["memory limit"] = (
                    "its memory hardly grows with users, so that no limit lies between: say one"
                    " with `memory_limit_mb`"
                )
            else:
                await self._limited(owned, limit_mb)
        await self.reporter.save()

    def _programs_limit(self) -> None:
        """Apply the limit to programs from their start."""
        if self.spec.memory_limit_mb is None:
            self.report.missing["memory limit"] = (
                "no `memory_limit_mb` says how much the program may have"
            )
            return
        broken = sum(window.failures.get("limit", 0) for window in self.report.windows)
        self.report.observations |= {
            "memory_limit_mb": self.spec.memory_limit_mb,
            "requests_over_limit": float(broken),
        }

    async def _limited(self, owned: Owned, limit_mb: float) -> None:
        observations = self.report.observations
        observations["memory_limit_mb"] = limit_mb
        owned.limit_memory(limit_mb)
        try:
            course = WindowPlan(self.window_s, users=self.users[-1], may_die=True)
            await self._hold(course, "limit")
            over = owned.over_limit
        finally:
            owned.limit_memory(None)
        observations["killed_by_limit"] = over is not None
        if over is not None:
            observations["over_limit"] = over
            await self._start_again(owned, "memory limit", f"killed when it {over}")
        await self._at_normal("recovery")

    async def _start_again(self, owned: Owned, after: str, what: str) -> None:
        """Restart the server, and record the time until it answers at its unloaded pace. Raises
        AgentFailure.
        """
        began_s = perf_counter()
        await owned.restart()
        back = await self.stand.idle()
        seconds = perf_counter() - began_s
        answered = (
            "answered at its unloaded pace after" if back else "did not answer at that pace within"
        )
        self.report.recoveries.append(
            RecoveryFacts(
                after=after,
                seconds=seconds if back else None,
                known=True,
                watched_s=seconds,
                words=f"{what}; started again, it {answered} {seconds:.3g} s",
            )
        )

    async def _at_normal(self, phase: str, *, scored: bool = True) -> Measured:
        return await self._hold(WindowPlan(self.window_s, rate=self.rate), phase, scored=scored)

    async def _hold(self, course: WindowPlan, phase: str, *, scored: bool = False) -> Measured:
        measured = await self.stand.hold(course, phase=phase)
        if scored:
            self.scored.append(measured)
            self.report.score = score_of(self.scored, self.normal)
        await self.reporter.window(facts_of(measured))
        return measured


def levels_of(normal: int, multiple: float, most: int) -> tuple[int, ...]:
    """Return the numbers of users: doubling from normal to `multiple` times normal, and at most
    `most`.
    """
    top = max(1, min(round(normal * multiple), most))
    levels, users = [], min(max(1, normal), top)
    while users < top:
        levels.append(users)
        users *= 2
    return (*levels, top)


def memory_of(measured: Measured) -> float | None:
    """Return the memory of a window in MB: the median of the samples of its second half; None if
    unknown.
    """
    late = [held for at, held in measured.memory_mb if at >= measured.length_s / 2]
    return median(late) if late else None


def memory_facts(
    before: float, levels: dict[int, float], after: float
) -> dict[str, float | str | bool]:
    """Return the memory in MB for the report: at each level, per user, and how much is released."""
    facts: dict[str, float | str | bool] = {
        f"memory_mb_at_{users}_users": held for users, held in levels.items()
    }
    peak = max(levels.values())
    taken, kept = peak - before, after - before
    words = f"{before:,.3g} MB at normal load, {peak:,.3g} MB at most, {after:,.3g} MB afterwards"
    if len(levels) > 1:
        each = float(np.polyfit(list(levels), list(levels.values()), 1)[0])
        facts["memory_mb_per_user"] = each
        more = f"{each:+.3g} MB" if abs(each) >= LEAST_EACH_MB else "nothing"
        words += f"; {more} for each user more"
    return facts | {
        "memory_before_mb": before,
        "memory_peak_mb": peak,
        "memory_after_mb": after,
        "memory_taken_mb": taken,
        "memory_kept_mb": kept,
        "memory_words": words,
    }


def limit_between(levels: dict[int, float]) -> float | None:
    """Return the midpoint between the least and most memory at any level; None if it hardly
    grew.
    """
    if not levels:
        return None
    least, most = min(levels.values()), max(levels.values())
    return (least + most) / 2 if most - least >= LEAST_GROWTH_MB else None
