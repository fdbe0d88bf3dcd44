"""Color and marker of each agent, the same on every page of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.tui.theme import SERIES

if TYPE_CHECKING:
    from collections.abc import Iterable


class AgentSeries:
    """Numbers of the palette's series, one for each agent while there are as many."""

    def __init__(self) -> None:
        self._kept: dict[str, int] = {}

    def of(self, agents: Iterable[str]) -> dict[str, int]:
        """Return agent → number of its series, for agents that are shown together.

        An agent keeps its number whatever its rank. Where there are more agents than series, two
        that are shown together still differ, up to the number of series: the later one borrows a
        free number.
        """
        names = list(dict.fromkeys(agents))
        shown: dict[str, int] = {}
        for name in names:
            if name in self._kept and self._kept[name] not in shown.values():
                shown[name] = self._kept[name]
        for name in names:
            if name in shown:
                continue
            shown[name] = self._free(set(shown.values()))
            self._kept.setdefault(name, shown[name])
        return shown

    def _free(self, taken: set[int]) -> int:
        """Return the number that fewest agents have, of those that are not taken."""
        held = [*self._kept.values()]
        free = [number for number in range(SERIES) if number not in taken] or [*range(SERIES)]
        return min(free, key=lambda number: (held.count(number), number))
