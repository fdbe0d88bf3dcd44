"""A picture of braille dots, two across and four down in every cell of a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

ACROSS, DOWN = 2, 4
_BLANK = 0x2800
_BIT = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""The bit of a dot in its cell, by row and column (Unicode, Braille Patterns)."""
SOLID: Sequence[bool] = (True,)


class Canvas:
    """Dots with a color. A cell has one color: that of the last dot set in it."""

    def __init__(self, columns: int, rows: int) -> None:
        self.width, self.height = columns * ACROSS, rows * DOWN
        self._bits = [[0] * columns for _ in range(rows)]
        self._colors: list[list[int | None]] = [[None] * columns for _ in range(rows)]

    def dot(self, x: int, y: int, color: int | None = None) -> None:
        """Set the dot in column `x`, row `y` from the top; outside the picture nothing happens."""
        if 0 <= x < self.width and 0 <= y < self.height:
            self._bits[y // DOWN][x // ACROSS] |= _BIT[y % DOWN][x % ACROSS]
            self._colors[y // DOWN][x // ACROSS] = color

    def line(
        self,
        start: tuple[float, float],
        end: tuple[float, float],
        color: int | None = None,
        pattern: Sequence[bool] = SOLID,
        phase: int = 0,
    ) -> int:
        """A straight line with a pattern of set and unset dots; gives the phase at its end, with
        which the next piece goes on."""
        (x, y), (to_x, to_y) = start, end
        steps = max(1, round(max(abs(to_x - x), abs(to_y - y))))
        for step in range(steps + 1):
            if pattern[(phase + step) % len(pattern)]:
                share = step / steps
                self.dot(round(x + share * (to_x - x)), round(y + share * (to_y - y)), color)
        return phase + steps

    def rows(self, *, colored: bool = False) -> list[str]:
        """The picture as lines of text, all equally wide."""
        return [
            "".join(
                paint("".join(chr(_BLANK + bits) if bits else " " for bits, _ in cells), color)
                for color, cells in groupby(
                    zip(row, colors, strict=True), lambda cell: cell[1] if colored else None
                )
            )
            for row, colors in zip(self._bits, self._colors, strict=True)
        ]


def paint(text: str, color: int | None) -> str:
    """The text in one of the terminal's colors (SGR number), or as it is."""
    return text if color is None else f"\x1b[{color}m{text}\x1b[0m"
