"""Selection of rows in a file of samples: `--where COLUMN=VALUE`, and columns that split cases."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agentbench_tui.model.errors import UsageError, did_you_mean
from agentbench_tui.model.text.untrusted import one_line

if TYPE_CHECKING:
    from agentbench_tui.verdicts.files.table_file import Table

RowFilter = Mapping[str, str]
"""Column → the value, or the unique beginning of a value, that a row must have in it."""
NO_FILTER: RowFilter = {}
_SHOWN = 6


def choose_rows(table: Table, where: RowFilter) -> tuple[Table, list[str]]:
    """Return the rows that `where` selects, and a note for each of its columns.

    Raises UsageError for a column or value that the file does not have.
    """
    notes = []
    for name, wanted in where.items():
        if name not in table.names:
            near = did_you_mean(name, table.names)
            raise UsageError(f"{table.path}: --where {name}={wanted}: no column '{name}'{near}")
        cells = [_text(cell) for cell in table.columns[name]]
        value = _value(table, name, wanted, cells)
        kept = [row for row, cell in enumerate(cells) if cell == value]
        notes.append(f"{len(kept):,} of {len(table):,} rows have {name}={value}")
        table = table.rows(kept)
    return table, notes


def _value(table: Table, name: str, wanted: str, cells: Sequence[str]) -> str:
    values = list(dict.fromkeys(cells))
    if wanted in values:
        return wanted
    matches = [value for value in values if value.startswith(wanted)] if wanted else []
    if len(matches) == 1:
        return matches[0]
    shown = one_line(", ".join(values[:_SHOWN]), 200) + (" …" if len(values) > _SHOWN else "")
    problem = "several values begin so" if matches else "no row has this value"
    raise UsageError(f"{table.path}: --where {name}={wanted}: {problem}; there are {shown}")


def check_split(table: Table, keys: Sequence[Hashable]) -> None:
    """Reject a file in which a column without a meaning distinguishes the rows of one case.

    `keys` says of each row which observation it is of. A column splits them where all rows of an
    observation differ in it, and in the same values everywhere: the two filters of a harness, or
    two prompts. Taken together, such rows would count as independent answers. Raises UsageError.
    """
    rows_of: dict[Hashable, list[int]] = defaultdict(list)
    for row, key in enumerate(keys):
        rows_of[key].append(row)
    repeated = [rows for rows in rows_of.values() if len(rows) > 1]
    if len(repeated) < 2:
        return
    for name, cells in table.groups.items():
        values = _splits([[_text(cells[row]) for row in rows] for rows in repeated])
        if values:
            raise UsageError(
                f"{table.path}: {len(repeated):,} cases have several rows, which differ in "
                f"'{name}' ({one_line(', '.join(sorted(values)), 200)}): choose with --where "
                f"{name}=VALUE, or call the column `repeat` if they are repeats"
            )


def _splits(groups: Sequence[Sequence[str]]) -> frozenset[str]:
    """Return the values in which all rows of every group differ; empty if they do not."""
    everywhere = frozenset(groups[0])
    alike = all(len(group) == len(everywhere) and everywhere.issuperset(group) for group in groups)
    return (
        everywhere
        if alike and all(len(set(group)) == len(group) for group in groups)
        else frozenset()
    )


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell).strip()
