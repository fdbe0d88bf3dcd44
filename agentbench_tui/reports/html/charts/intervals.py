"""Values with their intervals, one below the other (a forest plot)."""

from __future__ import annotations

from agentbench_tui.presentation.charts import IntervalChart
from agentbench_tui.reports.html.charts.drawing import (
    RIGHT,
    WIDTH,
    element,
    label,
    picture,
    scale_of,
    title,
    x_axis,
)

_ROW = 26
_LEAST_NAMES, _MOST_NAMES = 120.0, 330.0
"""Room for the names, left."""
_LETTER = 8.6
"""Mean width of a letter in the larger type of a narrow screen."""
_NAME_GAP = 10.0
_NOTES = 110
"""Room for the notes, right."""
_VERDICTS = {"better": "good", "worse": "bad"}


def interval_chart(chart: IntervalChart) -> str:
    """Return the SVG of the chart; empty if there is nothing to draw."""
    ends = [one for row in chart.rows for one in (row.value, row.low, row.high)]
    longest = max((len(row.name) for row in chart.rows), default=0)
    names = min(max(_LETTER * longest + 2 * _NAME_GAP, _LEAST_NAMES), _MOST_NAMES)
    across = scale_of(chart.axis, [*ends, chart.reference], names, WIDTH - RIGHT - _NOTES)
    if across is None or all(row.value is None for row in chart.rows):
        return ""
    bottom = 10.0 + _ROW * len(chart.rows)
    parts = x_axis(across, bottom, 6, chart.axis.show)
    if chart.reference is not None:
        x = across(chart.reference)
        parts.append(element("line", x1=x, x2=x, y1=6, y2=bottom, class_="reference"))
    for number, row in enumerate(chart.rows):
        y = 10.0 + _ROW * (number + 0.5)
        kind = _VERDICTS.get(row.note, "neutral")
        parts.append(label(_fitting(row.name, names), names - _NAME_GAP, y + 4, text_anchor="end"))
        parts.append(label(row.note, WIDTH - RIGHT - _NOTES + 10, y + 4, class_=f"note {kind}"))
        if row.value is None or not across.holds(row.value):
            continue
        shown = chart.axis.show
        known = row.low is not None and row.high is not None
        between = f" [{shown(row.low)}, {shown(row.high)}]" if known else ""
        inside = [title(f"{row.name}: {shown(row.value)}{between} {row.note}")]
        if row.low is not None and row.high is not None:
            low = across.clamped(row.low) if across.holds(row.low) else across.start
            high = across.clamped(row.high) if across.holds(row.high) else across.end
            inside.append(element("line", x1=low, x2=high, y1=y, y2=y, class_="whisker"))
        inside.append(element("circle", cx=across(row.value), cy=y, r=4.5))
        parts.append(element("g", *inside, class_=kind))
    return picture(chart.title, chart.summary, parts, bottom + 46)


def _fitting(name: str, room: float) -> str:
    """Return the name, shortened to the room that it has; the table of values has it whole."""
    letters = int((room - _NAME_GAP) / _LETTER)
    return name if len(name) <= letters else f"{name[: letters - 1]}…"
