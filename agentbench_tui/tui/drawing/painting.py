"""Rows of styled text: pure functions from values to terminal content.

A row is a list of segments, and every segment has a style: Textual's filter for NO_COLOR fails
on one without.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate, takewhile

from rich.cells import cell_len, get_character_cell_size, set_cell_size
from rich.segment import Segment
from rich.style import Style

from agentbench_tui.reports.figures.canvas import ACROSS, DOWN, SOLID
from agentbench_tui.tui.drawing.glyphs import Glyphs
from agentbench_tui.tui.theme import Palette

Row = list[Segment]

_BLANK = 0x2800
_BITS = (0x01, 0x02, 0x04, 0x40, 0x08, 0x10, 0x20, 0x80)
"""Bits of the dots of a cell, the left column down, then the right one (Unicode, Braille
Patterns).
"""
_TOP = 0x01 | 0x02 | 0x08 | 0x10
_CROWDED = 5
"""A cell with this many of its eight dots counts as dense."""
_JOINTS = "/-_"
"""Between the words of a benchmark's name, a path or an address."""
_EMOJI_STYLE = "\ufe0f"
"""Makes the character before it two cells wide."""


def span(text: str, style: Style) -> Segment:
    """Return a piece of a row. The text must be safe, or sanitized by `model.text.untrusted`."""
    return Segment(text, style)


def join(*parts: Segment | Row) -> Row:
    """Return one row of pieces and rows; neighbors with one style become one piece."""
    row: Row = []
    before: Style | None = None
    for part in parts:
        for piece in (part,) if isinstance(part, Segment) else part:
            style = piece.style
            if row and style is before:
                row[-1] = Segment(row[-1].text + piece.text, style)
            elif piece.text:
                row.append(piece)
                before = style
    return row


def runs(cells: Iterable[tuple[str, Style]]) -> Row:
    """Return a row of cells with text and style; blanks take the style of the previous cell,
    which means fewer style changes for the terminal.
    """
    row: Row = []
    texts: list[str] = []
    run: Style | None = None
    for text, style in cells:
        if run is None:
            run = style
        elif style is not run and (text != " " or style.bgcolor or run.bgcolor or run.reverse):
            row.append(Segment("".join(texts), run))
            texts, run = [], style
        texts.append(text)
    if run is not None:
        row.append(Segment("".join(texts), run))
    return row


def row_width(row: Row) -> int:
    """Return the cells that the row takes."""
    return sum(cell_len(piece.text) for piece in row)


def changed_cells(before: Row, after: Row) -> int:
    """Return up to which cell two rows of one width differ; 0 if they are equal."""
    width = row_width(after)
    for old, new in zip(reversed(before), reversed(after), strict=False):
        if old.style is not new.style and old.style != new.style:
            break
        cells = cell_len(new.text)
        if old.text == new.text:
            width -= cells
            continue
        if cells == len(new.text) and cell_len(old.text) == len(old.text):
            pairs = zip(reversed(old.text), reversed(new.text), strict=False)
            width -= sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        break
    return width


def fit(row: Row, width: int, style: Style) -> Row:
    """Return the row in exactly `width` cells: cropped, or padded with spaces of this style."""
    fitted: Row = []
    room = width
    for piece in row:
        if room <= 0:
            break
        need = cell_len(piece.text)
        if need > room:
            fitted.append(Segment(set_cell_size(piece.text, room), piece.style))
        elif need:
            fitted.append(piece)
        room -= min(need, room)
    return join(fitted, Segment(" " * room, style)) if room > 0 else fitted


def shorten(text: str, width: int, glyphs: Glyphs) -> str:
    """Return the text in at most `width` cells; an ellipsis marks a cut."""
    if cell_len(text) <= width:
        return text
    return "" if width <= 0 else set_cell_size(text, width - 1).rstrip() + glyphs.ellipsis


