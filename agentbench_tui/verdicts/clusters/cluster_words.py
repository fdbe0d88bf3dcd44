"""Wording for correlated cases: what was detected, the consequence, and how to declare it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.contracts.compare import ClusterFinding
from agentbench_tui.model.text.untrusted import one_line

if TYPE_CHECKING:
    from agentbench_tui.analysis.groups.intraclass import Intraclass
    from agentbench_tui.verdicts.clusters.case_groupings import Grouping
    from agentbench_tui.verdicts.clusters.undeclared_clusters import Finding

_LONGEST_NAME = 80
_CASES = {
    "id": "cases whose ids are the same up to the last part",
    "beginning": "cases whose inputs begin alike",
    "ending": "cases whose inputs end alike",
    "near-duplicates": "cases with nearly the same input",
    "template": "cases of one template",
}


def finding_words(one: Finding) -> str:
    """Return the sentences about a demonstrated dependence in the differences of two sides."""
    found = one.found
    if one.consequence == "mix":
        is_field = one.grouping.kind in {"field", "column"}
        shows = f" (--by {one_line(one.grouping.name, _LONGEST_NAME)} shows each)"
        return (
            f"{one.metric}: B - A differs between the {found.groups} groups of"
            f" {_cases(one.grouping)} (intraclass correlation {found.icc:.2f}): the verdict is"
            f" about this mix of them{shows if is_field else ''}. If they were drawn from many,"
            f" declare it: {declare_words(one.grouping)}"
        )
    return f"{one.metric}: differences of {_alike(one)}, so {_draws(one)}"


def side_words(one: Finding) -> str:
    """Return the sentences about a demonstrated dependence in the values of one side."""
    if not one.may_be_drift:
        return f"{one.metric}: values of {_alike(one)}, so {_draws(one)}"
    return (
        f"{one.metric}: values of {_alike(one)}, so {_counted(one)}. The groups were asked one"
        " after another, so a machine that was slower for a while looks the same. Declare it only"
        f" if these cases belong together: {declare_words(one.grouping)}"
    )


def board_words(one: Finding) -> str:
    """Return the sentences about a demonstrated dependence in the differences between a
    leaderboard's agents.
    """
    return f"{one.metric}: differences between agents on {_alike(one)}, so {_draws(one)}"


def run_words(place: str, one: Finding) -> str:
    """Return the sentences about a demonstrated dependence in a run, whose intervals do not account
    for it.
    """
    return (
        f"{place}: accuracy of {one_line(one.metric, _LONGEST_NAME)}: values of {_alike(one)}, but"
        f" the intervals here count each. Declare it: {declare_words(one.grouping)}"
    )


def _alike(one: Finding) -> str:
    found = one.found
    return (
        f"{_cases(one.grouping)} are alike (intraclass correlation {found.icc:.2f}):"
        f" {found.n:,} cases are worth about {max(1, round(found.effective_n)):,}"
    )


def _draws(one: Finding) -> str:
    return f"{_counted(one)}. Declare it: {declare_words(one.grouping)}"


def _counted(one: Finding) -> str:
    others = [metric for metric in one.metrics if metric != one.metric]
    also = f", also in {', '.join(others)}" if others else ""
    return f"each of the {one.found.groups:,} groups counts as one draw{also}"


def held_back_words(grouping: Grouping, found: Intraclass) -> str:
    """Return why a verdict was not given: it would not hold with these groups as clusters."""
    return (
        f"not decided: {_cases(grouping)} may be alike (intraclass correlation"
        f" {found.icc:.2f}), and with each of the {found.groups:,} groups as one draw chance is"
        f" enough. If they belong together, declare it: {declare_words(grouping)};"
        " if not, say --cluster case"
    )


def cluster_finding(one: Finding) -> ClusterFinding:
    """Return a demonstrated dependence as documents have it."""
    found = one.found
    return ClusterFinding(
        cluster=one.grouping.name,
        consequence=one.consequence,
        metric=one.metric,
        metrics=tuple(one.metrics),
        icc=found.icc,
        low=found.low,
        high=found.high,
        p_value=found.p,
        cases=found.n,
        groups=found.groups,
        design_effect=found.design_effect,
        effective_n=found.effective_n,
        declare=declare_words(one.grouping),
    )


def declare_words(grouping: Grouping) -> str:
    """Return what to write so that the groups are clusters."""
    option = f"--cluster {one_line(grouping.name, _LONGEST_NAME)}"
    if grouping.kind == "field":
        field = one_line(grouping.name, _LONGEST_NAME)
        return f"`fields: {{cluster: {field}}}` in the suite's dataset, or {option}"
    if grouping.kind == "column":
        return f"{option}, or call the column `cluster`"
    return f"one `cluster` for them in the suite, or {option}"


def _cases(grouping: Grouping) -> str:
    if grouping.kind in {"field", "column"}:
        return f"cases with the same {_name(grouping)}"
    return _CASES[grouping.name]


def _name(grouping: Grouping) -> str:
    return f"`{one_line(grouping.name, _LONGEST_NAME)}`"
