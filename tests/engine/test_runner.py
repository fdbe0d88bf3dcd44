"""What a run asks, how often, in which order, under which limits, and how it ends."""

import json
from collections import Counter
from pathlib import Path

import pytest
from carried_out import Result, cases, plan, run, suite

from agentbench_tui.engine.run import coordinator
from agentbench_tui.model.errors import StoreError
from agentbench_tui.store.database import create_or_migrate
from agentbench_tui.store.transaction import write_once

ECHO = """
def echo(prompt):
    return prompt
"""


async def test_warm_ups_are_asked_but_never_counted(tmp_path: Path) -> None:
    code = f"""
from pathlib import Path
def tell(request):
    with Path({str(tmp_path / "asked")!r}).open("a") as log:
        log.write(f"{{request.warmup}}\\n")
    return request.case.input
"""
    document = suite(3, iterations={"warmup": 4, "measured": 2})
    result = await run(tmp_path, document, code, "tell", repeats=2)
    asked = Counter((tmp_path / "asked").read_text().split())
    assert asked == {"True": 2 * 4, "False": 2 * 2 * 3}
    assert result.execution("tell")["cases"] == {
        "total": 12, "observed": 12, "answered": 12, "correct": 12
    }  # fmt: skip
    places = result.rows("SELECT repeat, iteration, COUNT(*) FROM answers GROUP BY 1, 2")
    assert [tuple(row) for row in places] == [(0, 0, 3), (0, 1, 3), (1, 0, 3), (1, 1, 3)]
    rows = result.rows("SELECT warmup, observed FROM iterations ORDER BY seq")
    assert [tuple(row) for row in rows] == [(1, 4), (0, 3), (0, 3)] * 2


async def test_as_many_are_asked_at_once_as_the_suite_says(tmp_path: Path) -> None:
    code = """
import asyncio
inside, most = 0, 0
full = asyncio.Event()
async def together(prompt):
    global inside, most
    inside += 1
    most = max(most, inside)
    if inside == 3:
        full.set()
    await full.wait()
    await asyncio.sleep(0)
    inside -= 1
    return str(most)
"""
    result = await run(tmp_path, suite(12, concurrency=3), code, "together")
    answers = result.column("SELECT json_extract(answer, '$.text') FROM answers")
    assert len(answers) == 12
    assert set(answers) == {"3"}


async def test_each_limit_of_a_case_has_its_failure_kind(tmp_path: Path) -> None:
    code = """
import asyncio
from agentbench_tui.model.answer import Answer, Usage
async def greedy(prompt):
    if prompt == "0":
        await asyncio.Event().wait()
    return Answer(
        prompt,
        usage=Usage(60, 41 if prompt == "1" else 40),
        cost_usd=0.03 if prompt == "2" else 0.02,
    )
"""
    limits = {"time_limit_ms": 80, "token_limit": 100, "cost_limit_usd": 0.02}
    result = await run(tmp_path, suite(4, constraints=limits), code, "greedy")
    assert result.execution("greedy")["failures"] == {"limit": 2, "timeout": 1}
    details = result.column("SELECT detail FROM failures ORDER BY case_key")
    assert details == [
        "no answer within 0.08 s",
        "101 tokens, limit 100",
        "cost 0.030000 USD, limit 0.02 USD",
    ]
    assert result.metrics("greedy")["reliability"]["value"] == 0.25
    assert result.outcome.status == "complete"


@pytest.mark.parametrize(
    ("option", "limit", "reason"),
    [
        ("cost_limit_usd", 0.25, "cost limit reached: 0.3000 of 0.25 USD"),
        ("token_limit", 21, "token limit reached: 30 of 21"),
    ],
)
async def test_a_spent_cap_ends_the_run_complete_with_its_reason(
    tmp_path: Path, option: str, limit: float, reason: str
) -> None:
    code = """
from agentbench_tui.model.answer import Answer, Usage
def dear(prompt):
    return Answer(prompt, usage=Usage(4, 6), cost_usd=0.1)
"""
    result = await run(tmp_path, suite(10), code, "dear", **{option: limit})
    assert (result.outcome.status, result.outcome.stop_reason) == ("complete", reason)
    execution = result.execution("dear")
    assert (execution["status"], execution["stop_reason"]) == ("complete", reason)
    assert execution["cases"]["observed"] == 3


async def test_what_a_spent_cap_leaves_unasked_is_incomplete_and_says_why(tmp_path: Path) -> None:
    code = """
from agentbench_tui.model.answer import Answer
def dear(prompt):
    return Answer(prompt, cost_usd=0.1)
"""
    result = await run(tmp_path, suite(10), code, "dear", cost_limit_usd=0.25, seeds=2)
    reason = "cost limit reached: 0.3000 of 0.25 USD"
    assert (result.document["status"], result.document["stop_reason"]) == ("incomplete", reason)
    ends = [(one["status"], one["stop_reason"]) for one in result.document["executions"]]
    assert ends == [("complete", reason), ("incomplete", reason)]


