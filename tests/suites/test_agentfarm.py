"""AgentFarm's spec files are read as they are."""

import json
from pathlib import Path

import pytest

from agentbench_tui.engine.loading import load_suite
from agentbench_tui.engine.sweep import points
from agentbench_tui.model.errors import SuiteError

SPEC = """\
experiment: my_new_benchmark
params:
  param1: 100
  param2: "test_value"
  parameters:
    custom_setting: true
iterations:
  warmup: 1
  measured: 3
instrumentation:
  - timing
  - name: psutil
    interval_ms: 50
output_dir: results/my_new_benchmark
tags: [custom, baseline]
notes: "Baseline test"
seed: 7
sweep:
  param1: [50, 100]
  other: [a, b]
strategy: random
samples: 3
parallelism: 2
"""


def write(folder: Path, text: str, name: str = "my spec.yaml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_every_key_keeps_its_meaning(tmp_path: Path) -> None:
    suite = load_suite(write(tmp_path, SPEC)).suite
    (benchmark,) = suite.benchmarks

    assert suite.suite_id == "my-spec"
    assert (suite.seed, suite.parallelism, suite.notes) == (7, 2, "Baseline test")
    assert (suite.output_dir, suite.tags) == ("results/my_new_benchmark", ["custom", "baseline"])
    assert (benchmark.kind, benchmark.experiment) == ("experiment", "my_new_benchmark")
    assert benchmark.parameters == {
        "param1": 100, "param2": "test_value", "parameters": {"custom_setting": True},
    }  # fmt: skip
    assert (benchmark.iterations.warmup, benchmark.iterations.measured) == (1, 3)
    assert benchmark.instruments == ["timing", {"psutil": {"interval_ms": 50}}]
    assert benchmark.sweep is not None
    assert len(points(benchmark.sweep, suite.seed)) == 3


def test_what_a_file_leaves_out_means_what_it_means_there(tmp_path: Path) -> None:
    suite = load_suite(write(tmp_path, json.dumps({"experiment": "e", "seed": None}), "e.json"))
    (benchmark,) = suite.suite.benchmarks

    assert (benchmark.iterations.warmup, benchmark.iterations.measured) == (0, 1)
    assert (benchmark.parameters, benchmark.sweep, benchmark.instruments) == ({}, None, [])
    assert suite.suite.seed == 42


def test_a_point_overlays_the_params(tmp_path: Path) -> None:
    loaded = load_suite(write(tmp_path, SPEC))

    at = loaded.benchmark(0, point={"param1": 50, "other": "a"}).parameters

    assert at["param1"] == 50
    assert at["param2"] == "test_value"
    assert at["other"] == "a"


def test_params_can_be_set(tmp_path: Path) -> None:
    loaded = load_suite(write(tmp_path, SPEC))
    settings = loaded.settings(["param2=x", "my_new_benchmark.param1=5"])

    at = loaded.benchmark(0, settings, {"other": "b"}).parameters

    assert (at["param1"], at["param2"], at["other"]) == (5, "x", "b")


def test_problems_stand_where_the_file_has_them(tmp_path: Path) -> None:
    text = (
        SPEC.replace("measured: 3", "measured: 0")
        .replace("[50, 100]", "5")
        .replace("samples: 3", "samples: many")
        .replace("  - timing", "  - 4")
        .replace("seed: 7", "seed: seven")
    )
    with pytest.raises(SuiteError) as caught:
        load_suite(write(tmp_path, text))

    assert [(one.line, one.path) for one in caught.value.problems] == [
        (9, "iterations.measured"),
        (11, "instrumentation.0"),
        (17, "seed"),
        (19, "sweep.param1"),
        (22, "samples"),
    ]


def test_a_random_sweep_needs_samples(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match=r":18:\d+: sweep: a random sweep needs `samples`"):
        load_suite(write(tmp_path, SPEC.replace("samples: 3\n", "")))


def test_an_unknown_key_is_told_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match=r':24:1: sampels: unknown key "sampels" \(did you mean'):
        load_suite(write(tmp_path, SPEC + "sampels: 3\n"))
