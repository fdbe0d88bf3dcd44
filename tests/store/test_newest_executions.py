"""Which executions of an agent are its newest, and from schema 8 to 9 the view of the latest."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentbench_tui.store.database import SCHEMA_VERSION, create_or_migrate, migrations, schema_of
from agentbench_tui.store.queries.latest import latest_executions
from agentbench_tui.store.queries.selection import keys_of, newest_at_each_place, versions_of

_RUN = (
    "INSERT INTO runs (key, id, workspace_id, status, suite_ids, plan, seed, repeats, tags, notes,"
    " tool_version, started_at) VALUES (?, ?, 'w', 'complete', '[]', '{}', 1, 1, ?, '', '0', ?)"
)
_EXECUTION = (
    "INSERT INTO benchmark_executions (id, run_key, ordinal, suite_hash, suite_id, benchmark_id,"
    " agent_id, agent_version, workspace_id, parameters, seed, simulated, status, created_at)"
    " VALUES (?, ?, 0, 'h', 's', ?, ?, ?, 'w', '{}', 1, ?, ?, ?)"
)
Execution = tuple[int, str, str, str, int, str]
"""Run, benchmark, agent, version, simulated, status."""


def fill(connection: sqlite3.Connection, executions: list[Execution]) -> None:
    """Executions of runs 1 … 4, of which the last two began in the same millisecond."""
    times = {1: "2026-01-01", 2: "2026-01-02", 3: "2026-01-03", 4: "2026-01-03"}
    for run, at in times.items():
        connection.execute(_RUN, (run, f"run-{run}", '["odd"]' if run % 2 else "[]", at))
    for number, (run, benchmark, agent, version, simulated, status) in enumerate(executions):
        values = (f"e{number}", run, benchmark, agent, version, simulated, status, times[run])
        connection.execute(_EXECUTION, values)


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    database = tmp_path / "store.db"
    create_or_migrate(database)
    with closing(sqlite3.connect(database)) as opened:
        yield opened


executions = st.lists(
    st.tuples(
        st.integers(1, 4),
        st.sampled_from("bc"),
        st.sampled_from("xy"),
        st.sampled_from("12"),
        st.integers(0, 1),
        st.sampled_from(["complete", "complete", "interrupted"]),
    ),
    max_size=12,
)


@given(executions)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_the_latest_of_any_executions_are_those_of_the_newest_run(
    connection: sqlite3.Connection, made: list[Execution]
) -> None:
    connection.execute("BEGIN")
    fill(connection, made)
    complete = [
        (*one, number) for number, one in enumerate(made, 1) if one[-1] == "complete"
    ]  # and the key
    first_key = connection.execute("SELECT MIN(key) FROM benchmark_executions").fetchone()[0] or 1
    by_version, in_view = set(), set()
    for run, benchmark, agent, version, simulated, _, key in complete:
        place = (benchmark, agent, simulated)
        same = [one for one in complete if (one[1], one[2], one[4]) == place]
        if min(run, 3) == max(min(one[0], 3) for one in same):  # runs 3 and 4 have one time
            in_view.add(key)
        alike = [one for one in same if one[3] == version]
        newest = max(alike, key=lambda one: (min(one[0], 3), one[-1]))
        if run == newest[0]:
            by_version.add(key)
    offset = first_key - 1
    found = {row["key"] - offset for row in latest_executions(connection)}
    viewed = {row[0] - offset for row in connection.execute("SELECT key FROM latest_executions")}
    connection.execute("ROLLBACK")
    assert (found, viewed) == (by_version, in_view)


def test_the_newest_of_each_place_are_counted_by_run(connection: sqlite3.Connection) -> None:
    fill(
        connection,
        [
            (1, "b", "x", "1", 0, "complete"),
            (2, "b", "x", "1", 0, "complete"),
            (2, "b", "x", "1", 0, "complete"),  # another seed
            (3, "b", "x", "2", 0, "complete"),
            (1, "c", "x", "1", 0, "complete"),
            (4, "c", "x", "2", 0, "interrupted"),
            (4, "b", "y", "1", 0, "complete"),
        ],
    )
    assert newest_at_each_place(connection, "x", 1) == {4, 5}
    assert newest_at_each_place(connection, "x", 2) == {2, 3, 4, 5}
    assert newest_at_each_place(connection, "x", 1, "1") == {2, 3, 5}
    assert newest_at_each_place(connection, "x", 1, "3") == set()
    assert newest_at_each_place(connection, "z", 9) == set()


def test_executions_are_found_by_version_run_and_tag(connection: sqlite3.Connection) -> None:
    fill(
        connection,
        [
            (1, "b", "x", "1", 0, "complete"),
            (2, "b", "x", "1", 0, "complete"),
            (3, "b", "x", "2", 0, "complete"),
            (3, "b", "x", "3", 0, "interrupted"),
            (3, "b", "y", "4", 0, "complete"),
        ],
    )
    assert keys_of(connection, "x", version="1") == {1, 2}
    assert keys_of(connection, "x", run="run-3") == {3}
    assert keys_of(connection, "x", tag="odd") == {1, 3}
    assert keys_of(connection, "x", tag="even") == set()
    assert versions_of(connection, "x") == ["1", "2"]


def test_a_store_of_schema_8_keeps_its_latest_executions(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    query = "SELECT id FROM latest_executions ORDER BY id"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        for number, sql in migrations():
            if number <= 8:
                connection.executescript(sql)
        connection.execute("PRAGMA user_version=8")
        connection.execute("PRAGMA foreign_keys=OFF")
        statuses = ("complete", "complete", "interrupted")
        made: list[Execution] = [
            (1 + number % 4, "bc"[number % 2], "xy"[number % 3 % 2], "1", 0, statuses[number % 3])
            for number in range(24)
        ]
        fill(connection, made)
        connection.commit()
        before = connection.execute(query).fetchall()
    assert schema_of(path) == 8
    create_or_migrate(path)
    assert schema_of(path) == SCHEMA_VERSION
    with closing(sqlite3.connect(path)) as connection:
        assert len(before) > 3
        assert connection.execute(query).fetchall() == before
