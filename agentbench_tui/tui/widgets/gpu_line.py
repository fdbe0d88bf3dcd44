"""One line for each GPU: use, memory, power, temperature, clock, and what holds its clocks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.style import Style

from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.numbers import quantity
from agentbench_tui.tui.drawing.painting import Row, aligned, bar, fit, shorten, span

if TYPE_CHECKING:
    from agentbench_tui.tui.drawing.glyphs import Glyphs
    from agentbench_tui.tui.theme import Palette

_HOT_C, _TOO_HOT_C = 81.0, 90.0
"""Temperatures that are pointed at."""
_FULL = 0.95
"""Share of the memory that is pointed at."""
_LEAST_BAR, _MOST_BAR = 4, 30
_LEAST_REASON = 6


@dataclass(frozen=True, slots=True)
class GpuProcessLine:
    """A process on a GPU."""

    pid: int
    memory_mb: float | None


@dataclass(frozen=True, slots=True)
class GpuLine:
    """A GPU or a MIG slice of it; None is not reported, and shown as `–`."""

    number: str
    """`3`, or `3.0` for a slice."""
    use_percent: float | None = None
    memory_mb: float | None = None
    memory_limit_mb: float | None = None
    power_w: float | None = None
    power_limit_w: float | None = None
    temperature_c: float | None = None
    clock_mhz: float | None = None
    held_by: tuple[str, ...] = ()
    """Why its clocks are held down."""
    processes: tuple[GpuProcessLine, ...] = ()
    """To be listed below it."""

    @property
    def is_slice(self) -> bool:
        """Return whether it is a MIG slice, of which only the memory is known."""
        return "." in self.number


@dataclass(frozen=True, slots=True)
class _Part:
    """Something to write of each GPU, in a column of its own."""

    texts: Sequence[str]
    rank: int
    """The lowest gets its room first."""

    @property
    def width(self) -> int:
        return max(map(cell_len, self.texts), default=0)


def gpu_rows(lines: Sequence[GpuLine], width: int, palette: Palette, glyphs: Glyphs) -> list[Row]:
    """Paint `GPU 3 ━━━━━─ 87%  69/80 GB  698/700 W  74 °C  1,410 MHz  ! power cap`, one row a GPU,
    in columns; in too little room the bar goes first, then clock, temperature and power. A
    throttled GPU has its sign in any width. Processes follow their GPU.
    """
    parts = _parts(lines, glyphs)
    label = parts["label"].width
    kept = {"label", "sign"}
    room = width - label - 2
    for name in sorted(parts, key=lambda name: parts[name].rank):
        need = parts[name].width + 2
        if name not in kept and parts[name].width and need <= room:
            kept.add(name)
            room -= need
    reason = min(room - 2, max((cell_len(_held(one)) for one in lines), default=0))
    reason = reason if reason >= _LEAST_REASON else 0
    bar_cells = min(_MOST_BAR, room - (reason + 2 if reason else 0) - 1)
    painted: list[Row] = []
    for number, one in enumerate(lines):
        painted.append(
            fit(_row(one, number, parts, kept, (bar_cells, reason), palette, glyphs), width,
                palette.text)
        )  # fmt: skip
        for process in one.processes:
            memory = glyphs.nothing if process.memory_mb is None else quantity(
                process.memory_mb, "MB"
            )  # fmt: skip
            words = glyphs.plain(f"{'':{label}} process {process.pid}  {memory}")
            painted.append(fit([span(words, palette.dim)], width, palette.text))
    return painted


def _parts(lines: Sequence[GpuLine], glyphs: Glyphs) -> dict[str, _Part]:
    def each(write: Callable[[GpuLine], str], rank: int) -> _Part:
        return _Part([glyphs.plain(write(one)) for one in lines], rank)

    return {
        "label": each(lambda one: f"  {one.number}" if one.is_slice else f"GPU {one.number}", 0),
        "use": each(lambda one: "" if one.is_slice else quantity(one.use_percent, "%"), 1),
        "memory": each(lambda one: _of(one.memory_mb, one.memory_limit_mb, "MB"), 2),
        "power": each(lambda one: "" if one.is_slice else _of(one.power_w, one.power_limit_w, "W"),
                      3),
        "heat": each(lambda one: "" if one.is_slice else quantity(one.temperature_c, "°C"), 4),
        "clock": each(lambda one: "" if one.is_slice else quantity(one.clock_mhz, "MHz"), 5),
        "sign": _Part([], 0),
    }  # fmt: skip


def _row(
    one: GpuLine,
    number: int,
    parts: dict[str, _Part],
    kept: set[str],
    cells: tuple[int, int],
    palette: Palette,
    glyphs: Glyphs,
) -> Row:
    bar_cells, reason = cells
    sign = glyphs.warn if one.held_by else " "
    label = aligned(parts["label"].texts[number], parts["label"].width, "left", glyphs)
    row: Row = [span(label, palette.text), span(f" {sign}", palette.warn)]
    if bar_cells >= _LEAST_BAR:
        row.append(span(" ", palette.text))
        use = one.use_percent
        known = use is not None and math.isfinite(use)
        share = min(1.0, max(0.0, (use or 0.0) / 100)) if known else 0.0
        drawn = bar(share, bar_cells, palette.series[0].style, palette, glyphs)
        row += drawn if not one.is_slice else [span(" " * bar_cells, palette.text)]
    for name in ("use", "memory", "power", "heat", "clock"):
        if name in kept:
            text = aligned(parts[name].texts[number], parts[name].width, "right", glyphs)
            row.append(span(f"  {text}", _style(one, name, palette)))
    if reason and one.held_by:
        row.append(span(f"  {shorten(glyphs.plain(_held(one)), reason, glyphs)}", palette.warn))
    return row


def _style(one: GpuLine, name: str, palette: Palette) -> Style:
    if name == "heat" and one.temperature_c is not None and one.temperature_c >= _HOT_C:
        return palette.bad if one.temperature_c >= _TOO_HOT_C else palette.warn
    used, limit = one.memory_mb, one.memory_limit_mb
    if name == "memory" and used is not None and limit and used / limit >= _FULL:
        return palette.warn
    return palette.text


def _held(one: GpuLine) -> str:
    return one_line(", ".join(one.held_by), 60)


def _of(value: float | None, limit: float | None, unit: str) -> str:
    """Format `69/80 GB`, both in the unit of the limit."""
    if value is None or not limit:
        return quantity(value, unit)
    shown, whole = quantity(value, unit), quantity(limit, unit)
    number, _, same = shown.partition(" ")
    return f"{number if whole.endswith(f' {same}') else shown}/{whole}"
