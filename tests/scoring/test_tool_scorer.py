"""Tool calls: names, arguments by value, pairing, partial credit."""

from itertools import permutations
from typing import Any

import pytest
from bounded_work import bounded_work
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.model.answer import Answer, Case, GraderFailure, Message, Score, ToolCall
from agentbench_tui.scoring.code import cpu_limit
from agentbench_tui.scoring.registry import make_scorer


def score(expected: object, *calls: ToolCall, **options: object) -> Score:
    scorer = make_scorer({"tool_calls": options})
    result = scorer.score(Case("case", "", expected), Answer(tool_calls=calls))
    assert isinstance(result, Score)
    return result


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(name, arguments)


ADD = {"name": "add", "arguments": {"a": 1, "b": 2}}


def test_right_call_by_value() -> None:
    assert score(ADD, call("add", a=1.0, b="2")).correct
    assert not score(ADD, call("add", a=1, b="2"), numeric_strings=False).correct


def test_partial_credit_by_hand() -> None:
    assert score(ADD, call("add", a=1, b=3)).value == 0.75  # name, and one argument of two
    assert score(ADD, call("add", a=1)).value == 0.75
    # a, b right, c not known: 0.5 + 0.5 × 2/3
    assert score(ADD, call("add", a=1, b=2, c=3)).value == pytest.approx(5 / 6)
    assert score(ADD, call("sub", a=1, b=2)).value == 0
    assert score(ADD).value == 0


def test_extra_calls_share_the_credit_unless_allowed() -> None:
    calls = call("add", a=1, b=2), call("sub", a=1)
    result = score(ADD, *calls)
    assert (result.value, result.correctness, result.completeness) == (0.5, 0.5, 1)
    assert not result.correct
    assert result.reason == "1 call too many (sub)"
    assert score(ADD, *calls, allow_extra=True).correct


@pytest.mark.parametrize("ordered", [False, True])
def test_only_superfluous_calls_are_named_as_too_many(ordered: bool) -> None:
    right = call("add", a=1, b=2)
    assert score(ADD, right, right, ordered=ordered).reason == "1 call too many (add)"
    reason = score(ADD, call("sub"), right, call("mul"), ordered=ordered).reason
    assert reason == "2 calls too many (sub, mul)"
    reason = score(ADD, call("add", a=1, b=3), call("sub"), ordered=ordered).reason
    assert reason == "add: b is 3, expected 2; 1 call too many (sub)"


def test_no_call_expected() -> None:
    assert score([]).correct
    result = score([], call("add"))
    assert result.value == 0
    assert "no tool should be called" in result.reason


def test_optional_arguments() -> None:
    expected = {"name": "get", "arguments": {"city": "Rome", "unit": "C"}, "optional": ["unit"]}
    assert score(expected, call("get", city="Rome")).correct
    assert score(expected, call("get", city="Rome", unit="c")).correct
    assert not score(expected, call("get", city="Rome", unit="F")).correct


def test_possible_answers() -> None:
    expected = [
        {
            "a.find": {
                "where": ["New York, NY", "NYC"],
                "n": [1, ""],
                "box": [{"x": [1, 2], "y": ["", 3]}],
            }
        }
    ]

    def right(**arguments: Any) -> bool:
        return score(
            expected, call("a_find", **arguments), possible_answers=True, ignore_punctuation=True
        ).correct

    assert right(where="new york NY", box={"x": 2})
    assert right(where="NYC", n=1, box={"x": 1, "y": 3})
    assert not right(where="NYC", n=2, box={"x": 1})
    assert not right(where="NYC", box={"y": 3})
    assert not right(box={"x": 1})


def test_parallel_calls_in_any_or_fixed_order() -> None:
    expected = [{"f": {"x": 1}}, {"f": {"x": 2}}]
    calls = call("f", x=2), call("f", x=1)
    assert score(expected, *calls).correct
    result = score(expected, *calls, ordered=True)
    assert not result.correct
    assert score(expected, *reversed(calls), ordered=True).correct


def test_pairing_finds_a_full_match_where_a_greedy_one_would_not() -> None:
    expected = [{"f": {"x": [1, 2]}}, {"f": {"x": [1]}}]
    for calls in permutations([call("f", x=1), call("f", x=2)]):
        assert score(expected, *calls, possible_answers=True).correct


def test_many_calls_in_any_order_are_the_graders_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_limit, "LIMIT_S", 0.1)
    calls = [call("f", x=f"thing {number}") for number in range(100_000)]
    expected = [{"f": {"x": f"item {number}"}} for number in range(1_000)]
    with bounded_work(), pytest.raises(GraderFailure, match=r"took more than 0\.1 s"):
        score(expected, *calls)


@given(st.permutations(range(5)), st.sets(st.integers(0, 4)))
def test_order_never_matters_for_parallel_calls(order: list[int], broken: set[int]) -> None:
    expected = [{"f": {"x": n}} for n in range(5)]
    calls = [call("f", x=n + 100 if n in broken else n) for n in order]
    result = score(expected, *calls)
    assert result.value == pytest.approx(1 - len(broken) * 0.5 / 5)
    assert result.correct is not bool(broken)


def test_calls_made_on_the_way_count_when_the_answer_has_none() -> None:
    turn = Message("assistant", tool_calls=(call("add", a=1, b=2),))
    result = make_scorer("tool_calls").score(
        Case("case", "", ADD), Answer("It is 3.", messages=(turn,))
    )
    assert isinstance(result, Score)
    assert result.correct


@pytest.mark.parametrize("expected", [None, "add", [{"a": 1, "b": 2}], [{"add": 3}]])
def test_expectation_that_is_no_call_is_the_graders_failure(expected: object) -> None:
    with pytest.raises(GraderFailure):
        score(expected, call("add"))
