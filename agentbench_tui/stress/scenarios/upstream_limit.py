"""Whether an agent respects its upstream's 429, by its requests during the blocked time.

In each block, the proxy in front of the upstream answers every request with 429 and a Retry-After
as long as the block. An agent that waits sends one request in it for each in-flight call (or as
many as its calls send anyway), and none again before the block is over.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.stress.faults.fault import Fault, TooManyRequests
from agentbench_tui.stress.reporter import facts_of
from agentbench_tui.stress.stand.aftermath import watch
from agentbench_tui.stress.stand.window_plan import WindowPlan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.analysis.load.level_verdict import Flags
    from agentbench_tui.stress.reporter import Reporter
    from agentbench_tui.stress.spec import StressSpec
    from agentbench_tui.stress.stand.measured import Measured
    from agentbench_tui.stress.stand.normal import Normal
    from agentbench_tui.stress.stand.stand import Stand

OPEN_FACTOR = 2.0
"""Time between blocks, in lengths of a block: waiting requests are served in it."""
MOST_BLOCKS = 10
WARM_UP_SHARE = 0.25
"""Requests per call that the sender's own warm-up may add to the counted ones."""


async def run(stand: Stand, spec: StressSpec, normal: Normal, reporter: Reporter) -> None:
    """Fill the report. Raises as `Stand.hold` does."""
    report = reporter.report
    proxy = stand.proxy
    if proxy is None:
        report.status = "not applicable"
        report.reason = stand.no_proxy
        return
    before = (await proxy.counts()).requests
    base = await stand.hold(WindowPlan(spec.watched_s, rate=normal.rate), phase="normal")
    await reporter.window(facts_of(base))
    seen = (await proxy.counts()).requests - before
    if not seen:
        report.status = "not applicable"
        report.reason = (
            f"nothing of what the agent did came by {spec.upstream}: it does not read"
            f" {spec.upstream_variable} (`upstream_env`)"
        )
        return
    each = max(1, math.ceil(seen / max(len(base), 1) - WARM_UP_SHARE))
    blocks, course = _blocked(spec, normal.rate)
    blocked = await stand.hold(course, phase="429")
    await reporter.window(facts_of(blocked))
    sent = blocked.applied.get("too_many_requests", 0)
    calls = sum(int(np.count_nonzero(_in_flight(blocked, *block))) for block in blocks)
    met = np.zeros(len(blocked), dtype=np.bool_)
    for block in blocks:
        met |= _in_flight(blocked, *block)
    report.observations |= {
        "retry_after_s": blocks[0][1] - blocks[0][0],
        "blocks": len(blocks),
        "upstream_per_call": seen / max(len(base), 1),
        "upstream_requests_in_block": sent,
        "upstream_allowed_in_block": each * calls,
        "heeds_retry_after": sent <= each * calls,
        "calls_in_block": calls,
        "calls_in_block_answered": int(np.count_nonzero(blocked.ok & met)),
    }
    await watch(
        stand,
        normal,
        reporter,
        stress=blocked,
        after="429 of its upstream",
        watched_s=spec.watched_s,
    )


def _blocked(spec: StressSpec, rate: float) -> tuple[Sequence[tuple[float, float]], WindowPlan]:
    """Return the begin and end of each block, and a window that contains them with unblocked time
    around each.
    """
    block_s = float(spec.retry_after_s)
    period_s = (1 + OPEN_FACTOR) * block_s
    count = min(max(1, int(spec.length_s // period_s)), MOST_BLOCKS)
    blocks = [
        (number * period_s + block_s, number * period_s + 2 * block_s) for number in range(count)
    ]
    kind = TooManyRequests(retry_after_s=spec.retry_after_s)
    faults = tuple(Fault(kind, start_s=start, end_s=end) for start, end in blocks)
    return blocks, WindowPlan(count * period_s, rate=rate, faults=faults, drain_s=period_s)


def _in_flight(measured: Measured, start_s: float, end_s: float) -> Flags:
    """bool[n]: due before the end of the block, and not over before its start."""
    over = np.where(np.isnan(measured.end_s), np.inf, measured.end_s)
    return (measured.due_s <= end_s) & (over >= start_s)
