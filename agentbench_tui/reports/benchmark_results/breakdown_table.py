"""A breakdown by groups of cases as a Markdown section and as an HTML section."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.breakdown import (
    COLUMNS,
    TEXTS,
    breakdown_rows,
    breakdown_sentences,
    metric_title,
)

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


def html_section(found: Breakdown, limit: int) -> str:
    """The same as HTML; columns of text are of the class `text`."""
    texts = [' class="text"' if key in TEXTS else "" for key, _ in COLUMNS]

    def line(tag: str, cells: list[str]) -> str:
        pairs = zip(texts, cells, strict=True)
        inside = "".join(f"<{tag}{kind}>{_plain(cell)}</{tag}>" for kind, cell in pairs)
        return f"<tr>{inside}</tr>"

    rows = [[row[key] for key, _ in COLUMNS] for row in breakdown_rows(found, limit)]
    body = "\n".join([line("th", _titles(found)), *(line("td", row) for row in rows)])
    said = "\n".join(f"<p>{_plain(one)}</p>" for one in breakdown_sentences(found, limit))
    return f"<h2>By {_plain(found.field)}</h2>\n<table>{body}\n</table>\n{said}\n"


def _titles(found: Breakdown) -> list[str]:
    named = {"main": metric_title(found), "group": found.field}
    return [named.get(key, title) for key, title in COLUMNS]


def _plain(text: str) -> str:
    return escape(one_line(text, _LONGEST))


def _escaped(text: str) -> str:
    safe = one_line(text, _LONGEST)
    for character in "\\|`<>*_":
        safe = safe.replace(character, f"\\{character}")
    return safe
