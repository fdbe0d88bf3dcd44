"""Queries on runs. Every function takes a read connection and returns plain rows."""

from __future__ import annotations

import json
import re
import sys
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from agentbench_tui.model.answer import Case, Score
from agentbench_tui.model.errors import UsageError, did_you_mean
from agentbench_tui.model.figures.metric import METRICS
from agentbench_tui.model.figures.pass_metrics import pass_metric
from agentbench_tui.model.kinds import DEFAULT, kind_named
from agentbench_tui.store.queries.suites import benchmark_kind, is_of_kind, kinds_with

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from agentbench_tui.model.figures.figure import Direction

Row = dict[str, Any]
_METRIC_FIELDS = ("value", "unit", "low", "high", "n", "reason", "direction")


def rows_of(
    connection: sqlite3.Connection,
    statement: str,
    values: tuple[Any, ...] | dict[str, Any] = (),
) -> list[Row]:
    """Return all rows of a query as dictionaries."""
    cursor = connection.cursor()
    cursor.row_factory = None
    cursor.execute(statement, values)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def by_clock(connection: sqlite3.Connection) -> str:
    """Return the SQL condition that `planned` of execution `e` grows with each finished window."""
    return is_of_kind(connection, lambda kind: kind.sends_load)


def list_runs(
    connection: sqlite3.Connection, limit: int = 200, tag: str | None = None
) -> list[Row]:
    """Return the newest runs first, one row each, with the number of complete executions.

    `cost_usd` is None while the cost of some answered execution is unknown; `unpriced` counts
    these, without code that an experiment measures. For a running or interrupted run, committed
    answers count. `judged` says whether its answers are scored as right or wrong; those of loads,
    stress and experiments are not.
    """
    of_code = is_of_kind(connection, lambda kind: kind.measures_code)
    judging = kinds_with(connection, lambda kind: kind.judges_answers)
    runs = rows_of(
        connection,
        "SELECT r.key, r.id, r.status, r.stop_reason, r.suite_ids, r.tags, r.seed, r.repeats,"  # noqa: S608  # ours
        " r.verdict, r.started_at, r.ended_at, COUNT(e.key) AS executions,"
        " SUM(e.status = 'complete') AS complete, SUM(e.planned) AS planned,"
        " SUM(e.observed) AS observed,"
        " SUM(e.answered) AS answered, SUM(e.correct) AS correct, SUM(e.cost_usd) AS cost_usd,"
        f" TOTAL(e.answered > 0 AND e.cost_usd IS NULL AND NOT {of_code}) AS unpriced,"
        " JSON_GROUP_ARRAY(DISTINCT e.agent_id) AS agents,"
        " JSON_GROUP_ARRAY(DISTINCT e.agent_id || '@' || e.agent_version) AS agent_versions,"
        " EXISTS (SELECT 1 FROM json_each(r.plan, '$.groups') g"
        f"  WHERE COALESCE(json_extract(g.value, '$.benchmark.kind'), '{DEFAULT}')"
        f"   IN {judging}) AS judged"
        " FROM (SELECT key FROM runs"
        "  WHERE ? IS NULL OR EXISTS (SELECT 1 FROM json_each(tags) WHERE value = ?)"
        "  ORDER BY started_at DESC, key DESC LIMIT ?) newest"
        " JOIN runs r ON r.key = newest.key"
        " LEFT JOIN benchmark_executions e ON e.run_key = r.key"
        " GROUP BY r.key ORDER BY r.started_at DESC, r.key DESC",
        (tag, tag, limit),
    )
    for run in runs:
        run["suite_ids"] = json.loads(run["suite_ids"])
        run["tags"] = json.loads(run["tags"])
        # SQLite gives them in an order that depends on its version.
        for name in ("agents", "agent_versions"):
            run[name] = sorted(filter(None, json.loads(run[name])))
        key = run.pop("key")
        run["judged"] = bool(run["judged"])
        run["unpriced"] = int(run["unpriced"])
        if run["unpriced"]:
            run["cost_usd"] = None
        if run["status"] == "running":
            run.update(_counted_so_far(connection, key))
        elif run["status"] == "interrupted":
            # A killed process could not count what it had committed.
            run.update(_counted_so_far(connection, key) | {"planned": run["planned"]})
    return runs


