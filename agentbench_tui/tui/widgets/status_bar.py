"""Status of a run on one line; on a narrow screen the least important parts are dropped first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.numbers import money, percent, quantity
from agentbench_tui.tui.drawing.glyphs import Glyphs
from agentbench_tui.tui.drawing.painting import Row, join, page, row_width, shorten, span
from agentbench_tui.tui.theme import Palette
from agentbench_tui.tui.widgets.painted import Painted

_SLOW_LOOP_MS = 50.0
"""Lag of the harness's loop from which on it is pointed at."""
_NEAR_CAP = 0.9
"""Share of a cost cap from which on the cost is pointed at."""
_GAP = 2
_SUITE = 28
"""Cells of a suite's name."""
_RUNNING, _CLEAN = "running", "clean"


@dataclass(frozen=True, slots=True)
class Status:
    """State of a run; None is not shown, or shown as `–` if it is expected."""

    suite: str
    state: str = _RUNNING
    """In a word or two: running, paused, stopping, replay ×4, complete, interrupted."""
    done: int = 0
    planned: int | None = None
    """Answers that there will be."""
    elapsed_s: float | None = None
    left_s: float | None = None
    """Until the end, by the pace so far."""
    in_flight: int | None = None
    harness: str | None = None
    """Measurement quality: clean, noisy, generator-limited."""
    lag_ms: float | None = None
    """Lag of the harness's event loop."""
    cost_usd: float | None = None
    cap_usd: float | None = None
    simulated: bool = False
    place: tuple[int, int] | None = None
    """(index of the running execution, their number)."""
    tokens: int | None = None
    tokens_are: str = "tokens"
    token_cap: int | None = None
    failed: int = 0
    """Requests and cases without an answer."""


@dataclass(frozen=True, slots=True)
class _Item:
    parts: Row
    rank: int
    """The lowest gets its room first."""


def paint_status(
    status: Status | None, width: int, height: int, palette: Palette, glyphs: Glyphs
) -> list[Row]:
    """Paint one row: suite, state, answers done of all, elapsed and left, in flight,
    harness, cost.
    """
    if status is None:
        row = [span(shorten("no run", width, glyphs), palette.dim)]
        return page([row], width, height, palette.text)
    items = _items(status, palette, glyphs)
    kept, room = set[int](), width + _GAP
    for at in sorted(range(len(items)), key=lambda at: items[at].rank):
        need = row_width(items[at].parts) + _GAP
        if need <= room:
            kept.add(at)
            room -= need
    gap = span(" " * _GAP, palette.text)
    parts = [part for at in sorted(kept) for part in (items[at].parts, [gap])]
    return page([join(*parts[:-1])], width, height, palette.text)


def _items(status: Status, palette: Palette, glyphs: Glyphs) -> list[_Item]:
    plain, dim, text = glyphs.plain, palette.dim, palette.text
    suite = shorten(plain(one_line(status.suite)), _SUITE, glyphs)
    state = plain(one_line(status.state))
    items = [
        _Item([span(suite, palette.title)], 2),
        _Item([span(state, text if status.state == _RUNNING else palette.accent)], 1),
        _Item(_progress(status, palette, glyphs), 0),
    ]
    if status.failed:
        share = f" ({percent(status.failed / status.done)})" if status.done >= status.failed else ""
        words = f"{glyphs.bad} {status.failed:,} failed{share}"
        items.append(_Item([span(words, palette.bad)], 1))
    if status.place is not None and status.place[1] > 1:
        words = f"{status.place[0]} of {status.place[1]}"
        items.append(_Item([span("execution ", dim), span(words, text)], 5))
    if status.simulated:
        items.append(_Item([span("simulated", palette.warn)], 3))
    if status.elapsed_s is not None:
        items.append(_Item([span(plain(clock(status.elapsed_s)), text), span(" elapsed", dim)], 5))
    if status.left_s is not None:
        items.append(_Item([span(plain(clock(status.left_s)), text), span(" left", dim)], 4))
    if status.in_flight is not None:
        items.append(_Item([span(f"{status.in_flight:,}", text), span(" in flight", dim)], 6))
    return items + _health(status, palette, glyphs)


def _progress(status: Status, palette: Palette, glyphs: Glyphs) -> Row:
    planned = glyphs.nothing if status.planned is None else f"{status.planned:,}"
    row = [span(f"{status.done:,}", palette.text), span(f"/{planned}", palette.dim)]
    if status.planned:
        # Rounded down: 100% is said only when all is done.
        row.append(span(f" {int(100 * status.done / status.planned)}%", palette.text))
    return row


def _health(status: Status, palette: Palette, glyphs: Glyphs) -> list[_Item]:
    items = []
    if status.harness is not None:
        clean = status.harness == _CLEAN
        words = glyphs.plain(one_line(status.harness))
        told = [span("harness ", palette.dim), span(words, palette.good)]
        items.append(
            _Item(told, 8) if clean else _Item(_pointed(f"harness {words}", palette, glyphs), 1)
        )
    if status.lag_ms is not None:
        lag = glyphs.plain(quantity(status.lag_ms, "ms"))
        slow = status.lag_ms >= _SLOW_LOOP_MS
        told = [span("lag ", palette.dim), span(lag, palette.text)]
        items.append(_Item(_pointed(f"lag {lag}", palette, glyphs), 2) if slow else _Item(told, 9))
    if status.cost_usd is not None:
        items.append(_cost(status.cost_usd, status.cap_usd, palette, glyphs))
    if status.tokens is not None:
        items.append(_tokens(status.tokens, status, palette, glyphs))
    return items


def _cost(cost: float, cap: float | None, palette: Palette, glyphs: Glyphs) -> _Item:
    spent = money(cost)
    if cap is None:
        return _Item([span(spent, palette.text)], 7)
    if cost >= _NEAR_CAP * cap:
        return _Item(_pointed(f"{spent} of {money(cap)}", palette, glyphs), 2)
    return _Item([span(spent, palette.text), span(f" of {money(cap)}", palette.dim)], 7)


def _tokens(tokens: int, status: Status, palette: Palette, glyphs: Glyphs) -> _Item:
    cap, name = status.token_cap, status.tokens_are
    spent = f"{quantity(tokens)} {name}"
    if cap is None:
        return _Item([span(quantity(tokens), palette.text), span(f" {name}", palette.dim)], 10)
    if tokens >= _NEAR_CAP * cap:
        return _Item(_pointed(f"{spent} of {quantity(cap)}", palette, glyphs), 2)
    return _Item([span(spent, palette.text), span(f" of {quantity(cap)}", palette.dim)], 7)


def _pointed(text: str, palette: Palette, glyphs: Glyphs) -> Row:
    return [span(f"{glyphs.warn} {text}", palette.warn)]


def clock(seconds: float) -> str:
    """Format `3:12`, `1:02:11`, `2 d 04:10`; `–` for an invalid time."""
    if not 0 <= seconds < 1e9:
        return "–"
    minutes, second = divmod(int(seconds), 60)
    hours, minute = divmod(minutes, 60)
    if hours >= 24:
        return f"{hours // 24} d {hours % 24:02}:{minute:02}"
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


class StatusBar(Painted):
    """One row at the top or bottom of a screen."""

    DEFAULT_CSS: ClassVar[str] = "StatusBar { height: 1; width: 1fr; }"

    status: Status | None = None

    def show(self, status: Status | None) -> None:
        """Show the current status."""
        self.status = status
        self.redraw()

    def paint(self, width: int, height: int) -> list[Row]:
        return paint_status(self.status, width, height, self.palette, self.glyphs)