RETRIED = """
from collections import Counter
from agentbench_tui.model.answer import AgentFailure, Answer, FailureKind, Usage
seen = Counter()
def shaky(request):
    prompt = request.case.input
    kinds = {"0": FailureKind.RATE_LIMITED, "1": FailureKind.SERVER, "2": FailureKind.PARSE}
    if request.attempt < 1 or prompt == "0" and request.attempt < 2:
        raise AgentFailure(
            kinds[prompt], "not now", retry_after_s=0.0, partial=Answer("half", usage=Usage(3, 4))
        )
    return prompt
"""


async def test_failed_attempts_are_kept_and_only_passing_failures_are_tried_again(
    tmp_path: Path,
) -> None:
    result = await run(tmp_path, suite(3, retries=2), RETRIED, "shaky")
    kept = result.rows("SELECT case_key, attempt, failure_kind, partial FROM attempts")
    assert [(row["attempt"], row["failure_kind"]) for row in kept] == [
        (0, "rate_limited"), (1, "rate_limited"), (0, "server")
    ]  # fmt: skip
    assert all(json.loads(row["partial"])["text"] == "half" for row in kept)
    answers = result.rows("SELECT attempt, failure_kind FROM answers ORDER BY case_key")
    assert [tuple(row) for row in answers] == [(2, None), (1, None), (0, "parse")]
    assert result.metrics("shaky")["retries"]["value"] == 3


async def test_what_failed_attempts_used_counts_against_the_cap(tmp_path: Path) -> None:
    result = await run(tmp_path, suite(3, retries=2), RETRIED, "shaky", token_limit=14)
    assert result.outcome.stop_reason == "token limit reached: 14 of 14"
    assert result.execution("shaky")["cases"]["observed"] == 1


SEEDED = """
def first(request):
    return f"{request.seed}"
second = third = first
"""


async def seeds(folder: Path) -> tuple[Result, dict[str, list[str]]]:
    document = suite(40, iterations={"warmup": 0, "measured": 2})
    result = await run(folder, document, SEEDED, "first", "second", "third")
    return result, {
        agent: result.column(
            "SELECT json_extract(answer, '$.text') FROM answers a JOIN benchmark_executions e"
            " ON e.key=a.execution_key WHERE agent_id=? ORDER BY case_key, iteration",
            agent,
        )
        for agent in ("first", "second", "third")
    }


