"""Colors and dash patterns of charts: one of each for a contender, in every chart of a report."""

from __future__ import annotations

from collections.abc import Sequence

COLORS = (
    "#0757b8", "#b4431f", "#1a7f37", "#7a4fc4", "#8a5a00", "#b02a73", "#0b7a7a", "#57606a",
)  # fmt: skip
"""On a light background; `--s0` to `--s7` of the style sheet, which has others for a dark one."""
DASHES: tuple[tuple[float, ...], ...] = (
    (), (7, 3), (2, 3), (9, 3, 2, 3), (), (7, 3), (2, 3), (9, 3, 2, 3),
)  # fmt: skip
"""Lengths of strokes and gaps, so that lines differ without color; empty for a solid line."""


class Palette:
    """Gives each contender its place among the colors; more than there are use them again."""

    def __init__(self, contenders: Sequence[str] = ()) -> None:
        self._places = {name: place for place, name in enumerate(contenders)}

    def number(self, name: str, place: int) -> int:
        """Return the color of a series; `place`: its number in the chart, if it is no contender.

        A series that is no contender has a contender's color only if these use all colors.
        """
        if name in self._places:
            return self._places[name] % len(COLORS)
        taken = len(self._places) if len(self._places) < len(COLORS) else 0
        return taken + place % (len(COLORS) - taken)
