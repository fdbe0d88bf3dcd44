"""What each reading endpoint computes from a connection: the documents of the command line."""

from __future__ import annotations

import re
from datetime import UTC, timedelta
from importlib import import_module
from typing import TYPE_CHECKING, Any

from agentbench_tui.api.answers import encode
from agentbench_tui.api.problems import UNPROCESSABLE, ServiceError, not_found
from agentbench_tui.contracts.service import AgentResult, ResultsDocument
from agentbench_tui.model.clock import utc_now
from agentbench_tui.model.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Hashable, Sequence
    from pathlib import Path

    from agentbench_tui.verdicts.comparison.selector_comparison import ComparisonOptions

ALL = "all"
OVERALL = "overall"
LATEST = "latest"
_TIMEFRAME = re.compile(r"([1-9][0-9]{0,3})([hdw])")
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}
MOST_ROWS = 20
"""Rows of a board, unless the request names another number."""
_COMPUTING = (
    "verdicts.ranking.leaderboard",
    "verdicts.comparison.selector_comparison",
    "verdicts.regression.regression",
    "verdicts.regression.regression_document",
    "verdicts.regression.regression_request",
    "verdicts.runs.documents",
)
SELECTOR = r"^(?!file:)[^\x00-\x1f\x7f]{1,200}$"
"""Selectors of stored runs. Those of files would read files of this machine."""


def find_stored_run(connection: sqlite3.Connection, run: str) -> dict[str, Any]:
    """Return the row of a run by its id, a unique prefix, or `latest`. Raises ServiceError 404."""
    from agentbench_tui.store.queries.runs import find_run

    try:
        return find_run(connection, run)
    except UsageError as error:
        raise not_found(str(error)) from None


def check_agent(connection: sqlite3.Connection, agent: str) -> None:
    """Raise ServiceError 404 for an agent that was never measured."""
    from agentbench_tui.store.queries.selection import agent_ids

    known = agent_ids(connection)
    name = agent.partition("@")[0]
    if agent not in known and name not in known:
        raise not_found(f"no agent '{name}' was measured{did_you_mean(name, known)}")


def load_modules() -> None:
    """Import what answers are computed with, which otherwise takes most of the first answer."""
    for name in _COMPUTING:
        import_module(f"agentbench_tui.{name}")


def leaderboard_answer(
    category: str = OVERALL, metric: str = ALL, limit: int = MOST_ROWS
) -> tuple[Hashable, Callable[[sqlite3.Connection], bytes]]:
    """Return the key of a leaderboard among answers, and what computes it."""
    return (
        ("leaderboard", category, metric, limit),
        lambda connection: leaderboard(connection, category, metric, limit),
    )


def leaderboard(connection: sqlite3.Connection, category: str, metric: str, limit: int) -> bytes:
    """Return the leaderboard of a category, or of all; by a metric, or by the usual one."""
    from agentbench_tui.verdicts.ranking.leaderboard import asked_leaderboard
    from agentbench_tui.verdicts.ranking.scoreboard import BoardAsked
    from agentbench_tui.verdicts.selection.contenders import Wanted

    is_overall = category == OVERALL
    wanted = Wanted(None, None, None if is_overall else category, "agent", None)
    asked = BoardAsked(None if metric == ALL else metric, is_overall, False, wanted, None, None)
    return encode(asked_leaderboard(connection, asked, None, limit))


def agent_results(
    connection: sqlite3.Connection, agent: str, suite: str | None, timeframe: str, limit: int
) -> bytes:
    """Return an agent's complete executions: the latest of each benchmark, or those of a time."""
    from agentbench_tui.store.queries.selection import newest_executions

    since = beginning_of(timeframe)
    check_agent(connection, agent)
    if timeframe == LATEST:
        rows = _latest(connection, agent, suite)
        rows, more = rows[:limit], max(0, len(rows) - limit)
    else:
        rows, more = newest_executions(connection, agent, suite=suite, since=since, limit=limit)
    document = ResultsDocument(
        agent_id=agent,
        suite_id=suite,
        timeframe=timeframe,
        results=_results(connection, rows),
        more=more,
    )
    return encode(document)


def _latest(connection: sqlite3.Connection, agent: str, suite: str | None) -> list[dict[str, Any]]:
    """Return the executions of the newest run at each benchmark and point, the newest first."""
    from agentbench_tui.store.queries.latest import latest_executions

    newest: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for row in latest_executions(connection, agent=agent, suite=suite):  # the oldest first
        place = (row["suite_id"], row["benchmark_id"], repr(sorted(row["parameters"].items())))
        kept = newest.setdefault(place, [])
        if kept and kept[0]["run_id"] != row["run_id"]:
            kept.clear()
        kept.append(row)
    rows = [row for kept in newest.values() for row in kept]
    return sorted(rows, key=lambda row: (row["created_at"], row["key"]), reverse=True)


