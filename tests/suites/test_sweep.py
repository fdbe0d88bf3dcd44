"""Sweeps: which points are run, in which order."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.engine.run.planning import RunOptions, make_plan
from agentbench_tui.engine.suite.sweep import points
from agentbench_tui.model.errors import SuiteError
from agentbench_tui.model.identity import canonical_json
from agentbench_tui.model.suite import Sweep


def sweep(parameters: dict[str, Any], **more: Any) -> Sweep:
    return Sweep.model_validate({"parameters": parameters, **more})


def test_without_a_sweep_there_is_one_empty_point() -> None:
    assert points(None, 42) == [{}]


def test_cartesian_points_come_in_the_order_of_the_file() -> None:
    assert points(sweep({"b": [2, 1], "a": ["x", "y"]}), 42) == [
        {"b": 2, "a": "x"},
        {"b": 2, "a": "y"},
        {"b": 1, "a": "x"},
        {"b": 1, "a": "y"},
    ]


@pytest.mark.parametrize(
    ("written", "values"),
    [
        ({"start": 0, "stop": 1, "count": 5}, [0, 0.25, 0.5, 0.75, 1]),
        ({"start": 1, "stop": 1000, "count": 4, "scale": "log"}, [1, 10, 100, 1000]),
        ({"start": 0.001, "stop": 1, "count": 4, "scale": "log"}, [0.001, 0.01, 0.1, 1]),
        ({"start": 10, "stop": 1, "count": 4}, [10, 7, 4, 1]),
        ({"start": 1, "stop": 4, "count": 10, "integer": True}, [1, 2, 3, 4]),
        ({"start": 0.1, "stop": 0.3, "count": 3}, [0.1, 0.2, 0.3]),
    ],
)
def test_a_range_gives_evenly_spaced_values_with_both_ends(
    written: dict[str, Any], values: list[float]
) -> None:
    assert [point["n"] for point in points(sweep({"n": written}), 42)] == values


def test_integers_of_a_range_are_integers() -> None:
    found = points(sweep({"n": {"start": 1, "stop": 100, "scale": "log", "integer": True}}), 42)

    assert [point["n"] for point in found] == [1, 3, 10, 32, 100]
    assert all(type(point["n"]) is int for point in found)


def test_a_value_written_twice_is_run_once() -> None:
    assert points(sweep({"n": [1, 1, True, 1.0, 2]}), 42) == [
        {"n": 1}, {"n": True}, {"n": 1.0}, {"n": 2},
    ]  # fmt: skip


def test_a_pinned_parameter_is_not_swept() -> None:
    assert points(sweep({"n": [1, 2], "m": [3, 4]}), 42, {"n": 9}) == [{"m": 3}, {"m": 4}]


def test_too_many_points_are_refused() -> None:
    wide = {name: list(range(25)) for name in "abc"}

    with pytest.raises(SuiteError, match="the sweep has 15,625 points, more than 10,000"):
        points(sweep(wide), 42)


@given(
    st.dictionaries(
        st.sampled_from(["a", "b", "c"]),
        st.one_of(
            st.lists(st.integers(0, 9), min_size=1, max_size=6),
            st.just({"start": 1, "stop": 50, "integer": True, "scale": "log"}),
            st.just({"start": 0.5, "stop": 5}),
        ),
        min_size=1,
    ),
    st.integers(1, 40),
    st.integers(0, 1 << 40),
)
def test_random_points_are_distinct_repeatable_and_within_bounds(
    parameters: dict[str, Any], samples: int, seed: int
) -> None:
    drawn = sweep(parameters, strategy="random", samples=samples)

    found = points(drawn, seed)

    assert found == points(drawn, seed)
    assert len({canonical_json(point) for point in found}) == len(found)
    sizes = [50 if isinstance(v, dict) else len(set(v)) for v in parameters.values()]
    endless = any(isinstance(v, dict) and "integer" not in v for v in parameters.values())
    total = samples if endless else 1
    for size in [] if endless else sizes:
        total *= size
    assert len(found) == min(samples, total)
    for point in found:
        for name, written in parameters.items():
            if isinstance(written, dict):
                assert written["start"] <= point[name] <= written["stop"]
            else:
                assert point[name] in written


def test_other_seeds_draw_other_points() -> None:
    drawn = sweep({"x": {"start": 0, "stop": 1}}, strategy="random", samples=5)

    assert points(drawn, 1) != points(drawn, 2)


def test_more_samples_than_points_gives_all_of_them() -> None:
    found = points(sweep({"a": [1, 2], "b": [3, 4]}, strategy="random", samples=100), 42)

    assert sorted((point["a"], point["b"]) for point in found) == [(1, 3), (1, 4), (2, 3), (2, 4)]


def test_a_range_too_narrow_for_its_samples_ends() -> None:
    narrow = {"start": 1.0, "stop": 1.0000000000000002}

    assert len(points(sweep({"x": narrow}, strategy="random", samples=50), 42)) == 1


@pytest.mark.parametrize(("on_the_command_line", "drawn_with"), [(None, 7), (3, 3)])
def test_a_run_draws_with_the_seed_that_its_executions_have(
    tmp_path: Path, on_the_command_line: int | None, drawn_with: int
) -> None:
    swept = {"parameters": {"x": {"start": 0, "stop": 1}}, "strategy": "random", "samples": 3}
    benchmark = {
        "benchmark_id": "one",
        "seed": 7,
        "dataset": {"cases": [{"input": "${x}"}]},
        "sweep": swept,
    }
    path = tmp_path / "suite.json"
    path.write_text(json.dumps({"suite_id": "s", "seed": 5, "benchmarks": [benchmark]}))
    options = RunOptions(agents=("noop=reference:noop",), seed=on_the_command_line)
    plan = make_plan([str(path)], options)
    assert [group.seed for group in plan.groups] == [drawn_with] * 3
    drawn = points(Sweep.model_validate(swept), drawn_with)
    assert [group.parameters for group in plan.groups] == drawn


def test_a_swept_seed_is_a_seed_at_each_point(tmp_path: Path) -> None:
    benchmark = {
        "benchmark_id": "one",
        "seed": "${s}",
        "dataset": {"cases": [{"input": "a"}]},
        "sweep": {"parameters": {"s": [11, 12]}},
    }
    path = tmp_path / "suite.json"
    path.write_text(json.dumps({"suite_id": "s", "benchmarks": [benchmark]}))
    plan = make_plan([str(path)], RunOptions(agents=("noop=reference:noop",), seeds=2))
    assert [group.seed for group in plan.groups] == [11, 12, 12, 13]


def test_an_agent_may_not_hang_on_a_swept_value(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    benchmark = {
        "benchmark_id": "b",
        "dataset": {"cases": [{"input": "a", "expected": "a"}]},
        "scorers": ["exact"],
        "sweep": {"parameters": {"share": [0.5, 1.0]}},
    }
    agent = {"id": "n", "target": "reference:noisy", "options": {"accuracy": "${share}"}}
    suite = {"suite_id": "s", "parameters": {"share": 0.9}, "agents": [agent]}
    path.write_text(json.dumps({**suite, "benchmarks": [benchmark]}))

    with pytest.raises(SuiteError, match=r"\$\{share\} is swept in b, but an agent is the same"):
        make_plan([str(path)], RunOptions())
    (pinned,) = make_plan([str(path)], RunOptions(settings=("share=1.0",))).groups
    assert [one.agent.options["accuracy"] for one in pinned.executions] == [1.0]
