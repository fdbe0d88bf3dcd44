"""A breakdown by groups of cases as a Markdown section, and as a section of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.breakdown import (
    COLUMNS,
    TEXTS,
    breakdown_rows,
    breakdown_sentences,
    metric_title,
)
from agentbench_tui.presentation.report import Column, Section, Table

if TYPE_CHECKING:
    from agentbench_tui.verdicts.groups.breakdown import Breakdown

_LONGEST = 2000
"""Characters of a sentence."""


def markdown_section(found: Breakdown, limit: int) -> list[str]:
    """Lines: a heading, the table, and what it says."""
    titles = _titles(found)
    lines = [f"## By {_escaped(found.field)}", "", f"| {' | '.join(map(_escaped, titles))} |"]
    lines.append("|" + "---|" * len(titles))
    rows = [[_escaped(row[key]) for key, _ in COLUMNS] for row in breakdown_rows(found, limit)]
    lines += [f"| {' | '.join(cells)} |" for cells in rows]
    for sentence in breakdown_sentences(found, limit):
        lines += ["", _escaped(sentence)]
    return [*lines, ""]


def breakdown_section(found: Breakdown, limit: int) -> Section:
    """Return the table and its sentences."""
    columns = [
        Column(key, title, right=key not in TEXTS, names_row=key in {"agent", "group"})
        for (key, _), title in zip(COLUMNS, _titles(found), strict=True)
    ]
    table = Table(columns, breakdown_rows(found, limit))
    return Section("", [table], breakdown_sentences(found, limit))


def _titles(found: Breakdown) -> list[str]:
    named = {"main": metric_title(found), "group": found.field}
    return [named.get(key, title) for key, title in COLUMNS]


def _escaped(text: str) -> str:
    safe = one_line(text, _LONGEST)
    for character in "\\|`<>*_":
        safe = safe.replace(character, f"\\{character}")
    return safe
