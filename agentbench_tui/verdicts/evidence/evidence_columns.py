"""Columns of evidence by name, each computed on first use.

A column of a million answers takes 8 MB, and a verdict needs few columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from agentbench_tui.analysis.sample import Floats

Compute: TypeAlias = "Callable[[], Floats]"


class EvidenceColumns(Mapping[str, "Floats"]):
    """Name → one value per observation."""

    def __init__(self, columns: Mapping[str, Compute]) -> None:
        self._compute = dict(columns)
        self._last: tuple[str, Floats] | None = None
        """The last column, since it is often requested again; all of them would not fit into
        memory.
        """

    def __getitem__(self, name: str) -> Floats:
        if self._last is None or self._last[0] != name:
            self._last = name, self._compute[name]()
        return self._last[1]

    def __contains__(self, name: object) -> bool:
        return name in self._compute

    def __iter__(self) -> Iterator[str]:
        return iter(self._compute)

    def __len__(self) -> int:
        return len(self._compute)


def with_each(columns: Mapping[str, Floats], change: Callable[[Floats], Floats]) -> EvidenceColumns:
    """Columns after a transformation, such as a selection of rows."""

    def changed(name: str) -> Floats:
        return change(columns[name])

    return EvidenceColumns({name: partial(changed, name) for name in columns})
