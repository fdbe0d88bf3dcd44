"""Several scorers in one, gates among them."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agentbench_tui.model.answer import Answer, Case, GraderFailure, Score
from agentbench_tui.scoring.registry import check_scorer, make_scorer


def weighted(*parts: dict[str, Any], **options: Any) -> Any:
    return make_scorer({"weighted": {"parts": list(parts), **options}}).score


def test_weights_by_hand() -> None:
    score = weighted({"scorer": "exact", "weight": 3}, {"scorer": "contains"}, pass_at=0.25)
    result = score(Case("case", "", "yes"), Answer("yes, sir"))
    assert isinstance(result, Score)
    assert result.value == 0.25
    assert result.correct
    assert result.metadata["parts"] == [["exact", 0.0], ["contains", 1.0]]
    assert "exact: said" in result.reason


def test_gate_makes_the_whole_nothing() -> None:
    gate = {"scorer": {"regex": {"pattern": "safe"}}, "gate": True, "weight": 0}
    score = weighted(gate, {"scorer": "contains"})
    assert score(Case("case", "", "yes"), Answer("yes, safe")).correct
    result = score(Case("case", "", "yes"), Answer("yes"))
    assert (result.value, result.correct) == (0, False)
    assert "regex" in result.reason


async def test_parts_that_are_awaited() -> None:
    tests = {"scorer": "python_tests"}
    case = Case("case", "", "assert f() == 1")
    contains = {"scorer": {"regex": {"pattern": "(def)", "whole": False}}, "weight": 0}
    result = await weighted(tests, contains)(case, Answer("def f():\n    return 1"))
    assert result.correct


async def test_a_part_that_cannot_judge_is_the_graders_failure() -> None:
    tests = {"scorer": "python_tests"}
    case = Case("case", "", {"test": "x = ("})
    with pytest.raises(GraderFailure):
        await weighted(tests)(case, Answer("f = 1"))
    with pytest.raises(GraderFailure):  # and leaves no coroutine behind that was never awaited
        weighted(tests, {"scorer": "numeric"})(Case("case", "", "none"), Answer("1"))


def test_problems_of_parts_are_told() -> None:
    problems = check_scorer(
        {"weighted": {"parts": [{"scorer": "exct"}, {"scorer": {"numeric": {"tolerence": 1}}}]}}
    )
    (problem,) = problems
    assert 'parts.0: there is no scorer "exct" (did you mean "exact"?)' in problem
    assert 'there is no option `tolerence` (did you mean "tolerance"?)' in problem
    assert check_scorer({"weighted": {"parts": [{"scorer": "exact", "weight": 0}]}}) == [
        "weighted: at least one part needs a weight above 0"
    ]


def test_a_part_that_fails_is_named(tmp_path: Path) -> None:
    (tmp_path / "parts.py").write_text(
        "def faulty(case, answer): raise ValueError('no luck')\n"
        "async def odd(case, answer): return 'good'\n"
    )
    for name, message in {
        "faulty": "faulty: raised ValueError: no luck",
        "odd": "odd: returned str, not bool, number or Score",
    }.items():
        parts = [{"scorer": "exact"}, {"scorer": f"python:parts.py:{name}"}]
        scorer = make_scorer({"weighted": {"parts": parts}}, base_dir=tmp_path).score
        with pytest.raises(GraderFailure) as raised:
            asyncio.run(_awaited(scorer(Case("case", "", "yes"), Answer("yes"))))
        assert str(raised.value) == message


async def _awaited(score: Any) -> Score:
    result: Score = await score
    return result
