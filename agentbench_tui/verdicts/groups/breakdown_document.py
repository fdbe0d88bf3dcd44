"""A breakdown as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.analysis.intervals.estimate import Estimate
    from agentbench_tui.verdicts.groups.breakdown import Breakdown
    from agentbench_tui.verdicts.groups.group_figures import GroupFigures

SCHEMA = "agentbench.breakdown/1"
GROUPS_SHOWN = 30
"""Default number of groups per agent in tables and documents."""
_OF_GROUPS = (
    "group", "pooled", "pooled_low", "pooled_high", "p_value", "p_adjusted", "differs",
)  # fmt: skip
"""Keys that only a group has, not the whole."""

Document = dict[str, Any]


def shown_groups(groups: Sequence[GroupFigures], limit: int) -> list[GroupFigures]:
    """Return the largest groups, in their order."""
    largest = sorted(groups, key=lambda one: -one.cases)[:limit]
    return [one for one in groups if one in largest]


def breakdown_document(found: Breakdown, limit: int = GROUPS_SHOWN) -> Document:
    """Return a breakdown for JSON; `more` is the number of groups that `limit` leaves out."""
    return {
        "schema": SCHEMA,
        "field": found.field,
        "notes": list(found.notes),
        "agents": [
            {
                "agent_id": one.agent_id,
                "agent_version": one.agent_version,
                "simulated": one.simulated,
                "parameters": one.parameters,
                "metric": one.metric,
                "p_varies": one.p_varies,
                "method": one.method,
                "whole": _figures(one.whole, of_whole=True),
                "groups": [_figures(group) for group in shown_groups(one.groups, limit)],
                "more": max(0, len(one.groups) - limit),
            }
            for one in found.agents
        ],
    }


def _figures(one: GroupFigures, *, of_whole: bool = False) -> Document:
    document = asdict(one)
    main = document.pop("main")
    document |= {name: main[name] for name in ("value", "low", "high", "reason")}
    for name in ("e2e_ms", "cost_usd_per_task"):
        document[name] = _estimate(getattr(one, name))
    if of_whole:
        for name in _OF_GROUPS:
            del document[name]
    return document


def _estimate(one: Estimate) -> Document:
    return {"value": one.value, "low": one.low, "high": one.high, "n": one.n, "reason": one.reason}
