"""The suites that measure parts and the tool itself, at smoke size: of many loads one or two."""

import json
from pathlib import Path

import pytest
from shipped import ROOT, run_shipped

from agentbench_tui.cli.main import _run
from agentbench_tui.engine.suite.loading import load_suite
from agentbench_tui.engine.suite.validation import validate_suite

_QUICK = "mock?ttft=1ms&itl=0ms"


@pytest.mark.parametrize(
    ("name", "loads", "settings"),
    [
        ("agent-runtime", ("streaming",), ("requests=2",)),
        ("performance", (), ()),
    ],
)
async def test_a_suite_runs_over_an_agent_and_over_code(
    name: str, loads: tuple[str, ...], settings: tuple[str, ...], tmp_path: Path
) -> None:
    loaded = load_suite(ROOT / "suites" / f"{name}.yaml")
    suite = loaded.suite
    assert validate_suite(loaded, [], datasets=True) == []
    parts = [one.benchmark_id for one in suite.benchmarks if one.kind == "experiment"]
    assert set(loads) <= {one.benchmark_id for one in suite.benchmarks if one.kind == "load"}
    result = await run_shipped(
        tmp_path, name, _QUICK, benchmarks=(*loads, *parts), settings=settings, iterations=2,
        warmup=1,
    )  # fmt: skip
    executions = result.document["executions"]
    assert {one["status"] for one in executions} == {"complete"}
    # What is the harness's own stands under no agent's name, and is really measured.
    by_agent = {one["benchmark_id"]: one["agent_id"] for one in executions}
    assert {name for name, agent in by_agent.items() if agent == "code"} == set(parts)
    assert {one["benchmark_id"] for one in executions if one["simulated"]} == set(loads)
    assert all(one["metrics"]["reliability"]["value"] == 1 for one in executions)


async def test_the_tool_measures_itself(tmp_path: Path) -> None:
    result = await run_shipped(tmp_path, "self", settings=("cases=20",), iterations=1, warmup=0)
    metrics = {one["benchmark_id"]: one["metrics"] for one in result.document["executions"]}
    assert {one["status"] for one in result.document["executions"]} == {"complete"}
    assert metrics["histogram"]["recorded"]["value"] == 20_000
    assert metrics["store"]["rows"]["value"] == 1_000
    assert all(one["cpu_ms"]["value"] > 0 for one in metrics.values())
    of_a_case = metrics["harness-overhead"]["case_cpu_ms"]["value"]
    assert 10 * of_a_case < metrics["harness-overhead"]["cpu_ms"]["value"]


def test_stub_is_the_practice_agent_beside_those_that_are_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    suite = str(ROOT / "suites" / "agent-runtime.yaml")
    words = ["run", suite, "--benchmark", "latency", "--dry-run", "--format", "json"]
    assert _run([*words, "--stub", "--agent", "mine=reference:perfect"]) == 0
    found = json.loads(capsys.readouterr().out)["executions"]
    assert [(one["agent_id"], one["target"]) for one in found] == [
        ("mine", "reference:perfect"),
        ("stub", "mock"),
    ]
