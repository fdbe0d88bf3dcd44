"""Stress runs of the store: the list, and the current state of one of them, second by second."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentbench_tui.store.locking import is_leased
from agentbench_tui.store.queries.runs import find_run
from agentbench_tui.store.queries.stress import newest_stress_runs
from agentbench_tui.store.queries.ticks import request_ticks
from agentbench_tui.verdicts.runs.documents import mark_interrupted, run_document, typed_run
from agentbench_tui.verdicts.stress.stress_document import agents_under_stress

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from agentbench_tui.contracts.stress import AgentStress, StressWindow
    from agentbench_tui.store.queries.stress import StressRunRow
    from agentbench_tui.store.queries.ticks import RequestTick

MOST_RUNS = 200
MOST_SECONDS = 300
"""Maximum number of points of a course; beyond it, each point covers several seconds."""
_AT_EASE = frozenset({"ladder", "normal", "probe", "scaling", "short", "users"})
"""Phases that are no event in the course of a scenario."""


@dataclass(frozen=True, slots=True)
class Seconds:
    """Course of an execution by second."""

    seconds: tuple[float, ...]
    """From the beginning of its first window, the middle of each span."""
    sent_per_s: tuple[float, ...]
    answered_per_s: tuple[float, ...]
    """Good answers."""
    failed_per_s: tuple[float, ...]
    events: tuple[tuple[float, str], ...]
    """About when stress, faults and recoveries began, and their names."""


@dataclass(frozen=True, slots=True)
class StressRun:
    """One run."""

    run_id: str
    agents: tuple[AgentStress, ...]
    """Each as `agentbench.stress/1` has it."""
    courses: dict[str, Seconds]
    """By execution id."""
    statuses: dict[str, str]
    """Status of executions, by id: `running` while one is in progress."""
    status: str


def stress_runs(connection: sqlite3.Connection, most: int = MOST_RUNS) -> list[StressRunRow]:
    """Return runs with the report of a stress scenario, newest first."""
    return newest_stress_runs(connection, most)


def stress_run(connection: sqlite3.Connection, database: Path, run_id: str) -> StressRun:
    """Return one run with everything that its scenarios have found so far. Raises UsageError for an
    unknown run.
    """
    run = find_run(connection, run_id)
    document = run_document(connection, run)
    if document["status"] == "running" and not is_leased(database, run["id"]):
        mark_interrupted(document)
    typed = typed_run(document)
    agents = agents_under_stress(typed)
    return StressRun(
        typed.run_id,
        agents,
        {
            one.execution_id: course(request_ticks(connection, one.execution_id), one.windows)
            for agent in agents
            for one in agent.scenarios
        },
        {one.execution_id: one.status for one in typed.executions},
        typed.status,
    )


def course(ticks: Sequence[RequestTick], windows: Sequence[StressWindow]) -> Seconds:
    """Return the course by second; `ticks`: (seconds, window, sent, answered, failed since the tick
    before), in order.

    What a tick counts is spread evenly over the time since the tick before it. The last span is
    between half and one and a half as long as the others: a rate over a moment says nothing.
    """
    if not ticks or not windows:
        return Seconds((), (), (), (), ())
    began = ticks[0][0] - windows[0].length_s
    span = max(1, math.ceil((ticks[-1][0] - began) / MOST_SECONDS))
    places = max(1, round((ticks[-1][0] - began) / span))
    sums = [[0.0] * places for _ in range(3)]
    gone = 0.0
    for at, _, *counts in ticks:
        now = max(at - began, gone)
        for place, share in _shares(gone, now, span, places):
            for of_kind, count in zip(sums, counts, strict=True):
                of_kind[place] += share * count
        gone = now
    lengths = [span] * (places - 1) + [gone - (places - 1) * span]
    sent, answered, failed = (
        tuple(count / length if length > 0 else math.nan
              for count, length in zip(of_kind, lengths, strict=True))
        for of_kind in sums
    )  # fmt: skip
    seconds = tuple((place + 0.5) * span for place in range(places))
    return Seconds(seconds, sent, answered, failed, _events(ticks, windows, began))


def _shares(start: float, end: float, span: int, places: int) -> Iterator[tuple[int, float]]:
    """Return the spans that a stretch of time covers, and the share of it in each."""
    if end <= start:
        yield min(places - 1, int(end / span)), 1.0
        return
    last = places - 1
    for place in range(min(last, int(start / span)), min(places, math.ceil(end / span))):
        until = end if place == last else min(end, (place + 1) * span)
        covered = until - max(start, place * span)
        if covered > 0:
            yield place, covered / (end - start)


def _events(
    ticks: Sequence[RequestTick], windows: Sequence[StressWindow], began: float
) -> tuple[tuple[float, str], ...]:
    """Return the events: a window begins with the last tick of those before it; its phases follow
    by their lengths.
    """
    ends = {window: at for at, window, *_ in ticks}
    found = []
    start, of = began, -1
    for window in windows:
        if window.repeat != of:
            of = window.repeat
            start = max([began, *(at for number, at in ends.items() if number < of)])
        if window.phase not in _AT_EASE:
            found.append((start - began, str(window.phase)))
        start += window.length_s
    return tuple(found)
