"""Content of the panels of the page Live from a `LiveState`: pure functions, one per panel."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from agentbench_tui.tui.drawing.histogram_data import HistogramData
from agentbench_tui.tui.pages.live.remaining_time import left_s, planned_of
from agentbench_tui.tui.widgets.event_log import LogData, LogLine
from agentbench_tui.tui.widgets.gauge import Gauge, GaugesData
from agentbench_tui.tui.widgets.scrubber import ScrubberData
from agentbench_tui.tui.widgets.sparkline import SparklineData
from agentbench_tui.tui.widgets.status_bar import Status, clock
from agentbench_tui.tui.widgets.time_series import TimeSeriesData

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentbench_tui.store.viewer import Row, Viewer
    from agentbench_tui.tui.pages.live.state import Event, Latency, LiveState
    from agentbench_tui.verdicts.load.reference_ticks import Reference
    from agentbench_tui.verdicts.runs.live_document import LiveDocument

LATENCY_NAMES: Mapping[Latency, str] = {
    "e2e": "end to end",
    "ttft": "to the first token (TTFT)",
    "itl": "between chunks (ITL)",
    "queue": "from due to sent (queueing)",
}
_NO_LATENCY: Mapping[Latency, str] = {
    "e2e": "no answer yet",
    "ttft": "no first token: nothing was streamed, or nothing answered yet",
    "itl": "no gaps between chunks: only loads that stream measure them",
    "queue": "no queueing: only loads have a moment at which a request is due",
}
_NEVER = 9.0
"""Share of all from which a kind of failure is pointed at: the panel points at them all."""
_PERCENTILES = (("p50", 1), ("p95", 59), ("p99", 299))
"""Name, and how many values it needs."""


def status(state: LiveState, now: float) -> Status:
    """Return the line at the top. `now`: seconds since 1970."""
    run = state.run
    going_on = state.is_going_on
    at = now if going_on and not state.is_replay else state.at
    if state.interrupted and not state.is_replay:
        at = state.told_at or state.at  # nobody knows when it ended
    rows = state.executions
    planned = [planned_of(state, row) for row in rows]
    in_flight = [live.get("in_flight", 0) for live in state.live.values()]
    of_run: dict[str, Any] = next(iter(state.live.values()), {})
    began = state.began_at
    simulated = bool(rows) and all(row["simulated"] for row in rows)
    costs = [seen.cost_usd for seen in state.seen.values()]
    # Tokens against a cap count input as well; ticks of a load count output alone.
    capped = state.caps[1] is not None and "tokens" in of_run
    loads = {state.kind_of(row).sends_load for row in rows}
    tokens = None if len(loads) > 1 else sum(seen.tokens for seen in state.seen.values())
    over = sum(state.has_ended(row) for row in rows)
    return Status(
        suite=", ".join(json.loads(run["suite_ids"])),
        state=_state_words(state),
        done=sum(seen.observed for seen in state.seen.values()),
        planned=None if None in planned else sum(one for one in planned if one is not None),
        elapsed_s=None
        if began is None
        else max(0.0, (state.ended_at or at) - began)
        if not state.is_replay
        else state.at - began,
        left_s=left_s(state, at) if going_on else None,
        in_flight=sum(in_flight) if in_flight else None,
        failed=sum(seen.failed for seen in state.seen.values()),
        harness=run.get("verdict") if not going_on else None,
        lag_ms=of_run.get("lag_ms") if going_on else None,
        cost_usd=of_run.get("cost_usd", sum(costs)) or None,
        cap_usd=state.caps[0],
        simulated=simulated,
        place=(min(over + 1, len(rows)) if going_on else over, len(rows)),
        tokens=(of_run["tokens"] if capped else tokens) or None,
        tokens_are="output tokens" if True in loads and not capped else "tokens",
        token_cap=state.caps[1] if capped else None,
    )


def _state_words(state: LiveState) -> str:
    if state.is_replay:
        return "replay"
    if state.interrupted:
        return "interrupted"
    if any(live.get("paused") for live in state.live.values()):
        return "paused"
    stopping = any(row["wish"] == "stop" and row["answered_at"] for row in state.wishes)
    if state.is_going_on and stopping:
        return "stopping"
    return str(state.run["status"])


def focus_of(state: LiveState, chosen: int | None) -> Row | None:
    """Return the execution whose times are shown: the chosen one, else the one with the latest
    data.
    """
    by_key = {row["key"]: row for row in state.executions}
    for key in (chosen, state.newest_key):
        if key in by_key:
            return by_key[key]
    return state.executions[0] if state.executions else None


def is_about(document: LiveDocument | None, row: Row | None) -> bool:
    """Return whether the data belong to the execution whose times are shown.

    A finished run is read in parts of different executions, without a commit in between.
    """
    return document is not None and document.focus == (None if row is None else row["key"])


def board_moment(state: LiveState) -> float:
    """Return the moment that the board is read of, in seconds since 1970; infinite without a
    replay.
    """
    return state.at if state.is_replay else math.inf


def board_when(state: LiveState, document: LiveDocument) -> str:
    """Return the moment of a replay's board, as time since the beginning; else nothing."""
    if not state.is_replay or state.began_at is None:
        return ""
    if math.isinf(document.until):
        return " as it is now"  # the board of this moment is being read
    return f" as of {clock(max(0.0, document.until - state.began_at))}"


