"""Contenders of a leaderboard: agents, their versions, or models, with their latest executions."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import msgspec

from agentbench_tui.agents.target import named_model
from agentbench_tui.model.agent import AgentSpec
from agentbench_tui.model.errors import UsageError, did_you_mean
from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.store.queries.answers import model_named_by_server
from agentbench_tui.store.queries.executions import verdicts_on_harness
from agentbench_tui.store.queries.latest import latest_executions
from agentbench_tui.store.queries.leaderboard import ExecutionFilter
from agentbench_tui.store.queries.runs import executed_benchmarks
from agentbench_tui.store.queries.suites import suite_categories
from agentbench_tui.verdicts.evidence.place import latest_of_places

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from agentbench_tui.verdicts.evidence.place import Execution

By: TypeAlias = Literal["agent", "version", "model"]
_HARNESS = ("clean", "noisy", "generator-limited")
"""From best to worst."""


class Contender(msgspec.Struct, frozen=True):
    """An entry to rank, with its executions."""

    name: str
    """Agent, `agent@version`, or model."""
    agent_id: str
    """Agent of the latest execution."""
    agent_version: str
    simulated: bool
    executions: tuple[Execution, ...]
    """Executions, the oldest first; at each place those of the latest run."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Filter of executions, and what is ranked."""

    days: int | None = 30
    """Maximum age in days; None for all."""
    suite: str | None = None
    category: str | None = None
    by: By = "agent"
    benchmark: str | None = None
    run_key: int | None = None
    """Only this run; None for the latest of all runs."""

    @property
    def kept(self) -> ExecutionFilter:
        """Return the part of the filter that the store applies."""
        return ExecutionFilter(self.days, self.suite, self.category, self.benchmark, self.run_key)

    def keeps(self, connection: sqlite3.Connection, row: Execution) -> bool:
        """Return whether an execution of the run matches the suite, category and benchmark."""
        return (
            self.suite in (None, row["suite_id"])
            and self.benchmark in (None, row["benchmark_id"])
            and self.category in (None, suite_categories(connection).get(row["suite_hash"]))
        )


def contenders_by_category(
    connection: sqlite3.Connection, wanted: Wanted
) -> dict[str, list[Contender]]:
    """Return the contenders of each suite category, by name, with only their executions in it.

    UsageError for a suite, or a benchmark of it, that was never run.
    """
    _check_names(connection, wanted)
    categories = suite_categories(connection)
    rows: dict[str, list[Execution]] = defaultdict(list)
    found = latest_executions(
        connection,
        suite=wanted.suite,
        since=_since(wanted.days),
        benchmark=wanted.benchmark,
        run_key=wanted.run_key,
    )
    for row in found:
        rows[categories[row["suite_hash"]]].append(row)
    return {
        category: contenders(connection, rows[category], wanted.by)
        for category in sorted(rows)
        if wanted.category in (None, category)
    }


def why_nobody(connection: sqlite3.Connection, wanted: Wanted) -> str:
    """Say why `contenders_by_category` finds none, and what to do; empty if it finds some."""
    if contenders_by_category(connection, wanted):
        return ""
    where = [
        f"{name} {value}"
        for name, value in (
            ("suite", wanted.suite),
            ("benchmark", wanted.benchmark),
            ("category", wanted.category),
        )
        if value is not None
    ]
    of = f" of {', '.join(where)}" if where else ""
    when = "" if wanted.days is None else f" in the last {counted(wanted.days, 'day')}"
    here = " in this run" if wanted.run_key is not None else ""
    nothing = f"no complete execution{of}{here}{when}"
    others = sorted(contenders_by_category(connection, replace(wanted, category=None)))
    if others:
        return f"{nothing}; there are some of category {', '.join(others)}"
    if wanted.days is not None and contenders_by_category(connection, replace(wanted, days=None)):
        return f"{nothing}; there are older ones (--days)"
    return f"{nothing}; start one with `agentbench run`"


def contenders(
    connection: sqlite3.Connection, rows: Iterable[Execution], by: By = "agent"
) -> list[Contender]:
    """Return contenders from complete executions, ordered oldest first.

    At each place only the latest run counts. Simulated and measured executions never form one
    contender.
    """
    grouped: dict[tuple[str, bool], list[Execution]] = defaultdict(list)
    for row in rows:
        grouped[_name(connection, row, by), bool(row["simulated"])].append(row)
    return [
        Contender(name, latest[-1]["agent_id"], latest[-1]["agent_version"], simulated, latest)
        for (name, simulated), all_rows in sorted(grouped.items())
        if (latest := tuple(latest_of_places(all_rows)))
    ]


def harness_of(connection: sqlite3.Connection, executions: Sequence[Execution]) -> str | None:
    """Return the worst measurement quality behind them; None if there is none.

    A load has its own; for anything else it is that of its run.
    """
    found = verdicts_on_harness(connection, [row["key"] for row in executions])
    verdicts = [_HARNESS.index(verdict) for verdict in found if verdict in _HARNESS]
    return _HARNESS[max(verdicts)] if verdicts else None


def _check_names(connection: sqlite3.Connection, wanted: Wanted) -> None:
    pairs = executed_benchmarks(connection)
    suites = sorted({suite for suite, _ in pairs})
    if wanted.suite is not None and wanted.suite not in suites:
        raise UsageError(
            f"--suite {wanted.suite}: nothing was measured on it"
            f"{did_you_mean(wanted.suite, suites)}; `agentbench runs list` shows what was"
        )
    benchmarks = sorted({one for suite, one in pairs if wanted.suite in (None, suite)})
    if wanted.benchmark is not None and wanted.benchmark not in benchmarks:
        raise UsageError(
            f"--benchmark {wanted.benchmark}: nothing was measured on it"
            f"{did_you_mean(wanted.benchmark, benchmarks)}; `agentbench runs list` shows what was"
        )


def _since(days: int | None) -> str | None:
    if days is None:
        return None
    return (datetime.now(UTC) - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%S")


def _name(connection: sqlite3.Connection, row: Execution, by: By) -> str:
    if by == "version":
        return f"{row['agent_id']}@{row['agent_version']}"
    if by == "model":
        return _model(connection, row) or str(row["agent_id"])
    return str(row["agent_id"])


def _model(connection: sqlite3.Connection, row: Execution) -> str | None:
    """Return the model that the server named, else that of the target; None for agents
    without one.
    """
    named = model_named_by_server(connection, row["key"])
    if named is not None:
        return named
    if row["model_configuration"] is None:
        return None
    return named_model(msgspec.json.decode(row["model_configuration"], type=AgentSpec))


def check_category(category: str) -> None:
    """Raise UsageError for an unknown category of suites."""
    from agentbench_tui.model.suite import Category

    known = get_args(Category)
    if category not in known:
        raise UsageError(
            f"--category {category}: unknown{did_you_mean(category, known)};"
            f" there are {', '.join(known)}"
        )
