"""Prints a line for each window of stress as it ends, if there is no live view."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from typing import TYPE_CHECKING

import click
import msgspec

from agentbench_tui.contracts.stress import StressWindow
from agentbench_tui.model.clock import monotonic
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.stress.sentences import window_line
from agentbench_tui.store.database import reading

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from pathlib import Path

    from agentbench_tui.store.queries.stress import ScenarioState

_LOOK_S = 0.5
SILENT_S = 10.0
"""Seconds without a new window after which a message says that one is running."""


async def say_windows(database: Path, run_id: str, began: float) -> None:
    """Print a line about each window of the run as it ends, until canceled, and then about the last
    ones; `began` is the run's start on `time.monotonic`.
    """
    told = Told()
    said_at = monotonic()
    with reading(database) as connection:
        try:
            while True:
                await asyncio.sleep(_LOOK_S)
                lines = list(told.new(connection, run_id))
                if not lines and monotonic() - said_at >= SILENT_S:
                    lines = list(told.ongoing(connection, run_id))
                if lines:
                    said_at = _say(lines, began)
        finally:
            _say(list(told.new(connection, run_id)), began)


def _say(lines: list[str], began: float) -> float:
    """Print lines; return when."""
    now = monotonic()
    for line in lines:
        click.echo(f"{now - began:5.0f} s  {one_line(line)}", err=True)
    return now


class _Report(msgspec.Struct):
    """What the lines show of a stored report; reading all of it would import numpy."""

    windows: tuple[StressWindow, ...]


class Told:
    """Lines that have been printed for a run."""

    def __init__(self) -> None:
        self._windows: defaultdict[int, int] = defaultdict(int)
        """By execution key, how many."""

    def new(self, connection: sqlite3.Connection, run_id: str) -> Iterator[str]:
        """Yield a line for each window that has ended since."""
        for row, several in _rows(connection, run_id):
            if row.document is None:
                continue
            report = msgspec.json.decode(row.document, type=_Report)
            fresh = report.windows[self._windows[row.key] :]
            self._windows[row.key] += len(fresh)
            for window in fresh:
                yield f"{_place(row, several=several)} {window_line(window)}"

    def ongoing(self, connection: sqlite3.Connection, run_id: str) -> Iterator[str]:
        """Yield a line for each execution that is under load now."""
        for row, several in _rows(connection, run_id):
            state = json.loads(row.state) if row.state else {}
            if state.get("phase") in {"window", "draining"}:
                yield (
                    f"{_place(row, several=several)} window {state['repeat'] + 1} is running: "
                    f"{state['sent']:,} sent, {state['in_flight']:,} in flight, "
                    f"{state['failed']:,} failed"
                )


def _rows(connection: sqlite3.Connection, run_id: str) -> list[tuple[ScenarioState, bool]]:
    """Return the executions of the run, each with whether there are several agents."""
    from agentbench_tui.store.queries.stress import scenario_states

    rows = scenario_states(connection, run_id)
    several = len({row.agent_id for row in rows}) > 1
    return [(row, several) for row in rows]


def _place(row: ScenarioState, *, several: bool) -> str:
    name = row.benchmark_id
    return f"{row.agent_id} {name}:" if several else f"{name}:"
