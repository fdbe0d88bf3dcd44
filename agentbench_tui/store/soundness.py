"""Validates every row of a run, whoever wrote it.

SQLite's STRICT tables check types; this module checks meaning: ids that may become file names, JSON
of the right shape, times, and numbers within bounds. Imports are checked before a row is copied. If
a command fails because of stored data, the invalid runs are found by these checks and excluded.
"""

from __future__ import annotations

import hashlib
import math
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from agentbench_tui.model.agent import AgentSpec
from agentbench_tui.model.answer import Answer, Case, Score, ToolCall
from agentbench_tui.model.bounds import LARGEST_SEED, MOST_ROUNDS, MOST_SEEDS
from agentbench_tui.model.identity import canonical_json, content_hash, is_name
from agentbench_tui.model.text.not_json import NOT_JSON
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.store.locking import LeaseHolder
from agentbench_tui.store.removal import BY_EXECUTION, BY_RUN

Check = Callable[[Any], object]
"""Raises ValueError, or msgspec's error, for an invalid value."""
Checks = Mapping[tuple[str, str], Check]
"""By table and column."""
PlanCheck = Callable[[str, str, Mapping[str, str]], str]
"""Returns what is wrong with a plan, given the id of its run, the plan as JSON, and the
executions of the run with their agents; empty if nothing is.
"""

LONGEST_TEXT = 64 << 20
_LARGEST_INTEGER = 10**12
"""Sums of a million larger ones would overflow, over which SQLite fails."""
_LARGEST_FLOAT = 1e100
"""Squares of larger numbers, and sums of them, overflow. Experiments may return any number."""
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_ROUNDS = frozenset({"repeat", "iteration", "attempt", "position"})
_COUNTS = frozenset(
    {
        "ordinal", "planned", "observed", "answered", "correct", "n", "rows", "worker", "sent",
        "failed", "repeats", "cases", "api_calls",
    }
)  # fmt: skip
_SEEDS = frozenset({"seed"})
_SHARES = frozenset({"credit"})
_TIMES = frozenset(
    {"created_at", "started_at", "ended_at", "start_time", "end_time", "since", "imported_at"}
)


def _uuid(value: Any) -> None:
    if not isinstance(value, str) or _UUID.fullmatch(value) is None:
        raise ValueError("is no UUID")


def _name(value: Any) -> None:
    if not isinstance(value, str) or not is_name(value):
        raise ValueError("is no name of letters, digits, dots, dashes and underscores")


def json_of(kind: Any) -> Check:
    """Return a check that a text is JSON of a msgspec type."""
    decoder = msgspec.json.Decoder(kind)
    return decoder.decode


_object = json_of(dict[str, Any])

CHECKS: Checks = {
    ("runs", "id"): _uuid,
    ("runs", "suite_ids"): json_of(list[str]),
    ("runs", "plan"): _object,
    ("runs", "tags"): json_of(list[str]),
    ("runs", "vcs"): _object,
    ("runs", "overhead"): _object,
    ("runs", "lease"): json_of(LeaseHolder),
    ("benchmark_executions", "id"): _uuid,
    ("benchmark_executions", "suite_id"): _name,
    ("benchmark_executions", "benchmark_id"): _name,
    ("benchmark_executions", "agent_id"): _name,
    ("benchmark_executions", "parameters"): _object,
    ("benchmark_executions", "model_configuration"): json_of(AgentSpec),
    ("benchmark_suites", "suite_id"): _name,
    ("benchmark_suites", "document"): _object,
    ("benchmarks", "benchmark_id"): _name,
    ("agents", "id"): _name,
    ("agent_versions", "specification"): json_of(AgentSpec),
    ("environments", "document"): _object,
    ("cases", "body"): json_of(Case),
    ("answers", "answer"): json_of(Answer),
    ("answers", "scores"): json_of(list[Score]),
    ("messages", "tool_calls"): json_of(list[ToolCall]),
    ("attempts", "partial"): json_of(Answer),
    ("gauges", "reading"): _object,
    ("live", "state"): _object,
    ("load_windows", "document"): _object,
    ("load_summaries", "document"): _object,
    ("calibrations", "document"): _object,
    ("stress_reports", "document"): _object,
    ("accepted_changes", "parameters"): _object,
}
"""Checks of columns whose meaning is known here; other packages check the documents that they
write.
"""


