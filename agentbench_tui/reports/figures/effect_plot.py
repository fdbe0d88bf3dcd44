"""The picture of a sweep's main effects: for each parameter the mean at each of its values."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import TYPE_CHECKING

from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.reports.figures.plot import Plot, beside, line_plot

if TYPE_CHECKING:
    from agentbench_tui.contracts.experiments import EffectOfLevel, MetricEffects

_LONGEST_NAME = 24


def effect_plot(effects: Sequence[MetricEffects]) -> Plot:
    """A panel for each parameter of each of the `effects` of `agentbench.effects/1`: the mean at
    its first value with the effects of the others above or below it, and their intervals as a
    band. Numbers stand where they are, other values one beside the other."""
    panels = []
    for one in effects:
        unit = f" in {one.unit}" if one.unit else ""
        for parameter in dict.fromkeys(level.parameter for level in one.levels):
            levels = [level for level in one.levels if level.parameter == parameter]
            panels.append(_panel(parameter, levels, one.benchmark_id, f"{one.metric}{unit}"))
    return beside(*panels)


def _panel(parameter: str, levels: Sequence[EffectOfLevel], benchmark_id: str, metric: str) -> Plot:
    first = levels[0].mean or 0.0
    places, words = _places([level.level for level in levels])
    ordered = sorted(zip(places, levels, strict=True), key=lambda pair: pair[0])
    x = [place for place, _ in ordered]
    middle = [first + _effect(level) for _, level in ordered]
    low = [first + (_effect(level) if level.low is None else level.low) for _, level in ordered]
    high = [first + (_effect(level) if level.high is None else level.high) for _, level in ordered]
    return line_plot(
        {"mean": (x, middle)},
        bands={"95% of the effect": (x, low, high)},
        lines={f"{parameter}={_short(levels[0].level)}": first},
        title=benchmark_id,
        x_label=f"{parameter}{words}",
        y_label=metric,
    )


def _effect(level: EffectOfLevel) -> float:
    """0 of the first level, NaN where it is not known."""
    if level.difference is None:
        return nan if level.reason else 0.0
    return float(level.difference)


def _places(levels: Sequence[str]) -> tuple[list[float], str]:
    """Where levels stand on an axis, and what is to be said of it."""
    try:
        return [float(level) for level in levels], ""
    except ValueError:
        named = ", ".join(f"{number} {_short(one)}" for number, one in enumerate(levels, start=1))
        return [float(number) for number in range(1, len(levels) + 1)], f": {named}"


def _short(level: str) -> str:
    text = one_line(level)
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"