def _counted_so_far(connection: sqlite3.Connection, run_key: int) -> Row:
    """Return stored, answered and right observations; executions with figures use these, others
    count answers. Planned is unknown for load and stress.
    """
    return rows_of(
        connection,
        "WITH open AS (SELECT key FROM benchmark_executions WHERE run_key=?1"  # noqa: S608  # ours
        "  AND (status IN ('planned', 'running') OR observed=0)),"
        " counted AS ("
        "  SELECT observed, answered, correct FROM benchmark_executions"
        "  WHERE run_key=?1 AND key NOT IN (SELECT key FROM open)"
        "  UNION ALL SELECT COUNT(*), SUM(failure_kind IS NULL), SUM(correct IS 1) FROM answers"
        "  WHERE execution_key IN (SELECT key FROM open))"
        " SELECT SUM(observed) AS observed, COALESCE(SUM(answered), 0) AS answered,"
        " COALESCE(SUM(correct), 0) AS correct,"
        f" (SELECT CASE WHEN MAX({by_clock(connection)}) THEN NULL ELSE SUM(e.planned) END"
        "  FROM benchmark_executions e WHERE e.run_key=?1) AS planned FROM counted",
        (run_key,),
    )[0]


def cases_of_run(connection: sqlite3.Connection, run_key: int) -> Iterator[Case]:
    """Yield every distinct stored case of a run's datasets, decoded on demand."""
    decoder = msgspec.json.Decoder(Case)
    cursor = connection.execute(
        "SELECT body FROM cases WHERE dataset_key IN"
        " (SELECT dataset_key FROM benchmark_executions WHERE run_key=?) ORDER BY key",
        (run_key,),
    )
    return (decoder.decode(body) for (body,) in map(tuple, cursor))


def find_run(connection: sqlite3.Connection, wanted: str) -> Row:
    """Return the run with that id, unique prefix of an id, or `latest`. Raises UsageError."""
    if wanted == "latest":
        found = rows_of(connection, "SELECT * FROM runs ORDER BY started_at DESC, key DESC LIMIT 1")
        if not found:
            raise UsageError("no run yet; `agentbench run` makes one")
        return found[0]
    pattern = wanted.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
    found = rows_of(
        connection, "SELECT * FROM runs WHERE id LIKE ? ESCAPE '\\' LIMIT 3", (pattern,)
    )
    exact = [run for run in found if run["id"] == wanted]
    if exact or (len(found) == 1 and wanted):
        return (exact or found)[0]
    if found and wanted:
        raise UsageError(f"run '{wanted}' is ambiguous: several ids begin so; give more of it")
    known = [row["id"] for row in rows_of(connection, "SELECT id FROM runs")]
    raise UsageError(
        f"no run '{wanted}'{did_you_mean(wanted, known)}; `agentbench runs list` shows them"
    )


def executions_of(connection: sqlite3.Connection, run_key: int) -> list[Row]:
    """Return the executions of a run in plan order, with `parameters` decoded.

    Equal texts are one object, because thousands of executions are equal in most of them.
    """
    rows = rows_of(
        connection,
        "SELECT * FROM benchmark_executions WHERE run_key=? ORDER BY ordinal",
        (run_key,),
    )
    texts: dict[str, str] = {}
    for row in rows:
        for name, value in row.items():
            if type(value) is str:
                row[name] = texts.setdefault(value, value)
        row["parameters"] = json.loads(row["parameters"])
    return rows


def execution_key_of(connection: sqlite3.Connection, execution_id: str) -> int:
    """Return the key of an execution with that full id."""
    (key,) = connection.execute(
        "SELECT key FROM benchmark_executions WHERE id=?", (execution_id,)
    ).fetchone()
    return int(key)


def metrics_of(
    connection: sqlite3.Connection,
    execution_key: int,
    shared: dict[tuple[Any, ...], Row] | None = None,
) -> dict[str, Row]:
    """Metric name → {value, unit, low, high, n, reason, direction}; not to be changed.

    Metrics that are equal to one in `shared`, which the caller keeps, are that object: executions
    of a sweep are equal in most of them.
    """
    shared = {} if shared is None else shared
    cursor = connection.cursor()
    cursor.row_factory = None
    cursor.execute(
        "SELECT name, value, unit, low, high, n, reason, direction FROM metrics"
        " WHERE execution_key=?"
        " ORDER BY name",
        (execution_key,),
    )
    found: dict[str, Row] = {}
    for name, *values, direction in cursor.fetchall():
        key = (*values, direction or _direction(name))
        row = shared.get(key)
        if row is None:
            row = shared[key] = dict(zip(_METRIC_FIELDS, key, strict=True))
        found[sys.intern(name)] = row
    return found


