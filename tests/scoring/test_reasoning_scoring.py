"""Reasoning in an answer's text is not the answer, for any scorer, unless a scorer keeps it."""

from pathlib import Path
from typing import Any

import pytest

from agentbench_tui.model.answer import Answer, Case, Message, Score, ToolCall
from agentbench_tui.scoring.registry import make_scorer

THOUGHT = "<think>\nMaybe the answer is {}? No.\n</think>\n\n"


async def scored(spec: Any, expected: Any, answer: Answer | str, **options: Any) -> Score:
    metadata = options.pop("metadata", {})
    scorer = make_scorer(spec, **options)
    case = Case("case", "question", expected, metadata=metadata)
    score = scorer.score(case, Answer(answer) if isinstance(answer, str) else answer)
    score = score if isinstance(score, Score) else await score
    await scorer.close()
    return score


@pytest.mark.parametrize(
    ("spec", "right", "guess"),
    [
        ("exact", "7", "5"),
        ("normalized", "Seven", "Five"),
        ("contains", "7", "5"),
        ("regex", "7", "5"),
        ("numeric", 7, 5),
        ("token_f1", "seven", "five"),
        ("rouge_l", "seven", "five"),
        ("json_subset", {"n": 7}, {"n": 5}),
        ("json_schema", {"const": {"n": 7}}, {"const": {"n": 5}}),
        ("python_tests", "assert f() == 7", "assert f() == 5"),
        ({"weighted": {"parts": [{"scorer": "numeric"}]}}, 7, 5),
        ("python:scorers.py:ends", "7", "5"),
    ],
    ids=str,
)
async def test_discarded_guess_does_not_count(
    spec: Any, right: Any, guess: Any, tmp_path: Path
) -> None:
    (tmp_path / "scorers.py").write_text(
        "def ends(case, answer):\n    return answer.text == case.expected\n"
    )
    drafts = {
        "json_subset": ('{"n": 5}', '{"n": 7}'),
        "json_schema": ('{"n": 5}', '{"n": 7}'),
        "python_tests": ("```python\ndef f(): return 5\n```", "def f(): return 7"),
        "normalized": ("Five", "Seven"),
        "token_f1": ("five", "seven"),
        "rouge_l": ("five", "seven"),
    }
    draft, final = drafts.get(str(spec), ("5", "7"))
    said = THOUGHT.format(draft) + final
    assert (await scored(spec, right, said, base_dir=tmp_path)).correct
    assert not (await scored(spec, guess, said, base_dir=tmp_path)).correct


async def test_choice_in_the_reasoning_is_no_pick() -> None:
    choices = {"choices": ["w", "x", "y", "z"]}
    said = THOUGHT.format("A") + "C"
    assert (await scored("multiple_choice", "C", said, metadata=choices)).correct
    assert not (await scored("multiple_choice", "A", said, metadata=choices)).correct


class EchoJudge:
    """A judge that finds an answer good when it is shown no reasoning, and reasons itself."""

    pids = ()

    async def start(self) -> None: ...

    async def answer(self, request: Any) -> Answer:
        grade = 1 if "Maybe" in request.case.input else 5
        return Answer(f'<think>{{"grade": 3}}</think>{{"reason": "r", "grade": {grade}}}')

    async def close(self) -> None: ...


async def open_judge(target: str) -> EchoJudge:
    return EchoJudge()


async def test_judge_is_not_shown_the_reasoning_and_its_own_is_no_verdict() -> None:
    judged = {"judges": ["j"], "rubric": "r"}
    said = THOUGHT.format("5") + "7"
    assert (await scored({"model_graded": judged}, None, said, open_judge=open_judge)).value == 1
    kept = {"model_graded": {**judged, "keep_reasoning": True}}
    assert (await scored(kept, None, said, open_judge=open_judge)).value == 0


async def test_scorer_may_keep_the_reasoning() -> None:
    said = THOUGHT.format("5") + "7"
    assert (await scored({"contains": {"keep_reasoning": True}}, "Maybe", said)).correct
    part = {"scorer": {"contains": {}}}
    for weighted, right in (
        ({"parts": [part]}, False),
        ({"parts": [part], "keep_reasoning": True}, True),
        ({"parts": [{"scorer": {"contains": {"keep_reasoning": True}}}]}, True),
    ):
        assert (await scored({"weighted": weighted}, "Maybe", said)).correct is right


async def test_answer_that_ends_inside_its_reasoning_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "scorers.py").write_text("async def short(case, answer): return not answer.text\n")
    said = "<think>\nThe answer is 5"
    for spec, expected in (
        ("numeric", 5),
        ({"regex": {"pattern": ".*"}}, None),
        ("tool_calls", []),
        ("python:scorers.py:short", None),
        ({"weighted": {"parts": [{"scorer": "numeric"}]}}, 5),
    ):
        score = await scored(spec, expected, said, base_dir=tmp_path)
        assert (score.value, score.correct) == (0, False), spec
        assert "ends inside the reasoning" in score.reason, spec


async def test_call_or_data_after_reasoning_that_is_not_closed_is_an_answer() -> None:
    called = Answer("<think>I need the tool", tool_calls=(ToolCall("get", {"id": 1}),))
    assert (await scored("tool_calls", [{"name": "get", "arguments": {"id": 1}}], called)).correct
    before = Answer("<think>now", messages=(Message("assistant", "", called.tool_calls),))
    assert (await scored("tool_calls", [{"name": "get", "arguments": {"id": 1}}], before)).correct
    assert (await scored("json_subset", {"n": 7}, Answer("<think>n is 5", data={"n": 7}))).correct
