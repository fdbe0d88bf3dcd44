"""Panels drawn with characters. Without colors, dashes and dots tell the lines apart."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise

from rich.cells import cell_len, set_cell_size

from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.reports.figures.canvas import ACROSS, DOWN, SOLID, Canvas, paint
from agentbench_tui.reports.figures.panel import Band, Bars, Line, Panel

_COLORS = (36, 33, 35, 32, 34, 31)
"""Of the lines, one after the other: cyan, yellow, magenta, green, blue, red."""
_GRAY = 90
_PATTERNS: tuple[Sequence[bool], ...] = (
    SOLID,
    (True, True, True, True, False, False),
    (True, False, False),
)
_SAMPLES = ("──", "╌╌", "··")
_LEVEL_PATTERN = (True, False)
LEAST_WIDTH, LEAST_HEIGHT = 30, 6
_ROWS_PER_TICK = 4
_CELLS_PER_TICK = 12

Place = Callable[[float, float], tuple[float, float]]


def draw(panels: Sequence[Panel], width: int, height: int, *, colored: bool = False) -> str:
    """The panels one below the other, in `width` cells and about `height` rows in all."""
    width = max(width, LEAST_WIDTH)
    each = max(height // len(panels), LEAST_HEIGHT)
    return "\n\n".join("\n".join(_panel(panel, width, each, colored)) for panel in panels)


def ticks(low: float, high: float, about: int) -> list[float]:
    """Round numbers between two ends, about as many as asked for."""
    raw = high / max(about, 1) - low / max(about, 1)  # their difference may overflow
    if raw < sys.float_info.min:  # no number lies between that could be told from the ends
        return [low]
    power = 10.0 ** math.floor(math.log10(raw))
    step = power * next(factor for factor in (1, 2, 5, 10) if factor * power >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [number * step for number in range(first, last + 1)]


def tick_label(value: float, step: float) -> str:
    """A tick's number with as many digits as its step asks for."""
    if abs(value) >= 1e6 or 0.0 < step < 1e-4:
        digits = math.floor(math.log10(abs(value) / step) + 1e-9) + 2 if value else 0
        return f"{value:.{max(3, digits)}g}"
    return f"{value:.{max(0, -math.floor(math.log10(step) + 1e-9))}f}"


