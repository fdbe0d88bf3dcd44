"""Charts of stress: what rises with the load, where it breaks, and the scalability law."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.presentation.charts import Axis, Line, LineChart, Mark
from agentbench_tui.presentation.numbers import amount, duration, per_second, percent
from agentbench_tui.presentation.stress.sentences import in_words, law_name
from agentbench_tui.verdicts.stress.stress_levels import level_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentbench_tui.contracts.stress import ScenarioResult, StressScaling, StressWindow
    from agentbench_tui.presentation.charts import Chart

_LEVELS = {"rate": "offered requests/s", "concurrency": "users", "input": "input tokens"}
"""What a search raised → title of the axis."""
_RECOVERY = "recovery"
"""Phase of the windows at normal load after an overload."""
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
        marks.append(Mark(point.fails, f"breaks at {amount(point.fails)}", "bad"))
    levels = [level for level, _ in found]
    words = point.words if point is not None else ""
    before = [(level, window) for level, window in found if window.phase != _RECOVERY]
    after = [(level, window) for level, window in found if window.phase == _RECOVERY]

    def points(name: str, value: Callable[[StressWindow], float | None]) -> list[Line]:
        """Draw what followed an overload apart: its load is not what makes it slow or fail."""
        drawn = [_points(name, before, value, title, agent)] if before else []
        late = f"{name}, recovery after the overload"
        return [*drawn, *([_points(late, after, value, title)] if after else ())]

    lines = points("p95", lambda window: window.p95_ms)
    if scenario.limits is not None:
        ends = [levels[0], levels[-1]]
        limit = Line("limit of p95", ends, [scenario.limits.p95_ms] * 2, is_limit=True)
        # The color of a line without a contender is that of its place: after those of two agents.
        lines.insert(1, limit)
    charts: list[Chart] = [
        LineChart(f"{agent}, {in_words(scenario.name)}: p95 latency over load", words, axis,
                  Axis("p95 end-to-end latency", duration), lines, marks)
    ]  # fmt: skip
    if any(window.error_share for _, window in found):
        shares = points("failed", lambda window: window.error_share)
        charts.append(
            LineChart(f"{agent}, {in_words(scenario.name)}: failed requests over load", words, axis,
                      Axis("share of requests", percent), shares, marks)
        )  # fmt: skip
    return charts


def _points(
    name: str,
    found: Sequence[tuple[float, StressWindow]],
    value: Callable[[StressWindow], float | None],
    title: str,
    contender: str = "",
) -> Line:
    return Line(
        name,
        [level for level, _ in found],
        [value(window) for _, window in found],
        style="points",
        labels=[f"{amount(level)} {title}, {window.phase}" for level, window in found],
        contender=contender,
    )


def _scaling(scaling: StressScaling, agent: str) -> LineChart:
    """Draw the measured throughput and the fitted law X(N) = λN ÷ (1 + σ(N-1) + κN(N-1))."""
    users = [point[0] for point in scaling.points]
    rates = [point[1] for point in scaling.points]
    lines = [Line("measured", users, rates, style="points", contender=agent)]
    if users:
        n = np.linspace(min(users), max(*users, scaling.n_star or 0.0), _POINTS)
        law = scaling.lambda_per_s * n / (1 + scaling.sigma * (n - 1) + scaling.kappa * n * (n - 1))
        fitted = f"fitted: {law_name(scaling)}"
        lines.append(Line(fitted, [*map(float, n)], [*map(float, law)], contender=agent))
    marks = (
        []
        if scaling.n_star is None
        else [Mark(scaling.n_star, f"N* {amount(scaling.n_star)} users")]
    )
    return LineChart(
        f"{agent}: scalability",
        scaling.words
        or f"Throughput over users, with the law that fits best: {law_name(scaling)}.",
        Axis("users", amount),
        Axis("requests/s", per_second),
        lines,
        marks,
    )
