"""Databases with runs of known values, written row by row: what no real run could promise."""

import functools
import json
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentbench_tui.model.identity import new_id
from agentbench_tui.store.database import connect_to_write

WEIGHTS = {"accuracy": 0.3, "speed": 0.2, "efficiency": 0.2, "cost": 0.15, "reliability": 0.15}


@dataclass(frozen=True)
class Answer:
    """One observation."""

    case: int
    repeat: int = 0
    iteration: int = 0
    e2e_ms: float | None = 10.0
    credit: float = 1.0
    failure: str | None = None


@dataclass(frozen=True)
class Measured:
    """What one execution measured."""

    metrics: Mapping[str, float]
    answers: Sequence[Answer] = ()
    definition: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)


@functools.cache
def _empty() -> bytes:
    """A database without a row: made once, as hundreds of tests begin with one."""
    with tempfile.TemporaryDirectory() as folder:
        connect_to_write(Path(folder, "empty.db")).close()
        return Path(folder, "empty.db").read_bytes()


class RunHistory:
    """Writes runs, each an hour after the one before."""

    def __init__(self, path: Path, inputs: Sequence[str] = ("1", "22", "333")) -> None:
        self.path = path
        self._runs = 0
        path.write_bytes(_empty())
        self._connection = connect_to_write(path)
        with self._transaction() as connection:
            connection.execute(
                "INSERT INTO benchmark_suites VALUES ('h','s','s','accuracy','1','',?,NULL,'')",
                (json.dumps({"suite_id": "s", "weights": WEIGHTS}),),
            )
            connection.execute("INSERT INTO datasets VALUES (1,'d','inline',?)", (len(inputs),))
            connection.executemany(
                "INSERT INTO cases VALUES (?,1,?,?)",
                [
                    (key, f"c{key}", json.dumps({"id": f"c{key}", "input": text}))
                    for key, text in enumerate(inputs)
                ],
            )

    @property
    def connection(self) -> sqlite3.Connection:
        """Where it writes, each statement at once."""
        return self._connection

    def close(self) -> None:
        self._connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        self._connection.execute("BEGIN")
        yield self._connection
        self._connection.execute("COMMIT")

    def run(
        self,
        agents: Mapping[str, Mapping[str, Measured]],
        *,
        machine: str = "f1",
        configuration: str | None = None,
        tags: Sequence[str] = (),
        status: str = "complete",
    ) -> str:
        """A run of `AGENT@VERSION` → benchmark → what it measured; its id."""
        run_id = new_id()
        at = f"2026-01-{1 + self._runs // 24:02d}T{self._runs % 24:02d}:00:00.000Z"
        self._runs += 1
        executions: list[tuple[str, str, Measured]] = [
            (name, benchmark, measured)
            for name, of_agent in agents.items()
            for benchmark, measured in of_agent.items()
        ]
        ids = [new_id() for _ in executions]
        groups: list[dict[str, Any]] = [
            {
                "suite_id": "s",
                "suite_hash": "h",
                "benchmark": dict(one[2].definition) | {"benchmark_id": one[1], "kind": "task"},
                "parameters": one[2].parameters,
                "executions": [{"id": execution_id}],
            }
            for one, execution_id in zip(executions, ids, strict=True)
        ]
        with self._transaction() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO environments VALUES (?,?,'{}')", (machine, machine)
            )
            key = connection.execute(
                "INSERT INTO runs (id, workspace_id, status, suite_ids, plan, seed, repeats, tags,"
                " notes, environment_hash, tool_version, started_at)"
                " VALUES (?,'w',?,'[\"s\"]',?,42,1,?,'',?,'0',?)",
                (run_id, status, json.dumps({"groups": groups}), json.dumps(tags), machine, at),
            ).lastrowid
            assert key is not None
            for ordinal, ((name, benchmark, measured), execution_id) in enumerate(
                zip(executions, ids, strict=True)
            ):
                row = (execution_id, key, ordinal, configuration, status, at)
                self._execution(connection, (name, benchmark), measured, row)
        return run_id

    def _execution(
        self,
        connection: sqlite3.Connection,
        place: tuple[str, str],
        measured: Measured,
        row: tuple[str, int, int, str | None, str, str],
    ) -> None:
        (agent, _, version), benchmark = place[0].partition("@"), place[1]
        execution_id, run_key, ordinal, configuration, status, at = row
        connection.execute("INSERT OR IGNORE INTO agents VALUES (?,?,?)", (agent, agent, at))
        connection.execute(
            "INSERT OR IGNORE INTO agent_versions VALUES (?,?,?,?)",
            (agent, version, json.dumps({"id": agent, "version": version, "target": "t"}), at),
        )
        key = connection.execute(
            "INSERT INTO benchmark_executions (id, run_key, ordinal, suite_hash, suite_id,"
            " benchmark_id, agent_id, agent_version, workspace_id, parameters, seed, dataset_key,"
            " model_configuration, observed, status, created_at)"
            " VALUES (?,?,?,'h','s',?,?,?,'w',?,42,1,?,?,?,?)",
            (
                execution_id,
                run_key,
                ordinal,
                benchmark,
                agent,
                version,
                json.dumps(measured.parameters, separators=(",", ":")),
                configuration or json.dumps({"target": "t", "version": version}),
                len(measured.answers),
                status,
                at,
            ),
        ).lastrowid
        assert key is not None
        connection.executemany(
            "INSERT INTO metrics (execution_key, name, value, unit, n) VALUES (?,?,?,'',9)",
            [(key, name, value) for name, value in measured.metrics.items()],
        )
        connection.executemany(
            "INSERT INTO answers (run_key, execution_key, case_key, repeat, iteration, attempt,"
            " failure_kind, sent_ms, e2e_ms, waiting_ms, api_calls, credit)"
            " VALUES (?,?,?,?,?,0,?,?,?,0,1,?)",
            [
                (
                    run_key,
                    key,
                    one.case,
                    one.repeat,
                    one.iteration,
                    one.failure,
                    float(number),
                    None if one.failure else one.e2e_ms,
                    None if one.failure else one.credit,
                )
                for number, one in enumerate(measured.answers)
            ],
        )

    def times(
        self, values: Iterable[float], version: str = "1", benchmarks: Sequence[str] = ("b",)
    ) -> list[str]:
        """A run for each value: `e2e_ms.p50` of `bot` on every benchmark; their ids."""
        return [
            self.run({f"bot@{version}": {one: timed(value) for one in benchmarks}})
            for value in values
        ]


def timed(value: float) -> Measured:
    """An execution with a time alone."""
    return Measured({"e2e_ms.p50": value})


def near(level: float, count: int, spread: float = 0.01) -> Iterator[float]:
    """Values about a level whose logs scatter evenly, the same at each call."""
    for number in range(count):
        yield level * (1 + spread * (((number * 7) % 11) / 5 - 1))


def repeats(level: float, count: int, cases: int = 3, passes: int = 1) -> list[Answer]:
    """Answers of `count` repeats whose times scatter a little about a level."""
    return [
        Answer(case, repeat, iteration, value)
        for repeat, value in enumerate(near(level, count))
        for iteration in range(passes)
        for case in range(cases)
    ]
