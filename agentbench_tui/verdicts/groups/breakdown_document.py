"""A breakdown as JSON, as rows of a table, and in sentences."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from agentbench_tui.analysis.groups.partial_pooling import FEWEST_GROUPS
from agentbench_tui.verdicts.comparison.change import p_words
from agentbench_tui.verdicts.comparison.comparison import ALPHA
from agentbench_tui.verdicts.words.figures import (
    NOTHING,
    dollars,
    milliseconds,
    number,
    point_words,
    with_interval,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.analysis.intervals.estimate import Estimate
    from agentbench_tui.verdicts.groups.breakdown import AgentBreakdown, Breakdown
    from agentbench_tui.verdicts.groups.group_figures import GroupFigures

SCHEMA = "agentbench.breakdown/1"
GROUPS_SHOWN = 30
"""Default number of groups per agent in tables and documents."""
_MOST_NAMED = 6
_OF_GROUPS = (
    "group", "pooled", "pooled_low", "pooled_high", "p_value", "p_adjusted", "differs",
)  # fmt: skip
"""Keys that only a group has, not the whole."""

Document = dict[str, Any]

COLUMNS = (
    ("agent", "agent"), ("group", "group"), ("cases", "cases"), ("main", "main"),
    ("pooled", "pooled"), ("against", "against the rest"), ("p", "p"), ("p50", "e2e p50"),
    ("tokens", "tokens"), ("cost", "USD/task"), ("answers", "right/answered/asked"),
    ("failures", "failures"),
)  # fmt: skip
"""Key and title; the title of `main` is the metric's name."""
TEXTS = ("agent", "group", "against", "failures")
"""The columns that hold text."""


def shown_groups(groups: Sequence[GroupFigures], limit: int) -> list[GroupFigures]:
    """The largest groups, in their order."""
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


def breakdown_rows(found: Breakdown, limit: int = GROUPS_SHOWN) -> list[dict[str, str]]:
    """Return the rows of a table: each agent's groups, and finally the whole."""
    rows = []
    for one in found.agents:
        agent = one.agent_id + (" (simulated)" if one.simulated else "")
        if one.parameters:
            agent += f" at {point_words(one.parameters)}"
        rows += [_row(agent, one, group) for group in shown_groups(one.groups, limit)]
        rows.append(_row(agent, one, one.whole) | {"group": "all"})
    return rows


def _row(agent: str, of: AgentBreakdown, one: GroupFigures) -> dict[str, str]:
    share = of.metric != "e2e_ms"
    right = NOTHING if one.correct is None else f"{one.correct}"
    return {
        "agent": agent,
        "group": one.group,
        "cases": f"{one.cases:,}",
        "main": _main(one.main, share=share),
        "pooled": number()(one.pooled) if share else milliseconds(one.pooled),
        "against": one.differs or NOTHING,
        "p": p_words(one.p_adjusted),
        "p50": milliseconds(one.e2e_ms.value),
        "tokens": number(0)(one.tokens),
        "cost": dollars(one.cost_usd_per_task.value),
        "answers": f"{right}/{one.answered}/{one.answers}",
        "failures": " ".join(f"{kind}:{count}" for kind, count in one.failures.items()),
    }


def _main(one: Estimate, *, share: bool) -> str:
    if share or one.value is None:
        return with_interval(one.value, one.low, one.high)
    if one.low is None or one.high is None:
        return milliseconds(one.value)
    return f"{milliseconds(one.value)} [{milliseconds(one.low)}, {milliseconds(one.high)}]"


def metric_title(found: Breakdown) -> str:
    """The title of the column with the main metric."""
    metrics = dict.fromkeys(one.metric for one in found.agents)
    return f"{' or '.join(metrics) or 'accuracy'} [95%]"


def breakdown_sentences(found: Breakdown, limit: int = GROUPS_SHOWN) -> list[str]:
    """Summarize the table, one line per agent, and explain how to read it."""
    lines = [_sentence(found.field, one) for one in found.agents]
    pooled = any(group.pooled is not None for one in found.agents for group in one.groups)
    if pooled:
        lines.append(
            "pooled: shrunk toward the agent's other groups, the more the less data the group has;"
            " the best and the worst of many small groups are extreme mostly by chance."
        )
    else:
        lines.append(f"{NOTHING} under pooled: it takes {FEWEST_GROUPS} groups.")
    lines.append(
        "p: of each group against all other cases, adjusted for the number of groups; verdicts,"
        " ranks and gates are of the whole."
    )
    more = max((len(one.groups) - limit for one in found.agents), default=0)
    if more > 0:
        lines.append(f"… {more} more groups with fewer cases (--by-limit)")
    return [*lines, *found.notes]


def _sentence(field: str, one: AgentBreakdown) -> str:
    start = f"{one.agent_id}: {one.metric}"
    if one.p_varies is None:
        return f"{start}: one group, or the same everywhere: no test whether it varies by {field}."
    varies = "varies" if one.p_varies < ALPHA else "does not vary"
    sentence = f"{start} {varies} by {field} more than by chance (p {p_relation(one.p_varies)})"
    apart = [group for group in one.groups if group.differs is not None]
    for way in ("lower", "higher"):
        names = [group.group for group in apart if group.differs == way]
        if names:
            more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
            sentence += f"; {way} than the rest: {', '.join(names[:_MOST_NAMED])}{more}"
    if not apart and one.p_varies < ALPHA:
        sentence += "; no single group clearly differs from the rest"
    return f"{sentence}."


def p_relation(p: float) -> str:
    """`= 0.041`, `<0.001`."""
    shown = p_words(p)
    return shown if shown.startswith("<") else f"= {shown}"
