"""Estimated duration and cost of a planned run, from earlier runs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.store.queries.history import paces

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

Document = dict[str, Any]
LOOKED_AT = 20
"""Number of newest executions of a benchmark that are used."""
_NAMED = 3


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """Estimates; both are None, with the reason, if an execution of the plan has no earlier one."""

    seconds: float | None
    seconds_why: str
    cost_usd: float | None
    cost_why: str


class _Pace(NamedTuple):
    """Time and cost per question in earlier executions of one benchmark."""

    executions: int
    seconds: float
    cost_usd: float | None
    same_agent: bool


def estimate_run(connection: sqlite3.Connection | None, planned: Sequence[Document]) -> RunEstimate:
    """Estimate the executions of an `agentbench.plan/1` document that ask cases.

    Each question is assumed to need the mean time (with questions in flight) and cost in dollars of
    the newest 20 complete executions of the same benchmark by the same agent, or by other agents if
    it was never measured. Warm-up and starts are not included. `connection` is None if there is no
    store yet.
    """
    paces: dict[tuple[str, str, str], _Pace | None] = {}
    for one in planned:
        key = (one["suite_id"], one["benchmark_id"], one["agent_id"])
        if key not in paces:
            paces[key] = None if connection is None else _pace(connection, *key)
    unknown = sorted({f"{key[1]}" for key, pace in paces.items() if pace is None})
    if unknown or not planned:
        why = f"no earlier run of {_names(unknown)} to go by"
        return RunEstimate(None, why, None, why)
    pairs = [(_pace_of(one, paces), one["observations"]) for one in planned]
    costs = [None if pace.cost_usd is None else pace.cost_usd * asked for pace, asked in pairs]
    known = [cost for cost in costs if cost is not None]
    borrowed = sum(not pace.same_agent for pace, _ in pairs)
    earlier = sum(pace.executions for pace in paces.values() if pace is not None)
    why = f"as {earlier} earlier execution{'s' if earlier != 1 else ''} went" + (
        f"; {borrowed} of {len(pairs)} planned ones by those of other agents" if borrowed else ""
    )
    complete = len(known) == len(costs)
    return RunEstimate(
        math.fsum(pace.seconds * asked for pace, asked in pairs),
        why,
        math.fsum(known) if complete else None,
        why if complete else "what earlier executions cost is not known (no price of the model)",
    )


def _pace_of(one: Document, paces: dict[tuple[str, str, str], _Pace | None]) -> _Pace:
    pace = paces[one["suite_id"], one["benchmark_id"], one["agent_id"]]
    assert pace is not None
    return pace


def _pace(connection: sqlite3.Connection, suite: str, benchmark: str, agent: str) -> _Pace | None:
    for same_agent in (True, False):
        rows = paces(connection, suite, benchmark, agent if same_agent else None, LOOKED_AT)
        if rows:
            asked = sum(row.observed for row in rows)
            costs = [row.cost_usd for row in rows]
            known = [cost for cost in costs if cost is not None]
            dear = math.fsum(known) / asked if len(known) == len(costs) else None
            return _Pace(
                len(rows), math.fsum(row.asking_s for row in rows) / asked, dear, same_agent
            )
    return None


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(one_line(name, 40) for name in names[:_NAMED])
    return shown + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
