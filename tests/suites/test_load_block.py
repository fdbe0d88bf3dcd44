"""Problems of a `load:` block are told with their place, like those of every other key."""

from pathlib import Path

import pytest

from agentbench_tui.engine.suite.loading import load_suite, suite_of_data
from agentbench_tui.engine.suite.validation import validate_suite
from agentbench_tui.model.errors import SuiteError

SUITE = """\
suite_id: own
parameters:
  rate: {default: 10.0}
benchmarks:
  - benchmark_id: steady
    kind: load
    load:
      rate: ${rate}
      duration_s: 5
      workload:
        - {prompts: [hello], turns: 2}
"""


def problems(folder: Path, text: str, *settings: str) -> list[str]:
    """Every problem as `line:column path message`."""
    path = folder / "own.yaml"
    path.write_text(text, encoding="utf-8")
    loaded = load_suite(path)
    found = validate_suite(loaded, [], loaded.settings(settings))
    return [f"{one.line}:{one.column} {one.path} {one.message}" for one in found]


def test_a_block_without_faults_has_no_problems(tmp_path: Path) -> None:
    assert problems(tmp_path, SUITE) == []


@pytest.mark.parametrize(
    ("was", "becomes", "told"),
    [
        (
            "duration_s: 5",
            "durations: 5",
            '9:7 benchmarks.0.load.durations unknown key "durations" (did you mean "duration_s"?)',
        ),
        (
            "duration_s: 5",
            "duration_s: soon",
            '9:19 benchmarks.0.load.duration_s expected a number, got "soon"',
        ),
        (
            "turns: 2",
            "turns: 0",
            ("11:37 benchmarks.0.load.workload.0.turns expected a number of at least 1, got 0"),
        ),
        (
            "turns: 2",
            "turn: 2",
            ('11:30 benchmarks.0.load.workload.0.turn unknown key "turn" (did you mean "turns"?)'),
        ),
        (
            "default: 10.0",
            "default: 0",
            ("8:13 benchmarks.0.load.rate expected a number above 0, got 0 (from `${rate}`)"),
        ),
        (
            "rate: ${rate}\n",
            "rate: ${rate}\n      concurrency: 2\n",
            (
                "7:5 benchmarks.0.load give exactly one of `rate`, `ramp`, `steps`, `spike`,"
                " `sine`, `trace`, `concurrency` and `throughput`; given are `rate` and"
                " `concurrency`"
            ),
        ),
    ],
)
def test_a_fault_is_told_at_its_place(was: str, becomes: str, told: str, tmp_path: Path) -> None:
    assert was in SUITE
    assert problems(tmp_path, SUITE.replace(was, becomes)) == [told]


def test_every_point_of_a_sweep_is_checked(tmp_path: Path) -> None:
    text = SUITE + "    sweep: {parameters: {rate: [5, 10, -1]}}\n"
    assert problems(tmp_path, text) == [
        "8:13 benchmarks.0.load.rate expected a number above 0, got -1 (from `${rate}`)"
    ]


def test_a_required_parameter_without_a_value_is_not_judged(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(SUITE.replace("default: 10.0", "required: true"))
    assert validate_suite(load_suite(path), []) == []


def test_what_was_set_is_judged(tmp_path: Path) -> None:
    assert problems(tmp_path, SUITE, "rate=0") == [
        "8:13 benchmarks.0.load.rate expected a number above 0, got 0.0 (from `${rate}`)"
    ]


def test_metrics_of_rubrics_are_those_of_load_too(tmp_path: Path) -> None:
    rubric = "    scoring_rubric: {speed: {metric: ttft_ms.p59, target: 1, limit: 9}}\n"
    (told,) = problems(tmp_path, SUITE + rubric)
    assert 'no metric "ttft_ms.p59"' in told
    assert problems(tmp_path, SUITE + rubric.replace("p59", "p999")) == []


def test_a_suite_put_together_in_memory_tells_key_paths_without_places(tmp_path: Path) -> None:
    with pytest.raises(SuiteError) as caught:
        suite_of_data({"suite_id": "own", "benchmarks": [{"kind": "load"}]}, tmp_path)
    assert str(caught.value) == "benchmarks.0: `benchmark_id` is missing"
