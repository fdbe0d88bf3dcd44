"""Experiments on spatial structures: equal questions and answers, and figures that are right."""

from __future__ import annotations

import pytest

from agentbench_tui.experiments.measuring.bench import Bench
from agentbench_tui.experiments.measuring.order import Order
from agentbench_tui.experiments.spatial.index import INDEXES
from agentbench_tui.experiments.spatial.scaling import growth_exponent


def measured(tmp_path, slug, values, iterations=1):
    bench = Bench(Order(slug, ".", values, "one", "r", str(tmp_path), str(tmp_path / "o"), 7, 0))
    opened = bench.open()
    try:
        assert opened.error is None, opened.error
        readings = [bench.iterate(nth) for nth in range(iterations)]
    finally:
        assert bench.close() is None
    assert [one.error for one in readings] == [None] * iterations
    return [one.metrics for one in readings]


def test_all_structures_find_the_same(tmp_path):
    small = {"entities": 200, "radius_queries": 20, "nearest_queries": 5}
    found = {
        name: measured(tmp_path, "spatial_comprehensive", {**small, "structure": name}, 2)
        for name in INDEXES
    }
    counts = {one["found"] for both in found.values() for one in both}
    assert len(counts) == 1
    # 20 circles of radius 50 in a square of 1000 with 200 points: 31 inside on average.
    assert 10 < counts.pop() < 60


def test_moves_told_at_once_or_one_by_one_lead_to_the_same(tmp_path):
    small = {"entities": 150, "steps": 3, "moves": 30, "queries": 10, "radius": 100.0}
    found = [
        measured(
            tmp_path, "spatial_index_profiler", {**small, "structure": name, "batch": batch}, 2
        )
        for name in INDEXES
        for batch in (True, False)
    ]
    counts = {one["found"] for both in found for one in both}
    assert len(counts) == 1
    # 30 circles of radius 100 in a square of 1000 with 150 points: 141 inside, less the edges.
    assert 70 < counts.pop() < 180
    shares = [found[0][0][f"{one}_percent"] for one in ("build", "move", "query")]
    assert sum(shares) == pytest.approx(100)


def test_growth_is_the_slope_between_logarithms():
    sizes = [10, 100, 1000]
    assert growth_exponent(sizes, [n**1.5 * 3e-6 for n in sizes]) == pytest.approx(1.5)
    assert growth_exponent(sizes, [2.0, 2.0, 2.0]) == pytest.approx(0)


def test_scaling_is_measured_against_a_search_through_all(tmp_path):
    (found,) = measured(
        tmp_path, "spatial_performance_analyzer", {"sizes": [50, 800], "queries": 10}
    )
    assert found["speedup_over_scan"] == pytest.approx(found["scan_us"] / found["largest_query_us"])
    saved_us = found["scan_us"] - found["largest_query_us"]
    repaid = 100 * saved_us / (1e3 * found["largest_build_ms"])
    assert found["repaid_by_query_percent"] == pytest.approx(repaid)


def test_sizes_that_show_no_growth_are_refused(tmp_path):
    values = {"sizes": [100, 100]}
    bench = Bench(
        Order(
            "spatial_performance_analyzer", ".", values, "one", "r", str(tmp_path),
            str(tmp_path / "o"), 7, 0,
        )
    )  # fmt: skip
    assert "at least two different" in (bench.open().error or "")
    bench.close()


def test_memory_has_the_points_in_it_and_grows_with_them(tmp_path):
    large = {"structure": "hash_grid", "entities": 20_000, "copies": 3}
    (found,) = measured(tmp_path, "spatial_memory_profiler", large)
    # Two floats of 8 bytes each, and an entry in a list of Python's, at the very least.
    assert 24 < found["bytes_per_entity"] < 2000
    assert found["structure_bytes"] == pytest.approx(20_000 * found["bytes_per_entity"])
