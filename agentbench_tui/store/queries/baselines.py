"""Baselines of an agent, and the start of its current history."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection

DEFAULT = "default"
"""Name of the baseline that is used by default."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """A version, run or tag that later executions of an agent are compared with."""

    agent_id: str
    name: str
    suite_id: str
    """Empty for every suite."""
    benchmark_id: str
    """Empty for every benchmark."""
    kind: Literal["version", "run", "tag"]
    target: str
    """The version, the run's id, or the tag."""
    created_at: str

    def is_of_run(self, run_ids: Collection[str]) -> bool:
        """Return whether it names one of these runs, and is exported and deleted with it."""
        return self.kind == "run" and self.target in run_ids


@dataclass(frozen=True, slots=True)
class AcceptedChange:
    """A change of level that a person accepted: earlier runs are no longer used for comparison."""

    agent_id: str
    suite_id: str
    benchmark_id: str
    parameters: str
    """JSON as in `benchmark_executions`."""
    metric: str
    since: str
    """`created_at` of the first execution that certainly has the new level."""
    run_id: str
    """Its run."""
    before: float
    """The level before, in the metric's unit."""
    after: float
    created_at: str


def baselines_of(connection: sqlite3.Connection, agent: str | None = None) -> list[Baseline]:
    """Return the baselines of an agent, or of all; those of single benchmarks first."""
    names = ", ".join(field.name for field in fields(Baseline))
    rows = connection.execute(
        f"SELECT {names} FROM baselines WHERE ?1 IS NULL OR agent_id=?1"  # noqa: S608
        " ORDER BY agent_id, name, benchmark_id DESC, suite_id DESC",
        (agent,),
    )
    return [Baseline(*row) for row in rows.fetchall()]


def accepted_changes(
    connection: sqlite3.Connection, agent: str | None = None
) -> list[AcceptedChange]:
    """Return the accepted changes of an agent, or of all, oldest first."""
    names = ", ".join(field.name for field in fields(AcceptedChange))
    rows = connection.execute(
        f"SELECT {names} FROM accepted_changes WHERE ?1 IS NULL OR agent_id=?1"  # noqa: S608
        " ORDER BY agent_id, since, suite_id, benchmark_id, metric",
        (agent,),
    )
    return [AcceptedChange(*row) for row in rows.fetchall()]
