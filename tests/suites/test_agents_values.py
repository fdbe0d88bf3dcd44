"""What agents of a suite get of its parameters."""

import json
from pathlib import Path

import pytest

from agentbench_tui.engine.suite.loading import load_suite
from agentbench_tui.engine.suite.parameters import parse_settings
from agentbench_tui.engine.suite.validation import validate_suite

BENCHMARK = {
    "benchmark_id": "b",
    "dataset": {"cases": [{"input": "a", "expected": "a"}]},
    "scorers": ["exact"],
}
AGENT = {"id": "n", "target": "reference:noisy", "options": {"accuracy": "${share}"}}


def written(tmp_path: Path, **changes: object) -> Path:
    path = tmp_path / "s.json"
    suite = {"suite_id": "s", "parameters": {"share": 0.9}, "agents": [AGENT]}
    path.write_text(json.dumps({**suite, "benchmarks": [BENCHMARK], **changes}))
    return path


@pytest.mark.parametrize(
    ("own", "settings", "refused"),
    [
        ({}, [], False),
        ({"share": 0.9}, [], False),
        ({"other": 0.5}, [], False),
        ({"share": 0.5}, [], True),
        ({"share": 0.5}, ["share=0.7"], False),
        ({"share": 0.5}, ["share=0.7", "b.share=0.6"], True),
    ],
)
def test_an_agent_may_not_use_a_name_that_a_benchmark_has_another_value_for(
    tmp_path: Path, own: dict[str, float], settings: list[str], refused: bool
) -> None:
    loaded = load_suite(written(tmp_path, benchmarks=[{**BENCHMARK, "parameters": own}]))
    problems = validate_suite(loaded, None, parse_settings(loaded.suite, settings))
    told = [one.message for one in problems]
    assert len(told) == refused
    assert all("but an agent is the same for all benchmarks" in message for message in told)
