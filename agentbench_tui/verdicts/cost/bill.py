"""What each contender was billed for: tokens by kind, the prices that applied, and the total."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.contracts.cost import Bill, BilledPrice
from agentbench_tui.store.queries.prices import billed_tokens, prices_applied
from agentbench_tui.store.queries.runs import metrics_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from agentbench_tui.verdicts.selection.contenders import Contender


def bill(connection: sqlite3.Connection, contender: Contender) -> Bill:
    """Return the bill of a contender, over all answers of the executions that speak for it.

    A count of tokens is None if no answer says it. The total is None, with the reason, if the cost
    of some answers is unknown.
    """
    keys = [row["key"] for row in contender.executions]
    tokens = billed_tokens(connection, keys)
    total, reason = _total(connection, contender)
    return Bill(
        name=contender.name,
        agent_id=contender.agent_id,
        agent_version=contender.agent_version,
        simulated=contender.simulated,
        executions=len(keys),
        **tokens._asdict(),
        prices=tuple(BilledPrice(**one._asdict()) for one in prices_applied(connection, keys)),
        cost_usd=total,
        reason=reason,
    )


def _total(connection: sqlite3.Connection, contender: Contender) -> tuple[float | None, str | None]:
    costs: Sequence[float | None] = [row["cost_usd"] for row in contender.executions]
    known = [cost for cost in costs if cost is not None]
    if len(known) == len(costs):
        return sum(known), None
    for row in contender.executions:
        if row["cost_usd"] is None:
            found = metrics_of(connection, row["key"]).get("cost_usd", {})
            return None, found.get("reason") or "not known"
    return None, "not known"
