"""The parts that StateSet's suites measure do what they are called after."""

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from agentbench_tui.experiments.measuring.bench import Bench
from agentbench_tui.experiments.measuring.order import Order, Reading
from agentbench_tui.experiments.stateset.memory import DialogueMemory
from agentbench_tui.experiments.stateset.training import Policy


def test_a_full_memory_is_alike_in_every_iteration(tmp_path: Path) -> None:
    values = {"turns": 60}
    order = Order("stateset_memory_system", "", values, "code", "run", str(tmp_path),
                  str(tmp_path / "x"), 7, 0)  # fmt: skip
    bench = Bench(order)
    assert bench.open().error is None
    found = [bench.iterate(nth).metrics for nth in range(70)]
    assert bench.close() is None
    assert found == [{"turns": 60, "turns_in_context": 50}] * 70  # 600 words, 12 in a turn


def test_the_store_begins_every_iteration_empty(tmp_path: Path) -> None:
    bench = Bench(Order("self_store", "", {"rows": 5}, "code", "run", str(tmp_path),
                        str(tmp_path / "x"), 7, 0))  # fmt: skip
    assert bench.open().error is None
    try:
        for nth in range(2):
            assert bench.iterate(nth).metrics["rows"] == 5
            with closing(sqlite3.connect(tmp_path / "x" / "store.db")) as connection:
                assert connection.execute("SELECT COUNT(*) FROM measured").fetchone() == (5,)
    finally:
        assert bench.close() is None


def iterate(slug: str, folder: Path, **values: object) -> Reading:
    bench = Bench(Order(slug, "", values, "code", "run", str(folder), str(folder / "x"), 7, 0))
    opened = bench.open()
    assert opened.error is None
    try:
        return bench.iterate(0)
    finally:
        assert bench.close() is None


def test_memory_is_that_of_one_filling_and_all_of_it_is_given_back(tmp_path: Path) -> None:
    found = iterate("stateset_memory", tmp_path, entries=1000).metrics
    text = len("value 100 " * 10) + sys.getsizeof("")  # most of the thousand have three digits
    assert found["entries"] == 1000
    assert 0.95 * 1000 * text < found["peak_bytes"] < 3 * 1000 * text
    assert found["kept_bytes"] < text


@pytest.mark.parametrize(
    ("slug", "values", "metrics"),
    [
        # four of the five prompts are long, steer, hold a key or give orders
        ("stateset_input_validation", {}, {"prompts": 5, "refused": 4}),
        ("stateset_structured_output", {}, {"answers": 5, "right": 3}),
        ("stateset_function_calling", {}, {"calls": 1, "right": 1, "definition_bytes": 201}),
        # all but `normalized`: the answer says more than the reference
        ("stateset_evaluation_metrics", {}, {"answers": 4, "right": 3}),
        ("stateset_config_validation", {"benchmarks": 3}, {"benchmarks": 3}),
        ("stateset_dialogue_search", {"turns": 50}, {"found": 5}),
        ("stateset_cpu", {"numbers": 10}, {"sum": 285}),
        ("stateset_io", {"kilobytes": 2}, {"read_bytes": 2048}),
    ],
)
def test_each_part_gives_what_it_worked_out(
    slug: str, values: dict[str, object], metrics: dict[str, int], tmp_path: Path
) -> None:
    reading = iterate(slug, tmp_path, **values)
    assert reading.error is None
    assert reading.metrics == metrics


@pytest.mark.parametrize("by", ["objectives", "network"])
def test_answers_are_scored_alike_from_the_same_seed(by: str, tmp_path: Path) -> None:
    one, other = (iterate("stateset_reward_scoring", tmp_path, by=by) for _ in range(2))
    assert one.metrics == other.metrics
    assert one.metrics["answers"] == 100


def test_a_memory_keeps_the_latest_turns_and_finds_them_by_rare_words() -> None:
    memory = DialogueMemory(3)
    for text in ("old parcel", "my order", "a broken cable", "my order again"):
        memory.add("user", text)
    assert [turn["content"] for turn in memory.context(6)] == ["a broken cable", "my order again"]
    assert memory.search("my broken parcel", 2) == ["a broken cable", "my order again"]


def test_a_policy_learns_what_is_rewarded() -> None:
    policy = Policy(states=4, actions=4, seed=1)
    assert np.allclose(policy.probabilities(), 0.25)
    for _ in range(200):
        policy.step(*policy.rollout(groups=16, turns=4), rate=1.0)
    assert policy.probabilities()[np.arange(4), policy.wanted].min() > 0.8


def test_trajectories_of_a_group_see_the_same_states() -> None:
    seen, taken, rewards = Policy(states=50, actions=3, seed=2).rollout(groups=5, turns=7)
    assert seen.shape == taken.shape == (5, 8, 7)
    assert rewards.shape == (5, 8)
    assert (seen == seen[:, :1]).all()
