"""A comparison by groups of cases as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentbench_tui.verdicts.comparison.compare_document import metric_document
from agentbench_tui.verdicts.groups.compare_groups import point_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.verdicts.groups.compare_groups import (
        ComparedByGroups,
        GroupComparison,
    )

Document = dict[str, Any]


def largest_groups(groups: Sequence[GroupComparison], limit: int) -> list[GroupComparison]:
    """The groups with most cases, in their order."""
    largest = sorted(groups, key=lambda one: -max(one.cases_a, one.cases_b))[:limit]
    return [one for one in groups if one in largest]


def groups_document(found: ComparedByGroups, limit: int) -> Document:
    """Return a comparison by groups for JSON; `more` is the number of groups that `limit` leaves
    out.
    """
    return {
        "field": found.field,
        "adjustment": found.adjustment,
        "tests": found.tests,
        "notes": list(found.notes),
        "pairs": [
            {
                "a": one.a,
                "b": one.b,
                "parameters": point_of(one),
                "groups": [
                    {
                        "group": group.group,
                        "cases_a": group.cases_a,
                        "cases_b": group.cases_b,
                        "metrics": [metric_document(metric) for metric in group.metrics],
                    }
                    for group in largest_groups(one.groups, limit)
                ],
                "more": max(0, len(one.groups) - limit),
                "metrics": [
                    {
                        "metric": metric.metric,
                        "p_varies": metric.p_varies,
                        "reason": metric.reason,
                        "whole": metric.whole,
                        "same_mix": metric.same_mix,
                        "is_reversed": metric.is_reversed,
                    }
                    for metric in one.metrics
                ],
            }
            for one in found.pairs
        ],
    }