def latency(
    state: LiveState, row: Row | None, which: Latency, log: bool, reference: Reference | None
) -> HistogramData:
    """Return the histogram of one execution's times."""
    seen = None if row is None else state.seen.get(row["key"])
    if seen is None:
        return HistogramData(log=log, reason=_NO_LATENCY[which])
    before = None
    if reference is not None:
        before = reference.histograms.get(f"{which}_histogram")
        before = before or None
    return HistogramData.of(
        seen.histograms[which],
        baseline=before,
        baseline_name="" if reference is None else reference.name,
        log=log,
        reason=_NO_LATENCY[which],
    )


def percentiles_words(state: LiveState, row: Row | None, which: Latency) -> str:
    """Report which percentiles have too few values: `p95 needs 59, p99 needs 299 values`."""
    seen = None if row is None else state.seen.get(row["key"])
    count = 0 if seen is None else len(seen.histograms[which])
    lacking = [f"{name} needs {need}" for name, need in _PERCENTILES if 0 < count < need]
    return ", ".join(lacking) + (" values" if lacking else "")


def courses(state: LiveState, places: int) -> TimeSeriesData:
    """Return throughput, failures, tokens, in-flight and queued requests of the last `places`
    seconds.
    """
    seconds = state.course.rates()[-places:]
    if not seconds:
        return TimeSeriesData(reason="nothing has been answered yet")
    lines = [
        SparklineData("answered", [one.answered for one in seconds], "/s"),
        SparklineData("failed", [one.failed for one in seconds], "/s", errors=True),
    ]
    for label, name in (("in flight", "in_flight"), ("queued", "waiting")):
        values = [getattr(one, name) for one in seconds]
        if state.is_going_on and values[-1] is None:  # not recorded yet for the current second
            values[-1] = values[-2] if len(values) > 1 else None
        if any(values):
            lines.append(SparklineData(label, values, "", reason="not recorded"))
    lines += _latency_lines(state, len(seconds))
    if any(one.tokens for one in seconds):
        lines.append(SparklineData("tokens", [one.tokens for one in seconds], "/s"))
    last = state.course.last
    marks = [(last - math.floor(at), note) for at, note in state.marks()]
    return TimeSeriesData(lines, [(max(0, back), note) for back, note in marks])


def _latency_lines(state: LiveState, places: int) -> list[SparklineData]:
    """Return median and p95 of a load's latencies as of each second, of the last ten."""
    seconds = state.latency.course(state.course.last, places)
    names = {  # what a small panel shows first
        "TTFT p95": "ttft_p95",
        "E2E p95": "e2e_p95",
        "TTFT p50": "ttft_p50",
        "E2E p50": "e2e_p50",
    }
    found = []
    for label, name in names.items():
        values = [getattr(one, name) for one in seconds]
        if any(value is not None for value in values):
            if state.is_going_on and values[-1] is None and len(values) > 1:
                values[-1] = values[-2]  # its tick is still to come
            found.append(SparklineData(label, values, "ms"))
    return found


def failures(state: LiveState) -> GaugesData:
    """Return the counts by kind.

    Loads store only the first few of each kind, so with several kinds theirs are lower bounds; the
    total is exact.
    """
    total = sum(seen.failed for seen in state.seen.values())
    few = state.sends_load
    kinds = state.kinds.most_common()
    if few and len(kinds) == 1:
        kinds = [(kinds[0][0], max(total, kinds[0][1]))]
    note = "or more" if few and len(kinds) > 1 else ""
    rows = [
        Gauge(
            kind.replace("_", " "),
            float(count),
            float(max(total, count)),
            "",
            warn=_NEVER,
            bad=_NEVER,
            note=note,
        )
        for kind, count in kinds
    ]
    return GaugesData(rows, reason="nothing failed")


def log_lines(state: LiveState, most: int) -> LogData:
    """Return the newest events; repeated ones are counted."""
    began = state.began_at or 0.0
    lines: list[LogLine] = []
    before: Event | None = None
    for event in state.events():
        if before is not None and (event.text, event.role) == (before.text, before.role):
            last = lines.pop()
            lines.append(LogLine(event.at - began, last.text, last.role, last.count + 1))
        else:
            lines.append(LogLine(event.at - began, event.text, event.role))
        before = event
    return LogData(lines[-most:])


def scrubber(state: LiveState, viewer: Viewer | None, now: float) -> ScrubberData:
    """Return the viewer's position in the run."""
    if viewer is None or not state.run:
        return ScrubberData()
    live = state.is_going_on and not state.is_replay
    began = viewer.began_at
    length = max(viewer.length_s, now - began) if live else viewer.length_s
    return ScrubberData(
        length if live else min(length, max(0.0, state.at - began)),
        length,
        viewer.speed,
        viewer.is_playing,
        live,
        [at - began for at in state.failures_at()],
        [at - began for at, _ in state.marks()],
    )
