"""The part of a comparison's document about groups of cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.contracts.compare import (
    ComparedGroups,
    GroupComparisonResult,
    MetricHeterogeneity,
    PairGroups,
)
from agentbench_tui.verdicts.comparison.compare_document import compared_metric
from agentbench_tui.verdicts.groups.compare_groups import point_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.verdicts.groups.compare_groups import (
        ComparedByGroups,
        GroupComparison,
        PairByGroups,
    )


def largest_groups(groups: Sequence[GroupComparison], limit: int) -> list[GroupComparison]:
    """Return the groups with most cases, in their order."""
    largest = sorted(groups, key=lambda one: -max(one.cases_a, one.cases_b))[:limit]
    return [one for one in groups if one in largest]


def groups_document(found: ComparedByGroups, limit: int) -> ComparedGroups:
    """Return a comparison by groups of cases; `more` is the number of groups that `limit` leaves
    out.
    """
    return ComparedGroups(
        field=found.field,
        adjustment=found.adjustment,
        tests=found.tests,
        notes=tuple(found.notes),
        pairs=tuple(_pair(one, limit) for one in found.pairs),
    )


def _pair(one: PairByGroups, limit: int) -> PairGroups:
    return PairGroups(
        a=one.a,
        b=one.b,
        parameters=point_of(one),
        groups=tuple(
            GroupComparisonResult(
                group=group.group,
                cases_a=group.cases_a,
                cases_b=group.cases_b,
                metrics=tuple(map(compared_metric, group.metrics)),
            )
            for group in largest_groups(one.groups, limit)
        ),
        more=max(0, len(one.groups) - limit),
        metrics=tuple(
            MetricHeterogeneity(
                metric=metric.metric,
                p_varies=metric.p_varies,
                reason=metric.reason,
                whole=metric.whole,
                same_mix=metric.same_mix,
                is_reversed=metric.is_reversed,
            )
            for metric in one.metrics
        ),
    )