async def test_agents_take_turns_in_blocks_and_get_the_same_seeds_in_every_run(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    result, given = await seeds(tmp_path)
    _, again = await seeds(tmp_path_factory.mktemp("again"))
    assert given["first"] == given["second"] == given["third"] == again["first"]
    assert len(set(given["first"])) == 80
    order = result.column(
        "SELECT agent_id FROM answers a JOIN benchmark_executions e ON e.key=a.execution_key"
        " ORDER BY a.seq"
    )
    turns = [name for n, name in enumerate(order) if n == 0 or order[n - 1] != name]
    assert len(turns) >= 2 * 8 * 3 - 2 * 8
    orders = {tuple(order[n : n + 15 : 5]) for n in range(0, 240, 15)}
    assert all(sorted(one) == ["first", "second", "third"] for one in orders)
    assert len(orders) > 1


UNLIKE = """
import sys
class Unstartable:
    def start(self):
        raise OSError("no such device")
    def answer(self, prompt):
        return prompt
class Unclosable:
    def answer(self, prompt):
        return prompt
    def close(self):
        raise RuntimeError("the door is stuck")
def raising(prompt):
    raise ValueError("cannot")
def exiting(prompt):
    sys.exit(3)
def fine(prompt):
    return prompt
"""


async def test_whatever_fails_no_other_result_is_lost(tmp_path: Path) -> None:
    agents = ("Unstartable", "Unclosable", "raising", "exiting", "fine")
    result = await run(tmp_path, suite(3), UNLIKE, *agents)
    seen = {one["agent_id"]: one for one in result.document["executions"]}
    assert seen["fine"]["cases"]["correct"] == seen["Unclosable"]["cases"]["correct"] == 3
    assert seen["raising"]["failures"] == seen["exiting"]["failures"] == {"agent": 3}
    assert seen["Unstartable"]["status"] == "incomplete"
    assert seen["Unstartable"]["stop_reason"].startswith("the agent did not start: OSError: no")
    assert result.outcome.status == "incomplete"
    stages = result.rows("SELECT stage, kind, detail FROM failures WHERE stage!='answer'")
    assert {(row["stage"], row["kind"]) for row in stages} == {
        ("start", "agent"), ("close", "agent")
    }  # fmt: skip
    assert any("the door is stuck" in row["detail"] for row in stages)


@pytest.mark.parametrize(
    ("method", "stage", "kind", "correct"),
    [("start", "start", "harness", 0), ("close", "close", "agent", 2)],
)
async def test_an_adapter_that_breaks_takes_no_other_agent_with_it(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    stage: str,
    kind: str,
    correct: int,
) -> None:
    from agentbench_tui.agents.python.python_agent import PythonAgent

    healthy = getattr(PythonAgent, method)

    async def sometimes(self: PythonAgent) -> None:
        await healthy(self)
        if self._origin.name == "one":
            raise KeyError("ours")

    monkeypatch.setattr(PythonAgent, method, sometimes)
    code = "def one(prompt): return prompt\ndef two(prompt): return prompt\n"
    result = await run(tmp_path, suite(2), code, "one", "two")
    assert result.execution("two")["cases"]["correct"] == 2
    assert result.execution("one")["cases"]["correct"] == correct
    found = [tuple(row) for row in result.rows("SELECT stage, kind FROM failures")]
    assert found == [(stage, kind)]


SCORERS = """
class Judge:
    def __call__(self, case, answer):
        if case.id == "c0":
            raise ValueError("no opinion")
        if case.id == "c1":
            raise SystemExit(4)
        return True
    async def close(self):
        raise OSError("the judge will not go")
judge = Judge()
def second(case, answer):
    raise ValueError("never any opinion")
"""


SECOND = {"python:scorers.py:second": {}, "counts": False}


async def test_a_scorer_that_fails_is_no_fault_of_the_agent(tmp_path: Path) -> None:
    (tmp_path / "scorers.py").write_text(SCORERS)
    document = suite(4, scorers=["python:scorers.py:judge", SECOND])
    result = await run(tmp_path, document, ECHO, "echo")
    execution = result.execution("echo")
    assert execution["failures"] == {"grader": 2}
    assert execution["metrics"]["accuracy"]["value"] == 1.0
    assert execution["metrics"]["accuracy"]["n"] == 2
    assert execution["metrics"]["reliability"]["n"] == 2
    assert result.column("SELECT COUNT(*) FROM answers WHERE answer IS NOT NULL") == [4]
    assert result.outcome.status == "complete"
    details = result.rows("SELECT stage, detail FROM failures WHERE kind='grader'")
    assert sum("never any opinion" in row["detail"] for row in details) == 2


ENDERS = """
class Outcome(BaseException):
    pass
RAISED = [Outcome("no"), GeneratorExit(), KeyboardInterrupt(), ValueError(10**5000)]
def sync(case, answer):
    raise RAISED[int(case.id[1:])]
async def later(case, answer):
    raise RAISED[int(case.id[1:])]
"""


@pytest.mark.parametrize("name", ["sync", "later"])
async def test_whatever_a_scorer_raises_is_a_failure_of_the_grader(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / "enders.py").write_text(ENDERS)
    result = await run(tmp_path, suite(4, scorers=[f"python:enders.py:{name}"]), ECHO, "echo")
    assert result.execution("echo")["failures"] == {"grader": 4}
    details = " ".join(result.column("SELECT detail FROM failures ORDER BY seq"))
    for words in ("Outcome: no", "GeneratorExit", "KeyboardInterrupt", "ValueError: (its message"):
        assert words in details


async def test_precision_ends_an_execution_after_five_iterations_at_least(tmp_path: Path) -> None:
    document = suite(
        4,
        iterations={"warmup": 0, "measured": 9},
        early_stop={"metric": "accuracy", "half_width": 0.1},
    )
    result = await run(tmp_path, document, ECHO, "echo")
    execution = result.execution("echo")
    assert execution["status"] == "complete"
    assert execution["stop_reason"].startswith("precise enough: accuracy within ± 0.1 after 5")
    assert execution["cases"]["observed"] == 5 * 4
    assert execution["cases"]["total"] == 9 * 4


async def test_a_hopeless_agent_is_asked_no_further_and_the_others_are(tmp_path: Path) -> None:
    code = "def wrong(prompt): return 'no'\n" + ECHO
    document = suite(
        64, iterations={"warmup": 0, "measured": 2}, early_stop={"hopeless_below": 0.5}
    )
    result = await run(tmp_path, document, code, "wrong", "echo")
    hopeless = result.execution("wrong")
    assert hopeless["stop_reason"].startswith("hopeless: accuracy is below 0.5 (upper bound 0.1")
    assert hopeless["status"] == "complete"
    assert hopeless["cases"]["observed"] == 24
    assert result.execution("echo")["cases"]["observed"] == 128


async def test_a_hopeless_agent_on_its_own_is_looked_at_within_an_iteration(tmp_path: Path) -> None:
    code = "def wrong(prompt): return 'no'\n"
    result = await run(tmp_path, suite(200, early_stop={"hopeless_below": 0.5}), code, "wrong")
    assert result.execution("wrong")["cases"]["observed"] == 50


async def test_ten_broken_connections_in_a_row_end_an_execution_incomplete(tmp_path: Path) -> None:
    code = (
        ECHO
        + """
from agentbench_tui.model.answer import AgentFailure, FailureKind
def away(prompt):
    raise AgentFailure(FailureKind.CONNECTION, "refused")
"""
    )
    result = await run(tmp_path, suite(30), code, "away", "echo")
    execution = result.execution("away")
    assert execution["status"] == "incomplete"
    assert execution["stop_reason"] == "10 failures of connection or harness in a row"
    assert execution["failures"] == {"connection": 10}
    assert result.execution("echo")["cases"]["correct"] == 30
    assert result.outcome.status == "incomplete"


async def test_nobody_is_asked_any_more_when_nothing_can_be_kept(tmp_path: Path) -> None:
    code = """
import pathlib, time
folder = pathlib.Path(__file__).parent
def echo(prompt):
    with (folder / "asked").open("a") as asked:
        asked.write("x")
    (folder / "store.db").unlink(missing_ok=True)
    while not list(folder.glob("store-saved-*.db")):
        time.sleep(0.01)
    time.sleep(0.01)  # else a busy machine asks all before it has told itself to stop
    return prompt
"""
    with pytest.raises(StoreError, match="everything up to then is in"):
        await run(tmp_path, suite(1_000), code, "echo")
    assert len((tmp_path / "asked").read_text()) < 500


async def test_a_load_does_not_go_on_when_nothing_can_be_kept(tmp_path: Path) -> None:
    code = """
import pathlib
folder = pathlib.Path(__file__).parent
def echo(prompt):
    with (folder / "asked").open("a") as asked:
        asked.write("x")
    (folder / "store.db").unlink(missing_ok=True)
    return prompt
"""
    load = {"rate": 50, "duration_s": 60, "warmup_requests": 0}
    document = suite(kind="load", load=load, dataset=None, scorers=[])
    with pytest.raises(StoreError, match="everything up to then is in"):
        await run(tmp_path, document, code, "echo")
    assert len((tmp_path / "asked").read_text()) < 50 * 60 / 2


@pytest.mark.parametrize("failing", ["write_ticks", "answer_wishes"])
async def test_what_fails_beside_a_run_is_said_and_costs_it_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    async def fail(*given: object) -> None:
        raise LookupError("it broke")

    monkeypatch.setattr(coordinator, failing, fail)
    made = plan(tmp_path, suite(3), ECHO, "echo")
    create_or_migrate(tmp_path / "store.db")
    said: list[str] = []
    outcome = await coordinator.carry_out(made, tmp_path / "store.db", say=said.append)
    assert outcome.status == "complete"
    assert len(said) == 1
    assert said[0].startswith("warning: ")
    assert said[0].endswith("LookupError: it broke")


async def test_it_is_said_that_the_machine_could_not_be_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise LookupError("it broke")

    monkeypatch.setattr(coordinator, "captured_environment", fail)
    made = plan(tmp_path, suite(3), ECHO, "echo")
    create_or_migrate(tmp_path / "store.db")
    said: list[str] = []
    with pytest.raises(LookupError):
        await coordinator.carry_out(made, tmp_path / "store.db", say=said.append)
    assert said == ["warning: the machine is not recorded: LookupError: it broke"]


async def test_a_case_of_the_dataset_may_be_picked(tmp_path: Path) -> None:
    result = await run(tmp_path, suite(5), ECHO, "echo", cases=("c3", "c1"))
    asked = result.column("SELECT json_extract(answer, '$.text') FROM answers ORDER BY 1")
    assert asked == ["1", "3"]
    assert len(cases(5)) == 5


async def test_cases_that_a_killed_run_has_left_are_removed_by_the_next(tmp_path: Path) -> None:
    database = tmp_path / "store.db"
    create_or_migrate(database)
    left = "INSERT INTO datasets (hash, source, cases) VALUES ('unfinished:gone:hash', 'x', 0)"
    write_once(database, [lambda c: c.execute(left)])
    result = await run(tmp_path, suite(2), ECHO, "echo")
    assert result.execution("echo")["cases"]["correct"] == 2
    assert result.rows("SELECT 1 FROM datasets WHERE hash LIKE 'unfinished:%'") == []
