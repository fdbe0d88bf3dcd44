"""The small world, its journal, and the example that runs it."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentbench_tui.experiments.farm.run_with_recommended_config import (
    run_with_recommended_config,
)
from agentbench_tui.experiments.farm.simulation import (
    SimulationConfig,
    configure_for_performance_with_persistence,
    get_recommended_config,
    simulate,
)
from agentbench_tui.experiments.farm.world import BORN, DIED, World, WorldSettings


def test_equal_seeds_give_equal_worlds_and_other_seeds_others():
    one, same, other = (World(WorldSettings(seed=seed)) for seed in (1, 1, 2))
    for _ in range(20):
        a, b, c = one.step(), same.step(), other.step()
    assert np.array_equal(a.x, b.x)
    assert np.array_equal(one.resources, same.resources)
    assert not np.array_equal(a.x[: len(c.x)], c.x[: len(a.x)])


def test_a_copy_goes_on_as_the_original_would():
    world = World(WorldSettings(seed=3))
    for _ in range(5):
        world.step()
    copied = world.copy()
    for _ in range(10):
        assert np.array_equal(world.step().energy, copied.step().energy)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 40), st.integers(1, 30), st.integers(1, 30), st.integers(0, 5))
def test_nobody_leaves_the_field_and_the_books_balance(agents, width, height, seed):
    world = World(WorldSettings(agents, width, height, seed=seed))
    for _ in range(15):
        before, field = world.population, world.resources.copy()
        record = world.step()
        assert ((record.x >= 0) & (record.x < width)).all()
        assert ((record.y >= 0) & (record.y < height)).all()
        born, died = (record.actions == BORN).sum(), (record.actions == DIED).sum()
        assert world.population == before + born - died
        grown_back = (world.resources - 0.05 * 5) / 0.95
        assert field.sum() - grown_back.sum() == pytest.approx(record.eaten.sum(), abs=1e-6)
        assert (world.energy > 0).all()


def test_agents_are_born_and_die():
    world = World(WorldSettings(agents=200, width=40, height=40))
    actions = np.concatenate([world.step().actions for _ in range(60)])
    assert (actions == BORN).sum() > 0
    assert (actions == DIED).sum() > 0


def test_an_agent_alone_walks_to_the_only_food_and_eats_it():
    world = World(WorldSettings(1, 9, 9, perception_radius=4))
    world.resources[:] = 0
    world.resources[4, 6] = 3.0
    world.x[:], world.y[:] = 2.5, 4.5
    first = world.step()
    assert (first.x[0], first.y[0]) == (4.5, 4.5)  # two cells a step
    second = world.step()
    assert (second.x[0], second.y[0]) == (6.5, 4.5)
    # What was there, and a step's growth of 5% of the missing 2.
    assert second.eaten[0] == pytest.approx(3.1)


def test_a_fixed_population_stays_whatever_happens():
    world = World(WorldSettings(50, 5, 5, population_changes=False))
    for _ in range(40):
        world.step()
    assert world.population == 50


def test_the_journal_is_the_same_on_disk_and_from_memory(tmp_path):
    config = SimulationConfig(WorldSettings(agents=20, width=30, height=30, seed=4), steps=15)
    recommended = configure_for_performance_with_persistence(config)
    on_disk = simulate(config, tmp_path / "disk.db")
    copied = simulate(recommended, tmp_path / "copied.db")
    in_memory = simulate(
        SimulationConfig(config.world, 15, use_in_memory_db=True), tmp_path / "none.db"
    )
    assert on_disk.rows == copied.rows == in_memory.rows > 300
    assert in_memory.journal is None
    assert not (tmp_path / "none.db").exists()
    dumps = []
    for name in ("disk.db", "copied.db"):
        with closing(sqlite3.connect(tmp_path / name)) as db:
            dumps.append(list(db.iterdump()))
    assert dumps[0] == dumps[1]


def test_a_journal_is_never_written_over(tmp_path):
    (tmp_path / "old.db").write_text("mine")
    with pytest.raises(FileExistsError, match="is there already"):
        simulate(get_recommended_config(5, 2), tmp_path / "old.db")
    assert (tmp_path / "old.db").read_text() == "mine"


def test_the_recommended_configuration_is_in_memory_and_kept():
    config = get_recommended_config(num_agents=7, num_steps=9)
    assert (config.use_in_memory_db, config.persist_db_on_completion) == (True, True)
    assert (config.world.agents, config.steps, config.storage) == (7, 9, "memory_persist")
    with pytest.raises(ValueError, match="needs use_in_memory_db"):
        _ = SimulationConfig(persist_db_on_completion=True).storage


def test_the_example_leaves_a_journal_to_analyze(tmp_path, capsys):
    asked = ["--steps", "6", "--agents", "8", "--output", str(tmp_path / "out")]
    assert run_with_recommended_config(asked) == 0
    assert capsys.readouterr().out.startswith("6 steps in ")
    with closing(sqlite3.connect(tmp_path / "out" / "simulation.db")) as db:
        assert db.execute("SELECT COUNT(*), MIN(step), MAX(step) FROM steps").fetchone() == (
            6,
            1,
            6,
        )
        assert db.execute("SELECT COUNT(*) FROM agents WHERE born = 0").fetchone() == (8,)
    assert run_with_recommended_config(asked) == 2
    assert "name another --output" in capsys.readouterr().err


@pytest.mark.parametrize("agents", ["0", "few"])
def test_the_example_refuses_what_cannot_be_simulated(capsys, agents):
    with pytest.raises(SystemExit) as ended:
        run_with_recommended_config(["--agents", agents])
    assert ended.value.code == 2
    assert f"a whole number, at least 1, not {agents}" in capsys.readouterr().err
