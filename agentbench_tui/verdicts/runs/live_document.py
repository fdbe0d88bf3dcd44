"""Data of a running run beyond its own rows: provisional ranking and reference.

Read once a second; what does not change is read once.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agentbench_tui.model.kinds import DEFAULT, Kind, kind_named
from agentbench_tui.store.locking import is_leased
from agentbench_tui.store.queries.runs import executions_of, find_run
from agentbench_tui.store.queries.slowest import SlowAnswer, Slowest
from agentbench_tui.verdicts.load.reference_ticks import Reference, reference_of
from agentbench_tui.verdicts.ranking.running_board import BoardReader, RunningBoard
from agentbench_tui.verdicts.runs.defined_metrics import DefinedMetric, DefinedMetricReader

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping
    from pathlib import Path

    from agentbench_tui.contracts.run import RunDocument


@dataclass(frozen=True, slots=True)
class LiveDocument:
    """Live data of one run, and of the selected execution."""

    run_id: str
    has_process: bool
    """Whether the run's process is alive."""
    board: RunningBoard = field(default_factory=RunningBoard)
    until: float = math.inf
    """The past moment that the board is of, in seconds since 1970; infinite for the newest."""
    focus: int | None = None
    """Key of the execution that the rest is of."""
    reference: Reference | None = None
    of_kind: object | None = None
    """What its kind adds to the run document, such as a scenario's results so far."""
    slowest: tuple[SlowAnswer, ...] = ()
    """Slowest answers of the whole run."""
    defined_metrics: tuple[DefinedMetric, ...] = ()
    """Metrics so far of benchmarks that define some."""
    result: RunDocument | None = None
    """The result of a run that has ended."""


class LiveReader:
    """Reads one run repeatedly."""

    def __init__(self, connection: sqlite3.Connection, database: Path, run_id: str) -> None:
        """Raises UsageError if there is no such run."""
        run = find_run(connection, run_id)
        self._database = database
        self._run_id: str = run["id"]
        self._run_key: int = run["key"]
        self._benchmarks = {
            execution["id"]: group["benchmark"]
            for group in json.loads(run["plan"])["groups"]
            for execution in group["executions"]
        }
        self._board = BoardReader(self._run_key)
        self._slowest = Slowest(self._run_key)
        self._defined_metrics = DefinedMetricReader(self._benchmarks)
        self._references: dict[int, Reference | None] = {}
        self._result: RunDocument | None = None

    def read(
        self, connection: sqlite3.Connection, focus: int | None, until: float = math.inf
    ) -> LiveDocument:
        """Return the current state. `focus` is the key of the selected execution; `until` the
        moment of which the board is wanted, in seconds since 1970.
        """
        rows = {row["key"]: row for row in executions_of(connection, self._run_key)}
        graded = frozenset(key for key, row in rows.items() if self._kind(row).judges_answers)
        row = rows.get(focus) if focus is not None else None
        if row is not None and row["key"] not in self._references:
            self._references[row["key"]] = reference_of(connection, row["key"])
        return LiveDocument(
            self._run_id,
            is_leased(self._database, self._run_id),
            self._board.read(connection, graded, until),
            until,
            focus if row is not None else None,
            None if row is None else self._references[row["key"]],
            self._of_kind(connection, row),
            tuple(self._slowest.read(connection)),
            tuple(self._defined_metrics.read(connection, [*rows.values()])),
            self._read_result(connection),
        )

    def _read_result(self, connection: sqlite3.Connection) -> RunDocument | None:
        """Return the run's document once the run has ended; it is then read only once."""
        if self._result is None:
            run = find_run(connection, self._run_id)
            if run["status"] != "running":
                from agentbench_tui.verdicts.runs.documents import run_document, typed_run

                self._result = typed_run(run_document(connection, run))
        return self._result

    def _kind(self, row: Mapping[str, Any]) -> Kind:
        benchmark = self._benchmarks.get(row["id"])
        return kind_named(DEFAULT if benchmark is None else str(benchmark["kind"]))

    def _of_kind(self, connection: sqlite3.Connection, row: dict[str, Any] | None) -> object | None:
        document = None if row is None else self._kind(row).part("document")
        if row is None or document is None:
            return None
        found: object | None = document(connection, row, self._benchmarks[row["id"]])
        return found
