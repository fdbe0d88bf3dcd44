"""Units of the numbers that experiments return."""

from __future__ import annotations

import pytest

from agentbench_tui.experiments.units import unit_of


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("items_per_s", "1/s"),
        ("build_ms", "ms"),
        ("ms_per_commit", "ms"),
        ("dense_bytes_per_observation", "bytes"),
        ("rebuild_time_s_total", "s"),
        ("rows", ""),
        ("rows_per_commit", ""),
        ("hits_total", ""),
    ],
)
def test_the_name_tells_the_unit(name: str, unit: str) -> None:
    assert unit_of(name) == unit
