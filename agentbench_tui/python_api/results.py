"""What the functions of the API return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.verdicts.runs.ended_run import EndedRun


@dataclass(frozen=True, slots=True)
class RunResult:
    """A run: scores, metrics and failures of each agent on each benchmark."""

    document: dict[str, Any]
    """`agentbench.run/1`, as `agentbench run --format json` prints it."""

    @classmethod
    def of_ended_run(cls, connection: sqlite3.Connection, ended: EndedRun) -> RunResult:
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
