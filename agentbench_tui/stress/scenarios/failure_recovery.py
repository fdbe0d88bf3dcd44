"""Failure recovery: normal load while connections, answers or processes fail, one after another.

Each fault has its own window, with the fault in its middle. The score counts what could reach the
target: everything on a slow connection; only the time after the fault if nothing passes, or its
processes are down. Losses during the fault are reported separately. If faults are injected before
the agent's own `upstream`, everything counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agentbench_tui.model.answer import AgentFailure, FailureKind
from agentbench_tui.model.errors import UsageError
from agentbench_tui.stress.faults.failures import (
    BY_PROCESS,
    BY_PROXY,
    KILL,
    NAMES,
    PASSING,
    STOP,
    Ease,
    name_problems,
    needs_http,
)
from agentbench_tui.stress.faults.fault import Fault
from agentbench_tui.stress.faults.process_fault import ProcessFault
from agentbench_tui.stress.reporter import facts_of
from agentbench_tui.stress.stand.outage import Outage, Timeline, score_of_outages
from agentbench_tui.stress.stand.ownership import why_not_ours
from agentbench_tui.stress.stand.window_plan import TimedAction, WindowPlan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.stress.reporter import Reporter
    from agentbench_tui.stress.spec import StressSpec
    from agentbench_tui.stress.stand.normal import Normal
    from agentbench_tui.stress.stand.stand import Stand

_LEAST_TIME_LIMIT_S = 1.0
LEAST_RESTART_S = 5.0
"""That a server is watched for after it was killed."""


async def run(stand: Stand, spec: StressSpec, normal: Normal, reporter: Reporter) -> None:
    """Apply every failure that the target supports; fill score, recoveries and observations.

    Raises UsageError for a name in `faults` that there is not.
    """
    wanted = NAMES if spec.faults is None else tuple(spec.faults)
    problems = name_problems(wanted)
    if problems:
        raise UsageError(problems[0])
    trial = _Trial(stand, spec, normal, reporter)
    possible = []
    for name in wanted:
        reason = trial.impossible(name)
        if reason is None:
            possible.append(name)
        else:
            reporter.report.missing[name] = reason
    if not possible:
        report = reporter.report
        report.status, report.reason = (
            "not applicable",
            "; ".join(dict.fromkeys(report.missing.values())),
        )
        return
    await trial.carry_out(possible)


@dataclass
class _Trial:
    """The failures of one target."""

    stand: Stand
    spec: StressSpec
    normal: Normal
    reporter: Reporter
    outages: list[Outage] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rate = min(self.normal.rate, self.spec.most_rate)
        self.timeline = Timeline.of(self.spec.length_s, self.spec.watched_s, self.normal.piece_s)

    def impossible(self, name: str) -> str | None:
        """Return why the target cannot have this failure; None if it can."""
        if name in BY_PROCESS:
            return why_not_ours(self.stand)
        if self.stand.proxy is None:
            return self.stand.no_proxy
        url = self.spec.upstream or self.stand.url or ""
        if needs_http(name) and not url.startswith("http://"):
            return "requests can be read, and so answered or held up, over plain http:// alone"
        return None

    async def carry_out(self, names: Sequence[str]) -> None:
        """Run a window for each failure, until the target does not recover. Raises AgentFailure if
        it is gone then.
        """
        room_ms = self.normal.limit_p95_ms - self.normal.p95_ms
        ease = Ease(room_ms, await self._bytes_per_s())
        for number, name in enumerate(names):
            self._take(await self._fail(name, ease))
            await self.reporter.window(facts_of(self.outages[-1].measured))
            # One that is not ours to start again is not waited for when it is plainly gone.
            gone = self.stand.owned is None and await self.stand.nobody_listens()
            if not gone and await self._is_back():
                continue
            for left in names[number + 1 :]:
                self.reporter.report.missing[left] = f"it had not come back from {name}"
            if gone or await self.stand.nobody_listens():
                detail = f"no process listens any more at {self.stand.url} since {name}"
                raise AgentFailure(FailureKind.CONNECTION, detail)
            return

    async def _fail(self, name: str, ease: Ease) -> Outage:
        """Run one window, without adding it to the report yet."""
        timeline = self.timeline
        if name in BY_PROXY:
            passes = name in PASSING or self.spec.upstream is not None
            faults = [
                Fault(kind, timeline.begins_s, timeline.ends_s) for kind in BY_PROXY[name](ease)
            ]
            course = self._course(timeline, faults=tuple(faults))
            measured = await self.stand.hold(course, phase=f"fault {name}")
            return Outage(name, measured, timeline, self.normal, passes=passes)
        if name == KILL:
            timeline = self._of_kill()
        async with ProcessFault(lambda: self.stand.roots) as processes:
            course = self._course(timeline, actions=self._actions(name, processes))
            measured = await self.stand.hold(course, phase=f"fault {name}")
        return Outage(name, measured, timeline, self.normal, passes=False)

    def _of_kill(self) -> Timeline:
        """Return the course for a kill: programs are started again with the next request; a
        server needs its real time to start, which no scale shortens.
        """
        given = self.timeline
        if self.stand.owned is None:
            return Timeline(given.piece_s, 0, given.during + given.after)
        after = max(given.after, math.ceil(LEAST_RESTART_S / given.piece_s))
        return Timeline(given.piece_s, given.during, after)

    def _actions(self, name: str, processes: ProcessFault) -> tuple[TimedAction, ...]:
        begins_s, ends_s = self.timeline.begins_s, self.timeline.ends_s
        if name == STOP:
            return (
                TimedAction(begins_s, "SIGSTOP of the target", processes.stop),
                TimedAction(ends_s, "SIGCONT of the target", processes.resume),
            )
        owned = self.stand.owned
        if owned is not None:
            return (
                TimedAction(begins_s, "SIGKILL of the target", owned.kill),
                TimedAction(ends_s, "start of the target", owned.restart),
            )

        async def kill() -> None:
            processes.kill()

        return (TimedAction(begins_s, "SIGKILL of the target", kill),)

    def _course(
        self,
        timeline: Timeline,
        *,
        faults: tuple[Fault, ...] = (),
        actions: tuple[TimedAction, ...] = (),
    ) -> WindowPlan:
        """Return the course of a window whose requests wait as long as the failure lasts, so that
        lost requests are known by its end.
        """
        waiting_s = max(
            self.timeline.ends_s - self.timeline.begins_s,
            2 * self.normal.limit_p95_ms / 1e3,
            _LEAST_TIME_LIMIT_S,
        )
        return WindowPlan(
            timeline.length_s,
            rate=self.rate,
            time_limit_s=waiting_s,
            drain_s=waiting_s,
            faults=faults,
            actions=actions,
            may_die=True,
        )

    def _take(self, outage: Outage) -> None:
        self.outages.append(outage)
        report = self.reporter.report
        report.recoveries.append(outage.recovery())
        report.observations |= outage.observations()
        alone = score_of_outages([outage])
        if alone is not None:
            report.observations[f"{outage.name}_score"] = alone.value
        scored = [one.scored for one in self.outages]
        report.observations |= {
            "scored_requests": sum(one.requests for one in scored),
            "scored_failed": sum(one.failed for one in scored),
        }
        report.score = score_of_outages(self.outages)

    async def _is_back(self) -> bool:
        """Return whether the target can be tested again; restart a server of agentbench if
        necessary.
        """
        if await self.stand.idle():
            return True
        if self.stand.owned is None:
            return False
        await self.stand.owned.restart()
        return await self.stand.idle()

    async def _bytes_per_s(self) -> float:
        """Return the bytes per second from the target to its clients at normal load, from what has
        passed so far.
        """
        if self.stand.proxy is None:
            return 0.0
        counts = await self.stand.proxy.counts()
        return self.rate * counts.to_client_bytes / max(1, counts.requests)
