"""Runs small suites in this process, with agents out of a file, and reads back what was stored."""

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentbench_tui.engine.run.coordinator import Outcome, carry_out
from agentbench_tui.engine.run.plan import Plan
from agentbench_tui.engine.run.planning import RunOptions, make_plan
from agentbench_tui.store.database import connect_to_read, create_or_migrate
from agentbench_tui.store.queries.runs import executions_of, find_run, metrics_of
from agentbench_tui.verdicts.runs.documents import run_document

ONLY_ACCURACY = {"accuracy": 1, "speed": 0, "efficiency": 0, "cost": 0, "reliability": 0}


def cases(count: int) -> list[dict[str, Any]]:
    """Cases c0, c1, …: the answer to `n` is `n`."""
    return [{"id": f"c{n}", "input": str(n), "expected": str(n)} for n in range(count)]


def suite(count: int = 4, **benchmark: Any) -> dict[str, Any]:
    """A suite of one benchmark; keys of a suite may be given as `suite={…}`."""
    outer = benchmark.pop("suite", {})
    return {
        "suite_id": "small",
        "weights": ONLY_ACCURACY,
        **outer,
        "benchmarks": [
            {
                "benchmark_id": "echo",
                "dataset": {"cases": cases(count)},
                "scorers": ["exact"],
                "iterations": {"warmup": 0, "measured": 1},
                "retries": 0,
                **benchmark,
            }
        ],
    }


def plan(folder: Path, document: dict[str, Any], code: str, *names: str, **options: Any) -> Plan:
    """The plan of `document` with agents NAME (a function of the file `code`) in `folder`."""
    (folder / "suite.json").write_text(json.dumps(document))
    (folder / "agents.py").write_text(code)
    targets = tuple(f"{name}=python:agents.py:{name}" for name in names)
    given = RunOptions(agents=targets, folder=folder, **options)
    return make_plan([str(folder / "suite.json")], given)


@dataclass(frozen=True)
class Result:
    """A run that has ended, and its database."""

    outcome: Outcome
    database: Path

    def rows(self, statement: str, *values: Any) -> list[sqlite3.Row]:
        with closing(connect_to_read(self.database)) as connection:
            return connection.execute(statement, values).fetchall()

    def column(self, statement: str, *values: Any) -> list[Any]:
        return [row[0] for row in self.rows(statement, *values)]

    @property
    def document(self) -> dict[str, Any]:
        with closing(connect_to_read(self.database)) as connection:
            return run_document(connection, find_run(connection, self.outcome.run_id))

    def metrics(self, agent: str) -> dict[str, Any]:
        with closing(connect_to_read(self.database)) as connection:
            run = find_run(connection, self.outcome.run_id)
            executions = executions_of(connection, run["key"])
            key = next(row["key"] for row in executions if row["agent_id"] == agent)
            return metrics_of(connection, key)

    def execution(self, agent: str) -> dict[str, Any]:
        found = [one for one in self.document["executions"] if one["agent_id"] == agent]
        assert len(found) == 1
        return found[0]


async def run(
    folder: Path, document: dict[str, Any], code: str, *names: str, **options: Any
) -> Result:
    """Plan and carry out; the database lies in `folder`."""
    made = plan(folder, document, code, *names, **options)
    database = folder / "store.db"
    create_or_migrate(database)
    return Result(await carry_out(made, database), database)
