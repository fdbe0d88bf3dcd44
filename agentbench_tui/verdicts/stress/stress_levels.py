"""Levels of a stress scenario with their measurements: latency over load, and throughput's law over
users.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.contracts.stress import ScenarioResult, StressScaling, StressWindow

LEAST_LEVELS = 3
"""Minimum number of levels for a curve."""
_COUNTS = {"rate": "requests/s", "concurrency": "users at once", "input": "tokens of input"}
"""What a search raises → what its levels count."""
_STEPS = 80


@dataclass(frozen=True, slots=True)
class LevelCurve:
    """The p95 of latency over the raised level."""

    counts: str
    """Quantity of a level, such as `users at once`."""
    levels: tuple[float, ...]
    """Ascending."""
    p95_ms: tuple[float, ...]
    """Median over the windows of each level."""
    verdicts: tuple[str, ...]
    """Verdict of the last window at each level: `pass`, `fail`, `unclear`, `extend`."""
    limit_ms: float | None
    passes: float | None
    """Largest level that passes; with `fails` the bracket in which it breaks."""
    fails: float | None


def level_of(window: StressWindow, on: str) -> float | None:
    """Return the level of a window in a search that raises `rate`, `concurrency` or `input`."""
    if on == "rate":
        return window.asked_per_s
    return window.users if on == "concurrency" else window.input_tokens


def level_curve(scenario: ScenarioResult) -> LevelCurve | None:
    """Return the levels of a scenario; None below 3 judged levels."""
    point = scenario.breaking_point
    on = point.on if point is not None else _only_level(scenario.windows)
    if on is None:
        return None
    measured: dict[float, list[float]] = {}
    verdicts: dict[float, str] = {}
    for window in scenario.windows:
        level = level_of(window, on)
        if level is not None and window.p95_ms is not None and window.verdict:
            measured.setdefault(level, []).append(window.p95_ms)
            verdicts[level] = window.verdict
    if len(measured) < LEAST_LEVELS:
        return None
    levels = sorted(measured)
    return LevelCurve(
        _COUNTS[on],
        tuple(levels),
        tuple(median(measured[level]) for level in levels),
        tuple(verdicts[level] for level in levels),
        None if scenario.limits is None else scenario.limits.p95_ms,
        None if point is None else point.passes,
        None if point is None else point.fails,
    )


def _only_level(windows: Sequence[StressWindow]) -> str | None:
    judged = [one for one in windows if one.verdict]
    found = [on for on in _COUNTS if any(level_of(one, on) is not None for one in judged)]
    return found[0] if len(found) == 1 else None


def scaling_curve(scaling: StressScaling) -> tuple[list[float], list[float]]:
    """Return users, and the throughput that the fitted law predicts for them.

    X(N) = λN / (1 + σ(N-1) + κN(N-1)) (Gunther), from 1 to the largest load that was measured,
    and to its best load where that is further on, up to twice the largest.
    """
    largest = max(1.0, scaling.largest)
    star = scaling.n_star
    end = min(2 * largest, max(largest, 1.1 * star)) if star is not None else largest
    loads = [1 + (end - 1) * step / (_STEPS - 1) for step in range(_STEPS)]
    rate, sigma, kappa = scaling.lambda_per_s, scaling.sigma, scaling.kappa
    found = [rate * n / (1 + sigma * (n - 1) + kappa * n * (n - 1)) for n in loads]
    return loads, [value if math.isfinite(value) else math.nan for value in found]
