"""The column by which cases of files are grouped: `compare file:A file:B --by COLUMN`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentbench_tui.verdicts.files.sample_cells import NOTHING, text_of

if TYPE_CHECKING:
    from agentbench_tui.analysis.sample import Integers
    from agentbench_tui.verdicts.files.table_file import Table
    from agentbench_tui.verdicts.groups.case_groups import CaseFields


@dataclass(frozen=True)
class FileField:
    """Collects the column's values from every file that has it."""

    name: str
    fields: CaseFields | None
    """Destination of the fields; None if no column was requested."""

    @property
    def names(self) -> set[str]:
        """Return the columns to read."""
        return set() if self.fields is None else {self.name}

    def take(self, table: Table, rows: Integers, cases: Integers) -> None:
        """Collect the values of these rows; `cases` are their numbers.

        Raises UsageError where the rows of one case differ in the column.
        """
        if self.fields is None:
            return
        self.fields.add_columns(table.names, cases.tolist())
        cells = table.columns.get(self.name)
        if cells is not None:
            texts = [text_of(cells[row]) for row in rows.tolist()]
            texts = ["" if text.lower() in NOTHING else text for text in texts]
            self.fields.add_column(self.name, cases.tolist(), texts, str(table.path))


NO_FIELD = FileField("", None)
