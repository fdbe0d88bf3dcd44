"""Whatever an agent says: it is stored bounded, without secrets, and it never ends the run."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from carried_out import Result, run, suite

from agentbench_tui.engine.task.recorder import LONGEST_ANSWER, LONGEST_DETAIL

WEIRD = r"""
import math
from agentbench_tui.model.answer import AgentFailure, Answer, FailureKind, Message, ToolCall, Usage

def nested(depth):
    value = "deep"
    for _ in range(depth):
        value = [value]
    return value

ANSWERS = {
    "0": lambda: "lone \ud800 surrogate",
    "1": lambda: Answer("nan", data={"x": math.nan, "y": math.inf}),
    "2": lambda: Answer("big", data={"n": 2**63, "m": -(2**80), "many": 10**400}),
    "3": lambda: "nul \x00 and \x1b[31mred\x1b]0;title\x07 and \u202eevil",
    "4": lambda: Answer("deep", data=nested(100_000)),
    "5": lambda: Answer("usage", usage=Usage(2**70, 5)),
    "6": lambda: Answer("ttft", ttft_ms=math.nan, cost_usd=math.inf),
    "7": lambda: Answer("negative", usage=Usage(-5, 3), api_calls=-1),
    "8": lambda: Answer("turns", messages=(
        Message("tool\ud800", "x" * (5 << 20), (ToolCall("f\ud800", {"a": "\ud800"}),), "id\ud800"),
    )),
    "9": lambda: {"data": {"\ud800": {1: object()}}},
    "10": lambda: Answer("model", model="m\ud800" * 300, finish_reason="\x00"),
    "11": lambda: None,
    "12": lambda: Answer(text=7),
    "13": lambda: {"text": "a", "usage": {"input_tokens": "many"}},
    "14": lambda: Answer("digits", data={"n": 10**5000}),
    "15": lambda: Answer("digits, and half a character \ud800", data={"n": 10**5000}),
}
def weird(prompt):
    return ANSWERS[prompt]()
def failing(prompt):
    raise AgentFailure(FailureKind.AGENT, "no \ud800\x00 " + "y" * 10_000, partial=ANSWERS["8"]())
"""


async def test_no_answer_ends_the_run(tmp_path: Path) -> None:
    result = await run(tmp_path, suite(16), WEIRD, "weird", "failing")
    assert result.outcome.status == "complete"
    execution = result.execution("weird")
    assert execution["cases"]["observed"] == 16
    assert set(execution["failures"]) <= {"parse", "agent"}
    kinds = dict(
        map(
            tuple,
            result.rows(
                "SELECT case_id, failure_kind FROM answers a JOIN cases c ON c.key=a.case_key"
                " JOIN benchmark_executions e ON e.key=a.execution_key WHERE agent_id='weird'"
            ),
        )
    )
    assert {case for case, kind in kinds.items() if kind == "parse"} >= {
        "c4", "c5", "c6", "c7", "c11", "c12", "c13", "c14"
    }  # fmt: skip
    assert kinds["c3"] is None
    assert result.execution("failing")["failures"] == {"agent": 16}
    for stored in result.column("SELECT answer FROM answers WHERE answer IS NOT NULL"):
        json.loads(stored)
    details = result.column("SELECT detail FROM failures")
    assert max(map(len, details)) <= LONGEST_DETAIL + 1
    assert json.dumps(result.document, allow_nan=False)


async def test_no_failure_that_an_agent_raises_ends_the_run(tmp_path: Path) -> None:
    """Nor takes it the case out of the agent's own metrics, as failures of the harness are."""
    code = """
from agentbench_tui.model.answer import AgentFailure, Answer, FailureKind
def partial(prompt): raise AgentFailure(FailureKind.AGENT, "no", partial=Answer(ttft_ms="soon"))
def wait(prompt): raise AgentFailure(FailureKind.RATE_LIMITED, "no", retry_after_s="soon")
def detail(prompt): raise AgentFailure(FailureKind.AGENT, 7)
def kind(prompt): raise AgentFailure("weird", "no")
def harness(prompt): raise AgentFailure(FailureKind.HARNESS, "no")
"""
    names = ("partial", "wait", "detail", "kind", "harness")
    result = await run(tmp_path, suite(1), code, *names)
    assert result.outcome.status == "complete"
    failures = {name: result.execution(name)["failures"] for name in names}
    assert failures == {name: {"agent": 1} for name in names} | {"harness": {"parse": 1}}
    assert result.metrics("harness")["accuracy"]["value"] == 0


async def test_no_score_ends_the_run(tmp_path: Path) -> None:
    """Neither one with values of wrong types, nor what a plug-in returns that is no score."""
    code = """
from agentbench_tui.model.answer import Score
def right(prompt): return prompt
def odd(case, answer): return Score("odd", 1.0, "yes", reason=["no text"])
"""
    scorers = ["exact", {"python:agents.py:odd": {}, "counts": False}]
    result = await run(tmp_path, suite(2, scorers=scorers), code, "right")
    assert result.outcome.status == "complete"
    assert result.execution("right")["cases"]["correct"] == 2
    (detail,) = set(result.column("SELECT detail FROM failures WHERE stage='score'"))
    assert "invalid score: Expected `bool`, got `str` - at `$.correct`" in detail