class Soundness:
    """Checks rows by `CHECKS` and by the checks of the packages that wrote the documents."""

    def __init__(self, further: Checks, of_plan: PlanCheck | None = None) -> None:
        self._checks = {**CHECKS, **further}
        self._of_plan = of_plan

    def problem(self, table: str, names: Sequence[str], row: Sequence[Any]) -> str:
        """Return what is wrong with a row, such as `runs.tags: …`; empty if nothing is."""
        for name, value in zip(names, row, strict=True):
            if value is None:
                continue
            try:
                _check_plain(name, value)
                if (check := self._checks.get((table, name))) is not None:
                    check(value)
            except (*NOT_JSON, msgspec.ValidationError, ValueError, TypeError, KeyError) as error:
                return f"{table}.{name}: {one_line(str(error), 160)}"
        return ""

    def of_run(self, connection: sqlite3.Connection, run_key: int) -> str:
        """Return the first problem of a stored run; empty if there is none."""
        for table, condition in _rows_of_run().items():
            cursor = connection.execute(
                f"SELECT * FROM {table} WHERE {condition}",  # noqa: S608  # our own names
                {"run": run_key},
            )
            names = [column[0] for column in cursor.description]
            for row in cursor:  # one at a time: an answer may be megabytes
                if problem := self.problem(table, names, tuple(row)):
                    return problem
        problem = _missing(connection, run_key) or _changed_dataset(connection, run_key)
        if problem or self._of_plan is None:
            return problem
        (run_id, plan) = connection.execute(
            "SELECT id, plan FROM runs WHERE key=?", (run_key,)
        ).fetchone()
        rows = connection.execute(
            "SELECT id, agent_id FROM benchmark_executions WHERE run_key=?", (run_key,)
        )
        problem = self._of_plan(run_id, plan, dict(map(tuple, rows.fetchall())))
        return f"runs.plan: {problem}" if problem else ""

    def damaged(self, connection: sqlite3.Connection) -> dict[int, tuple[str, str]]:
        """Return the key of each invalid run → its id and its problem."""
        runs = connection.execute("SELECT key, id FROM runs ORDER BY key").fetchall()
        found = {key: (str(run_id), self._or_unreadable(connection, key)) for key, run_id in runs}
        return {key: told for key, told in found.items() if told[1]}

    def _or_unreadable(self, connection: sqlite3.Connection, run_key: int) -> str:
        try:
            return self.of_run(connection, run_key)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            return one_line(str(error), 160)


def _rows_of_run() -> dict[str, str]:
    executions = "SELECT {} FROM benchmark_executions WHERE run_key=:run"
    by_run = dict.fromkeys(BY_RUN, "run_key=:run")
    by_execution = {
        table: f"execution_key IN ({executions.format('key')})" for table in BY_EXECUTION
    }
    dataset = executions.format("dataset_key")
    return {
        "runs": "key=:run",
        "benchmark_executions": "run_key=:run",
        "benchmark_suites": f"hash IN ({executions.format('suite_hash')})",
        "benchmarks": f"suite_hash IN ({executions.format('suite_hash')})",
        "agents": f"id IN ({executions.format('agent_id')})",
        "agent_versions": f"agent_id IN ({executions.format('agent_id')})",
        "environments": "hash IN (SELECT environment_hash FROM runs WHERE key=:run)",
        "datasets": f"key IN ({dataset})",
        "cases": f"dataset_key IN ({dataset})",
        **by_execution,
        **by_run,
    }


_EXECUTIONS = "SELECT {} FROM benchmark_executions WHERE run_key=:run"
_CASES = f"SELECT key FROM cases WHERE dataset_key IN ({_EXECUTIONS.format('dataset_key')})"  # noqa: S608
_UNDECLARED = {
    ("benchmark_executions", "(agent_id, agent_version)"): (
        "SELECT agent_id, version FROM agent_versions"
    ),
    ("benchmark_executions", "(suite_hash, benchmark_id)"): (
        "SELECT suite_hash, benchmark_id FROM benchmarks"
    ),
    ("failures", "case_key"): _CASES,
}
"""Table and columns → what they refer to, if the schema declares no foreign key."""


