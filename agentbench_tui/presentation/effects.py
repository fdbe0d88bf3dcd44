"""Effects of a sweep's parameters as a report: a table for each metric, with its plot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.contracts.document import plain
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.numbers import precise, signed_amount, signed_percent
from agentbench_tui.presentation.report import Column, Report, Section, Table

if TYPE_CHECKING:
    from agentbench_tui.contracts.experiments import EffectOfLevel, EffectsDocument, MetricEffects

_CELLS = 31
"""Width of the strip that shows an effect and its interval."""
_LONGEST_NAME = 24
_STRIP = Column("strip", "plot", is_drawing=True)
_REASON = Column("reason", "note")
_FIGURES = (
    Column("parameter", "parameter", names_row=True),
    Column("level", "level", names_row=True),
    Column("mean", "mean", precise, right=True),
    Column("difference", "effect", signed_amount, right=True),
    Column("low", "from", signed_amount, right=True),
    Column("high", "to", signed_amount, right=True),
    Column("relative", "of mean", signed_percent, right=True),
)
_AT_POINTS = (
    Column("least", "least", signed_amount, right=True),
    Column("most", "most", signed_amount, right=True),
)
_RECORDS = (
    Column("benchmark_id", "benchmark"),
    Column("metric", "metric"),
    Column("unit", "unit"),
    *_FIGURES,
    *_AT_POINTS,
    _REASON,
)
_LEGEND = (
    "effect: difference from the mean of the first value, averaged over all other "
    "parameters, with its 95% interval (not adjusted for multiple comparisons) and "
    "as a share of that mean; least and most: at single points"
)
_OF_ITERATIONS = (
    "the intervals come from iterations of one repeat and exclude between-repeat "
    "variance; measure with --runs 5"
)


def effects_report(document: EffectsDocument) -> Report:
    """Return a section for each metric of each swept experiment."""
    sentences = [_LEGEND]
    if any(one.of == "iterations" for one in document.effects):
        sentences.append(_OF_ITERATIONS)
    sentences += [
        f"{one.benchmark_id}: {one.missing} of"
        f" {one.missing + one.points} points have no value of {one.metric}"
        for one in document.effects
        if one.missing
    ]
    records = [
        {"benchmark_id": one.benchmark_id, "metric": one.metric, "unit": one.unit, **plain(level)}
        for one in document.effects
        for level in one.levels
    ]
    return Report(Table(_RECORDS, records), [*map(_section, document.effects)], sentences)


def _section(one: MetricEffects) -> Section:
    ends = [end for level in one.levels for end in (level.difference, level.low, level.high)]
    reach = max((abs(end) for end in ends if end is not None), default=0.0)
    rows = [
        {**plain(level), "level": _short(level.level), "strip": _strip(level, reach)}
        for level in one.levels
    ]
    notes = (_REASON,) if any(level.reason for level in one.levels) else ()
    unit = f" in {one.unit}" if one.unit else ""
    title = f"{one.benchmark_id}: what each parameter does to {one.metric}{unit}"
    return Section(title, [Table((*_FIGURES, _STRIP, *_AT_POINTS, *notes), rows)])


def _strip(level: EffectOfLevel, reach: float) -> str:
    """Draw `·····│··├──●──┤···`: the effect and its interval, with 0 in the middle."""
    if level.difference is None or not reach:
        return "" if level.reason else "│".center(_CELLS, "·")
    middle = _CELLS // 2

    def cell(value: float) -> int:
        return middle + round(value / reach * middle)

    cells = ["·"] * _CELLS
    cells[middle] = "│"
    if level.low is not None and level.high is not None:
        first, last = cell(level.low), cell(level.high)
        cells[first : last + 1] = "─" * (last - first + 1)
        cells[first], cells[last] = "├", "┤"
    cells[cell(level.difference)] = "●"
    return "".join(cells)


def _short(level: str) -> str:
    text = one_line(level)
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"
