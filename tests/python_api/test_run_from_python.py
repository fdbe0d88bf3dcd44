"""`agentbench.run` and `run_async`: agents as Python callables, suites as data, stored runs."""

import asyncio
import contextlib
import json
import multiprocessing
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import agentbench_tui as agentbench
from agentbench_tui.cli.main import _run
from agentbench_tui.contracts.document import plain
from agentbench_tui.python_api.background import close_loop_thread

CAPITALS = {"Japan": "Tokyo", "France": "Paris", "Peru": "Lima", "Chad": "N'Djamena"}
SUITE: dict[str, Any] = {
    "suite_id": "capitals",
    "benchmarks": [
        {
            "benchmark_id": "names",
            "scorers": ["exact"],
            "iterations": {"warmup": 0, "measured": 1},
            "dataset": {
                "cases": [
                    {"id": land, "input": land, "expected": capital}
                    for land, capital in CAPITALS.items()
                ]
            },
        }
    ],
}


@pytest.fixture(autouse=True, scope="module")
def _loop_thread_ends() -> Iterator[None]:
    yield
    close_loop_thread()


def knows_half(question: str) -> str:
    return {"Japan": "Tokyo", "France": "Paris"}.get(question, "?")


async def knows_all(question: str) -> str:
    await asyncio.sleep(0)
    return CAPITALS[question]


class Remembers:
    """Made once a session; says how often it was asked."""

    def __init__(self) -> None:
        self.closed = False
        self.asked = 0

    async def start(self) -> None:
        self.started = True

    def answer(self, request: agentbench.Request) -> agentbench.Answer:
        assert self.started
        self.asked += 1
        return agentbench.Answer(CAPITALS[request.case.id])

    def close(self) -> None:
        self.closed = True


def accuracies(result: agentbench.RunResult) -> dict[str, float]:
    return {one.agent_id: one.metrics["accuracy"].value or 0.0 for one in result.executions}


def test_functions_classes_and_objects_answer() -> None:
    ours = Remembers()
    result = agentbench.run(
        SUITE,
        {
            "half": knows_half,
            "all": knows_all,
            "one": lambda question: "Tokyo",
            "class": Remembers,
            "object": ours,
        },
    )
    assert result.status == "complete"
    assert accuracies(result) == {"half": 0.5, "all": 1, "one": 0.25, "class": 1, "object": 1}
    assert ours.asked == 4
    assert ours.closed


def test_the_command_line_shows_the_run(capfd: pytest.CaptureFixture[str]) -> None:
    result = agentbench.run(SUITE, knows_half, tags=["from-python"])
    assert _run(["runs", "list", "--tag", "from-python", "--format", "json"]) == 0
    (row,) = json.loads(capfd.readouterr().out)["runs"]
    assert (row["id"], row["agents"]) == (result.run_id, ["knows_half"])
    assert _run(["runs", "show", "latest", "--format", "json"]) == 0
    shown = json.loads(capfd.readouterr().out)
    assert shown["executions"][0]["metrics"] == plain(result.executions[0].metrics)


def test_a_database_can_be_named_and_one_in_memory_kept(tmp_path: Path) -> None:
    agentbench.run(SUITE, knows_half, db=tmp_path / "own.db")
    agentbench.run(SUITE, knows_half, db=":memory:", persist=tmp_path / "kept.db")
    for name in ("own.db", "kept.db"):
        assert (
            _run(["runs", "show", "latest", "--db", str(tmp_path / name), "--format", "csv"]) == 0
        )
    with pytest.raises(agentbench.StoreError):
        agentbench.run(SUITE, knows_half, persist=tmp_path / "third.db")


def test_an_importable_function_is_the_agent_of_its_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_capitals.py").write_text("def answer(question):\n    return 'Lima'\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    import my_capitals  # type: ignore[import-not-found]

    versions = [
        agentbench.run(SUITE, agent).executions[0].agent_version
        for agent in (my_capitals.answer, "python:my_capitals:answer")
    ]
    assert versions[0] == versions[1]


def test_a_function_that_no_import_finds_has_the_version_of_its_source() -> None:
    def make(word: str) -> Any:
        def agent(question: str) -> str:
            return word

        return agent

    def other(question: str) -> str:
        return "Lima"

    result = agentbench.run(SUITE, {"a": make("Lima"), "b": make("?"), "c": other, "d@7": other})
    version = {one.agent_id: one.agent_version for one in result.executions}
    assert version["a"] == version["b"] != version["c"]
    assert version["d"] == "7"
    assert accuracies(result) == {"a": 0.25, "b": 0, "c": 0.25, "d": 0.25}


