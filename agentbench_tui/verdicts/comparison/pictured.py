"""A comparison with the data for its plots: the document, the sides' scores, the shared places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentbench_tui.store.queries.history import stamp_of_executions
from agentbench_tui.verdicts.comparison.compare import compare
from agentbench_tui.verdicts.comparison.compare_document import compare_document
from agentbench_tui.verdicts.comparison.comparison import Asked
from agentbench_tui.verdicts.comparison.side_pictures import dimension_scores
from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
from agentbench_tui.verdicts.selection.side import load_sides

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from agentbench_tui.contracts.compare import CompareDocument, CompareMatrixDocument, Pair
    from agentbench_tui.verdicts.evidence.place import Place
    from agentbench_tui.verdicts.selection.side import Side

Stamp = tuple[int, int, float]


@dataclass(frozen=True, slots=True)
class Pictured:
    """Comparison of two or more sides."""

    document: CompareDocument | CompareMatrixDocument
    sides: tuple[Side, ...]
    scores: tuple[dict[str, float | None], ...]
    """The five scores of each side, from 0 to 1."""
    places: tuple[Place, ...]
    """Places where two or more sides were measured."""
    stamp: Stamp
    """See `stamp_of_executions`."""

    @property
    def selectors(self) -> tuple[str, ...]:
        """Return the compared selectors as they were written."""
        return tuple(side.label for side in self.sides)

    @property
    def pairs(self) -> Sequence[Pair]:
        """Return every pair of the sides, the earlier as the control."""
        return self.document.matrix


def pictured(connection: sqlite3.Connection, selectors: Sequence[str], limit: int) -> Pictured:
    """Compare what the selectors name, with up to `limit` cases per pair and benchmark on which
    both disagree. Raises UsageError and Unmeasured like `load_sides` and `compare`.
    """
    stamp = stamp_of_executions(connection)
    numbers = CaseNumbers(connection)
    sides = load_sides(connection, selectors, None, None, numbers)
    found = compare(connection, sides, numbers, Asked())
    return Pictured(
        compare_document(connection, found, numbers, limit),
        tuple(sides),
        tuple(dimension_scores(side) for side in sides),
        tuple(dict.fromkeys(one.place for pair in found.pairs for one in pair.benchmarks)),
        stamp,
    )
