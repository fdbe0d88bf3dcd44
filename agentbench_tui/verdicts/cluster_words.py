"""Dependence between cases in words: what was found, what follows, and how to declare it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentbench_tui.model.untrusted import one_line

if TYPE_CHECKING:
    from agentbench_tui.analysis.intraclass import Intraclass
    from agentbench_tui.verdicts.case_groupings import Grouping
    from agentbench_tui.verdicts.undeclared_clusters import Finding

_LONGEST_NAME = 80
_SHARED = {
    "id": "an id that is the same up to its last part",
    "beginning": "an input that begins alike",
    "ending": "an input that ends alike",
    "near-duplicates": "nearly the same input",
    "template": "the same template",
}


def finding_words(one: Finding, *, differences: bool = True) -> str:
    """Return the sentences about a demonstrated dependence; `differences` of two sides."""
    found, name = one.found, _name(one.grouping)
    alike = f"(intraclass correlation {found.icc:.2f} in {one.metric})"
    if one.consequence == "mix":
        return (
            f"B - A differs between the {found.groups} values of {name} {alike}: the verdict is"
            f" about this mix of them. If they were drawn from many, {declare_words(one.grouping)}"
        )
    what = "Differences" if differences else "Answers"
    return (
        f"{what} of cases with {_shared(one.grouping)} are alike {alike}: {found.n:,} cases tell"
        f" as much as about {max(1, round(found.effective_n)):,}, so each of the"
        f" {found.groups:,} groups counts as one draw. Declare it: {declare_words(one.grouping)}"
    )


def held_back_words(grouping: Grouping, found: Intraclass) -> str:
    """Return why a verdict was not given: it would not hold with these groups as clusters."""
    return (
        f"not decided: cases with {_shared(grouping)} may be alike (intraclass correlation"
        f" {found.icc:.2f}), and with each of the {found.groups:,} groups as one draw chance is"
        f" enough. If they belong together, {declare_words(grouping)}; if not, --cluster case"
    )


def cluster_document(one: Finding) -> dict[str, Any]:
    """Return a demonstrated dependence as JSON documents have it."""
    found = one.found
    return {
        "cluster": one.grouping.name,
        "consequence": one.consequence,
        "metric": one.metric,
        "icc": found.icc,
        "low": found.low,
        "high": found.high,
        "p_value": found.p,
        "cases": found.n,
        "groups": found.groups,
        "design_effect": found.design_effect,
        "effective_n": found.effective_n,
        "declare": declare_words(one.grouping),
    }


def declare_words(grouping: Grouping) -> str:
    """Return what to write so that the groups are clusters."""
    option = f"--cluster {one_line(grouping.name, _LONGEST_NAME)}"
    if grouping.kind == "field":
        field = one_line(grouping.name, _LONGEST_NAME)
        return f"`fields: {{cluster: {field}}}` in the suite's dataset, or {option}"
    if grouping.kind == "column":
        return f"{option}, or call the column `cluster`"
    return f"one `cluster` for them in the suite, or {option}"


def _shared(grouping: Grouping) -> str:
    if grouping.kind in {"field", "column"}:
        return f"the same {_name(grouping)}"
    return _SHARED[grouping.name]


def _name(grouping: Grouping) -> str:
    return f"`{one_line(grouping.name, _LONGEST_NAME)}`"