def test_scorers_are_functions_too() -> None:
    def is_short(case: agentbench.Case, answer: agentbench.Answer) -> bool:
        return len(answer.text) <= 5

    (benchmark,) = SUITE["benchmarks"]
    suite = {**SUITE, "benchmarks": [{**benchmark, "scorers": [is_short]}]}
    assert accuracies(agentbench.run(suite, knows_all)) == {"knows_all": 0.75}


def test_a_suite_is_a_name_a_path_a_dictionary_or_an_object(tmp_path: Path) -> None:
    path = tmp_path / "capitals.json"
    path.write_text(json.dumps(SUITE))
    built = agentbench.Suite.model_validate(SUITE)
    for suite in (path, str(path), SUITE, built):
        assert accuracies(agentbench.run(suite, knows_half)) == {"knows_half": 0.5}
    named = agentbench.run("quickstart", benchmarks=["extraction"], limit=1)
    assert {one.suite_id for one in named.executions} == {"quickstart"}


def test_gates_are_in_the_result() -> None:
    result = agentbench.run(SUITE, knows_half, gates=["accuracy>=0.4", "accuracy>=0.6"])
    assert [gate.holds for gate in result.gates] == [True, False]
    with pytest.raises(agentbench.GateFailed, match=r"accuracy>=0\.6 on names by knows_half: 0\.5"):
        result.raise_for_gates()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"agents": 3}, "3 is not an agent"),
        ({"agents": {"a b": knows_half}}, "agent id 'a b'"),
        ({"agents": "nonsense"}, "is not a target"),
        ({"agents": [lambda q: q, lambda q: q]}, "two agents have the id 'lambda'; name them"),
        ({"suites": 3}, "3 is not a suite"),
        ({"suites": "quickstrat"}, 'did you mean "quickstart"'),
        ({"runs": 0}, "runs is 0; give at least 1"),
        ({"limit": 2.5}, "limit is 2.5; give a whole number"),
        ({"gates": "accuracy>=1"}, "gates is a text"),
        ({"gates": ["accuracy=>1"]}, "accuracy=>1"),
        ({"cases": ["Jappan"]}, 'did you mean "Japan"'),
    ],
)
def test_what_is_wrong_is_said_before_anything_runs(
    arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(agentbench.UsageError, match=message):
        agentbench.run(**{"suites": SUITE, "agents": knows_half, **arguments})


def test_every_problem_of_a_suite_is_told() -> None:
    with pytest.raises(agentbench.SuiteError) as caught:
        agentbench.run(
            {"suite_id": "x", "benchmarks": [{"benchmark_id": "y", "sede": 1, "sead": 2}]}
        )
    assert "benchmarks.0.sede" in str(caught.value)
    assert len(caught.value.problems) == 2


async def test_async_agents_are_called_on_the_loop_that_awaits() -> None:
    loops = set()

    async def agent(question: str) -> str:
        loops.add(asyncio.get_running_loop())
        return CAPITALS[question]

    result = await agentbench.run_async(SUITE, agent)
    assert accuracies(result) == {"agent": 1}
    assert loops == {asyncio.get_running_loop()}


async def test_the_loop_goes_on_while_a_run_is_awaited() -> None:
    told = asyncio.Event()

    async def agent(question: str) -> str:
        await told.wait()
        return CAPITALS[question]

    running = asyncio.create_task(agentbench.run_async(SUITE, agent))
    await asyncio.sleep(0)
    told.set()
    assert accuracies(await running) == {"agent": 1}


async def test_several_runs_are_awaited_at_once() -> None:
    first, second = await asyncio.gather(
        agentbench.run_async(SUITE, knows_half), agentbench.run_async(SUITE, knows_all)
    )
    assert (accuracies(first), accuracies(second)) == ({"knows_half": 0.5}, {"knows_all": 1})


async def test_run_works_where_a_loop_runs_already() -> None:
    """As in a notebook, whose cells run in a loop."""
    assert accuracies(agentbench.run(SUITE, knows_all)) == {"knows_all": 1}


def test_clients_of_async_agents_stay_usable_from_one_run_to_the_next() -> None:
    loops = []

    async def agent(question: str) -> str:
        loops.append(asyncio.get_running_loop())
        return "?"

    for _ in range(2):
        agentbench.run(SUITE, agent)
    assert len(set(loops)) == 1
    assert not loops[0].is_closed()


async def test_a_run_that_is_canceled_keeps_what_was_measured() -> None:
    asked = asyncio.Event()

    async def agent(question: str) -> str:
        if question == "Peru":
            asked.set()
            await asyncio.Event().wait()
        return CAPITALS[question]

    running = asyncio.create_task(agentbench.run_async(SUITE, agent))
    await asked.wait()
    running.cancel()
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


def test_progress_is_told_while_a_run_lasts() -> None:
    told: list[agentbench.RunProgress] = []
    go = threading.Event()

    def answer(question: str) -> str:
        if question == "Chad":
            assert go.wait(30)
        return CAPITALS[question]

    def note(progress: agentbench.RunProgress) -> None:
        told.append(progress)
        if progress.answered == 3:
            go.set()

    result = agentbench.run(SUITE, answer, on_progress=note)
    assert accuracies(result) == {"answer": 1}
    assert {one.run_id for one in told} == {result.run_id}
    assert {one.planned for one in told} == {4}
    assert str(told[-1]) == f"run {result.run_id}: 3 of 4 asked, 3 answered, 3 correct"


async def test_what_the_reader_of_progress_raises_ends_the_run() -> None:
    go = asyncio.Event()

    async def answer(question: str) -> str:
        await go.wait()
        return CAPITALS[question]

    def note(progress: agentbench.RunProgress) -> None:
        go.set()
        raise LookupError(progress.run_id)

    with pytest.raises(LookupError) as raised:
        await agentbench.run_async(SUITE, answer, on_progress=note)
    run = agentbench.open_store().run(str(raised.value.args[0]))
    assert run.status == "interrupted"


async def test_an_async_scorer_is_called_on_the_loop_that_awaits() -> None:
    loops = set()

    async def right(case: agentbench.Case, answer: agentbench.Answer) -> bool:
        loops.add(asyncio.get_running_loop())
        return answer.text == case.expected

    (benchmark,) = SUITE["benchmarks"]
    suite = {**SUITE, "benchmarks": [{**benchmark, "scorers": [right]}]}
    assert accuracies(await agentbench.run_async(suite, knows_half)) == {"knows_half": 0.5}
    assert loops == {asyncio.get_running_loop()}


def test_an_async_agent_that_starts_a_run_is_told_to_await_it() -> None:
    async def starts(question: str) -> str:
        agentbench.run(SUITE, knows_all)
        return "?"

    result = agentbench.run(SUITE, starts)
    assert "await agentbench.run_async() instead" in result.failures[0].detail


def test_the_output_folder_of_a_suite_gets_the_document(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    result = agentbench.run({**SUITE, "output_dir": str(tmp_path / "out")}, knows_half)
    written = tmp_path / "out" / f"{result.run_id}.json"
    assert json.loads(written.read_text()) == json.loads(json.dumps(plain(result.document)))
    assert f"written: {written}" in capfd.readouterr().err


def test_a_forked_process_has_a_loop_of_its_own() -> None:
    """Threads do not survive a fork, so the one that carries out runs is started again."""
    agentbench.run(SUITE, knows_half)
    context = multiprocessing.get_context("fork")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forking where threads run
        child = context.Process(target=_runs_again)
        child.start()
    child.join(60)
    assert child.exitcode == 0


def _runs_again() -> None:
    assert accuracies(agentbench.run(SUITE, knows_all)) == {"knows_all": 1}
    close_loop_thread()


async def test_a_third_cancellation_waits_no_longer() -> None:
    asked, let_go = asyncio.Event(), asyncio.Event()

    async def agent(question: str) -> str:
        asked.set()
        while not let_go.is_set():  # an agent that does not let itself be canceled
            with contextlib.suppress(asyncio.CancelledError):
                await let_go.wait()
        return "?"

    running = asyncio.create_task(agentbench.run_async(SUITE, agent))
    await asked.wait()
    for _ in range(3):
        running.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await running
    let_go.set()
    while agentbench.open_store().runs().runs[0].status == "running":  # noqa: ASYNC110  # no event
        await asyncio.sleep(0.01)
