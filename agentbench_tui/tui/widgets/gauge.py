"""Gauges: rows of bars with value, limit and history; the cores of a processor in a row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.style import Style

from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.numbers import quantity, short_percent
from agentbench_tui.tui.drawing.glyphs import Glyphs
from agentbench_tui.tui.drawing.painting import (
    Row,
    aligned,
    bar,
    fit,
    join,
    notice,
    page,
    shorten,
    span,
    wraps,
)
from agentbench_tui.tui.theme import Palette
from agentbench_tui.tui.widgets.gpu_line import GpuLine, gpu_rows
from agentbench_tui.tui.widgets.scrolled import Scrolled

_MOST_LABEL, _MOST_NOTE = 14, 24
_MOST_REASON = 200
_LEAST_BAR = 4
_SIGN_CELLS = 3
"""Between bar and value."""
_HISTORY_CELLS = 10
_HISTORY_FROM = 48
"""Cells of a row from which it has room for a course."""
_COLUMN_FROM = 36
"""Width that each of two columns needs; used if one column would not show all rows."""


@dataclass(frozen=True, slots=True)
class Gauge:
    """One measured quantity. Labels, notes and reasons may be untrusted; they are sanitized."""

    label: str
    value: float | None
    """None when it could not be measured: the reason is shown."""
    limit: float | None = None
    """Value of a full bar; None: no bar."""
    unit: str = "%"
    warn: float = 0.8
    """Share of the limit from which on there is a `!`."""
    bad: float = 0.95
    """Share of the limit from which on there is a `‼`."""
    history: Sequence[float | None] = ()
    """Oldest first, in the same unit."""
    note: str = ""
    """Such as why a GPU is throttled."""
    reason: str = "not measured"


@dataclass(frozen=True, slots=True)
class Cores:
    """Cores of a processor, one cell each."""

    label: str
    percents: Sequence[float | None]
    """Busy share of each, 0 … 100."""
    warn: float = 0.8
    bad: float = 0.95
    reason: str = "not measured"


GaugeRow = Gauge | Cores | GpuLine


@dataclass(frozen=True, slots=True)
class GaugesData:
    """Rows of gauges, from the top."""

    rows: Sequence[GaugeRow] = ()
    reason: str = "no data yet"
    """Shown while there are no rows."""


@dataclass(frozen=True, slots=True)
class _Columns:
    """Cells of each part of a row; the same for all rows, so that they line up."""

    label: int
    bar: int
    value: int
    history: int
    note: int


def paint_gauges(
    data: GaugesData, width: int, height: int, palette: Palette, glyphs: Glyphs, top: int = 0
) -> list[Row]:
    """Paint the gauges in `height` rows of `width` cells, from the line `top` on, in two columns if
    one is too short; the last row counts those that do not fit.
    """
    if not data.rows or width < 1 or height < 1:
        return notice(data.reason, max(0, width), max(0, height), palette, glyphs)
    rows, columns = _laid(data, width, height, palette, glyphs)
    rows = rows[top:]
    if columns == 1:
        return _as_many(rows, width, height, palette, glyphs)
    each = _half(width)
    left = page(rows[:height], each, height, palette.text)
    right = _as_many(rows[height:], each, height, palette, glyphs)
    gap = span("  ", palette.text)
    rows = [join(one, gap, other) for one, other in zip(left, right, strict=True)]
    return page(rows, width, height, palette.text)


def _laid(
    data: GaugesData, width: int, height: int, palette: Palette, glyphs: Glyphs
) -> tuple[list[Row], int]:
    """Return all lines, and the number of their columns."""
    rows = _column(data.rows, width, palette, glyphs)
    if len(rows) <= height or width < 2 * _COLUMN_FROM + 2:
        return rows, 1
    return _column(data.rows, _half(width), palette, glyphs), 2


def _half(width: int) -> int:
    return (width - 2) // 2


def _as_many(
    rows: list[Row], width: int, height: int, palette: Palette, glyphs: Glyphs
) -> list[Row]:
    """Return the lines that fit; the last row gives the number of others."""
    if len(rows) > height:
        more = f"{glyphs.down} {len(rows) - height + 1} more"
        rows = [*rows[: height - 1], [span(aligned(more, width, "right", glyphs), palette.dim)]]
    return page(rows, width, height, palette.text)


def _column(rows: Sequence[GaugeRow], width: int, palette: Palette, glyphs: Glyphs) -> list[Row]:
    gpus = [row for row in rows if isinstance(row, GpuLine)]
    cells = _columns(rows, width, glyphs)
    painted: list[Row] = []
    for row in rows:
        if isinstance(row, GpuLine):
            if row is gpus[0]:  # the others follow, in the same columns
                painted += gpu_rows(gpus, width, palette, glyphs)
        elif isinstance(row, Cores):
            painted += _cores(row, cells, width, palette, glyphs)
        elif not _is_known(row.value):
            painted += _missing(row, cells.label, width, palette, glyphs)
        else:
            painted.append(fit(_gauge(row, cells, palette, glyphs), width, palette.text))
    return painted


def _columns(rows: Sequence[GaugeRow], width: int, glyphs: Glyphs) -> _Columns:
    label = _label_cells(rows, glyphs)
    gauges = [row for row in rows if isinstance(row, Gauge) and row.value is not None]
    value = max((cell_len(_value(row, glyphs)) for row in gauges), default=6)
    with_history = width >= _HISTORY_FROM and any(row.history for row in gauges)
    history = _HISTORY_CELLS + 1 if with_history else 0
    note = min(_MOST_NOTE, max((cell_len(_plain(row.note, glyphs)) for row in gauges), default=0))
    bar = width - label - 1 - _SIGN_CELLS - value - history
    note = note + 1 if note and bar - note - 1 >= 2 * _LEAST_BAR else 0
    bar -= note
    return _Columns(label, bar if bar >= _LEAST_BAR else 0, value, history, note)


def _label_cells(rows: Sequence[GaugeRow], glyphs: Glyphs) -> int:
    labels = [_plain(row.label, glyphs) for row in rows if not isinstance(row, GpuLine)]
    return min(_MOST_LABEL, max(map(cell_len, labels), default=0))


def lines_of(data: GaugesData, width: int, glyphs: Glyphs) -> int:
    """Return the rows that all gauges take below each other."""
    label = _label_cells(data.rows, glyphs)
    room = max(1, width - label - 1)
    return sum(
        1 + len(row.processes)
        if isinstance(row, GpuLine)
        else -(-len(row.percents) // room)
        if isinstance(row, Cores)
        else 1
        if _is_known(row.value)
        else len(_reason_lines(row, label, width, glyphs))
        for row in data.rows
    )


def _is_known(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _reason_lines(row: Gauge, label: int, width: int, glyphs: Glyphs) -> list[str]:
    reason = glyphs.plain(f"{glyphs.nothing} {one_line(row.reason, _MOST_REASON)}")
    return [reason[start:end] for start, end in wraps(reason, max(1, width - label - 1))]


def _missing(row: Gauge, label: int, width: int, palette: Palette, glyphs: Glyphs) -> list[Row]:
    """Return why it is unknown, in as many rows as needed."""
    head, rows = aligned(_plain(row.label, glyphs), label, "left", glyphs), []
    for line in _reason_lines(row, label, width, glyphs):
        words = [span(f"{head} ", palette.text), span(line.strip(), palette.dim)]
        rows.append(fit(words, width, palette.text))
        head = " " * label
    return rows


def _plain(text: str, glyphs: Glyphs) -> str:
    return glyphs.plain(one_line(text, 60))


def _value(row: Gauge, glyphs: Glyphs) -> str:
    """Format `43%`, or value and limit if they are not percentages of each other."""
    if row.limit is None or row.unit == "%":
        return glyphs.plain(quantity(row.value, row.unit))
    value, limit = quantity(row.value, row.unit), quantity(row.limit, row.unit)
    number, _, unit = value.partition(" ")
    return glyphs.plain(f"{number if limit.endswith(f' {unit}') else value}/{limit}")


def _gauge(row: Gauge, cells: _Columns, palette: Palette, glyphs: Glyphs) -> Row:
    label = span(aligned(_plain(row.label, glyphs), cells.label, "left", glyphs), palette.text)
    share = (row.value or 0.0) / row.limit if row.limit else 0.0
    sign, style = _sign(share, row.warn, row.bad, palette, glyphs)
    parts: list[Row] = [[label, span(" ", palette.text)]]
    if not row.limit:
        note = "" if cells.note else _plain(row.note, glyphs)  # in the place of a bar
        note = shorten(note, max(0, cells.bar + _SIGN_CELLS - 1), glyphs)
        parts.append(fit([span(note, palette.dim)], cells.bar + _SIGN_CELLS, palette.text))
    else:
        filled = bar(share, cells.bar, style, palette, glyphs) if cells.bar else []
        parts += [filled, [span(f" {sign:<2}", style)]]
    value = aligned(_value(row, glyphs), cells.value, "right", glyphs)
    parts.append([span(value, style if sign else palette.text)])
    if cells.history:
        parts.append([span(" ", palette.text), *_history(row, palette, glyphs)])
    if cells.note and row.note:
        note = shorten(_plain(row.note, glyphs), cells.note - 1, glyphs)
        parts.append([span(f" {note}", palette.dim)])
    return join(*parts)


def _sign(
    share: float, warn: float, bad: float, palette: Palette, glyphs: Glyphs
) -> tuple[str, Style]:
    if share >= bad:
        return glyphs.bad, palette.bad
    return (glyphs.warn, palette.warn) if share >= warn else ("", palette.series[0].style)


def _history(row: Gauge, palette: Palette, glyphs: Glyphs) -> Row:
    """Return the history in blocks, from 0 to the limit, or to the maximum if there is no limit."""
    shown = list(row.history[-_HISTORY_CELLS:])
    known = [value for value in shown if value is not None and math.isfinite(value)]
    full = row.limit or max(known, default=0.0) or 1.0
    text = " " * (_HISTORY_CELLS - len(shown)) + "".join(_block(one, full, glyphs) for one in shown)
    return [span(text, palette.dim)]


def _block(value: float | None, full: float, glyphs: Glyphs) -> str:
    if value is None or not math.isfinite(value):
        return " "
    return glyphs.rising[max(1, round(min(1.0, max(0.0, value / full)) * 8))]


def _cores(row: Cores, cells: _Columns, width: int, palette: Palette, glyphs: Glyphs) -> list[Row]:
    """Return one cell per core, in as many rows as needed, with the mean usage at the end."""
    label = aligned(_plain(row.label, glyphs), cells.label, "left", glyphs)
    known = [one for one in row.percents if one is not None and math.isfinite(one)]
    if not known:
        reason = f"{label} {glyphs.nothing} {_plain(row.reason, glyphs)}"
        return [fit([span(reason, palette.dim)], width, palette.text)]
    busy = short_percent(sum(known) / len(known) / 100)
    words = glyphs.plain(f" {counted(len(row.percents), 'core')}, {busy} busy")
    room = max(1, width - cells.label - 1)
    painted = []
    for start in range(0, len(row.percents), room):
        lead = label if start == 0 else " " * cells.label
        pieces = [
            span(
                _block(percent, 100.0, glyphs),
                _sign((percent or 0.0) / 100, row.warn, row.bad, palette, glyphs)[1],
            )
            for percent in row.percents[start : start + room]
        ]
        painted.append(join(span(f"{lead} ", palette.text), *pieces))
    left = room - (len(row.percents) - 1) % room - 1
    if len(words) <= left:
        painted[-1].append(span(words, palette.dim))
    return [fit(one, width, palette.text) for one in painted]


class Gauges(Scrolled):
    """Shows a `GaugesData`. It can be focused if it has more lines than fit."""

    def __init__(self, data: GaugesData | None = None, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._data = data or GaugesData()

    def show(self, data: GaugesData) -> None:
        """Show this from now on."""
        self._data = data
        if self.top:
            self.top = min(self.top, self.last_top())
        self.redraw()

    def allow_focus(self) -> bool:
        return self.last_top() > 0

    def last_top(self) -> int:
        width, height = self.size
        if width < 1 or height < 1:
            return 0
        rows, columns = _laid(self._data, width, height, self.palette, self.glyphs)
        return max(0, len(rows) - columns * height)

    def paint(self, width: int, height: int) -> list[Row]:
        return paint_gauges(self._data, width, height, self.palette, self.glyphs, self.top)
