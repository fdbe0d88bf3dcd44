"""`agentbench compare --by FIELD`: the comparison in each group of cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from agentbench_tui.cli.console.output import print_prose, print_rows
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.comparison.wording import CHANGE_TITLE, change, needed_words
from agentbench_tui.presentation.numbers import MISSING, p_value
from agentbench_tui.presentation.report import Column
from agentbench_tui.verdicts.evidence.place import point_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentbench_tui.verdicts.comparison.comparison import Comparison
    from agentbench_tui.verdicts.groups.compare_groups import ComparedByGroups, PairByGroups

_LONGEST = 2000
_MOST_NAMED = 4


def print_groups(
    found: ComparedByGroups, form: str, limit: int, values: Callable[[Comparison], str]
) -> None:
    """Print tables and sentences; `values` shows the values of both sides."""
    from agentbench_tui.presentation.comparison.by_group import groups_sentences

    for one in found.pairs:
        click.echo()
        at = point_words(_point(one))
        heading = f"By {found.field}: {one.b} against {one.a}{f' at {at}' if at else ''}"
        _say(f"{'## ' if form == 'md' else ''}{heading}")
        if form == "md":
            click.echo()
        _print_table(found.field, one, form, limit, values)
        if form == "md":
            click.echo()
        for line in [*groups_sentences(found.field, one), *_notes(one, limit)]:
            _say(line)
        if len(one.groups) > limit:
            _say(f"… {len(one.groups) - limit} more groups with fewer cases (--by-limit)")
    by = "Holm" if found.adjustment == "holm" else "Benjamini and Hochberg"
    tests = "one test" if found.tests == 1 else f"p of {found.tests} tests adjusted by {by}"
    _say(f"The groups are judged separately and do not change the verdicts above: {tests}.")
    for note in found.notes:
        _say(note)


def _notes(of: PairByGroups, limit: int) -> list[str]:
    """Return notes on single groups, and notes on all of them only once."""
    from agentbench_tui.verdicts.groups.compare_groups_document import largest_groups

    shown = largest_groups(of.groups, limit)
    groups: dict[str, list[str]] = {}
    for group in shown:
        for words in dict.fromkeys(words for one in group.metrics for words in one.notes):
            groups.setdefault(words, []).append(group.group)
    found = []
    for words, names in groups.items():
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        who = "all groups" if len(names) == len(shown) else ", ".join(names[:_MOST_NAMED]) + more
        found.append(f"– {who}: {words}")
    return found


def _point(one: PairByGroups) -> dict[str, object]:
    from agentbench_tui.verdicts.groups.compare_groups import point_of

    return point_of(one)


def _print_table(
    field: str,
    of: PairByGroups,
    form: str,
    limit: int,
    values: Callable[[Comparison], str],
) -> None:
    from agentbench_tui.verdicts.groups.compare_groups_document import largest_groups

    rows = [
        {
            "group": group.group,
            "metric": one.metric,
            "cases": f"{group.cases_a:,}"
            if group.cases_a == group.cases_b
            else f"{group.cases_a:,}, {group.cases_b:,}",
            "change": change(one),
            "p": p_value(one.p_adjusted),
            "verdict": one.verdict if one.comparable else MISSING,
            "needed": needed_words(one),
            "values": values(one),
        }
        for group in largest_groups(of.groups, limit)
        for one in group.metrics
    ]
    columns = (
        Column("group", field, names_row=True),
        Column("metric", "metric", names_row=True),
        Column("cases", "cases", right=True),
        Column("change", CHANGE_TITLE),
        Column("p", "p", right=True),
        Column("verdict", "B is"),
        Column("needed", "needs", right=True),
        Column("values", "A, B", right=True),
    )
    print_rows(rows, columns, form)


def _say(text: str) -> None:
    print_prose(one_line(text, _LONGEST))