def _panel(panel: Panel, width: int, height: int, colored: bool) -> list[str]:
    heading = [one_line(text) for text in (panel.title, panel.y_label) if text]
    if panel.empty():
        return [*heading, "(no values)"]
    legend = _legend(panel, width, colored)
    rows = max(height - len(heading) - len(legend) - 2, 3)
    low, high = panel.y_range()
    marks = ticks(low, high, rows // _ROWS_PER_TICK)
    step = marks[1] - marks[0] if len(marks) > 1 else high - low
    labels = {_row(tick, low, high, rows): tick_label(tick, step) for tick in marks}
    edge = max(map(len, labels.values()), default=0)
    columns = width - edge - 2
    canvas = Canvas(columns, rows)
    _fill(canvas, panel)
    lines = [
        f"{labels.get(row, ''):>{edge}} {'┤' if row in labels else '│'}{cells}"
        for row, cells in enumerate(canvas.rows(colored=colored))
    ]
    below = _x_axis(panel, edge, columns)
    return [*(set_cell_size(text, width).rstrip() for text in heading), *lines, *below, *legend]


def _row(value: float, low: float, high: float, rows: int) -> int:
    return min(rows - 1, max(0, round((high - value) / (high - low) * (rows * DOWN - 1)) // DOWN))


def _x_axis(panel: Panel, edge: int, columns: int) -> list[str]:
    low, high = panel.x_range()
    marks = ticks(low, high, columns // _CELLS_PER_TICK)
    step = marks[1] - marks[0] if len(marks) > 1 else high - low
    line = ["─"] * columns
    numbers = [" "] * (edge + 2 + columns)
    for tick in marks:
        cell = round((tick - low) / (high - low) * (columns * ACROSS - 1)) // ACROSS
        line[cell] = "┬"
        text = tick_label(tick, step)
        start = max(0, edge + 2 + cell - len(text) // 2)
        if start + len(text) <= len(numbers) and not "".join(numbers[start - 1 : start]).strip():
            numbers[start : start + len(text)] = text
    label = one_line(panel.x_label)
    if label and not "".join(numbers[-cell_len(label) - 2 :]).strip():
        numbers[-cell_len(label) :] = label
        return [" " * edge + " └" + "".join(line), "".join(numbers).rstrip()]
    below = [label.rjust(edge + 2 + columns)] if label else []
    return [" " * edge + " └" + "".join(line), "".join(numbers).rstrip(), *below]


def _fill(canvas: Canvas, panel: Panel) -> None:
    place = _places(canvas, panel)
    for number, band in enumerate(panel.bands):
        _band(canvas, band, place, _COLORS[number % len(_COLORS)])
    if panel.bars:
        _bars(canvas, panel.bars, place)
    x_low, x_high = panel.x_range()
    y_low, y_high = panel.y_range()
    for level in panel.levels.values():
        canvas.line(place(x_low, level), place(x_high, level), _GRAY, _LEVEL_PATTERN)
    for number, mark in enumerate(panel.marks.values(), start=1):
        canvas.line(place(mark, y_low), place(mark, y_high), _COLORS[number % len(_COLORS)])
    for number, line in enumerate(panel.lines):
        _line(canvas, line, place, number)


def _places(canvas: Canvas, panel: Panel) -> Place:
    (x_low, x_high), (y_low, y_high) = panel.x_range(), panel.y_range()

    def place(x: float, y: float) -> tuple[float, float]:
        across = (x - x_low) / (x_high - x_low) * (canvas.width - 1)
        up = (min(max(y, y_low), y_high) - y_low) / (y_high - y_low)
        return across, (1.0 - up) * (canvas.height - 1)

    return place


def _line(canvas: Canvas, line: Line, place: Place, number: int) -> None:
    color, pattern = _COLORS[number % len(_COLORS)], _PATTERNS[number % len(_PATTERNS)]
    previous: tuple[float, float] | None = None
    phase = 0
    for x, y in zip(line.x, line.y, strict=True):
        if not (math.isfinite(x) and math.isfinite(y)):
            previous = None
            continue
        here = place(x, y)
        if previous is None:
            canvas.dot(round(here[0]), round(here[1]), color)
        else:
            phase = canvas.line(previous, here, color, pattern, phase)
        previous = here


def _band(canvas: Canvas, band: Band, place: Place, color: int) -> None:
    """One dot a cell between both curves, which are straight between their points."""
    corners = list(zip(band.x, band.low, band.high, strict=True))
    for (x, low, high), (to_x, to_low, to_high) in pairwise(corners):
        if any(map(math.isnan, (low, high, to_low, to_high))):
            continue
        (start, bottom), (end, to_bottom) = place(x, low), place(to_x, to_low)
        top, to_top = place(x, high)[1], place(to_x, to_high)[1]
        for across in range(round(start), round(end) + 1):
            share = (across - start) / (end - start) if end > start else 0.0
            share = min(1.0, max(0.0, share))
            first = round(top + share * (to_top - top))
            last = round(bottom + share * (to_bottom - bottom))
            for down in range(first, last + 1):
                if across % ACROSS == 0 and down % DOWN == 1:
                    canvas.dot(across, down, color)


def _bars(canvas: Canvas, bars: Bars, place: Place) -> None:
    for left, right, count in zip(bars.edges, bars.edges[1:], bars.counts, strict=False):
        (start, top), (end, bottom) = place(left, count), place(right, 0.0)
        if count > 0:
            for across in range(round(start), max(round(start) + 1, round(end))):
                canvas.line((across, top), (across, bottom), _COLORS[0])


def _legend(panel: Panel, width: int, colored: bool) -> list[str]:
    """What is what, as many to a row as fit; nothing for a single unnamed line."""
    items = [
        (_SAMPLES[number % len(_SAMPLES)], line.name, _COLORS[number % len(_COLORS)])
        for number, line in enumerate(panel.lines)
    ]
    items += [
        ("░░", band.name, _COLORS[number % len(_COLORS)]) for number, band in enumerate(panel.bands)
    ]
    items += [("--", f"{name}: {value:.4g}", _GRAY) for name, value in panel.levels.items()]
    items += [
        (" │", f"{name}: {value:.4g}", _COLORS[number % len(_COLORS)])
        for number, (name, value) in enumerate(panel.marks.items(), start=1)
    ]
    rows: list[str] = []
    room = 0
    for sample, written, color in items:
        name = one_line(written)
        if not name:
            continue
        need = 4 + cell_len(sample) + cell_len(name)
        text = f"{paint(sample, color if colored else None)} {name}"
        if need > room:
            rows.append(f" {text}")
            room = width
        else:
            rows[-1] += f"   {text}"
        room -= need
    return rows
