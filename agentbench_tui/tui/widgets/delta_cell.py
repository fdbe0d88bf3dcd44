"""A change in a table cell: direction, size, confidence, and whether it is good."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from rich.style import Style

from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.numbers import Show, bracketed, points, ratio, signed_amount
from agentbench_tui.tui.drawing.glyphs import Glyphs
from agentbench_tui.tui.drawing.painting import Row, fit, join, row_width, shorten, span
from agentbench_tui.tui.theme import Palette

_WORDS = {
    "better": ("better", "B"),
    "improvement": ("better", "B"),
    "worse": ("worse", "W"),
    "regression": ("worse", "W"),
    "suspect": ("suspect", "S"),
    "equivalent": ("same", "="),
    "no change seen": ("no change", "="),
    "inconclusive": ("unclear", "?"),
    "not enough data": ("too few", "?"),
    "not comparable": ("not alike", "?"),
    "not tested": ("no test", "-"),
}
"""Verdict → its word, and its letter for narrow cells."""
_SHOW: dict[str, Show] = {"ratio": ratio, "points": points, "": signed_amount}
"""Unit → how a change is written."""
_VALUE = 8
"""Cells of the change itself, so that those of a column are aligned."""
_ENDS = 14
"""Cells of its interval, likewise."""


@dataclass(frozen=True, slots=True)
class Delta:
    """One metric of B compared with A."""

    change: float | None
    """B / A of a ratio, B − A otherwise; None when unknown."""
    verdict: str
    """As comparisons and histories give it: better, worse, equivalent, regression …"""
    low: float | None = None
    high: float | None = None
    """Upper end of the change's interval."""
    unit: Literal["ratio", "points", ""] = "ratio"
    """Points are hundredths: 0.13 is written as +13.0 pp."""
    reason: str = ""
    """Why there is none."""


def paint_delta(delta: Delta, width: int, palette: Palette, glyphs: Glyphs) -> Row:
    """Paint `▲ 1.42× [1.10, 1.84] worse` in exactly `width` cells.

    If there is too little room, the interval is dropped first, then the verdict is cut to its
    letter: B, W, S, = or ?.
    """
    word, letter = _WORDS.get(delta.verdict, (one_line(delta.verdict), "?"))
    word, style = glyphs.plain(word), _style(letter, palette)
    if delta.change is None or not math.isfinite(delta.change):
        why = f"{glyphs.nothing} {glyphs.plain(one_line(delta.reason))}".rstrip()
        return fit([span(shorten(why, width, glyphs), palette.dim)], width, palette.text)
    value = glyphs.plain(_written(delta.change, delta.unit))
    head = span(f"{_arrow(delta, glyphs)} {value:>{_VALUE}}", style)
    ends = span(f"{glyphs.plain(_ends(delta)):<{_ENDS}}", palette.dim)
    gap = span(" ", palette.text)
    tight = span(f"{_arrow(delta, glyphs)}{value}{letter}", style)
    choices = (
        join(head, gap, ends, gap, span(word, style)) if ends.text.strip() else [],
        join(head, gap, span(word, style)),
        join(head, gap, span(letter, style)),
        [tight],
    )
    row = next((row for row in choices if row and row_width(row) <= width), [tight])
    return fit(row, width, palette.text)


def _style(letter: str, palette: Palette) -> Style:
    styles = {"B": palette.good, "W": palette.bad, "S": palette.warn, "=": palette.text}
    return styles.get(letter, palette.dim)


def _arrow(delta: Delta, glyphs: Glyphs) -> str:
    assert delta.change is not None
    away = delta.change - (1.0 if delta.unit == "ratio" else 0.0)
    return glyphs.up if away > 0 else glyphs.down if away < 0 else glyphs.level


def _written(change: float, unit: str) -> str:
    return _SHOW[unit](change)


def _ends(delta: Delta) -> str:
    if delta.change is None or delta.low is None or delta.high is None:
        return ""
    show = _SHOW[delta.unit]
    return bracketed(show(delta.change), show(delta.low), show(delta.high))
