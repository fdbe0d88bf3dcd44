"""Severity: what the interval proves decides, not the estimate."""

from __future__ import annotations

import pytest

from agentbench_tui.analysis.runs.severity import Severity, least_worsening, severity
from agentbench_tui.analysis.scale import Scale

SLOWER, THROUGHPUT = Scale("lower"), Scale("higher")
SUCCESS, ERRORS = Scale("higher", "points"), Scale("lower", "points")


@pytest.mark.parametrize(
    ("low", "expected"),
    [(1.03, "minor"), (1.09, "minor"), (1.11, "major"), (1.24, "major"), (1.26, "critical")],
)
def test_slower_by_at_least(low: float, expected: Severity) -> None:
    assert severity(low, 3.0, SLOWER) == expected


@pytest.mark.parametrize(
    ("high", "expected"), [(1 / 1.09, "minor"), (1 / 1.11, "major"), (1 / 1.26, "critical")]
)
def test_a_throughput_that_falls_is_judged_as_the_time_that_rises(
    high: float, expected: Severity
) -> None:
    assert severity(0.2, high, THROUGHPUT) == expected


@pytest.mark.parametrize(
    ("points", "expected"),
    [(0.03, "minor"), (0.049, "minor"), (0.051, "major"), (0.099, "major"), (0.11, "critical")],
)
def test_points_of_success_lost_and_of_errors_gained(points: float, expected: Severity) -> None:
    assert severity(-0.5, -points, SUCCESS) == expected
    assert severity(points, 0.5, ERRORS) == expected


def test_an_interval_that_holds_no_change_proves_nothing() -> None:
    assert least_worsening(0.98, 2.0, SLOWER) == 0
    assert least_worsening(0.5, 1.1, THROUGHPUT) == 0
    assert least_worsening(-0.3, 0.01, SUCCESS) == 0
    assert severity(0.98, 2.0, SLOWER) == "minor"
    assert least_worsening(1.2, 1.4, SLOWER) == pytest.approx(0.2)


def test_intervals_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="from low to high"):
        severity(1.2, 1.1, SLOWER)
    with pytest.raises(ValueError, match="positive"):
        severity(0.0, 1.1, SLOWER)
