"""Perception: right windows in either storage, and experiments whose figures hold together."""

from __future__ import annotations

import numpy as np
import pytest

from agentbench_tui.experiments.farm.perception import Perception
from agentbench_tui.experiments.farm.world import World, WorldSettings
from agentbench_tui.experiments.measuring.bench import Bench
from agentbench_tui.experiments.measuring.order import Order
from agentbench_tui.experiments.spatial.index import INDEXES


def world_of(agents=60, side=20):
    world = World(WorldSettings(agents, side, side, seed=9, population_changes=False))
    world.step()
    return world


def perceived(world, storage="dense", *, bilinear=True, structure="hash_grid", radius=3):
    perception = Perception(radius, storage, bilinear=bilinear, build=INDEXES[structure])
    return [one.whole() for one in perception.observe_all(world)], perception


@pytest.mark.parametrize("structure", INDEXES)
def test_hybrid_storage_holds_what_dense_storage_holds(structure):
    world = world_of()
    dense, _ = perceived(world, "dense", structure=structure)
    hybrid, _ = perceived(world, "hybrid", structure=structure)
    assert np.array_equal(dense, hybrid)


def test_bilinear_reading_is_that_of_scipy():
    from scipy.ndimage import map_coordinates

    world = world_of()
    reach = np.arange(-3, 4)
    for nth, whole in enumerate(perceived(world)[0]):
        # scipy's places are of the centers of cells; beyond the border is 0.
        rows, columns = np.meshgrid(
            world.y[nth] - 0.5 + reach, world.x[nth] - 0.5 + reach, indexing="ij"
        )
        padded = np.pad(world.resources, 5)
        expected = map_coordinates(padded, [rows + 5, columns + 5], order=1)
        assert whole[0] == pytest.approx(expected, abs=1e-5)


def test_others_and_the_border_are_where_they_are():
    world = world_of()
    rows, columns = world.cells()
    for nth, whole in enumerate(perceived(world, bilinear=False)[0]):
        for dy in range(-3, 4):
            for dx in range(-3, 4):
                row, column = rows[nth] + dy, columns[nth] + dx
                there = (rows == row) & (columns == column)
                there[nth] = False
                inside = 0 <= row < 20 and 0 <= column < 20
                resource = world.resources[row, column] if inside else 0
                seen = whole[:, dy + 3, dx + 3]
                expected = [resource, int(not inside), there.sum(), world.energy[there].sum()]
                assert seen == pytest.approx(expected, abs=1e-5)


def test_the_account_counts_what_was_done():
    world = world_of(agents=10)
    perception = Perception(2, "hybrid", bilinear=True, build=INDEXES["hash_grid"])
    observations = perception.observe_all(world)
    perception.read_all(observations)
    profile = perception.profile
    assert (profile.observations, profile.rebuilds) == (10, 10)
    assert (profile.bilinear_points, profile.nearest_points) == (10 * 25, 0)
    assert profile.stored_bytes == sum(one.nbytes for one in observations)
    assert profile.whole_bytes == 10 * 4 * 25 * 4


def measured(tmp_path, slug, values):
    bench = Bench(Order(slug, ".", values, "one", "r", str(tmp_path), str(tmp_path / "o"), 7, 0))
    opened = bench.open()
    try:
        assert opened.error is None, opened.error
        readings = [bench.iterate(0), bench.iterate(1)]
    finally:
        assert bench.close() is None
    assert [one.error for one in readings] == [None, None]
    assert not (tmp_path / "o").exists()
    return [one.metrics for one in readings]


def test_observation_flow_counts_from_nothing_in_each_iteration(tmp_path):
    small = {"num_agents": 8, "steps": 20, "width": 30, "height": 30}
    first, second = measured(tmp_path, "observation_flow", small)
    for name in ("total_observes", "dense_rebuilds", "stored_bytes_per_observation"):
        assert first[name] == second[name]
    assert first["total_observes"] == first["dense_rebuilds"] == 160
    assert first["observes_per_sec"] == pytest.approx(160 / first["total_time_s"])
    assert first["dense_bytes_per_observation"] == 4 * 13 * 13 * 4
    assert first["p95_step_time_s"] >= first["mean_step_time_s"] / 20


def test_few_steps_have_no_95th_percentile(tmp_path):
    small = {"num_agents": 4, "steps": 19, "width": 30, "height": 30}
    assert "p95_step_time_s" not in measured(tmp_path, "observation_flow", small)[0]


def test_perception_metrics_does_what_its_variant_says(tmp_path):
    small = {"num_agents": 6, "steps": 2, "storage_mode": "dense", "bilinear": False}
    found = measured(tmp_path, "perception_metrics", small)[0]
    assert (found["dense_rebuilds"], found["bilinear_points"]) == (0, 0)
    assert found["nearest_points"] == 6 * 2 * 11 * 11
    assert found["memory_reduction_percent"] == 0


@pytest.mark.parametrize("slug", ["observation_profiler", "system_profiler"])
def test_shares_add_up_to_the_whole(tmp_path, slug):
    small = {"num_agents": 6, "steps": 20, "world_size": 20}
    found = measured(tmp_path, slug, small)[0]
    shares = [
        value
        for name, value in found.items()
        if name.endswith("_percent") and name != "cpu_percent"
    ]
    assert all(value >= 0 for value in shares)
    if slug == "observation_profiler":
        assert sum(shares) == pytest.approx(100)
    else:
        assert 50 < sum(shares) <= 100
        assert found["rss_peak_bytes"] > 1e6
        assert found["agent_steps"] >= 20
