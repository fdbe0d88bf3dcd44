"""What a report is about, read from the store: a run, or a comparison of what selectors name."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from agentbench_tui.contracts.leaderboard import LeaderboardDocument
from agentbench_tui.contracts.runs import RunDetailsDocument
from agentbench_tui.model.errors import UsageError
from agentbench_tui.presentation.full_report.comparison import full_comparison
from agentbench_tui.presentation.full_report.run import full_run
from agentbench_tui.store.locking import is_leased
from agentbench_tui.store.queries.episodes import plays_market
from agentbench_tui.store.queries.executions import execution_keys
from agentbench_tui.store.queries.prices import hour_prices_of_run
from agentbench_tui.store.queries.runs import executions_of
from agentbench_tui.verdicts.runs.documents import count_kept, mark_interrupted, run_details
from agentbench_tui.verdicts.stored_plan import read_plan

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from agentbench_tui.contracts.cost import CostDocument
    from agentbench_tui.contracts.run import GateOutcome
    from agentbench_tui.presentation.full_report.parts import FullReport
    from agentbench_tui.presentation.report import Report
    from agentbench_tui.verdicts.regression.metric_series import AgentSeries
    from agentbench_tui.verdicts.runs.market_summary import MarketResults
    from agentbench_tui.verdicts.runs.run_times import RunTimes

_MOST_DRAWN = 200
"""Executions of a run whose latencies are read to be drawn."""
_MOST_PROFILED = 24
_MOST_HISTORIES = 6
"""Agents of a run whose earlier runs are judged with it."""
_MOST_PRICED = 24
"""Agents of a run whose costs are compared."""
_MOST_RANKED = 100
"""Contenders of a leaderboard that a report lists."""


@dataclass(frozen=True, slots=True)
class RunSource:
    """One run, as every format of a report needs it."""

    run: RunDetailsDocument
    gates: Sequence[GateOutcome]
    """Checks that were asked for; empty without any."""
    report: FullReport
    keys: Mapping[str, int]
    """Id of an execution → its key in the store, for its answers."""
    run_key: int
    market: MarketResults | None = None
    """Its episodes of market worlds; None of a run without any."""


def read_run(
    connection: sqlite3.Connection, database: Path, row: dict[str, Any], gates: Sequence[str] = ()
) -> RunSource:
    """Read a run, a row of `queries.runs.find_run`, and check `gates` on it.

    Raises UsageError for a gate that means nothing.
    """
    document = run_details(connection, row)
    if document["status"] == "running" and not is_leased(database, row["id"]):
        mark_interrupted(document)
    if document["status"] == "interrupted":
        count_kept(connection, row["key"], document)
    outcomes = _checked(connection, row, gates)
    if outcomes:
        document["gates"] = [msgspec.to_builtins(one) for one in outcomes]
    run = msgspec.convert(document, RunDetailsDocument)
    keys = execution_keys(connection, row["key"])
    market = _market(connection, row)
    report = full_run(
        run,
        _leaderboard(connection, row, run),
        document,
        outcomes,
        _times(connection, run, keys, row["key"]),
        _profile(connection, run, row["key"]),
        _histories(connection, run),
        hour_prices_of_run(connection, row["key"]),
        market,
        _cost(connection, row, run),
    )
    return RunSource(run, outcomes, report, keys, row["key"], market)


def _checked(
    connection: sqlite3.Connection, row: dict[str, Any], gates: Sequence[str]
) -> Sequence[GateOutcome]:
    """Check `gates`, or without any the run's own; empty if it has none either."""
    if not gates and not read_plan(row["plan"]).has_gates:
        return ()
    from agentbench_tui.verdicts.runs.ended_run import gates_document, judged_run

    return gates_document(judged_run(connection, row, gates)).gates


def _times(
    connection: sqlite3.Connection, run: RunDetailsDocument, keys: Mapping[str, int], run_key: int
) -> RunTimes | None:
    if len(run.executions) > _MOST_DRAWN:
        return None
    from agentbench_tui.verdicts.runs.run_times import run_times

    return run_times(connection, run_key, [(keys[one.execution_id], one) for one in run.executions])


def _profile(
    connection: sqlite3.Connection, run: RunDetailsDocument, run_key: int
) -> Report | None:
    """Return the profile of each execution; None of a run with many."""
    if len(run.executions) > _MOST_PROFILED:
        return None
    from agentbench_tui.presentation.profile import profile_report
    from agentbench_tui.verdicts.profile.profile_findings import read_findings

    measured = {one.execution_id for one in run.executions if one.value("e2e_ms.mean") is not None}
    found = [
        read_findings(connection, row | {"run_id": run.run_id})
        for row in executions_of(connection, run_key)
        if row["id"] in measured
    ]
    return profile_report(found, measured_only=True) if found else None


def _histories(connection: sqlite3.Connection, run: RunDetailsDocument) -> list[AgentSeries]:
    """Return the history of each agent that was measured in more runs than this one."""
    from agentbench_tui.verdicts.regression.metric_series import series_of

    agents = list(dict.fromkeys(one.agent_id for one in run.executions))
    if len(agents) > _MOST_HISTORIES:
        return []
    found = []
    for agent in agents:
        with suppress(UsageError):  # nothing complete was measured
            found.append(series_of(connection, agent))
    return found


def _cost(
    connection: sqlite3.Connection, row: dict[str, Any], run: RunDetailsDocument
) -> CostDocument | None:
    """Return costs and the Pareto front on the run's cases; None of a run with one agent, or with
    so many that resampling their pairs takes long.
    """
    if not 2 <= len(run.leaderboard) <= _MOST_PRICED:
        return None
    from agentbench_tui.verdicts.cost.cost_board import CostAsked, cost_document
    from agentbench_tui.verdicts.selection.contenders import Wanted

    return cost_document(connection, CostAsked(wanted=Wanted(None, run_key=row["key"])))


def _market(connection: sqlite3.Connection, row: dict[str, Any]) -> MarketResults | None:
    """Return the results in market worlds; None of a run without any."""
    if not plays_market(connection, row["key"]):
        return None
    from agentbench_tui.verdicts.runs.market_episode import episodes_of
    from agentbench_tui.verdicts.runs.market_summary import market_results

    return market_results(episodes_of(connection, row["id"]))


def _leaderboard(
    connection: sqlite3.Connection, row: dict[str, Any], run: RunDetailsDocument
) -> LeaderboardDocument | None:
    """Return the board of the run's cases; None of a run with one agent."""
    if len(run.leaderboard) < 2:
        return None
    from agentbench_tui.verdicts.ranking.leaderboard import leaderboard_document
    from agentbench_tui.verdicts.ranking.scoreboard import BoardAsked
    from agentbench_tui.verdicts.selection.contenders import Wanted

    # The other leaderboard, by overall score, is in the document of the run.
    wanted = Wanted(None, None, None, "agent", None, run_key=row["key"])
    asked = BoardAsked(None, False, False, wanted, None, None, 1)
    document = leaderboard_document(connection, asked, _MOST_RANKED)
    return msgspec.convert(document, LeaderboardDocument)


def read_comparison(selectors: Sequence[str], database: Path) -> FullReport:
    """Compare what the selectors name. Raises UsageError, Unmeasured and StoreError."""
    from agentbench_tui.verdicts.comparison.selector_comparison import (
        ComparisonOptions,
        compare_selectors,
    )

    notes: list[str] = []
    found = compare_selectors(ComparisonOptions(tuple(selectors)), database, notes.append)
    return full_comparison(found.document, notes)
