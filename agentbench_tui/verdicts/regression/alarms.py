"""Status of every agent, the worst first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentbench_tui.model.errors import AgentbenchError
from agentbench_tui.store.queries.history import newest_agents
from agentbench_tui.verdicts.regression.health import health
from agentbench_tui.verdicts.regression.regression import RegressionAsked, judge_agent
from agentbench_tui.verdicts.regression.regression_document import overall_verdict

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.verdicts.regression.regression import Judgment

MOST_AGENTS = 24
"""Number of agents that are judged, those measured most recently."""
_SEVERITIES = ("critical", "major", "minor")
_VERDICTS = ("regression", "suspect", "no regression", "not enough data", "not comparable")


@dataclass(frozen=True, slots=True)
class Standing:
    """One agent's newest runs in a line."""

    agent: str
    version: str
    verdict: str
    """Verdict as in `overall_verdict`; empty if nothing could be judged."""
    severity: str | None = None
    """The gravest of its regressions."""
    regressions: int = 0
    health: float | None = None
    reason: str = ""
    """Why nothing could be judged."""

    @property
    def gravity(self) -> tuple[int, int, float]:
        """Return a sort key, worst first."""
        verdict = _VERDICTS.index(self.verdict) if self.verdict in _VERDICTS else len(_VERDICTS)
        grade = _SEVERITIES.index(self.severity) if self.severity else len(_SEVERITIES)
        return verdict, grade, 100.0 if self.health is None else self.health


def standings(
    connection: sqlite3.Connection, most: int = MOST_AGENTS, known: Standing | None = None
) -> list[Standing]:
    """Return the status of the most recently measured agents, the worst first; `known` is not
    judged again.
    """
    found = [
        known if known is not None and known.agent == one else _judged(connection, one)
        for one in newest_agents(connection, most)
    ]
    return sorted(found, key=lambda one: (one.gravity, one.agent))


def _judged(connection: sqlite3.Connection, agent: str) -> Standing:
    try:
        return standing_of(judge_agent(connection, RegressionAsked(agent)))
    except AgentbenchError as error:
        return Standing(agent, "", "", reason=str(error))


def standing_of(judgment: Judgment) -> Standing:
    """Return the status of the judged agent."""
    findings = judgment.findings
    grades = {one.severity for one in findings}
    return Standing(
        judgment.agent,
        judgment.version,
        overall_verdict(findings, is_newest=judgment.interrupted is None),
        next((grade for grade in _SEVERITIES if grade in grades), None),
        sum(one.verdict == "regression" for one in findings),
        health(findings),
    )
