"""Charts of stress: what rises with the load, where it breaks, and the scalability law."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.presentation.charts import Axis, Line, LineChart, Mark
from agentbench_tui.presentation.numbers import amount, duration, per_second, percent
from agentbench_tui.verdicts.stress.stress_levels import level_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.contracts.stress import ScenarioResult, StressScaling, StressWindow
    from agentbench_tui.presentation.charts import Chart

_LEVELS = {"rate": "offered requests/s", "concurrency": "users", "input": "input tokens"}
"""What a search raised → title of the axis."""
_POINTS = 60


def stress_charts(scenario: ScenarioResult, agent: str) -> list[Chart]:
    """Return what a scenario measured of an agent over its load levels, with the breaking point."""
    charts: list[Chart] = []
    point = scenario.breaking_point
    on = point.on if point is not None else "concurrency"
    if on in _LEVELS:
        found = [
            (level, window)
            for window in scenario.windows
            if (level := level_of(window, on)) is not None and window.requests
        ]
        levels = sorted({level for level, _ in found})
        if len(levels) > 1:
            charts += _over_levels(
                scenario, agent, _LEVELS[on], sorted(found, key=lambda item: item[0])
            )
    if scenario.scaling is not None:
        charts.append(_scaling(scenario.scaling, agent))
    return charts


def _over_levels(
    scenario: ScenarioResult,
    agent: str,
    title: str,
    found: Sequence[tuple[float, StressWindow]],
) -> list[Chart]:
    axis = Axis(title, amount)
    marks = []
    point = scenario.breaking_point
    if point is not None and point.fails is not None:
        marks.append(Mark(point.fails, f"breaks at {amount(point.fails)}"))
    levels = [level for level, _ in found]
    labels = [f"{amount(level)} {title}, {window.phase}" for level, window in found]
    p95 = [window.p95_ms for _, window in found]
    errors = [window.error_share for _, window in found]
    words = point.words if point is not None else ""
    lines = [Line("p95", levels, p95, style="points", labels=labels, contender=agent)]
    if scenario.limits is not None:
        ends = [levels[0], levels[-1]]
        lines.append(Line("limit of p95", ends, [scenario.limits.p95_ms] * 2, is_limit=True))
    charts: list[Chart] = [
        LineChart(f"{agent}, {scenario.name}: p95 latency over load", words, axis,
                  Axis("p95 end-to-end latency", duration), lines, marks)
    ]  # fmt: skip
    if any(errors):
        shares = [Line("failed", levels, errors, style="points", labels=labels, contender=agent)]
        charts.append(
            LineChart(f"{agent}, {scenario.name}: failed requests over load", words, axis,
                      Axis("share of requests", percent), shares, marks)
        )  # fmt: skip
    return charts


def _scaling(scaling: StressScaling, agent: str) -> LineChart:
    """Draw the measured throughput and the fitted law X(N) = λN ÷ (1 + σ(N-1) + κN(N-1))."""
    users = [point[0] for point in scaling.points]
    rates = [point[1] for point in scaling.points]
    lines = [Line("measured", users, rates, style="points", contender=agent)]
    if users:
        n = np.linspace(min(users), max(*users, scaling.n_star or 0.0), _POINTS)
        law = scaling.lambda_per_s * n / (1 + scaling.sigma * (n - 1) + scaling.kappa * n * (n - 1))
        fitted = f"fitted: {scaling.model}"
        lines.append(Line(fitted, [*map(float, n)], [*map(float, law)], contender=agent))
    marks = (
        []
        if scaling.n_star is None
        else [Mark(scaling.n_star, f"N* {amount(scaling.n_star)} users")]
    )
    return LineChart(
        f"{agent}: scalability",
        scaling.words or f"Throughput over users, with the law that fits best: {scaling.model}.",
        Axis("users", amount),
        Axis("requests/s", per_second),
        lines,
        marks,
    )
