"""No part of a secret is in what a score says of an answer, wherever the answer has it."""

import inspect
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from agentbench_tui.model.answer import Answer, Case, Score, ToolCall
from agentbench_tui.model.text.secrets import Redactor
from agentbench_tui.scoring.code.program import _error_text
from agentbench_tui.scoring.registry import make_scorer, scorer_names

PLAIN = "mY-Kq7vXw9-ZbNp3rTs5-JhGf8dLc2-WxVe6uRm4-QaPo1iBn0-TyUk"
QUOTED = PLAIN[:12] + '"' + PLAIN[12:24] + "\\" + PLAIN[24:36] + "\n" + PLAIN[36:]
DIGITS = "73829164550182937465"
FRAGMENT = 6
"""Characters of a secret that are too many."""
OFFSETS = (0, *range(4, 64, 4), 75, 100, 119, 130)

FIXED: dict[str, Any] = {
    "exact": "e 1",
    "normalized": "e 1",
    "contains": "e 1",
    "regex": "^e 1$",
    "numeric": 1,
    "multiple_choice": "B",
    "token_f1": "e 1",
    "rouge_l": "e 1",
    "json_subset": {"a": "1", "b": 2},
    "tool_calls": [{"name": "f", "arguments": {"a": "1"}}],
    "json_schema": None,
    "weighted": "1",
}
"""Scorer → expected; of those that run nothing."""
OPTIONS: dict[str, Any] = {
    "json_schema": {"schema": {"type": "object", "properties": {"a": {"enum": ["1"]}}}},
    "weighted": {"parts": [{"scorer": "exact"}, {"scorer": "numeric"}]},
    "multiple_choice": {"choices": 3},
}


def fragments(secret: str) -> Iterator[str]:
    for piece in secret.replace('"', "\n").replace("\\", "\n").splitlines():
        for start in range(len(piece) - FRAGMENT + 1):
            yield piece[start : start + FRAGMENT]


def answers(said: str) -> Iterator[Answer]:
    yield Answer(said)
    yield Answer(f"The answer is {said}.")
    yield Answer(msgspec.json.encode({"a": said, said: 1}).decode())
    yield Answer(data={"a": said, said: [said]})
    yield Answer(data={"a": msgspec.json.encode({"in": said}).decode()})
    yield Answer("t", tool_calls=(ToolCall("f", {"a": said}), ToolCall(said, {said: said})))


def checked(score: Score, secret: str) -> None:
    """The score, as it is stored, has no part of the secret."""
    told = Redactor().of_json(msgspec.json.encode(score).decode())
    folded = told.replace(",", "").replace("_", "").lower()
    for fragment in fragments(secret):
        assert fragment not in told
        assert fragment.lower() not in folded, told


def test_every_scorer_is_tried_here() -> None:
    assert {*FIXED, "python_tests", "model_graded"} == set(scorer_names())


@pytest.mark.parametrize("secret", [PLAIN, QUOTED, DIGITS], ids=["plain", "quoted", "digits"])
@pytest.mark.parametrize("name", FIXED)
def test_no_scorer_keeps_a_part_of_a_secret(
    name: str, secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", secret)
    scorer = make_scorer({name: OPTIONS.get(name, {})})
    case = Case("c", "q", FIXED[name])
    for offset in OFFSETS:
        for answer in answers("x" * offset + " " + secret):
            score = scorer.score(case, answer)
            assert isinstance(score, Score)
            checked(score, secret)


@pytest.mark.parametrize("secret", [PLAIN, QUOTED], ids=["plain", "quoted"])
def test_the_error_of_a_test_is_masked_before_it_is_shortened(
    secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", secret)
    for offset in range(0, 400, 3):
        said = "x" * offset + secret
        for error in ([f"KeyError: {said!r}", f"raise KeyError({said!r})"], ["E", said], said):
            checked(Score("s", 0.0, False, _error_text(error)), secret)


async def test_the_error_of_a_real_test_is_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", PLAIN)
    code = f"def f(x):\n    raise KeyError('{'x' * 170}{PLAIN}')"
    case = Case("c", "", {"test": "assert f(1)", "entry_point": "f"})
    score = make_scorer("python_tests").score(case, Answer(f"```python\n{code}\n```"))
    assert inspect.isawaitable(score)
    given = await score
    assert given.reason.startswith("a test: KeyError: 'xxx")
    assert "***" in given.reason
    checked(given, PLAIN)


async def test_the_reason_of_a_judge_is_masked_before_it_is_shortened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MY_TOKEN", PLAIN)

    class Judge:
        offset = 0

        async def start(self) -> None: ...

        async def close(self) -> None: ...

        async def answer(self, request: Any) -> Answer:
            del request
            return Answer(data={"reason": "x" * self.offset + PLAIN, "grade": 2})

    judge = Judge()

    async def open_judge(target: Any) -> Any:
        del target
        return judge

    scorer = make_scorer(
        {"model_graded": {"judges": ["mock"], "rubric": "r"}}, open_judge=open_judge
    )
    for judge.offset in (0, *range(240, 310)):
        score = scorer.score(Case("c", "q", "e"), Answer("a"))
        assert inspect.isawaitable(score)
        checked(await score, PLAIN)


def test_the_value_is_that_of_the_answer_as_it_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", PLAIN)
    case = Case("c", "q", PLAIN)
    right = make_scorer("exact").score(case, Answer(PLAIN))
    assert right == Score("exact", 1.0, True)
    wrong = make_scorer("numeric").score(Case("c", "q", 7), Answer(f"{PLAIN} 8"))
    assert isinstance(wrong, Score)
    assert not wrong.correct
    assert wrong.metadata["number"] == 8