def _results(connection: sqlite3.Connection, rows: list[dict[str, Any]]) -> tuple[AgentResult, ...]:
    from agentbench_tui.contracts.run import ExecutionResult
    from agentbench_tui.verdicts.runs.documents import stored_executions

    return tuple(
        AgentResult(
            run_id=row["run_id"],
            created_at=row["created_at"],
            execution=_typed(document, ExecutionResult),
        )
        for row, document in zip(rows, stored_executions(connection, rows), strict=True)
    )


def _typed(document: object, of: type[Any]) -> Any:
    import msgspec

    from agentbench_tui.contracts.document import plain

    return msgspec.convert(plain(document), of)


def beginning_of(timeframe: str) -> str | None:
    """Return the time (UTC, ISO 8601) after which `24h`, `7d` or `4w` begin; None for no limit.

    Raises ServiceError 422 for anything else.
    """
    from datetime import datetime

    if timeframe in {LATEST, ALL}:
        return None
    match = _TIMEFRAME.fullmatch(timeframe)
    if match is None:
        raise ServiceError(
            UNPROCESSABLE,
            "parameter",
            f"timeframe {timeframe[:40]!r}: expected latest, all, or hours, days or weeks such as"
            " 24h, 7d or 4w",
        )
    now = datetime.fromisoformat(utc_now()).astimezone(UTC)
    began = now - timedelta(**{_UNITS[match[2]]: int(match[1])})
    return began.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def comparison(connection: sqlite3.Connection, options: ComparisonOptions) -> bytes:
    """Compare every pair of the selectors."""
    from agentbench_tui.verdicts.comparison.selector_comparison import compare_from

    return encode(compare_from(connection, options).document)


def comparison_matrix(connection: sqlite3.Connection, agents: Sequence[str], suite: str) -> bytes:
    """Return the mean scores and ranks of these agents over a suite, among themselves."""
    from agentbench_tui.verdicts.ranking.leaderboard import agent_matrix

    for agent in agents:
        check_agent(connection, agent)
    return encode(agent_matrix(connection, agents, suite))


def regressions(
    connection: sqlite3.Connection, agent: str, baseline: str | None, threshold: float
) -> bytes:
    """Return whether the newest runs of an agent are worse than a baseline or its history."""
    from agentbench_tui.verdicts.regression.regression import judge_agent
    from agentbench_tui.verdicts.regression.regression_document import regressions_document
    from agentbench_tui.verdicts.regression.regression_request import regression_request

    check_agent(connection, agent)
    request = regression_request(
        connection, agent, baseline=baseline, suite=None, benchmark=None, metrics=(),
        threshold=threshold, thresholds={},
    )  # fmt: skip
    return encode(regressions_document(connection, judge_agent(connection, request), None))


def runs(connection: sqlite3.Connection, database: Path, limit: int, tag: str | None) -> bytes:
    """Return the list of runs, the newest first."""
    from agentbench_tui.verdicts.selection.listings import runs_document

    return encode(runs_document(connection, database, limit, tag))


def run(connection: sqlite3.Connection, database: Path, run_id: str) -> bytes:
    """Return one run and its circumstances."""
    from agentbench_tui.store.locking import is_leased
    from agentbench_tui.verdicts.runs.documents import count_kept, mark_interrupted, run_details

    row = find_stored_run(connection, run_id)
    document = run_details(connection, row)
    if document["status"] == "running" and not is_leased(database, row["id"]):
        mark_interrupted(document)
    if document["status"] == "interrupted":
        count_kept(connection, row["key"], document)
    return encode(document)


def ended_run(connection: sqlite3.Connection, run_id: str) -> bytes:
    """Return the document of a run at its end, with its gates."""
    from agentbench_tui.engine.run.plan import decode_plan
    from agentbench_tui.verdicts.runs.ended_run import ended_run as ended

    row = find_stored_run(connection, run_id)
    return encode(ended(connection, decode_plan(row["plan"])).document)


def gates(connection: sqlite3.Connection, run_id: str, wanted: Sequence[str]) -> bytes:
    """Return the outcomes of gates on a stored run."""
    from agentbench_tui.verdicts.runs.ended_run import gates_document, judged_run

    row = find_stored_run(connection, run_id)
    return encode(gates_document(judged_run(connection, row, wanted)))


def answers(
    connection: sqlite3.Connection,
    run_id: str,
    agent: str | None,
    benchmark: str | None,
    *,
    wrong: bool,
    limit: int,
) -> bytes:
    """Return observations of a run."""
    from agentbench_tui.verdicts.runs.answers_document import answers_document

    row = find_stored_run(connection, run_id)
    return encode(
        answers_document(
            connection, row, agent=agent, benchmark=benchmark, wrong_only=wrong, limit=limit
        )
    )


def agents(connection: sqlite3.Connection) -> bytes:
    """Return the agents that were measured."""
    from agentbench_tui.verdicts.selection.listings import agents_document

    return encode(agents_document(connection))
