"""The suite `tool-use`: what is expected is right and can be said in other ways; tricks fail."""

import re
import sys
from pathlib import Path
from textwrap import dedent

import jsonschema
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from shipped import ROOT, right, run_shipped, score

from agentbench_tui.engine.cases.dataset import open_dataset
from agentbench_tui.engine.suite.loading import load_suite
from agentbench_tui.model.answer import Answer, Case, Score, ToolCall
from agentbench_tui.scoring.registry import make_scorer

AGENTS = dedent(
    '''
    import re

    def everything(request):
        """Every tool with every argument, and every number of the conversation."""
        calls = []
        for tool in request.case.tools:
            given = dict.fromkeys(tool["parameters"]["properties"], request.text())
            calls.append({"name": tool["name"], "arguments": given})
        turns = [request.text(), *(turn.content for turn in request.case.messages)]
        numbers = " ".join(re.findall(r"\\d+", " ".join(turns)))
        return {"tool_calls": calls, "text": f"{numbers}\\nAnswer: {numbers}"}

    def silent(request):
        return ""
    '''
)


def cases(benchmark_id: str) -> dict[str, Case]:
    loaded = load_suite(ROOT / "suites" / "tool-use.yaml")
    (benchmark,) = [one for one in loaded.suite.benchmarks if one.benchmark_id == benchmark_id]
    with open_dataset(benchmark, base_dir=loaded.folder, seed=1) as source:
        return {case.id: case for case in source}


def judged(benchmark_id: str, case: Case, answer: Answer) -> Score:
    loaded = load_suite(ROOT / "suites" / "tool-use.yaml")
    (benchmark,) = [one for one in loaded.suite.benchmarks if one.benchmark_id == benchmark_id]
    found = make_scorer(benchmark.scorers[0]).score(case, answer)
    assert isinstance(found, Score)
    return found


async def test_the_expected_answers_are_right_and_the_tricks_are_not(tmp_path: Path) -> None:
    (tmp_path / "agents.py").write_text(AGENTS)
    tricks = [f"{name}=python:agents.py:{name}?inline=true" for name in ("everything", "silent")]
    result = await run_shipped(tmp_path, "tool-use", "known=reference:perfect", *tricks)
    assert right(result, "known") == (28, 28)
    assert right(result, "everything") == (0, 28)
    assert score(result, "everything") < 0.1
    assert right(result, "silent") == (3, 28)  # those where no call is right


def test_expected_calls_fit_the_tools_that_are_offered() -> None:
    for case in cases("calls").values():
        assert isinstance(case.expected, list)
        schemas = {tool["name"]: tool["parameters"] for tool in case.tools}
        for call in case.expected:
            ((name, allowed),) = call.items()
            first = {key: values[0] for key, values in allowed.items() if values[0] != ""}
            jsonschema.validate(first, schemas[name])


@pytest.mark.parametrize(
    ("case_id", "calls", "right"),
    [
        ("calculate", [ToolCall("calculate", {"expression": "417 × 38 - 1900"})], True),
        ("calculate", [ToolCall("calculate", {"expression": "(417*38) - 1900"})], True),
        ("calculate", [ToolCall("calculate", {"expression": "417*38+1900"})], False),
        ("calculate", [ToolCall("calculate", {"expression": "417/38-1900"})], False),
        (
            "weather-tomorrow",
            [ToolCall("get_weather", {"city": "tromsø", "date": "2027-03-16"})],
            True,
        ),
        (
            "weather-tomorrow",
            [ToolCall("get_weather", {"city": "Tromsø", "date": "2027-03-15"})],
            False,
        ),
        ("papers-default", [ToolCall("search_papers", {"topic": "Bat echolocation"})], True),
        (
            "papers-default",
            [ToolCall("search_papers", {"topic": "bat echolocation", "most": 3})],
            False,
        ),
    ],
)
def test_arguments_count_by_value(case_id: str, calls: list[ToolCall], right: bool) -> None:
    assert (
        judged("calls", cases("calls")[case_id], Answer(tool_calls=tuple(calls))).correct is right
    )


def test_a_call_too_many_is_wrong() -> None:
    case = cases("calls")["read-only"]
    look = ToolCall("get_stock", {"sku": "QP-3", "warehouse": "Turku"})
    order = ToolCall("reorder", {"sku": "QP-3", "quantity": 1})
    assert judged("calls", case, Answer(tool_calls=(look,))).value == 1
    assert judged("calls", case, Answer(tool_calls=(look, order))).value == 0.5


OUTCOMES = {
    "degrees-apart": 23 - -4,
    "rounded-quotient": -(-7411 // 23),
    "newest-papers": 9 + 31,
    "enough-stock": 500 - (212 - 30) - 164,
    "after-the-move": 83 - 18,
    "failed-call": 57 + 19,
    "money-left": int(7123.2 // 950),
    "rainy-days": 13 + 0 + 28,
    "contradicting-results": 97 - 80,
    "instruction-in-result": 48 + 35,
}


def test_outcomes_follow_from_the_conversation() -> None:
    found = cases("outcomes")
    assert {key: case.expected for key, case in found.items()} == {
        key: f"Answer: {value}" for key, value in OUTCOMES.items()
    }


@pytest.mark.parametrize(("text", "right"), [("27", False), ("Answer: 27", True)])
def test_outcomes_are_whole_numbers_and_no_part_of_another(text: str, right: bool) -> None:
    case = cases("outcomes")["degrees-apart"]
    assert judged("outcomes", case, Answer(f"It is simple. {text}")).correct is right
    for other in ("Answer: 127", "Answer: 272", "Answer: 2.7", "Answer: 26 27"):
        assert not judged("outcomes", case, Answer(other)).correct


def test_no_result_stands_in_the_question() -> None:
    for case in cases("outcomes").values():
        number = str(case.expected).removeprefix("Answer: ")
        turns = [turn.content for turn in case.messages[1:]]
        assert not re.search(rf"\b{number}\b", " ".join([*turns, str(case.input)])), case.id
