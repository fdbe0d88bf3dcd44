"""A breakdown by groups of cases as rows of a table, and in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.analysis.groups.partial_pooling import FEWEST_GROUPS
from agentbench_tui.presentation.numbers import (
    MISSING,
    count,
    duration,
    money_each,
    p_relation,
    p_value,
    percent,
    with_interval,
)
from agentbench_tui.verdicts.comparison.comparison import ALPHA
from agentbench_tui.verdicts.evidence.place import point_words
from agentbench_tui.verdicts.groups.breakdown_document import GROUPS_SHOWN, shown_groups

if TYPE_CHECKING:
    from agentbench_tui.verdicts.groups.breakdown import AgentBreakdown, Breakdown
    from agentbench_tui.verdicts.groups.group_figures import GroupFigures

_MOST_NAMED = 6

COLUMNS = (
    ("agent", "agent"), ("group", "group"), ("cases", "cases"), ("main", "main"),
    ("pooled", "pooled"), ("against", "against the rest"), ("p", "p"), ("p50", "e2e p50"),
    ("tokens", "tokens"), ("cost", "USD/task"), ("answers", "right/answered/asked"),
    ("failures", "failures"),
)  # fmt: skip
"""Key and title; the title of `main` is the metric's name."""
TEXTS = ("agent", "group", "against", "failures")
"""The columns that hold text."""


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
    show = duration if of.metric == "e2e_ms" else percent
    main = one.main
    right = MISSING if one.correct is None else f"{one.correct}"
    return {
        "agent": agent,
        "group": one.group,
        "cases": count(one.cases),
        "main": with_interval(main.value, main.low, main.high, show),
        "pooled": show(one.pooled),
        "against": one.differs or MISSING,
        "p": p_value(one.p_adjusted),
        "p50": duration(one.e2e_ms.value),
        "tokens": count(one.tokens),
        "cost": money_each(one.cost_usd_per_task.value),
        "answers": f"{right}/{one.answered}/{one.answers}",
        "failures": " ".join(f"{kind}:{n}" for kind, n in one.failures.items()),
    }


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
        lines.append(f"{MISSING} under pooled: it takes {FEWEST_GROUPS} groups.")
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