def _missing(connection: sqlite3.Connection, run_key: int) -> str:
    """Return the first column of a run's rows that refers to a missing row, or to one of another
    run. SQLite checks nothing while a file is edited with foreign keys off.
    """
    for table, condition in _rows_of_run().items():
        for columns, allowed in _references(connection, table):
            found = connection.execute(
                f"SELECT 1 FROM {table} WHERE ({condition})"  # noqa: S608  # our own names
                f" AND ({_is_given(columns)}) AND {columns} NOT IN ({allowed}) LIMIT 1",
                {"run": run_key},
            ).fetchone()
            if found is not None:
                name = columns.strip("()").replace(", ", " and ")
                return f"{table}.{name}: refers to nothing in the run"
    return ""


def _is_given(columns: str) -> str:
    return " AND ".join(f"{name} IS NOT NULL" for name in columns.strip("()").split(", "))


def _references(connection: sqlite3.Connection, table: str) -> Iterator[tuple[str, str]]:
    """Yield columns of a table that refer to rows, and a query for their valid targets."""
    of_run = {
        "runs": "SELECT :run",
        "benchmark_executions": _EXECUTIONS.format("key"),
        "cases": _CASES,
    }
    declared = connection.execute(f"PRAGMA foreign_key_list({table})").fetchall()
    for _, _, parent, column, parent_column, *_ in map(tuple, declared):
        yield column, of_run.get(parent, f"SELECT {parent_column} FROM {parent}")  # noqa: S608
    for (of_table, columns), allowed in _UNDECLARED.items():
        if of_table == table:
            yield columns, allowed


def _changed_dataset(connection: sqlite3.Connection, run_key: int) -> str:
    """Return whether a dataset does not match its hash.

    Runs share datasets by hash: later runs would use a different dataset, with any code in its
    cases, in place of the real one.
    """
    datasets = connection.execute(
        "SELECT key, hash, source, cases FROM datasets WHERE key IN"
        " (SELECT dataset_key FROM benchmark_executions WHERE run_key=?)",
        (run_key,),
    ).fetchall()
    for key, expected, source, count in map(tuple, datasets):
        kind, _, slug = source.partition(" ")
        if expected == content_hash([kind, slug]):
            # Its hash is that of its name alone, and it has one case.
            digest, _ = _digest_and_number([Case(id=slug, input=slug)])
        else:
            digest = expected
        found, cases = _digest_and_number(_cases(connection, key))
        if found != digest:
            return "datasets.hash: is not that of its cases"
        if cases != count:
            return "datasets.cases: is not the number of its cases"
    return ""


def _cases(connection: sqlite3.Connection, dataset_key: int) -> Iterator[Case]:
    """Yield the cases of a dataset under the ids by which they are found."""
    decoder = msgspec.json.Decoder(Case)
    rows = connection.execute(
        "SELECT case_id, body FROM cases WHERE dataset_key=? ORDER BY key", (dataset_key,)
    )
    for case_id, body in map(tuple, rows):
        yield msgspec.structs.replace(decoder.decode(body), id=case_id)


def _digest_and_number(cases: Iterable[Case]) -> tuple[str, int]:
    digest, number = hashlib.sha256(), 0
    for case in cases:
        digest.update(canonical_json(case) + b"\n")
        number += 1
    return digest.hexdigest(), number


def _check_plain(name: str, value: Any) -> None:
    if isinstance(value, str | bytes) and len(value) > LONGEST_TEXT:
        raise ValueError(f"is longer than {LONGEST_TEXT:,} characters")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("is not finite")
    if isinstance(value, int) and abs(value) > (
        LARGEST_SEED + MOST_SEEDS if name in _SEEDS else _LARGEST_INTEGER
    ):
        raise ValueError("is too large")
    if isinstance(value, float) and abs(value) > _LARGEST_FLOAT:
        raise ValueError("is too large")
    if name in _TIMES:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            raise ValueError("is a time without a time zone")
    elif (name in _SHARES or name.endswith("_score")) and not 0 <= value <= 1:
        raise ValueError(f"{value:g} is not a share between 0 and 1")
    elif isinstance(value, int) and (
        (name in _COUNTS and value < 0) or (name in _ROUNDS and not 0 <= value <= MOST_ROUNDS)
    ):
        raise ValueError(f"{value} is out of range")