async def test_impossible_numbers_are_told_and_never_summed(tmp_path: Path) -> None:
    result = await run(tmp_path, suite(8), WEIRD, "weird")
    details = result.column("SELECT detail FROM failures WHERE kind='parse' ORDER BY case_key")
    assert details[-3:] == [
        "usage.input_tokens is 1180591620717411303424, not a number from 0 to 10^15",
        "ttft_ms is nan, not a number from 0 to 10^15",
        "usage.input_tokens is -5, not a number from 0 to 10^15",
    ]
    assert result.metrics("weird")["tokens_used"]["value"] is None


async def test_messages_are_rows_bounded_and_clean(tmp_path: Path) -> None:
    result = await run(tmp_path, suite(9), WEIRD, "weird")
    (row,) = result.rows("SELECT role, content, tool_calls, tool_call_id FROM messages")
    assert (row["role"], row["tool_call_id"]) == ("tool\\ud800", "id\\ud800")
    assert len(row["content"]) == LONGEST_ANSWER + 1
    (call,) = json.loads(row["tool_calls"])
    assert (call["name"], call["arguments"]) == ("f\\ud800", {"a": "\\ud800"})


async def test_a_huge_answer_is_cut_and_says_its_length_and_hash(tmp_path: Path) -> None:
    code = """
from agentbench_tui.model.answer import Answer, Usage
def huge(prompt):
    return Answer("z", data="y" * (10 << 20), usage=Usage(1, 2))
def long(prompt):
    return "x" * (4 << 20)
def endless(prompt):
    return "x" * (10 << 20)
"""
    result = await run(tmp_path, suite(1), code, "huge", "long", "endless")
    huge, long = (
        json.loads(stored) for stored in result.column("SELECT answer FROM answers ORDER BY seq")
        if stored is not None
    )  # fmt: skip
    if len(huge["text"]) > 1:  # agents are asked in an order of the seed's
        huge, long = long, huge
    whole = json.dumps({"text": "x" * (4 << 20)}, separators=(",", ":"))
    assert long["metadata"] == {
        "truncated": True,
        "original_length": len(whole),
        "sha256": hashlib.sha256(whole.encode()).hexdigest(),
    }
    assert set(long["text"]) == {"x"}
    assert huge["text"] == "z"
    assert huge["metadata"]["original_length"] > 10 << 20
    assert huge["usage"] == {"input_tokens": 1, "output_tokens": 2}
    assert result.execution("endless")["failures"] == {"limit": 1}
    assert result.database.stat().st_size < 12 << 20


CANARY = 'canary/Zu9kq+4711=quoted"end'

LEAKY = r"""
import os
from agentbench_tui.model.answer import AgentFailure, Answer, FailureKind, Message, ToolCall
key = os.environ["LEAKY_API_KEY"]
def says(prompt):
    call = ToolCall("send", {"to": key, key: 1}, result={"auth": f"Bearer {key}"})
    turns = (Message(f"tool {key}", f"key={key}", (call,), key),)
    return Answer(f"my key is {key}", data={"k": [key]}, tool_calls=(call,), messages=turns,
                  model=key, metadata={key: key})
def edge(prompt):
    # Each quote takes two characters of JSON, so this is cut, and cut within the key.
    return "x" * ((2 << 20) - 10) + key + chr(34) * ((1 << 20) + 99)
def errs(prompt):
    raise AgentFailure(FailureKind.SERVER, "x" * 1990 + key, partial=says(prompt))
def raises(prompt):
    raise RuntimeError(f"bad key {key}")
class Refuses:
    def start(self):
        raise RuntimeError(f"no entry with {key}")
    def answer(self, prompt):
        return prompt
class Clings:
    def answer(self, prompt):
        return prompt
    def close(self):
        raise RuntimeError(f"still holding {key}")
def judged(case, answer):
    if case.id == "c0":
        raise ValueError(f"judge's key {key}")
    return {"value": 1.0, "correct": True, "reason": key, "metadata": {"key": key}}
"""


def bytes_on_disk(result: Result) -> bytes:
    folder = result.database.parent
    return b"".join(
        path.read_bytes() for path in sorted(folder.glob("store.db*")) if path.is_file()
    )


async def test_a_key_of_the_environment_is_nowhere_in_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEAKY_API_KEY", CANARY)
    agents = ("says", "edge", "errs", "raises", "Refuses", "Clings")
    document: dict[str, Any] = suite(
        3,
        scorers=["python:agents.py:judged"],
        retries=1,
        suite={"prices": [{"model": "*", "input": 1, "output": 1}]},
    )
    result = await run(tmp_path, document, LEAKY, *agents)
    assert result.execution("Clings")["cases"]["answered"] == 2
    stored = bytes_on_disk(result)
    assert b"my key is ***" in stored
    assert b"canary" not in stored

    from agentbench_tui.engine.task.rescoring import rescore

    await rescore(result.database, dict(result.rows("SELECT * FROM runs")[0]))
    assert b"canary" not in bytes_on_disk(result)
    assert "canary" not in json.dumps(result.document)


async def test_a_secret_of_digits_leaves_numbers_that_hold_its_digits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_PIN_TOKEN", "345678")
    code = """
from agentbench_tui.model.answer import Answer
def counting(prompt):
    return Answer("345678 it is", data={"n": 1234567890})
"""
    result = await run(tmp_path, suite(1), code, "counting")
    assert result.outcome.status == "complete"
    (answer,) = result.column("SELECT answer FROM answers")
    assert json.loads(answer)["text"] == "*** it is"
    assert json.loads(answer)["data"] == {"n": 1234567890}