@lru_cache(maxsize=4096)
def _direction(name: str) -> Direction | None:
    """Return the direction of one of agentbench's metrics; None for any other, whatever is
    installed.
    """
    known = METRICS.get(name.partition(".")[0]) or pass_metric(name)
    return None if known is None else known.direction


def is_of_load(connection: sqlite3.Connection, execution: Row) -> bool:
    """Return whether an execution (a row of `executions_of`) is of a load."""
    kind = benchmark_kind(connection, execution["suite_hash"], execution["benchmark_id"])
    return kind is not None and kind_named(kind).runs_by_schedule


def load_summary_of(connection: sqlite3.Connection, execution_key: int) -> str | None:
    """Return the summary of a load execution as JSON; None for any other execution."""
    row = connection.execute(
        "SELECT document FROM load_summaries WHERE execution_key=?", (execution_key,)
    ).fetchone()
    return None if row is None else str(row[0])


def failures_of(connection: sqlite3.Connection, execution_key: int) -> dict[str, int]:
    """Return the number of observations of the execution that ended with each failure kind."""
    return {
        row["failure_kind"]: row["n"]
        for row in rows_of(
            connection,
            "SELECT failure_kind, COUNT(*) AS n FROM answers WHERE execution_key=?"
            " AND failure_kind IS NOT NULL GROUP BY failure_kind ORDER BY n DESC",
            (execution_key,),
        )
    }


def failure_details(connection: sqlite3.Connection, run_key: int, limit: int = 50) -> list[Row]:
    """Return the most frequent failures of a run: stage, kind, one detail, count, one case id.

    Details that differ in their numbers only count as one.
    """
    rows = rows_of(
        connection,
        "SELECT e.agent_id, e.benchmark_id, f.stage, f.kind, f.detail, COUNT(*) AS n,"
        " MIN(c.case_id) AS case_id FROM failures f"
        " LEFT JOIN benchmark_executions e ON e.key=f.execution_key"
        " LEFT JOIN cases c ON c.key=f.case_key WHERE f.run_key=?"
        " GROUP BY e.key, f.stage, f.kind, f.detail ORDER BY MIN(f.seq) LIMIT 5000",
        (run_key,),
    )
    merged: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        form = re.sub(r"\d+", "#", row["detail"])
        key = (row["agent_id"], row["benchmark_id"], row["stage"], row["kind"], form)
        known = merged.setdefault(key, row)
        if known is not row:
            known["n"] += row["n"]
    return sorted(merged.values(), key=lambda row: -row["n"])[:limit]


def is_measured_with(connection: sqlite3.Connection, execution_key: int, agent: str) -> bool:
    """Return whether the agent was measured on the same benchmark and point in the same run."""
    found = connection.execute(
        "SELECT 1 FROM benchmark_executions b JOIN benchmark_executions e ON e.key=?"
        " WHERE b.run_key=e.run_key AND b.agent_id=? AND b.suite_id=e.suite_id"
        " AND b.benchmark_id=e.benchmark_id AND b.parameters=e.parameters"
        " AND EXISTS (SELECT 1 FROM metrics WHERE execution_key=b.key)",
        (execution_key, agent),
    ).fetchone()
    return found is not None


