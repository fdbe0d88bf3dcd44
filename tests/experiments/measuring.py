"""Carrying out experiments in tests, and reading what is stored of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import workloads

from agentbench_tui.engine.run.coordinator import Outcome, carry_out
from agentbench_tui.engine.run.plan import Plan
from agentbench_tui.engine.run.planning import RunOptions, make_plan
from agentbench_tui.engine.suite.loading import suite_of_data
from agentbench_tui.store.database import create_or_migrate

Said = Callable[..., tuple[int, str, str]]
"""A command's arguments to its exit code, output and errors."""


def slug(name: str) -> str:
    """By which an experiment of `workloads` is named."""
    return f"python:{workloads.HERE / 'workloads.py'}:{name}"


def planned(name: str, folder: Path, *, repeats: int = 1, **benchmark: Any) -> Plan:
    """A plan of one experiment; `agents` are targets, the rest keys of its benchmark."""
    agents = tuple(benchmark.pop("agents", ()))
    one = {
        "benchmark_id": "it",
        "kind": "experiment",
        "experiment": slug(name),
        "iterations": {"warmup": 1, "measured": 3},
        **benchmark,
    }
    suite = suite_of_data({"suite_id": "tested", "benchmarks": [one]}, folder)
    return make_plan([suite], RunOptions(agents=agents, repeats=repeats, folder=folder))


async def measured(plan: Plan, folder: Path, said: list[str] | None = None) -> Outcome:
    """Carry it out into `folder/runs.db`."""
    database = folder / "runs.db"
    create_or_migrate(database)
    return await carry_out(plan, database, say=([] if said is None else said).append)


def rows(folder: Path, query: str, *values: object) -> list[tuple[Any, ...]]:
    """Of the database."""
    with closing(sqlite3.connect(folder / "runs.db")) as connection:
        return connection.execute(query, values).fetchall()


def answers(folder: Path, agent: str) -> list[dict[str, Any]]:
    """What an agent's iterations gave, by repeat and iteration."""
    found = rows(
        folder,
        "SELECT a.answer FROM answers a JOIN benchmark_executions e ON e.key=a.execution_key"
        " WHERE e.agent_id=? AND a.answer IS NOT NULL ORDER BY a.repeat, a.iteration",
        agent,
    )
    return [msgspec.json.decode(row[0]) for row in found]
