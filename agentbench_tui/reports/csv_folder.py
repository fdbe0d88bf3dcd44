"""A report as a folder of CSV files, one for each table of records."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from agentbench_tui.model.text.cells import csv_cell
from agentbench_tui.store.queries.answer_pages import ReportedAnswer, reported_answers

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence
    from pathlib import Path
    from typing import Any

    from agentbench_tui.presentation.full_report.parts import FullReport
    from agentbench_tui.reports.sources import RunSource

_LONGEST = 4000
"""Characters of a cell."""


def write_tables(report: FullReport, folder: Path) -> list[Path]:
    """Write a file of each table of records. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, table in report.tables.items():
        keys = [column.key for column in table.columns]
        paths.append(_write(folder / f"{name}.csv", keys, ([row.get(key) for key in keys]
                                                           for row in table.rows)))  # fmt: skip
    return paths


def write_answers(connection: sqlite3.Connection, source: RunSource, folder: Path) -> Path:
    """Write one row for each answer of a run. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = (
        (one.suite_id, one.benchmark_id, one.agent_id, *answer)
        for one in source.run.executions
        for answer in reported_answers(connection, source.keys[one.execution_id], _LONGEST)
    )
    names = ("suite_id", "benchmark_id", "agent_id", *ReportedAnswer._fields)
    return _write(folder / "answers.csv", names, rows)


def _write(path: Path, head: Sequence[str], rows: Iterable[Iterable[Any]]) -> Path:
    with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        writer.writerows([csv_cell(value) for value in row] for row in rows)
    return path
