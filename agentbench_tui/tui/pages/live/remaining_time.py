"""Remaining part of a run, and its expected end at the current pace."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.store.viewer import Row
    from agentbench_tui.tui.pages.live.state import LiveState, Seen

_LEAST_S, _LEAST_ANSWERS = 3.0, 5
"""Minimum time and answers before an end is predicted."""


def planned_of(state: LiveState, row: Row) -> int | None:
    """Return the expected number of an execution's answers; None if unknown."""
    if state.kind_of(row).plans_answers:
        planned: int = row["planned"]
        return planned
    seen = state.seen.get(row["key"])
    if state.has_ended(row):
        return seen.observed if seen is not None else 0
    planned_here = state.planned.get(row["id"])
    load = (planned_here.benchmark.get("load") if planned_here else None) or {}
    requests = load.get("requests")
    return requests * state.repeats if requests else None


def share_done(state: LiveState, row: Row, at: float) -> float | None:
    """Return the finished share of an execution, 0 … 1: by its answers, or for a load by
    its time.
    """
    planned, seen = planned_of(state, row), state.seen.get(row["key"])
    if state.has_ended(row) and row["status"] == "complete":
        return 1.0
    if state.has_ended(row) and not state.kind_of(row).plans_answers:
        return 0.0 if seen is None else 1.0  # as far as it got
    if planned:
        return 0.0 if seen is None else min(1.0, seen.observed / planned)
    live = state.live.get(row["key"])
    if not state.kind_of(row).runs_by_schedule:  # how long a scenario searches, nobody knows
        return None
    if live is None or not live.get("began_at") or not live.get("ends_at"):
        return None
    over = len(seen.repeats) if seen is not None else 0
    window: float = (at - live["began_at"]) / max(1e-9, live["ends_at"] - live["began_at"])
    return min(1.0, (over + min(1.0, max(0.0, window))) / max(1, state.repeats))


def left_s(state: LiveState, at: float) -> float | None:
    """Return the seconds until the end at the current pace; None if unknown.

    Tasks may take turns, so their pace is that of all of them together.
    """
    open_rows = [row for row in state.executions if not state.has_ended(row)]
    tasks = [row for row in open_rows if state.kind_of(row).plans_answers]
    parts = [execution_left_s(state, row, at) for row in open_rows if row not in tasks]
    if tasks:
        parts.append(_tasks_left_s(state, tasks))
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def _tasks_left_s(state: LiveState, rows: Sequence[Row]) -> float | None:
    keys = {row["key"] for row in state.executions if state.kind_of(row).plans_answers}
    those = [seen for key, seen in state.seen.items() if key in keys and seen.observed]
    began = min((one.began_at for one in those if one.began_at is not None), default=0.0)
    seconds = max((one.last_at for one in those), default=0.0) - began
    observed = sum(one.observed for one in those)
    if seconds < _LEAST_S or observed < _LEAST_ANSWERS:
        return None
    return sum(_open_answers(state, row) for row in rows) * seconds / observed


def _open_answers(state: LiveState, row: Row) -> int:
    """Return the remaining answers of a task."""
    own = state.seen.get(row["key"])
    return max(0, int(row["planned"]) - (own.observed if own is not None else 0))


def execution_left_s(state: LiveState, row: Row, at: float) -> float | None:
    """Return the remaining time of one execution, at its pace while it takes turns with others."""
    kind = state.kind_of(row)
    if kind.runs_by_schedule:
        return _load_left_s(state, row, at)
    if not kind.plans_answers:
        return None
    own = state.seen.get(row["key"])
    each_s = _seconds_each([] if own is None else [own])
    if each_s is None:
        each_s = _seconds_each(_of_the_same_benchmark(state, row))
    if each_s is None:
        each_s = _seconds_each([seen for seen in state.seen.values() if seen.observed])
    return None if each_s is None else _open_answers(state, row) * each_s


def _seconds_each(those: Sequence[Seen]) -> float | None:
    """Return the time per answer of these executions; None with too few data."""
    seconds = sum(one.last_at - one.began_at for one in those if one.began_at is not None)
    observed = sum(one.observed for one in those)
    if seconds < _LEAST_S or observed < _LEAST_ANSWERS:
        return None
    return seconds / observed


def _of_the_same_benchmark(state: LiveState, row: Row) -> list[Seen]:
    """Return the pace of other agents at this benchmark, for an execution that has not started."""
    return [
        state.seen[other["key"]]
        for other in state.executions
        if other["benchmark_id"] == row["benchmark_id"] and other["key"] in state.seen
    ]


def _load_left_s(state: LiveState, row: Row, at: float) -> float | None:
    planned = state.planned.get(row["id"])
    load = (planned.benchmark.get("load") if planned else None) or {}
    duration: float | None = load.get("duration_s")
    if duration is None and load.get("requests") and load.get("rate"):
        duration = load["requests"] / load["rate"]
    if duration is None:
        return None
    seen = state.seen.get(row["key"])
    windows = state.repeats - (len(seen.repeats) if seen is not None else 0)
    live = state.live.get(row["key"])
    now_s = 0.0
    if live is not None and live.get("began_at") and live.get("phase") in {"window", "draining"}:
        windows -= 1
        ends_at = live.get("ends_at") or live["began_at"] + duration
        now_s = max(0.0, ends_at - at)
    return max(0, windows) * duration + now_s
