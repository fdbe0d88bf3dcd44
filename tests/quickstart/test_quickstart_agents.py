"""The four agents: real programs that differ, on the tasks that ship and on ones they never saw."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from agentbench_tui.datasets.quickstart.__main__ import GENERATORS, SEED
from agentbench_tui.engine.cases.dataset import open_dataset
from agentbench_tui.engine.suite.loading import LoadedSuite, load_suite
from agentbench_tui.model.answer import AgentFailure, Answer, Case, FailureKind, Score, ToolCall
from agentbench_tui.process.worker import JsonLinesWorker
from agentbench_tui.scoring.registry import make_scorer

SUITE = Path(__file__).parents[2] / "suites" / "quickstart.yaml"
NAMES = ("keyword", "rules", "planner", "memory")
OTHER_SEED = 7
LONG = {"thread", "table"}


def command(name: str) -> list[str]:
    return [sys.executable, "-m", f"agentbench_tui.agents.quickstart.{name}"]


def start(name: str, memory_limit_mb: float | None = None) -> JsonLinesWorker:
    return JsonLinesWorker(
        command(name), environment=dict(os.environ), memory_limit_mb=memory_limit_mb
    )


async def ask(worker: JsonLinesWorker, case: Case) -> dict[str, Any]:
    payload = {"type": "task", "input": case.input, "tools": list(case.tools)}
    return await worker.call(payload, timeout_s=30)


def suite() -> LoadedSuite:
    return load_suite(SUITE)


def cases_of(loaded: LoadedSuite, index: int, seed: int) -> list[Case]:
    """The short cases of a benchmark as an agent gets them, made anew with another seed."""
    benchmark = loaded.suite.benchmarks[index]
    records = list(GENERATORS[benchmark.benchmark_id](seed))
    kept = [record for record in records if record["topic"] not in LONG]
    dataset = benchmark.dataset
    assert dataset is not None
    made = dataset.model_copy(
        update={
            "data_source": None,
            "size": None,
            "cases": [{key: value for key, value in one.items() if key != "topic"} for one in kept],
        }
    )
    with open_dataset(
        benchmark.model_copy(update={"dataset": made}), base_dir=loaded.folder, seed=1
    ) as source:
        return list(source)


def answer_of(reply: dict[str, Any]) -> Answer:
    calls = tuple(ToolCall(one["name"], one["arguments"]) for one in reply.get("tool_calls", ()))
    return Answer(text=reply.get("text", ""), data=reply.get("data"), tool_calls=calls)


async def accuracies(name: str, seed: int) -> dict[str, float]:
    """Share of short cases that one agent gets right, by benchmark, by the suite's own scorers."""
    loaded = suite()
    worker = start(name)
    found = {}
    try:
        for index, benchmark in enumerate(loaded.suite.benchmarks):
            scorer = make_scorer(benchmark.scorers[0])
            cases = cases_of(loaded, index, seed)
            scores = [scorer.score(case, answer_of(await ask(worker, case))) for case in cases]
            right = [score.correct for score in scores if isinstance(score, Score)]
            assert len(right) == len(cases)
            found[benchmark.benchmark_id] = sum(right) / len(right)
    finally:
        await worker.close()
    return found


async def test_the_planner_is_most_and_the_keyword_agent_least_often_right() -> None:
    mean = {}
    for name in NAMES:
        shares = await accuracies(name, SEED)
        mean[name] = sum(shares.values()) / len(shares)
    assert mean["planner"] > mean["rules"] > mean["memory"] > mean["keyword"]
    assert mean["planner"] > 0.85
    assert mean["keyword"] < 0.35


@pytest.mark.parametrize("name", NAMES)
async def test_agents_do_as_well_on_tasks_that_they_never_saw(name: str) -> None:
    shipped, unseen = await accuracies(name, SEED), await accuracies(name, OTHER_SEED)
    for benchmark, share in shipped.items():
        assert unseen[benchmark] == pytest.approx(share, abs=0.15), benchmark


@pytest.mark.parametrize("name", NAMES)
def test_programs_end_cleanly_when_their_input_ends(name: str) -> None:
    finished = subprocess.run(
        command(name),
        input='{"type": "hello", "protocol": 1}\n',
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert finished.returncode == 0
    assert f'"name":"{name}"' in finished.stdout
    assert finished.stderr == ""


async def test_the_planner_runs_its_tools_in_a_process_that_ends_with_it() -> None:
    worker = start("planner")
    try:
        await worker.start()
        assert worker.pid is not None
        question = "A room costs 80 euros a night. A guest arrives on 2026-02-26 and leaves on "
        reply = await ask(worker, Case("c", question + "2026-03-03. How many euros is that?"))
        # Only now: a process that has just been started still bears its parent's command line.
        (tools,) = psutil.Process(worker.pid).children()
        assert any("toolbox" in part for part in tools.cmdline())
    finally:
        await worker.close()
    assert reply["text"] == "400"  # five nights: February 2026 has 28 days
    assert not tools.is_running() or tools.status() == psutil.STATUS_ZOMBIE
    called = [call["name"] for one in reply["messages"] for call in one.get("tool_calls", ())]
    assert len(called) >= 2
    assert len(reply["spans"]) >= len(called)
    assert all(span["duration_ms"] >= 0 for span in reply["spans"])


async def test_memory_outgrows_its_limit_on_long_inputs_only_and_starts_again() -> None:
    loaded = suite()
    (index,) = [
        place
        for place, one in enumerate(loaded.suite.benchmarks)
        if one.benchmark_id == "multi-step"
    ]
    benchmark = loaded.suite.benchmarks[index]
    limit = benchmark.constraints.memory_limit_mb
    long = next(one for one in GENERATORS["multi-step"](SEED) if one["topic"] == "table")
    short = cases_of(loaded, index, SEED)[0]
    worker = start("memory", limit)
    try:
        await ask(worker, short)
        with pytest.raises(AgentFailure) as caught:
            await ask(worker, Case("long", long["input"]))
        assert caught.value.kind is FailureKind.LIMIT
        assert "memory" in caught.value.detail
        await ask(worker, short)
        assert worker.starts == 2
    finally:
        await worker.close()


@pytest.mark.parametrize("name", ["keyword", "rules", "planner"])
async def test_the_others_stay_within_the_limit_on_long_inputs(name: str) -> None:
    worker = start(name, suite().suite.benchmarks[0].constraints.memory_limit_mb)
    try:
        for generator in ("extraction", "multi-step"):
            for record in GENERATORS[generator](SEED):
                if record["topic"] in LONG:
                    await ask(worker, Case(record["id"], record["input"]))
        assert worker.starts == 1
    finally:
        await worker.close()


@pytest.mark.parametrize("name", [*NAMES, "toolbox"])
def test_agents_import_only_the_standard_library(name: str) -> None:
    code = (
        "import sys; before = set(sys.modules); "
        f"import agentbench_tui.agents.quickstart.{name}; "
        "new = {one.partition('.')[0] for one in set(sys.modules) - before}; "
        "print(sorted(new - sys.stdlib_module_names))"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True
    )
    assert said.stdout.strip() == "['agentbench_tui']"
