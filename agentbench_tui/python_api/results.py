"""What the functions of the API return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sqlite3
    from typing import Self

    from agentbench_tui.verdicts.runs.ended_run import EndedRun


@dataclass(frozen=True, slots=True)
class _OfRun:
    """What results of a run have in common."""

    document: dict[str, Any]
    """`agentbench.run/1`, as `agentbench run --format json` prints it."""

    @classmethod
    def of_ended_run(cls, connection: sqlite3.Connection, ended: EndedRun) -> Self:
        """Make the result of a run that has ended."""
        del connection
        return cls(ended.document)

    @property
    def run_id(self) -> str:
        """Id of the run, by which the command line finds it."""
        return str(self.document["run_id"])

    @property
    def status(self) -> str:
        """`complete`, `incomplete` or `interrupted`."""
        return str(self.document["status"])


@dataclass(frozen=True, slots=True)
class RunResult(_OfRun):
    """A run: scores, metrics and failures of each agent on each benchmark."""


@dataclass(frozen=True, slots=True)
class LoadResult(_OfRun):
    """A load test: latency, throughput and the verdict on the measurement at each load level."""


@dataclass(frozen=True, slots=True)
class StressResult(_OfRun):
    """A stress test: breaking point, cause and recovery in each scenario."""
