"""Whole numbers beyond 2^53 are compared exactly; bounds on digits and on nesting."""

from typing import Any

import pytest

from agentbench_tui.model.answer import Answer, Case, GraderFailure, Score, ToolCall
from agentbench_tui.scoring.registry import make_scorer
from agentbench_tui.scoring.structure.equality import MOST_LEVELS, Equality, EqualityOptions, shown

ID = 2512292042121000001
NEAR = [2512292042121000000, 2512292042121000002, 2.512292042121e18]


def score(spec: Any, expected: Any, answer: Answer) -> Score:
    result = make_scorer(spec).score(Case("case", "", expected), answer)
    assert isinstance(result, Score)
    return result


@pytest.mark.parametrize("near", NEAR)
def test_id_that_differs_in_its_last_digits_is_another_id(near: float) -> None:
    equality = Equality(EqualityOptions())
    assert equality.same(ID, ID)
    assert not equality.same(near, ID)
    assert not equality.same(ID, near)


@pytest.mark.parametrize("options", [{}, {"numeric_strings": False}])
def test_texts_of_ids_and_expressions_are_compared_exactly(options: dict[str, bool]) -> None:
    equality = Equality(EqualityOptions(**options))
    assert equality.same(str(ID), str(ID))
    assert not equality.same(str(ID - 1), str(ID))
    assert equality.same(f"{ID}*2", f"{ID} * 2")
    assert not equality.same(f"{ID - 1} * 2", f"{ID} * 2")
    assert equality.same("2.0 * 3", "2*3.0")


def test_text_and_number_of_an_id() -> None:
    equality = Equality(EqualityOptions())
    assert equality.same(str(ID), ID)
    assert not equality.same(str(ID - 1), ID)
    assert not equality.same(ID - 1, str(ID))
    assert equality.same("2,512,292,042,121,000,001", ID)


def test_tolerance_holds_for_large_numbers_as_for_small_ones() -> None:
    equality = Equality(EqualityOptions(tolerance=1e-6))
    assert equality.same(ID - 1, ID)
    assert equality.same(999_999.5, 1_000_000)
    assert not equality.same(999_990, 1_000_000)


def test_wrong_id_in_a_call_and_in_json() -> None:
    expected = [{"name": "get", "arguments": {"id": ID}}]
    for said, value in ((ID, 1.0), (ID - 1, 0.5), (str(ID), 1.0), (str(ID - 1), 0.5)):
        called = Answer(tool_calls=(ToolCall("get", {"id": said}),))
        assert score("tool_calls", expected, called).value == value
        written = f'"{said}"' if isinstance(said, str) else str(said)
        result = score("json_subset", {"id": ID}, Answer(f'{{"id": {written}}}'))
        assert result.correct is (value == 1)


def nested(levels: int, leaf: Any, kind: str) -> Any:
    value = leaf
    for _ in range(levels):
        value = {"a": value} if kind == "objects" else [value]
    return value


@pytest.mark.parametrize("kind", ["objects", "lists"])
@pytest.mark.parametrize("options", [{}, {"ignore_order": True}])
def test_expected_is_compared_down_to_the_bound(kind: str, options: dict[str, bool]) -> None:
    spec = {"json_subset": options}
    expected = nested(MOST_LEVELS, 7, kind)
    assert score(spec, expected, Answer(data=nested(MOST_LEVELS, 7, kind))).correct
    assert not score(spec, expected, Answer(data=nested(MOST_LEVELS, 8, kind))).correct
    assert not score(spec, expected, Answer("[]")).correct


def test_expected_beyond_the_bound_is_a_failure_that_says_so() -> None:
    deep = nested(900, 7, "objects")
    calls = [{"name": "get", "arguments": deep}]
    for spec, expected, answer in (
        ("json_subset", deep, Answer(data=deep)),
        ("tool_calls", calls, Answer(tool_calls=(ToolCall("get", deep),))),
    ):
        with pytest.raises(GraderFailure, match=r"case case: `expected` has 90. levels"):
            score(spec, expected, answer)


@pytest.mark.parametrize("levels", [900, 5000])
def test_answer_that_is_nested_deeply_is_wrong(levels: int) -> None:
    for kind in ("objects", "lists"):
        deep = nested(levels, 7, kind)
        assert not score("json_subset", {"a": 7}, Answer(data=deep)).correct
        extra = score("json_subset", {"n": 7}, Answer(data={"n": 7, "more": deep}))
        assert extra.correct
        assert extra.relevance == 0.5


def test_number_of_too_many_digits_is_wrong_and_can_be_told() -> None:
    huge = 10**5000
    result = score("json_subset", {"n": 7}, Answer(data={"n": huge}))
    assert not result.correct
    assert "too long to be shown" in result.reason
    assert not score("json_subset", {"n": 7}, Answer('{"n": ' + "1" * 5000 + "}")).correct
    assert "too deeply" in shown(nested(100_000, 7, "lists"))
