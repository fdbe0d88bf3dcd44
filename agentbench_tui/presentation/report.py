"""What a verdict becomes before anything shows it: tables, sentences and charts, as values.

A terminal, a file or a page of the session renders a `Report`; none of them words or formats.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from agentbench_tui.presentation.numbers import MISSING

if TYPE_CHECKING:
    from agentbench_tui.presentation.charts import Chart

Row = Mapping[str, Any]


class Column(msgspec.Struct, frozen=True):
    """One column of a table."""

    key: str
    title: str
    show: Callable[[Any], str] = lambda value: MISSING if value is None else str(value)
    """Formats the value for people; CSV and JSON lines have the value itself."""
    right: bool = False
    names_row: bool = False
    """Whether the column identifies its row, and so precedes every part of a table that is too
    wide for the screen."""
    is_drawing: bool = False
    """Whether its cells are drawings of what other columns say: colored, and not in Markdown."""
    link: str = ""
    """Key of the value of a row that is the relative address of a file, to which a page links the
    cell; empty for a column without links."""


class Table(msgspec.Struct, frozen=True):
    """Rows of values, and how each column is shown."""

    columns: Sequence[Column]
    rows: Sequence[Row]


class Section(msgspec.Struct, frozen=True):
    """A part of a report: a title, charts and tables below it, then what they say.

    Texts may contain what an agent or a file says; a renderer makes them safe.
    """

    title: str = ""
    tables: Sequence[Table] = ()
    sentences: Sequence[str] = ()
    charts: Sequence[Chart] = ()
    """A terminal draws those of lines, and shows the tables of the others."""
    is_answer: bool = False
    """Whether the title is a whole sentence, the answer that the tables support."""
    heading: int = 0
    """Rank of the title among headings: 1 of what has parts, 2 of such a part, below which its
    sentences are a list; 0 of a title that is no heading."""


class Report(msgspec.Struct, frozen=True):
    """What one verdict shows."""

    records: Table
    """The plain values, one row per finding: what CSV and JSON lines have."""
    sections: Sequence[Section] = ()
    sentences: Sequence[str] = ()
    """What holds for all sections, or the reason why there is none."""
    csv_records: Table | None = None
    """The records of CSV, if they have more columns than those of JSON lines."""


def raw_columns(names: Sequence[str]) -> tuple[Column, ...]:
    """Return columns of plain values, each named as its key."""
    return tuple(Column(name, name) for name in names)


def list_item(sentence: str) -> str:
    """Return a sentence for a list, whose bullet replaces the dash it may begin with."""
    return sentence.strip().removeprefix(f"{MISSING} ").removeprefix("- ")
