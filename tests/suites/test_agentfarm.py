"""AgentFarm's spec files are read as they are."""

import json
from pathlib import Path

import pytest

from agentbench_tui.cli.main import _run
from agentbench_tui.engine.run.planning import RunOptions, make_plan
from agentbench_tui.engine.suite.agentfarm_parameters import RULES, Renamed
from agentbench_tui.engine.suite.loading import load_suite
from agentbench_tui.engine.suite.sweep import points
from agentbench_tui.experiments.registry import find_experiment
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


def plan_of(folder: Path, text: str) -> tuple[list[dict[str, object]], tuple[str, ...]]:
    """The parameters of every point of a file, and the notes of its plan."""
    plan = make_plan([str(write(folder, text))], RunOptions())
    return [dict(group.parameters) for group in plan.groups], plan.remarks


def test_lists_of_values_become_a_sweep_under_the_names_used_here(tmp_path: Path) -> None:
    text = (
        "experiment: spatial_comprehensive\n"
        "params: {algorithms: [quadtree, spatial_hash, kd_tree], agent_counts: [10], steps: 5}\n"
        "sweep: {query_radii: [10, 20], world_sizes: [100, 200]}\n"
    )

    points, remarks = plan_of(tmp_path, text)

    assert len(points) == 3 * 2 * 2
    assert {point["structure"] for point in points} == {"quadtree", "hash_grid", "kdtree"}
    assert {point["entities"] for point in points} == {10}
    assert {point["world_size"] for point in points} == {100, 200}
    assert {point["radius"] for point in points} == {10, 20}
    assert [remark.partition(": ")[2].partition(":")[0] for remark in remarks] == [
        "params.steps has no effect"
    ]


def test_a_list_stays_a_list_where_the_experiment_takes_one(tmp_path: Path) -> None:
    text = (
        "experiment: spatial_performance_analyzer\n"
        "params: {agent_counts: [100, 200], query_patterns: [uniform, random, clustered]}\n"
    )

    points, _ = plan_of(tmp_path, text)

    assert [(point["sizes"], point["distribution"]) for point in points] == [
        ([100, 200], "uniform"),
        ([100, 200], "clustered"),
    ]


@pytest.mark.parametrize(
    ("switches", "storage"),
    [
        ("use_in_memory_db: true, persist_db_on_completion: false", "memory"),
        ("use_in_memory_db: true, persist_db_on_completion: true", "memory_persist"),
        ("use_in_memory_db: false", "disk"),
        ("persist_db_on_completion: true", "memory_persist"),
    ],
)
def test_the_two_switches_of_the_database_choose_the_storage(
    tmp_path: Path, switches: str, storage: str
) -> None:
    points, _ = plan_of(tmp_path, f"experiment: system_profiler\nparams: {{{switches}}}\n")

    assert points == [{"storage": storage}]


def test_a_parameter_without_effect_is_accepted_only_for_values_that_change_nothing(
    tmp_path: Path,
) -> None:
    text = "experiment: observation_flow\nparams:\n  device: cuda\n"

    with pytest.raises(SuiteError, match='there is no parameter "device"'):
        make_plan([str(write(tmp_path, text))], RunOptions())


def test_a_wrong_value_is_reported_at_its_place_in_the_file(tmp_path: Path) -> None:
    text = "experiment: perception_metrics\nparams:\n  steps: 1\nsweep:\n  radii: [5, far]\n"

    with pytest.raises(SuiteError) as caught:
        make_plan([str(write(tmp_path, text))], RunOptions())

    assert [(problem.line, problem.path) for problem in caught.value.problems] == [
        (5, "sweep.radii")
    ]


@pytest.mark.parametrize("experiment", sorted(RULES))
def test_each_parameter_name_leads_to_a_parameter_of_the_experiment(experiment: str) -> None:
    model = find_experiment(experiment).Parameters
    assert model is not None
    names = {rule.to for rule in RULES[experiment].values() if isinstance(rule, Renamed)}

    assert names <= model.model_fields.keys()
    assert not RULES[experiment].keys() & model.model_fields.keys()


def test_the_notes_are_printed_before_a_run_and_by_validate(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, "experiment: observation_flow\nparams: {fov_radius: 3}\n")

    assert _run(["suites", "validate", str(path)]) == 0
    assert "params.fov_radius has no effect" in capfd.readouterr().err
    assert _run(["run", "--spec", str(path), "--dry-run"]) == 0
    assert "params.fov_radius has no effect" in capfd.readouterr().err


def test_the_page_about_suites_names_every_parameter_that_is_translated() -> None:
    page = (Path(__file__).parents[2] / "docs" / "suites.md").read_text()

    rows = {
        (experiment, name)
        for experiment, rules in RULES.items()
        for name in rules
        if f"| `{experiment}` | `{name}` |" in page
    }

    assert rows == {(experiment, name) for experiment, rules in RULES.items() for name in rules}
