"""Tables of the page Live, and the facts of a load: pure functions of the state."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from agentbench_tui.presentation.numbers import (
    MISSING,
    duration,
    measured_estimate,
    money,
    percent,
    quantity,
    score,
    signed_amount,
)
from agentbench_tui.presentation.stress.sentences import window_line
from agentbench_tui.tui.drawing.drawn_cells import whisker_cell
from agentbench_tui.tui.drawing.grid_data import Cell, Column, GridData, GridRow, Role
from agentbench_tui.tui.pages.live.remaining_time import execution_left_s, planned_of, share_done
from agentbench_tui.tui.pages.live.silence import silence
from agentbench_tui.tui.widgets.facts import Fact, FactsData
from agentbench_tui.tui.widgets.interval_cell import Interval, IntervalColumn, interval_column
from agentbench_tui.tui.widgets.status_bar import clock
from agentbench_tui.verdicts.evidence.place import point_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentbench_tui.contracts.stress import ScenarioResult
    from agentbench_tui.store.queries.slowest import SlowAnswer
    from agentbench_tui.store.viewer import Row
    from agentbench_tui.tui.agent_series import AgentSeries
    from agentbench_tui.tui.pages.live.state import LiveState, Seen
    from agentbench_tui.verdicts.ranking.running_board import RunningBoard, Standing
    from agentbench_tui.verdicts.runs.defined_metrics import DefinedMetric

_PROGRESS = (
    Column("benchmark", "benchmark", 13, flex=2, has_names=True),
    Column("agent", "agent", 10, flex=4, has_names=True),
    Column("done", "done", 13, flex=1),
    Column("right", "right", 6, "right", priority=3),
    Column("p50", "p50", 7, "right", priority=4),
    Column("p95", "p95", 7, "right", priority=2),
    Column("failed", "failed", 6, "right", priority=2),
    Column("left", "left", 7, "right"),
)
_WIDEST_AGENT = 18
_LEAST_AGENT = 12
_BOARD = (
    Column("place", "#", 5, "right"),
    Column("agent", "agent", _WIDEST_AGENT, flex=3, has_names=True),
    Column("score", "score", 8, "right"),
    Column("interval", "95% interval", 14, "right", priority=2),
    Column("drawn", "", 9, flex=4, priority=2),
    Column("p50", "p50", 7, "right", priority=3),
    Column("p95", "p95", 7, "right", priority=4),
    Column("answered", "answered", 8, "right", priority=5),
    Column("cost", "cost", 9, "right", priority=4),
)
_PROFIT_BOARD = tuple(
    Column(one.key, one.title, 17, one.align, priority=one.priority)
    if one.key == "interval"
    else one
    for one in _BOARD
)
_DEFINED_METRICS = (
    Column("metric", "metric", 12, flex=2),
    Column("agent", "agent", 8, flex=2, has_names=True),
    Column("value", "value [95%]", 24, "right", flex=1),
    Column("benchmark", "benchmark", 13, flex=2, priority=2),
    Column("n", "answers", 7, "right", priority=3),
)
_SLOW = (
    Column("case", "case", 7, flex=3, has_names=True),
    Column("agent", "agent", 7, flex=2, priority=2, has_names=True),
    Column("time", "elapsed", 7, "right"),
    Column("state", "", 9, flex=1, priority=3),
)
_SLOW_FACTOR = 3.0
"""Times the p95 so far: a case that takes longer is called stalled."""
_STALLED_FROM_S = 5.0
_NEEDED_P95 = 59
_MOST_FAILED = 0.5
"""Share of failures above which an execution is drawn as failing."""
_ENDED = {"complete": "done", "interrupted": "stopped", "incomplete": "broken"}
"""In a few cells."""
SIMULATED = " (simulated)"
_SENT_TOLERANCE = 0.95
"""Share of the offered rate below which too little was sent."""


def progress(state: LiveState, now: float) -> GridData:
    """Return one row per execution, in plan order."""
    rows = [_progress_row(state, row, now) for row in state.executions]
    return GridData(_PROGRESS, rows, reason="the plan is being made")


def _progress_row(state: LiveState, row: Row, now: float) -> GridRow:
    seen = state.seen.get(row["key"])
    planned = planned_of(state, row)
    observed = seen.observed if seen is not None else 0
    ended = state.has_ended(row)
    done = f"{observed:,}" if planned is None else f"{observed:,}/{planned:,}"
    failed = seen.failed if seen is not None else 0
    going_on = row["key"] in state.live or (state.is_replay and seen is not None and not ended)
    return GridRow(
        str(row["key"]),
        (
            where_words(row),
            row["agent_id"] + (SIMULATED if row["simulated"] else ""),
            Cell(done, bar=share_done(state, row, now), role=_failing(failed, observed)),
            _right(state, row, seen),
            _time(seen, 0.5, 1),
            _time(seen, 0.95, _NEEDED_P95),
            Cell(f"{failed:,}", role="bad" if failed else None),
            _left(state, row, now),
        ),
        role="title" if going_on else "text" if seen is not None else "dim",
    )


def _failing(failed: int, observed: int) -> Role | None:
    """Return the role of a bar: one that is full of failures does not look like success."""
    if not failed:
        return None
    return "bad" if failed > _MOST_FAILED * observed else "warn"


def where_words(row: Row) -> str:
    """Return its benchmark, and the point of the sweep: `load rate=20`."""
    point = point_words(json.loads(row["parameters"] or "{}"))
    return f"{row['benchmark_id']} {point}".rstrip()


def _right(state: LiveState, row: Row, seen: Seen | None) -> str:
    if seen is None or not seen.observed or not state.kind_of(row).judges_answers:
        return MISSING
    return percent(seen.correct / seen.observed)


def _time(seen: Seen | None, share: float, needed: int) -> str:
    histogram = None if seen is None else seen.histograms["e2e"]
    if histogram is None or len(histogram) < needed:
        return MISSING
    return duration(histogram.percentile(share))


def _left(state: LiveState, row: Row, now: float) -> str:
    if state.has_ended(row):
        return _ENDED.get(row["status"], str(row["status"]))
    if not state.is_going_on:
        return "not ended"
    left = execution_left_s(state, row, now)
    return MISSING if left is None else clock(left)


def board(found: RunningBoard | None, before: Mapping[str, int], series: AgentSeries) -> GridData:
    """Return the provisional ranking; `before`: agent → its earlier place, so that moved ones get
    an arrow.
    """
    if found is None:
        return GridData(_BOARD, reason="no answers yet")
    title = {"pnl": "P&L $", "p50": "score"}.get(found.score, found.score)
    longest = max((len(key_of(one)) + 2 for one in found.standings), default=0)
    names = max(_LEAST_AGENT, min(longest, _WIDEST_AGENT))
    columns = tuple(
        Column(one.key, title, one.width, one.align)
        if one.key == "score"
        else Column(one.key, one.title, names, flex=one.flex, has_names=True)
        if one.key == "agent"
        else one
        for one in (_BOARD if found.score != "pnl" else _PROFIT_BOARD)
    )
    axis = interval_column([_interval(one) for one in found.standings])
    markers = series.of(one.agent_id for one in found.standings)
    rows = [
        _standing_row(standing, found, axis, before.get(key_of(standing), place) - place, series)
        for place, standing in enumerate(found.standings)
        for series in (markers[standing.agent_id],)
    ]
    return GridData(columns, rows, reason="no answers yet")


def key_of(standing: Standing) -> str:
    """Return the key of its row: an agent may be both measured and simulated."""
    return standing.agent_id + (SIMULATED if standing.simulated else "")


def _standing_row(
    one: Standing, found: RunningBoard, axis: IntervalColumn, change: int, series: int
) -> GridRow:
    key = key_of(one)
    shown = signed_amount if found.score == "pnl" else score
    interval = MISSING if one.low is None else f"{shown(one.low)} – {shown(one.high)}"
    return GridRow(
        key,
        (
            Cell(one.place, change=change if one.place != MISSING else 0),
            Cell(key, series=series),
            MISSING if found.score == "p50" or one.score is None else shown(one.score),
            interval,
            whisker_cell(_interval(one), axis, series),
            duration(one.p50_ms),
            duration(one.p95_ms),
            percent(one.answered_share),
            money(one.cost_usd or None),
        ),
    )


def _interval(one: Standing) -> Interval:
    return Interval(one.score, one.low, one.high)


def defined_metrics(metrics: Sequence[DefinedMetric]) -> GridData:
    """Return the metrics that benchmarks define, each with unit and interval."""
    rows = [
        GridRow(
            f"{number}",
            (
                one.metric,
                one.agent_id + (SIMULATED if one.simulated else ""),
                measured_estimate(one.value, one.low, one.high, one.unit),
                f"{one.benchmark_id} {point_words(one.parameters)}".rstrip(),
                MISSING if one.n is None else f"{one.n:,}",
            ),
        )
        for number, one in enumerate(metrics)
    ]
    return GridData(_DEFINED_METRICS, rows, reason="the benchmarks define no metrics")


def slow(state: LiveState, answers: Sequence[SlowAnswer], now: float) -> GridData:
    """Return the oldest in-flight cases, then the slowest finished ones."""
    names = {row["key"]: row["agent_id"] for row in state.executions}
    rows = []
    for key, live in state.live.items():
        late = max(0.0, now - state.live_at) if state.is_going_on else 0.0
        waiting = live.get("oldest") or []
        if live.get("oldest_s") is not None:
            waiting = [{"case_id": "", "age_s": live["oldest_s"]}]
        for one in waiting:
            age_s = one["age_s"]  # as reported: it may have been answered since
            doing = _doing(live, late, stalled=_is_stalled(state.seen.get(key), age_s))
            rows.append(
                GridRow(
                    f"now/{key}/{one['case_id']}",
                    (
                        one["case_id"] or "oldest",
                        names.get(key, ""),
                        duration(1e3 * age_s),
                        doing,
                    ),
                )
            )
    for answer in answers:
        failed = answer.failure_kind.replace("_", " ")
        rows.append(
            GridRow(
                f"was/{answer.execution_key}/{answer.case_id}/{answer.seq}",
                (
                    answer.case_id,
                    names.get(answer.execution_key, ""),
                    duration(answer.e2e_ms),
                    Cell(failed, "bad") if failed else Cell("answered", "dim"),
                ),
            )
        )
    return GridData(_SLOW, rows, reason="nothing is in flight")


def _doing(live: Mapping[str, Any], late: float, *, stalled: bool) -> Cell:
    """Describe the state of a case without an answer; `late` is the age of the live row, in s."""
    pause_s = (live.get("pause_s") or 0.0) - late
    if pause_s > 0 and not live.get("in_flight"):
        return Cell(f"waits {clock(pause_s)}", "warn")  # the server asked for it (Retry-After)
    return Cell("stalled", "warn") if stalled else Cell("in flight", "good")


def parts_of(key: str) -> tuple[str, str, int | None]:
    """Split the key of a row of `slow` into execution key, case and answer."""
    when, _, rest = key.partition("/")
    execution, _, case = rest.partition("/")
    if when == "now":
        return execution, case, None
    case, _, answer = case.rpartition("/")
    return execution, case, int(answer)


def _is_stalled(seen: Seen | None, age_s: float) -> bool:
    """Return whether it takes much longer than others; False with few data."""
    times = None if seen is None else seen.histograms["e2e"]
    if times is None or len(times) < _NEEDED_P95 or age_s < _STALLED_FROM_S:
        return False
    p95 = times.percentile(0.95)
    return p95 is not None and age_s * 1e3 > _SLOW_FACTOR * p95


def load_facts(state: LiveState, row: Row | None, now: float, of_kind: object | None) -> FactsData:
    """Return facts of an execution: offered and sent rates of a load or stress, and the facts of
    its kind from `of_kind`, such as a scenario's findings.
    """
    kind = None if row is None else state.kind_of(row)
    own = None if kind is None else kind.part("live_facts")
    if row is None or kind is None or not (kind.sends_load or own):
        return FactsData(reason="this execution is not a load")
    live = state.live.get(row["key"], {})
    facts: list[Fact] = []
    if own is not None and of_kind is not None:
        facts += own(of_kind, ended=state.has_ended(row))
    if not kind.sends_load:
        return FactsData(facts, reason="nothing is known of it yet")
    if live:
        facts += _window_facts(state, live, now)
    seen = state.seen.get(row["key"])
    if told := silence(live, nothing_yet=seen is None or not seen.observed):
        facts.append(Fact("silence", told, "warn"))
    if seen is not None:
        when = "in all" if state.has_ended(row) else "so far"
        facts.append(Fact(when, f"{seen.answered:,} answered, {seen.failed:,} failed"))
    return FactsData(facts, reason="the load has not begun")


def _window_facts(state: LiveState, live: Mapping[str, Any], now: float) -> list[Fact]:
    phase = str(live.get("phase", MISSING))
    began, ends = live.get("began_at"), live.get("ends_at")
    if phase == "window" and began:
        of = f" of {clock(ends - began)}" if ends else ""
        phase = f"window, {clock(max(0.0, now - began))}{of}"
    repeat = f", repeat {live['repeat'] + 1} of {state.repeats}" if state.repeats > 1 else ""
    facts = [Fact("phase", phase + repeat)]
    if live.get("phase") in {"waiting", "calibrating"}:
        return facts
    asked, sent = live.get("asked_per_s"), live.get("sent_per_s")
    if asked is not None:
        factor = live.get("pace")
        changed = f" (the plan × {factor:g})" if factor not in {None, 1.0} else ""
        facts.append(Fact("offered", quantity(asked, "/s") + changed))
    if sent is not None:
        short = asked is not None and sent < _SENT_TOLERANCE * asked
        words = quantity(sent, "/s")
        role: Role = "warn" if short else "text"
        facts.append(Fact("sent", words + (", less than offered" if short else ""), role))
    if live.get("users") is not None:
        facts.append(Fact("users", f"{live['users']:,}"))
    waiting = live.get("waiting") or 0
    queue = f", {waiting:,} wait for a place" if waiting else ""
    facts.append(Fact("in flight", f"{live.get('in_flight', 0):,}{queue}"))
    if live.get("tokens_per_s") is not None:
        facts.append(Fact("tokens", quantity(live["tokens_per_s"], "/s")))
    return facts


def stress_facts(stress: ScenarioResult, *, ended: bool) -> list[Fact]:
    """Return what a stress scenario has found so far."""
    windows = stress.windows
    # Until its end the stored status is that of a run that is killed now.
    facts = [Fact("scenario", f"{stress.name}: {stress.status if ended else 'running'}")]
    if windows:
        role: Role = "bad" if windows[-1].verdict == "fail" else "text"
        facts.append(Fact(f"window {len(windows)}", window_line(windows[-1]), role))
    counts = Counter(one.verdict for one in windows)
    told = [f"{counts[name]} {name}" for name in ("pass", "fail", "unclear") if counts[name]]
    if told:
        facts.append(Fact("verdicts", ", ".join(told)))
    point = stress.breaking_point
    if point is not None and point.fails is not None:
        facts.append(Fact("breaks", point.words, "warn"))
    return facts