def executed_benchmarks(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """Return suite id and benchmark id of each benchmark that has an execution."""
    return connection.execute(
        "SELECT DISTINCT suite_id, benchmark_id FROM benchmark_executions"
    ).fetchall()


def graded_scores(connection: sqlite3.Connection, execution_key: int) -> list[Score]:
    """Return scores of an execution with the grades of several judges."""
    rows = connection.execute(
        "SELECT s.value FROM answers a, json_each(a.scores) s WHERE a.execution_key=?"
        " AND instr(a.scores, '\"grades\"')",
        (execution_key,),
    ).fetchall()
    return [msgspec.json.decode(row[0], type=Score) for row in rows]


def list_agents(connection: sqlite3.Connection) -> list[Row]:
    """Return every agent: its versions, runs, last measurement, and latest target."""
    rows = rows_of(
        connection,
        "SELECT a.id, a.name, COUNT(DISTINCT e.agent_version) AS versions,"
        " COUNT(DISTINCT e.run_key) AS runs, MAX(e.created_at) AS last_run_at,"
        " MAX(CASE WHEN e.status='complete' THEN e.created_at END) AS last_complete_at,"
        " (SELECT specification FROM agent_versions v WHERE v.agent_id=a.id"
        "  ORDER BY v.created_at DESC LIMIT 1) AS specification"
        " FROM agents a LEFT JOIN benchmark_executions e ON e.agent_id=a.id"
        # An import that was killed may have left one without a version.
        " WHERE specification IS NOT NULL GROUP BY a.id ORDER BY last_run_at DESC",
    )
    for row in rows:
        specification = json.loads(row.pop("specification"))
        row["target"] = specification["target"]
        row["version"] = specification["version"]
        row["simulated"] = bool(specification.get("simulated", False))
    return rows


def file_of(connection: sqlite3.Connection) -> Path:
    """The file of the database that a connection reads."""
    return Path(connection.execute("PRAGMA database_list").fetchone()[2])


def run_id_of(connection: sqlite3.Connection, run_key: int) -> str:
    """Return the id of a run."""
    (run_id,) = connection.execute("SELECT id FROM runs WHERE key=?", (run_key,)).fetchone()
    return str(run_id)


def plan_of_run(connection: sqlite3.Connection, run_key: int) -> str:
    """Return the plan of a run as JSON."""
    (plan,) = connection.execute("SELECT plan FROM runs WHERE key=?", (run_key,)).fetchone()
    return str(plan)


def newest_run_ids(
    connection: sqlite3.Connection, limit: int, status: str | None = None
) -> list[str]:
    """Return the ids of the newest runs, or of those with a status, newest first."""
    rows = connection.execute(
        "SELECT id FROM runs WHERE ?1 IS NULL OR status=?1 ORDER BY key DESC LIMIT ?2",
        (status, limit),
    )
    return [str(row[0]) for row in rows.fetchall()]


def environment_of(connection: sqlite3.Connection, digest: str | None) -> str | None:
    """Return the machine of a run as JSON, by the hash in its row; None if unknown."""
    row = connection.execute("SELECT document FROM environments WHERE hash=?", (digest,)).fetchone()
    return None if row is None else str(row[0])


def fingerprint_of_run(connection: sqlite3.Connection, run_key: int) -> str | None:
    """Return the fingerprint of the machine of a run; None while it is unknown."""
    row = connection.execute(
        "SELECT e.fingerprint FROM runs r JOIN environments e ON e.hash=r.environment_hash"
        " WHERE r.key=?",
        (run_key,),
    ).fetchone()
    return None if row is None else str(row[0])


def find_fingerprint(connection: sqlite3.Connection, run_id: str) -> str | None:
    """Return the fingerprint of the machine of a run; None if it, or the run, is unknown."""
    row = connection.execute(
        "SELECT e.fingerprint FROM runs r JOIN environments e ON e.hash=r.environment_hash"
        " WHERE r.id=?",
        (run_id,),
    ).fetchone()
    return None if row is None else str(row[0])


def plan_of_execution(connection: sqlite3.Connection, execution_key: int) -> tuple[int, str]:
    """Return the key of an execution's run, and its plan as JSON."""
    run_key, plan = connection.execute(
        "SELECT r.key, r.plan FROM runs r JOIN benchmark_executions e ON e.run_key=r.key"
        " WHERE e.key=?",
        (execution_key,),
    ).fetchone()
    return int(run_key), str(plan)


def start_of_run(connection: sqlite3.Connection, run_id: str) -> str:
    """Return when a run started, UTC."""
    (started_at,) = connection.execute(
        "SELECT started_at FROM runs WHERE id=?", (run_id,)
    ).fetchone()
    return str(started_at)


def run_statuses(connection: sqlite3.Connection) -> dict[str, int]:
    """Return status → number of runs that have it."""
    rows = connection.execute("SELECT status, COUNT(*) FROM runs GROUP BY status")
    return {str(status): int(count) for status, count in map(tuple, rows.fetchall())}
