"""Maximum input length: sizes are doubled and bisected until one is no longer served.

Each size is requested a few dozen times by the normal number of users. Latency that grows with size
is not a failure: a size fails by errors, and by p95 only if the suite limits it. The first failing
size is sent once more, alone, to record the response: a clear refusal (HTTP 400, 413, 414 or 422
with a message) is clean, a timeout or a reset is not. The score uses the longest allowed input, or
the longest accepted one if longer inputs are refused cleanly.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

from agentbench_tui.analysis.load.level_verdict import Limits, requests_needed
from agentbench_tui.load.spec import SyntheticSpec
from agentbench_tui.load.workload.synthetic import make_prompts
from agentbench_tui.model.answer import AgentFailure, Case, FailureKind, Request
from agentbench_tui.stress.reporter import facts_of
from agentbench_tui.stress.search.axis import Axis
from agentbench_tui.stress.search.length_cost import length_cost
from agentbench_tui.stress.search.searching import probe
from agentbench_tui.stress.stand.aftermath import watch
from agentbench_tui.stress.stand.window_plan import WindowPlan

if TYPE_CHECKING:
    from agentbench_tui.model.answer import Agent
    from agentbench_tui.stress.report import ScenarioReport
    from agentbench_tui.stress.reporter import Reporter
    from agentbench_tui.stress.search.breaking_point import BreakingPoint
    from agentbench_tui.stress.spec import StressSpec
    from agentbench_tui.stress.stand.normal import Normal
    from agentbench_tui.stress.stand.stand import Stand

START_TOKENS = 1024
SHORT_TOKENS = (128, 256, 512)
"""Measured in addition to the sizes of the search, for the cost of length."""
ERROR_SHARE = 0.1
"""Error limit for a size: too long inputs fail every time, and long inputs are too expensive to
send hundreds.
"""
WINDOW_SHARE = 0.5
"""Maximum share of the scenario's length for one window; its number of requests ends it earlier."""
SHORT_REQUESTS = 20
SLOWER = 10.0
"""Over the latency that is expected of a size, from which a request is given up."""
_ORDERLY = re.compile(r"HTTP (400|413|414|422) from \S+: \S")


async def run(stand: Stand, spec: StressSpec, normal: Normal, reporter: Reporter) -> None:
    """Fill the report. Raises as `Stand.hold` does."""
    report = reporter.report
    sizes = _Sizes(stand, spec, normal, report)
    report.observations["most_input_tokens"] = spec.most_input_tokens
    for tokens in (one for one in SHORT_TOKENS if one < spec.most_input_tokens):
        short = await stand.hold(sizes.short(tokens), phase="short")
        await reporter.window(facts_of(short, input_tokens=tokens))
    start = min(START_TOKENS, spec.most_input_tokens)
    point = await probe(
        stand,
        Axis(on="input", start=start, most=spec.most_input_tokens, unit="tokens"),
        sizes.limits,
        reporter,
        course_of=sizes.course,
        length_of=lambda _: WINDOW_SHARE * spec.length_s,
        closed=True,
    )
    _tell_cost(report)
    await _tell_break(stand, point, report)
    tokens = _longest_taken(point, report) or spec.most_input_tokens
    stress = await stand.hold(sizes.longest(tokens), phase="stress")
    await reporter.window(facts_of(stress, input_tokens=tokens))
    # Long inputs may take longer than short ones: what counts is that they are answered.
    patient = replace(normal, limit_p95_ms=sizes.limit_ms)
    await watch(
        stand, patient, reporter, stress=stress, after="long inputs", watched_s=spec.watched_s
    )


