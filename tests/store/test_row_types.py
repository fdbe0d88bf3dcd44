"""The types of rows that are written fit the tables that they are written to."""

import sqlite3
from pathlib import Path
from types import NoneType
from typing import NamedTuple, get_args, get_type_hints

import pytest

from agentbench_tui.store.database import connect_to_write, reading, workspace_id
from agentbench_tui.store.queries.executions import (
    execution_keys,
    execution_statuses,
    running_runs,
)
from agentbench_tui.store.queries.gauges import GaugeSummaryRow
from agentbench_tui.store.queries.load import SampleChunk, sample_chunks
from agentbench_tui.store.writer import Writer
from agentbench_tui.store.writes import (
    definitions,
    executions,
    live,
    load,
    observations,
    runs,
)
from agentbench_tui.store.writes.rows import insert_into

TABLES: list[tuple[type[NamedTuple], str]] = [
    (observations.AnswerRow, "answers"),
    (observations.MessageRow, "messages"),
    (observations.AttemptRow, "attempts"),
    (observations.FailureRow, "failures"),
    (observations.IterationRow, "iterations"),
    (live.LiveRow, "live"),
    (live.TickRow, "ticks"),
    (live.GaugeRow, "gauges"),
    (load.LoadTickRow, "ticks"),
    (load.SampleChunkRow, "sample_chunks"),
    (definitions.SuiteRow, "benchmark_suites"),
    (definitions.BenchmarkRow, "benchmarks"),
    (executions.ExecutionRow, "benchmark_executions"),
    (executions.ExecutionResultRow, "benchmark_executions"),
    (executions.MetricRow, "metrics"),
    (GaugeSummaryRow, "gauge_summaries"),
    (runs.RunRow, "runs"),
    (runs.RunEnd, "runs"),
    (runs.PriceRow, "prices"),
]


@pytest.mark.parametrize(("row", "table"), TABLES, ids=lambda one: getattr(one, "__name__", one))
def test_a_row_has_columns_of_its_table_and_none_where_they_take_none(
    row: type[NamedTuple], table: str, tmp_path: Path
) -> None:
    connection = connect_to_write(tmp_path / "s.db")
    try:
        columns = {
            name: not must_be_there and not of_key
            for _, name, _, must_be_there, _, of_key in connection.execute(
                f"PRAGMA table_info({table})"
            )
        }
    finally:
        connection.close()
    assert set(row._fields) - columns.keys() == set()
    takes_none = {name for name, kind in get_type_hints(row).items() if NoneType in get_args(kind)}
    assert {name for name in takes_none if not columns[name]} == set()


def test_a_statement_names_the_columns_in_the_order_of_the_row() -> None:
    class Point(NamedTuple):
        x: int
        y: int

    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE TABLE points (y, x, run_key)")
        connection.execute(insert_into("points", Point, "run_key"), (7, *Point(x=1, y=2)))
        assert connection.execute("SELECT run_key, x, y FROM points").fetchall() == [(7, 1, 2)]
    connection.close()


def plan_one(connection: sqlite3.Connection) -> tuple[int, int]:
    """(run, execution) of a run that has one execution, written without the engine."""
    now = "2026-01-01T00:00:00.000Z"
    definitions.write_suite(
        connection,
        definitions.SuiteRow("hash", "s", "S", "speed", "1", "", "{}", "s.yaml", now),
        [definitions.BenchmarkRow("hash", "b", "B", "", "load", "")],
    )
    definitions.write_agent(connection, "a", "A", "1", "{}", now)
    workspace = workspace_id(connection)
    run = runs.begin_run(
        connection,
        runs.RunRow("r", workspace, "[]", "{}", None, 42, 2, "[]", "", "0", "{}", now),
    )
    executions.plan_execution(
        connection,
        executions.ExecutionRow(
            "e", run, 0, "hash", "s", "b", "a", "1", workspace, "{}", 42, False, "{}", now
        ),
    )
    return run, execution_keys(connection, run)["e"]


async def test_rows_that_are_queued_are_read_in_their_order(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "s.db")
    try:
        run, execution = await writer.apply(plan_one)
        for repeat in (1, 0):
            row = load.SampleChunkRow(run, execution, repeat, 0, 10 + repeat, b"samples", b"gaps")
            load.add_sample_chunk(writer, row)
        await writer.flush()
    finally:
        writer.close()
    with reading(tmp_path / "s.db") as connection:
        assert [*sample_chunks(connection, execution)] == [
            SampleChunk(0, 0, b"samples", b"gaps", 10),
            SampleChunk(1, 0, b"samples", b"gaps", 11),
        ]


async def test_what_a_run_left_open_ends_with_it(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "s.db")
    try:
        run, execution = await writer.apply(plan_one)
        executions.start_execution(writer, execution, "2026-01-01T00:00:01.000Z")
        await writer.flush()
        assert await writer.apply(lambda c: execution_statuses(c, run)) == {"running": 1}
        await writer.apply(lambda c: runs.interrupt_run(c, run, "killed", "2026-01-01T00:00:02Z"))
        assert await writer.apply(lambda c: execution_statuses(c, run)) == {"interrupted": 1}
        assert await writer.apply(running_runs) == []
        again = await writer.apply(lambda c: runs.set_running_again(c, "r", "{}"))
        assert again == run
        assert await writer.apply(running_runs) == [(run, "r")]
        assert await writer.apply(lambda c: execution_statuses(c, run)) == {"planned": 1}
    finally:
        writer.close()
