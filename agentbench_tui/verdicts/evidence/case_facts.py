"""Data of cases other than their results: fields, inputs, and columns of files.

Cases are identified by their numbers (see `case_numbers`). Nothing is read before it is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from agentbench_tui.model.case_fields import OF_METADATA
from agentbench_tui.store.queries.cases import case_texts, fields_of_cases

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping, Sequence

    Cases = Mapping[int, int]

Value = TypeVar("Value")
SOURCES = frozenset({
    "article", "author", "book", "chapter", "chat", "context", "conversation", "customer", "doc",
    "document", "file", "page", "paper", "paragraph", "passage", "patient", "project", "repo",
    "repository", "scenario", "session", "source", "story", "subject", "template", "thread",
    "topic", "url", "user", "video", "website",
})  # fmt: skip
"""Names of columns that say where a case is from. Any other column of a single file may as well
depend on the answer, such as a grade."""
_ENOUGH_EQUAL = 6
"""Cases on which two files have the same value of a column, so that it is of the case."""


class CaseFacts:
    """Fields and inputs by the number of the case."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._stored: dict[int, dict[str, str]] = {}
        self._texts: dict[int, str] = {}
        self._read: dict[str, set[int]] = {"fields": set(), "texts": set()}
        """Keys of the cases that are known already."""
        self._columns: dict[str, dict[int, str]] = {}
        self._files: dict[str, dict[int, str]] = {}
        """Name of a column → number of the case → the first file that has a value."""
        self._equal: dict[str, set[int]] = {}
        """Name of a column → cases of which several files have a value."""
        self._varies: set[str] = set()
        """Columns that have several values of one case, so that they are of answers."""

    def fields(self, cases: Cases) -> dict[str, dict[int, str]]:
        """Return name of a `metadata` field → number of the case → its value; lists as one text.

        Covers these cases, given by key → number, and those of earlier calls.
        """
        missing = self._missing("fields", cases)
        for key, fields in self._if_any(fields_of_cases, missing).items():
            self._stored[cases[key]] = {
                name: ", ".join(values)
                for name, values in fields.items()
                if name.startswith(OF_METADATA)
            }
        found: dict[str, dict[int, str]] = {}
        for number, values in self._stored.items():
            for name, value in values.items():
                found.setdefault(name, {})[number] = value
        return found

    def columns(self) -> dict[str, dict[int, str]]:
        """Return, for each column of files that belongs to the case, its value by number of the
        case.
        """
        return {name: cells for name, cells in self._columns.items() if name not in self._varies}

    def trusted_columns(self) -> set[str]:
        """Return columns that do not depend on the answer: the same in several files, or named for
        the case.
        """
        return {
            name
            for name in self.columns()
            if len(self._equal[name]) >= _ENOUGH_EQUAL or _names_a_source(name)
        }

    def texts(self, cases: Cases) -> dict[int, str]:
        """Return number of the case → its input; for the cases see `fields`."""
        missing = self._missing("texts", cases)
        for key, text in self._if_any(case_texts, missing).items():
            self._texts[cases[key]] = text
        return self._texts

    def add_texts(self, cases: Sequence[int], texts: Sequence[str]) -> None:
        """Add the inputs of a file; those of the store take precedence."""
        for number, text in zip(cases, texts, strict=True):
            self._texts.setdefault(number, text)

    def add_column(self, name: str, file: str, cases: Sequence[int], cells: Sequence[str]) -> None:
        """Add a column of a file, one cell per row."""
        known = self._columns.setdefault(name, {})
        files = self._files.setdefault(name, {})
        equal = self._equal.setdefault(name, set())
        for number, cell in zip(cases, cells, strict=True):
            if not cell:
                continue
            if known.setdefault(number, cell) != cell:
                self._varies.add(name)
            if files.setdefault(number, file) != file:
                equal.add(number)

    def _if_any(
        self, read: Callable[[sqlite3.Connection, list[int]], dict[int, Value]], keys: list[int]
    ) -> dict[int, Value]:
        """Return the store's facts about cases; without stored cases there may be no store."""
        return read(self._connection, keys) if keys else {}

    def _missing(self, what: str, cases: Cases) -> list[int]:
        """Return keys of cases that were not read before."""
        read = self._read[what]
        missing = [key for key in cases if key not in read]
        read.update(missing)
        return missing


def _names_a_source(name: str) -> bool:
    words = "".join(one if one.isalnum() else " " for one in name.lower()).split()
    return bool(words) and (
        words[-1].removesuffix("s") in SOURCES
        or (len(words) > 1 and words[-1] in {"id", "name", "hash"} and words[-2] in SOURCES)
    )