class _Sizes:
    """The window of each size, from the latency observed so far."""

    def __init__(
        self, stand: Stand, spec: StressSpec, normal: Normal, report: ScenarioReport
    ) -> None:
        self._stand, self._spec, self._normal, self._report = stand, spec, normal, report
        p95_ms = spec.limits.p95_ms
        self.limits = Limits(
            max(ERROR_SHARE, spec.limits.error_share),
            () if p95_ms is None else ((0.95, p95_ms),),
        )
        self._p95_ms = p95_ms
        self._users = min(normal.concurrency, stand.most_users)

    @property
    def limit_ms(self) -> float:
        """Return the latency limit on the longest input: the suite's limit on p95, else the
        timeout.
        """
        if self._p95_ms is not None:
            return self._p95_ms
        return 1e3 * self._time_limit_s(self._spec.most_input_tokens)

    def short(self, tokens: int) -> WindowPlan:
        """Return the window of a small size that certainly passes."""
        return self._course(tokens, WINDOW_SHARE * self._spec.length_s, SHORT_REQUESTS)

    def course(self, tokens: float, seconds: float) -> WindowPlan:
        """Return the course of one probe of the search."""
        return self._course(round(tokens), seconds, requests_needed(self.limits) + self._users)

    def longest(self, tokens: int) -> WindowPlan:
        """Return the window of the longest inputs for the scenario's time, at the rate of normal
        users.
        """
        rate = min(self._normal.rate, 1e3 * self._users / self._expected_ms(tokens))
        time_limit_s = self._time_limit_s(tokens)
        return WindowPlan(
            self._spec.length_s,
            rate=rate,
            input_tokens=tokens,
            time_limit_s=time_limit_s,
            drain_s=time_limit_s,
        )

    def _course(self, tokens: int, seconds: float, requests: int) -> WindowPlan:
        time_limit_s = self._time_limit_s(tokens)
        return WindowPlan(
            seconds,
            users=self._users,
            requests=requests,
            input_tokens=tokens,
            time_limit_s=time_limit_s,
            drain_s=time_limit_s,
        )

    def _time_limit_s(self, tokens: int) -> float:
        return max(self._stand.time_limit_s, SLOWER * self._expected_ms(tokens) / 1e3)

    def _expected_ms(self, tokens: int) -> float:
        """Return the largest expected latency, in proportion to the longest size that was
        answered.
        """
        known = [
            (window.input_tokens, window.p50_ms)
            for window in self._report.windows
            if window.input_tokens is not None
            and window.p50_ms is not None
            and window.input_tokens <= tokens
        ]
        if not known:
            return self._normal.p50_ms
        size, p50_ms = max(known)
        return p50_ms * tokens / size


def _longest_taken(point: BreakingPoint, report: ScenarioReport) -> int | None:
    """Return the longest accepted input of a target that cleanly refuses longer ones, to use in
    the score. None for any other target.
    """
    if report.observations.get("orderly_refusal") is not True or point.passes is None:
        return None
    return round(point.passes)


def _tell_cost(report: ScenarioReport) -> None:
    points = [
        (window.input_tokens, window.p50_ms)
        for window in report.windows
        if window.input_tokens is not None
        and window.p50_ms is not None
        and window.verdict != "fail"
    ]
    cost = length_cost(points)
    if cost is None:
        report.missing["ms_per_1000_tokens"] = "too few sizes were answered to draw a line through"
        return
    report.observations |= {
        "ms_per_1000_tokens": cost.ms,
        "ms_per_1000_tokens_low": cost.low,
        "ms_per_1000_tokens_high": cost.high,
    }


async def _tell_break(stand: Stand, point: BreakingPoint, report: ScenarioReport) -> None:
    """Record the failure at the breaking size, and the target's response."""
    if point.fails is None:
        return
    tokens = round(point.fails)
    failed: Counter[str] = Counter()
    asked = 0
    for window in report.windows:
        if window.input_tokens == tokens and window.verdict == "fail":
            failed.update(window.failures)
            asked += window.requests
    if failed:
        kind, count = failed.most_common(1)[0]
        report.observations["broke_first"] = f"{count:,} of {asked:,} {kind.replace('_', ' ')}"
    if stand.agent is None:
        report.missing["orderly_refusal"] = "the agent accepts no single requests from here"
        return
    try:
        said = await _said_of(stand.agent, tokens, stand.time_limit_s)
    except _Answered:
        report.missing["orderly_refusal"] = "asked alone, an input of that length is answered"
        return
    report.observations["orderly_refusal"] = said is not None and bool(_ORDERLY.match(said))
    if said is not None:
        report.observations["broke_first"] = said


class _Answered(Exception):
    """Raised when the target answers after all."""


async def _said_of(agent: Agent, tokens: int, time_limit_s: float) -> str | None:
    """Return how the target refuses one input of that length; None if it breaks off.

    Raises _Answered if it answers.
    """
    spec = SyntheticSpec(input_tokens=tokens, distinct=1)
    (prompt,) = make_prompts(spec, [tokens], Random(tokens))  # noqa: S311  # no secret
    try:
        async with asyncio.timeout(time_limit_s):
            await agent.answer(Request(Case(f"{tokens}-tokens", prompt), seed=0))
    except AgentFailure as failure:
        return failure.detail if failure.kind is FailureKind.SERVER else None
    except TimeoutError:
        return None
    raise _Answered
