"""Elements of SVG, scales and axes. Coordinates are units of the view box, y downward."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from markupsafe import escape

from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.charts import Axis
from agentbench_tui.reports.figures.drawing import ticks

WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 88, 16, 14, 46
_TICKS = 5
_LONGEST = 300
"""Characters of a text."""
_HALF_LETTER = 4.2
"""Half the mean width of a letter in the larger type of a narrow screen."""
_GAP = 10.0


def element(name: str, *inside: str, **attributes: object) -> str:
    """Return an SVG element; `inside` is markup, attributes are text. `_` in a name is `-`."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_shown(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{given}>{''.join(inside)}</{name}>" if inside else f"<{name}{given}/>"


def _shown(value: object) -> str:
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def words(text: str, limit: int = _LONGEST) -> str:
    """Return untrusted text as markup."""
    return str(escape(one_line(text, limit)))


def title(text: str) -> str:
    """Return what a pointer over the element shows, and a screen reader says."""
    return element("title", words(text))


def label(text: str, x: float, y: float, **attributes: object) -> str:
    """Return a text at a point."""
    return element("text", words(text, 60), x=x, y=y, **attributes)


def series_class(number: int) -> str:
    """Return the class of a color of the palette."""
    return f"s{number}"


@dataclass(frozen=True, slots=True)
class Scale:
    """Values of an axis → coordinates."""

    axis: Axis
    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the coordinate of a value. Raises ValueError for one that a log axis lacks."""
        low, high = self.low, self.high
        if self.axis.log:
            value, low, high = math.log10(value), math.log10(low), math.log10(high)
        share = (value - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)

    def holds(self, value: float | None) -> bool:
        """Return whether a value can be drawn."""
        return value is not None and math.isfinite(value) and (value > 0 or not self.axis.log)

    def clamped(self, value: float) -> float:
        """Return the coordinate of a value, or of the nearer end of the scale."""
        return self(min(max(value, self.low), self.high))

    def ticks(self) -> list[float]:
        """Return values to label."""
        if not self.axis.log:
            return ticks(self.low, self.high, _TICKS)
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        step = max(1, round((last - first) / _TICKS))
        factors = (1, 2, 5) if last - first <= 2 else (1,)
        found = [factor * 10.0**power for power in range(first, last + 1, step)
                 for factor in factors]  # fmt: skip
        return [one for one in found if self.low <= one <= self.high]


def scale_of(
    axis: Axis, values: Iterable[float | None], start: float, end: float, *, from_zero: bool = False
) -> Scale | None:
    """Return the scale of an axis for the values; None if there is nothing to draw."""
    known = [one for one in values if one is not None and math.isfinite(one)]
    if axis.log:
        known = [one for one in known if one > 0]
    if not known:
        return None
    low = min(known) if axis.low is None else axis.low
    high = max(known) if axis.high is None else axis.high
    if from_zero and not axis.log:
        low, high = min(low, 0.0), max(high, 0.0)
    low, high = _widened(low, high, axis)
    return Scale(axis, low, high, start, end)


def _widened(low: float, high: float, axis: Axis) -> tuple[float, float]:
    """Leave room at the ends that the data decide."""
    if axis.log:
        factor = max((high / low) ** 0.05, 1.05)
        return low / factor, high * factor
    room = (high - low) * 0.05 or abs(high) * 0.1 or 1.0
    lower = low if axis.low is not None or low == 0 else low - room
    return lower, high if axis.high is not None else high + room


def x_axis(scale: Scale, bottom: float, top: float, show: Callable[[float], str]) -> list[str]:
    """Return grid lines, labels and the title of a horizontal axis."""
    parts, free = [], -math.inf
    for value in scale.ticks():
        x = scale(value)
        parts.append(element("line", x1=x, x2=x, y1=top, y2=bottom, class_="grid"))
        text = show(value)
        half = _HALF_LETTER * len(text)
        if x - half > free:  # labels never overlap
            parts.append(label(text, x, bottom + 16, text_anchor="middle"))
            free = x + half + _GAP
    middle = (scale.start + scale.end) / 2
    parts.append(label(scale.axis.title, middle, bottom + 36, text_anchor="middle", class_="axis"))
    return parts


def y_axis(scale: Scale, left: float, right: float, show: Callable[[float], str]) -> list[str]:
    """Return grid lines, labels and the title of a vertical axis."""
    parts = []
    for value in scale.ticks():
        y = scale(value)
        parts.append(element("line", x1=left, x2=right, y1=y, y2=y, class_="grid"))
        parts.append(label(show(value), left - 6, y + 4, text_anchor="end"))
    middle = (scale.start + scale.end) / 2
    turned = f"rotate(-90 12 {middle:.1f})"
    parts.append(
        label(scale.axis.title, 12, middle, text_anchor="middle", class_="axis", transform=turned)
    )
    return parts


@dataclass(frozen=True, slots=True)
class Area:
    """Where the values of a chart with two axes are drawn."""

    across: Scale
    up: Scale
    axes: Sequence[str]
    """Grid lines, labels and titles."""

    def holds(self, x: float | None, y: float | None) -> bool:
        """Return whether a point can be drawn."""
        return self.across.holds(x) and self.up.holds(y)


def area_of(
    x: Axis,
    xs: Iterable[float | None],
    y: Axis,
    ys: Iterable[float | None],
    *,
    from_zero: bool = False,
    names: float = 0.0,
) -> Area | None:
    """Return the area for these values; None if there is nothing to draw.

    `from_zero`: whether the vertical axis has to show 0; `names`: room for names at the right.
    """
    across = scale_of(x, xs, LEFT, WIDTH - RIGHT - names)
    up = scale_of(y, ys, HEIGHT - BOTTOM, TOP, from_zero=from_zero)
    if across is None or up is None:
        return None
    axes = [
        *y_axis(up, LEFT, WIDTH - RIGHT, y.show),
        *x_axis(across, HEIGHT - BOTTOM, TOP, x.show),
    ]
    return Area(across, up, axes)


def path(points: Sequence[tuple[float, float]]) -> str:
    """Return the `d` of a line through points."""
    return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in points)


def picture(name: str, summary: str, parts: Iterable[str], height: float = HEIGHT) -> str:
    """Return the whole SVG; `summary` describes it to those who cannot see it."""
    return element(
        "svg",
        title(name),
        element("desc", words(summary, 1000)),
        *parts,
        viewBox=f"0 0 {WIDTH} {height:g}",
        role="img",
        aria_label=one_line(f"{name}. {summary}", 1000),
    )
