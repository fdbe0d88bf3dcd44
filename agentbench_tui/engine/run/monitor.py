"""Background tasks of a run: writing the live view once a second, and answering control requests.

Viewers never communicate with a run directly; they read these rows, and append control requests
that the run polls.
"""

from __future__ import annotations

import asyncio
import re
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.analysis.histogram import Histogram
from agentbench_tui.model.clock import perf_counter, unix_time
from agentbench_tui.model.errors import StoreError
from agentbench_tui.store.database import data_version, reading
from agentbench_tui.store.queries.control_requests import open_control_requests
from agentbench_tui.store.writes.control_requests import answer_control_request
from agentbench_tui.store.writes.live import (
    LiveRow,
    TickRow,
    add_tick,
    set_live,
)

if TYPE_CHECKING:
    from agentbench_tui.engine.run.context import RunContext
    from agentbench_tui.engine.run.stopping import Progress

TICK_S = 1.0
POLL_S = 0.05


class _Seen:
    """How much of an execution's progress the last tick included."""

    def __init__(self) -> None:
        self.observed = self.answered = self.correct = self.tokens = self.streamed = 0
        self.cost_usd = 0.0


async def write_ticks(context: RunContext) -> None:
    """Once a second: a live row per open execution, a tick per execution that moved.

    The last tick is written when it is canceled, so that all ticks together tell everything.
    Ends the run when the store can no longer be written, and raises StoreError: a load would go
    on asking, and paying, to the end of its window.
    """
    seen: dict[int, _Seen] = {}
    try:
        while True:
            due = perf_counter() + TICK_S
            await asyncio.sleep(TICK_S)
            context.writer.check()
            write_tick(context, seen, 1e3 * (perf_counter() - due))
    except StoreError:
        context.stop.request("the store can no longer be written")
        context.may_ask.set()  # a paused run ends as well
        raise
    finally:
        write_tick(context, seen)


def write_tick(context: RunContext, seen: dict[int, _Seen], lag_ms: float | None = None) -> None:
    """Write one round of live rows and ticks; `seen` is what earlier rounds included.

    `lag_ms` is the delay of the event loop.
    """
    now = unix_time()
    of_run = {
        "paused": not context.may_ask.is_set(),
        "lag_ms": lag_ms,
        "cost_usd": context.budget.cost_usd,
        "tokens": context.budget.tokens,
    }
    for key, ongoing in context.active.items():
        state = {**ongoing.state(), **of_run}
        text = msgspec.json.encode(state).decode()
        set_live(context.writer, LiveRow(key, context.run_key, now, text))
    for key, progress in context.progress.items():
        before = seen.setdefault(key, _Seen())
        if progress.observed > before.observed:
            add_tick(context.writer, _tick(context.run_key, key, now, progress, before))


def _tick(run_key: int, key: int, now: float, progress: Progress, before: _Seen) -> TickRow:
    histogram = Histogram()
    for value in progress.e2e_ms[before.answered : progress.answered]:
        histogram.record(value)
    streamed = Histogram(progress.ttft_ms[before.streamed :])
    row = TickRow(
        run_key,
        key,
        now,
        progress.observed - before.observed,
        progress.answered - before.answered,
        progress.correct - before.correct,
        progress.tokens - before.tokens,
        progress.cost_usd - before.cost_usd,
        histogram.to_bytes(),
        streamed.to_bytes() if len(streamed) else None,
    )
    before.streamed = len(progress.ttft_ms)
    before.observed, before.answered = progress.observed, progress.answered
    before.correct, before.tokens = progress.correct, progress.tokens
    before.cost_usd = progress.cost_usd
    return row


async def answer_wishes(context: RunContext, since: float) -> None:
    """Poll for control requests and execute them.

    Those made before `since` (the lease) are ignored.
    """
    last = 0
    with reading(context.database) as connection:
        version = -1
        while True:
            await asyncio.sleep(POLL_S)
            newest = data_version(connection)
            if newest == version:
                continue
            version = newest
            for request in open_control_requests(connection, context.run_key, last):
                last = request.seq
                stale = request.at < since
                answer = (
                    "ignored: made before this process took the run"
                    if stale
                    else carry_out_wish(context, request.wish, request.argument)
                )
                context.writer.submit(partial(answer_control_request, seq=last, answer=answer))


def carry_out_wish(context: RunContext, wish: str, argument: str | None) -> str:
    """Execute a control request; return what was done, in words."""
    if wish == "stop":
        context.stop.request("stopped on request", interrupted=True)
        context.may_ask.set()
        return "stopping; waiting for in-flight requests"
    if wish == "pause":
        for ongoing in context.active.values():
            if (reason := ongoing.pause()) is not None:
                return f"refused: {reason}"
        context.may_ask.clear()
        return "paused"
    if wish == "resume":
        context.may_ask.set()
        return "resumed"
    if wish == "mark":
        return f"marked: {argument or ''}"
    if wish == "concurrency":
        return _set_concurrency(context, argument or "")
    if wish == "rate":
        return _set_rate(context, argument or "")
    if wish == "cancel":
        return _cancel_case(context, argument or "")
    return f"refused: no control request '{wish}' with argument {argument!r}"


def _set_concurrency(context: RunContext, argument: str) -> str:
    wanted = int(argument) if re.fullmatch("[0-9]{1,9}", argument) else 0
    if not wanted:
        return f"refused: a concurrency is a whole number from 1 on, not {argument[:40]!r}"
    for ongoing in context.active.values():
        if (reason := ongoing.resize(wanted)) is not None:
            return f"refused: {reason}"
    context.most_in_flight = wanted
    if any(ongoing.state().get("users") for ongoing in context.active.values()):
        return f"{argument} users from now on, in this window"
    return f"at most {argument} in flight, and no more than the benchmark's own concurrency"


def _set_rate(context: RunContext, argument: str) -> str:
    try:
        factor = float(argument)
    except ValueError:
        return f"refused: expected a multiple of the planned rate such as 1.25, not {argument!r}"
    if not context.active:
        return "refused: nothing is running now"
    for ongoing in context.active.values():
        if (reason := ongoing.set_rate(factor)) is not None:
            return f"refused: {reason}"
    return f"{factor:g} times the plan's rate from now on, in this window"


def _cancel_case(context: RunContext, case_id: str) -> str:
    canceled = sum(ongoing.cancel(case_id) for ongoing in context.active.values())
    return f"canceled {canceled} of case {case_id}"
