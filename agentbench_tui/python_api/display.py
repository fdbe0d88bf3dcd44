"""Tables of results for a notebook, as HTML, and for a prompt, as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.numbers import MISSING, amount

_LONGEST = 80
"""Characters of a cell."""
_MOST_ROWS = 40
"""Rows of a table that are shown; `to_pandas` has all."""
_CELL = "text-align:left;vertical-align:top"


@dataclass(frozen=True, slots=True)
class ResultTable:
    """Rows of one kind, with the columns to show of them."""

    title: str
    columns: Mapping[str, str]
    """Key of a row → heading."""
    rows: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class ResultPage:
    """What is shown of a result."""

    heading: str
    tables: Sequence[ResultTable] = ()
    notes: Sequence[str] = ()

    def text(self) -> str:
        """The page for a prompt."""
        parts = [one_line(self.heading, 1000)]
        for table in self.tables:
            if table.rows:
                parts += ["", *filter(None, [table.title]), *_lines(table)]
        parts += [one_line(note, 1000) for note in self.notes]
        return "\n".join(parts)

    def html(self) -> str:
        """The page for a notebook. Everything in it is escaped."""
        parts = [f"<p><strong>{_escaped(self.heading, 1000)}</strong></p>"]
        parts += [_table(table) for table in self.tables if table.rows]
        if self.notes:
            items = "".join(f"<li>{_escaped(note, 1000)}</li>" for note in self.notes)
            parts.append(f"<ul>{items}</ul>")
        return f"<div>{''.join(parts)}</div>"


def shown(value: object) -> str:
    """A value in a cell: three digits of a number without a unit, – for what is missing."""
    if value is None or value == "":
        return MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return amount(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {shown(one)}" for name, one in value.items()) or MISSING
    if isinstance(value, list | tuple):
        return ", ".join(map(shown, value)) or MISSING
    return str(value)


def _used(table: ResultTable) -> dict[str, str]:
    """The columns that some row has a value for."""
    return {
        key: heading
        for key, heading in table.columns.items()
        if any(shown(row.get(key)) != MISSING for row in table.rows)
    }


def _lines(table: ResultTable) -> list[str]:
    columns = _used(table)
    cells = [list(columns.values())] + [
        [one_line(shown(row.get(key)), _LONGEST) for key in columns]
        for row in table.rows[:_MOST_ROWS]
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]
    return [*lines, *_more(table)]


def _table(table: ResultTable) -> str:
    columns = _used(table)
    caption = f"<caption>{_escaped(table.title, 1000)}</caption>" if table.title else ""
    head = "".join(
        f'<th scope="col" style="{_CELL}">{escape(one)}</th>' for one in columns.values()
    )
    body = "".join(
        "<tr>"
        + "".join(f'<td style="{_CELL}">{_escaped(shown(row.get(key)))}</td>' for key in columns)
        + "</tr>"
        for row in table.rows[:_MOST_ROWS]
    )
    more = "".join(f"<p>{escape(line)}</p>" for line in _more(table))
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _more(table: ResultTable) -> list[str]:
    count = len(table.rows) - _MOST_ROWS
    return [f"… {count:,} more rows; to_pandas() has all of them"] if count > 0 else []


def _escaped(text: str, longest: int = _LONGEST) -> str:
    return escape(one_line(text, longest))
