"""A comparison by groups of cases, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.presentation.numbers import p_relation
from agentbench_tui.verdicts.comparison.comparison import ALPHA

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.verdicts.groups.compare_groups import PairByGroups
    from agentbench_tui.verdicts.groups.heterogeneity import Heterogeneity

_MOST_NAMED = 6


def groups_sentences(field: str, of: PairByGroups) -> list[str]:
    """Say whether the difference varies, whether it has both signs, and the effect of the mix of
    cases.
    """
    said = []
    for one in of.metrics:
        said.append(_varies(field, one))
        said += _both_ways(of, one.metric)
        said += _mix(field, of, one)
    return said


def _varies(field: str, one: Heterogeneity) -> str:
    start = f"{one.metric}: "
    if one.p_varies is None:
        return f"{start}whether the difference varies by {field} was not tested: {one.reason}."
    varies = "varies" if one.p_varies < ALPHA else "does not vary"
    than = f"more than by chance (p {p_relation(one.p_varies)})"
    return f"{start}the difference {varies} by {field} {than}."


def _both_ways(of: PairByGroups, metric: str) -> list[str]:
    names: dict[str, list[str]] = {"better": [], "worse": []}
    for group in of.groups:
        for one in group.metrics:
            if one.metric == metric and one.verdict in names:
                names[one.verdict].append(group.group)
    if not names["better"] or not names["worse"]:
        return []
    better, worse = (_named(names[way]) for way in ("better", "worse"))
    return [f"{metric}: {of.b} is better in {better}, and worse in {worse}."]


def _mix(field: str, of: PairByGroups, one: Heterogeneity) -> list[str]:
    if one.whole is None or one.same_mix is None or one.whole * one.same_mix >= 0:
        return []
    ways = {True: "higher", False: "lower"}
    whole, mixed = ways[one.whole > 0], ways[one.same_mix > 0]
    start = f"{one.metric}: {of.b} is {whole} over all cases, but {mixed}"
    where = f"in every group of {field}" if one.is_reversed else f"with one mix of {field} for both"
    why = "The sides were asked different mixes of cases (Simpson's paradox): judge by the groups."
    return [f"{start} {where}. {why}"]


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"{', '.join(names[:_MOST_NAMED])}{more}"