def aligned(text: str, width: int, align: str, glyphs: Glyphs) -> str:
    """Return the text in exactly `width` cells. `align`: left, right or center."""
    text = shorten(text, width, glyphs)
    room = max(0, width - cell_len(text))
    before = {"left": 0, "right": room, "center": room // 2}[align]
    return " " * before + text + " " * (room - before)


def wraps(text: str, width: int) -> list[tuple[int, int]]:
    """Return where the rows of a text begin and end, each at most `width` cells.

    Rows break at spaces, or otherwise between the words of a name, in its second half. A character
    wider than the width has a separate row.
    """
    ends: Sequence[int] = range(len(text) + 1)
    if not text.isascii():
        ends = [*accumulate(map(_cells, text), initial=0)]
    rows, start = [], 0
    while ends[-1] - ends[start] > width and start + 1 < len(text):
        stop = max(start + 1, bisect_right(ends, ends[start] + width) - 1)
        space = text.rfind(" ", start + 1, stop + 1)
        half = (start + stop) // 2
        joint = 1 + max(text.rfind(sign, half, stop) for sign in _JOINTS)
        end = space if space > start else joint or stop
        rows.append((start, end))
        start = end + 1 if end == space else end
    return [*rows, (start, len(text))]


def _cells(character: str) -> int:
    return 1 if character == _EMOJI_STYLE else get_character_cell_size(character)


def bar(share: float, cells: int, style: Style, palette: Palette, glyphs: Glyphs) -> Row:
    """Return a bar that is full at 1; the smallest share above 0 is visible."""
    filled = round(min(1.0, max(0.0, share)) * cells)
    if share > 0:
        filled = max(1, filled)
    return [
        Segment(glyphs.heavy * filled, style),
        Segment(glyphs.light * (cells - filled), palette.frame),
    ]


def page(rows: Sequence[Row], width: int, height: int, style: Style) -> list[Row]:
    """Return exactly `height` rows of exactly `width` cells each: cropped, or padded below."""
    fitted = [fit(row, width, style) for row in rows[:height]]
    return fitted + [[Segment(" " * width, style)] for _ in range(height - len(fitted))]


def text_of(rows: Iterable[Row]) -> list[str]:
    """Return the rows as plain text."""
    return ["".join(piece.text for piece in row) for row in rows]


def notice(
    reason: str, width: int, height: int, palette: Palette, glyphs: Glyphs, title: str = ""
) -> list[Row]:
    """Return the reason for a missing picture, centered."""
    rows: list[Row] = [[] for _ in range(max(1, height))]
    words = glyphs.plain(reason)
    lines = [words[start:end].strip() for start, end in wraps(words, max(1, width))]
    top = 1 if title and height > 1 else 0
    last = len(rows) - top - 1
    lines[last:] = [" ".join(lines[last:])] if lines[last:] else []
    for row, line in enumerate(lines, start=max(top, (len(rows) - len(lines)) // 2)):
        rows[row] = [span(aligned(line, width, "center", glyphs), palette.dim)]
    if title and height > 1:
        rows[0] = [span(shorten(glyphs.plain(title), width, glyphs), palette.title)]
    return page(rows, width, height, palette.text)


class Dots:
    """A picture of braille dots, two across and four down per cell; a cell has one style, that of
    the last dot set in it. Text can be laid over it.
    """

    def __init__(self, columns: int, rows: int) -> None:
        self.columns, self.rows = max(0, columns), max(0, rows)
        self.width, self.height = self.columns * ACROSS, self.rows * DOWN
        """In dots."""
        self._bits = [bytearray(self.columns) for _ in range(self.rows)]
        self._styles: list[list[Style | None]] = [[None] * self.columns for _ in range(self.rows)]
        self._texts: dict[tuple[int, int], str] = {}

    def dot(self, x: int, y: int, style: Style) -> None:
        """Set the dot in column `x`, row `y` from the top; ignored outside the picture."""
        if 0 <= x < self.width and 0 <= y < self.height:
            row, column = y // DOWN, x // ACROSS
            self._bits[row][column] |= _BITS[y % DOWN + DOWN * (x % ACROSS)]
            self._styles[row][column] = style

    def line(
        self,
        start: tuple[float, float],
        end: tuple[float, float],
        style: Style,
        pattern: Sequence[bool] = SOLID,
        phase: int = 0,
    ) -> int:
        """Draw a straight line with a pattern of set and unset dots; return the phase at its end,
        for the next piece.
        """
        (x, y), (to_x, to_y) = start, end
        steps = max(1, round(max(abs(to_x - x), abs(to_y - y))))
        across, down = (to_x - x) / steps, (to_y - y) / steps
        for step in range(steps + 1):
            if pattern[(phase + step) % len(pattern)]:
                self.dot(round(x + step * across), round(y + step * down), style)
        return phase + steps

    def text(self, column: int, row: int, text: str, style: Style) -> None:
        """Lay text of one-cell characters over the dots, starting at this cell; text outside the
        picture is cut.
        """
        if not 0 <= row < self.rows:
            return
        for place, character in enumerate(text, start=column):
            if 0 <= place < self.columns:
                self._texts[row, place] = character
                self._styles[row][place] = style

    def is_free(self, column: int, row: int, width: int = 1) -> bool:
        """Return whether this many cells from this one on are inside the picture and empty."""
        if not (0 <= row < self.rows and column >= 0 and column + width <= self.columns):
            return False
        places = range(column, column + width)
        return not any(self._bits[row][place] or (row, place) in self._texts for place in places)

    def is_lined(self, column: int, row: int, width: int) -> bool:
        """Return whether any of these cells has dots."""
        return 0 <= row < self.rows and any(self._bits[row][max(0, column) : column + width])

    def underlay(self, other: Dots) -> None:
        """Show the other picture, of the same size, in the empty cells of this one."""
        for row in range(self.rows):
            bits, styles = self._bits[row], self._styles[row]
            for column in range(self.columns):
                if not bits[column] and (row, column) not in self._texts:
                    bits[column] = other._bits[row][column]
                    styles[column] = other._styles[row][column]
                    if text := other._texts.get((row, column)):
                        self._texts[row, column] = text

    def painted(self, glyphs: Glyphs, background: Style) -> list[Row]:
        """Return the picture: `rows` rows of `columns` cells."""
        return [self._row(row, glyphs.braille, background) for row in range(self.rows)]

    def _row(self, row: int, braille: bool, background: Style) -> Row:
        texts = self._texts
        return runs(
            (texts.get((row, column)) or _dotted(bits, braille), style or background)
            for column, (bits, style) in enumerate(
                zip(self._bits[row], self._styles[row], strict=True)
            )
        )


def _dotted(bits: int, braille: bool) -> str:
    """Return the character for a cell's dots."""
    if not bits:
        return " "
    if braille:
        return chr(_BLANK + bits)
    if not bits & ~_TOP:
        return "'"
    if not bits & _TOP:
        return "."
    return "#" if bits.bit_count() >= _CROWDED else ":"
