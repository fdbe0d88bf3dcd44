"""Several scorers on one benchmark: each has its figure, and together they decide."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agentbench_tui.engine.suite.loading import load_suite
from agentbench_tui.engine.suite.validation import validate_suite
from agentbench_tui.engine.task.rescoring import rescore
from agentbench_tui.store.database import connect_to_read
from agentbench_tui.store.queries.answers import answers_of
from agentbench_tui.store.queries.runs import find_run
from tests.engine.carried_out import Result, run, suite

AGENTS = """
from agentbench_tui import Answer, ToolCall

def calls(n):
    return (ToolCall("look_up", {"n": n}),)
def both(n): return Answer(text=n, tool_calls=calls(n))
def only_calls(n): return Answer(text="?", tool_calls=calls(n))
def half(n): return Answer(text=n if int(n) < 2 else "?", tool_calls=calls(n if int(n) % 2 else ""))
def breaks(n):
    if n == "0":
        raise ValueError("no")
    return both(n)
"""
LABELED: list[Any] = [{"tool_calls": {}, "as": "calls"}, {"exact": {}, "as": "answer"}]


def two_part_cases(count: int = 4) -> list[dict[str, Any]]:
    return [
        {
            "id": f"c{n}",
            "input": str(n),
            "expected": {
                "calls": [{"name": "look_up", "arguments": {"n": str(n)}}],
                "answer": str(n),
            },
        }
        for n in range(count)
    ]


def document(scorers: list[Any] | None = None, **benchmark: Any) -> dict[str, Any]:
    cases = {"cases": two_part_cases()}
    return suite(scorers=scorers or LABELED, dataset=cases, **benchmark)


def figures(result: Result, agent: str) -> dict[str, float]:
    found = result.metrics(agent)
    return {name: found[name]["value"] for name in ("accuracy", "calls", "answer")}


async def test_an_agent_with_right_calls_and_wrong_answers_is_wrong(tmp_path: Path) -> None:
    result = await run(tmp_path, document(), AGENTS, "both", "only_calls")
    assert figures(result, "both") == {"accuracy": 1, "calls": 1, "answer": 1}
    assert figures(result, "only_calls") == {"accuracy": 0, "calls": 1, "answer": 0}
    metric = result.metrics("only_calls")["calls"]
    assert (metric["unit"], metric["direction"], metric["n"]) == ("share", "higher", 4)
    # Wilson, 4 of 4: (1 + z²/2n ± z √(z²/4n²)) ÷ (1 + z²/n), z = 1.959964.
    assert (metric["low"], metric["high"]) == (pytest.approx(0.51011, abs=1e-4), 1)
    assert result.execution("only_calls")["own_metrics"] == ["answer", "calls"]


@pytest.mark.parametrize(
    ("combine", "accuracy", "right"),
    # `half` has the calls of 1 and 3 right (elsewhere the name alone, worth 0.5), the answers of 0
    # and 1. Lowest credit by case: .5, 1, 0, 0; highest 1, 1, .5, 1; mean .75, 1, .25, .5.
    [("all", 0.375, 1), ("any", 0.875, 3), ("mean", 0.625, 1), ("first", 0.75, 2)],
)
async def test_a_suite_says_how_scorers_decide_together(
    tmp_path: Path, combine: str, accuracy: float, right: int
) -> None:
    result = await run(tmp_path, document(combine=combine), AGENTS, "half")
    assert result.metrics("half")["accuracy"]["value"] == accuracy
    assert result.execution("half")["cases"]["correct"] == right
    assert figures(result, "half") | {"accuracy": 0} == {
        "accuracy": 0,
        "calls": 0.75,
        "answer": 0.5,
    }


async def test_a_scorer_that_does_not_count_is_reported_only(tmp_path: Path) -> None:
    scorers = [LABELED[0], LABELED[1] | {"counts": False}]
    result = await run(tmp_path, document(scorers), AGENTS, "only_calls")
    assert figures(result, "only_calls") == {"accuracy": 1, "calls": 1, "answer": 0}


async def test_failures_of_the_agent_are_without_credit_by_every_scorer(tmp_path: Path) -> None:
    result = await run(tmp_path, document(), AGENTS, "breaks")
    assert figures(result, "breaks") == {"accuracy": 0.75, "calls": 0.75, "answer": 0.75}
    assert result.metrics("breaks")["calls"]["n"] == 4


async def test_an_answer_is_not_counted_if_a_scorer_that_decides_fails(tmp_path: Path) -> None:
    """Otherwise wrong answers would count more often than right ones."""
    code = AGENTS + "\ndef judge(case, answer): return {'c0': True}[case.id]\n"
    scorers = ["exact", "python:agents.py:judge"]
    plain = suite(scorers=scorers)
    result = await run(tmp_path, plain, code + "\ndef wrong(n): return '?'\n", "wrong")
    assert result.execution("wrong")["failures"] == {"grader": 3}
    assert result.metrics("wrong")["exact"]["n"] == 1


async def test_expected_answers_without_parts_are_for_all_scorers(tmp_path: Path) -> None:
    result = await run(tmp_path, suite(scorers=["exact", "contains"]), AGENTS, "both")
    assert result.metrics("both")["contains"]["value"] == 1
    assert result.metrics("both")["exact"]["value"] == 1


async def test_each_wrong_answer_names_the_scorers_that_call_it_wrong(tmp_path: Path) -> None:
    result = await run(tmp_path, document(), AGENTS, "half")
    with closing(connect_to_read(result.database)) as connection:
        (key,) = result.column("SELECT key FROM benchmark_executions")
        rows = answers_of(connection, key, wrong_only=True)
    found = {row["case_id"]: row["wrong_by"] for row in rows}
    assert found == {"c0": ["calls"], "c2": ["calls", "answer"], "c3": ["answer"]}
    # Each reason names its scorer, because several judged the answer.
    why = {row["case_id"]: [part.split(": ")[0] for part in row["why"].split("; ")] for row in rows}
    assert why == found


async def test_attempts_at_a_case_give_pass_at_k_and_pass_hat_k(tmp_path: Path) -> None:
    code = """
asked = {}
def thrice(n):
    asked[n] = asked.get(n, 0) + 1
    return n if asked[n] <= int(n) else "?"
"""
    # Of three attempts at 0, 1, 2 and 3 so many are right as the case says.
    cases = suite(4, iterations={"warmup": 0, "measured": 3})
    result = await run(tmp_path, cases, code, "thrice")
    found = result.metrics("thrice")
    shares = {name: found[name]["value"] for name in ("pass@2", "pass@3", "pass^2", "pass^3")}
    # pass@2: 0, 1 - C(2,2)/3, 1, 1; pass^2: 0, 0, C(2,2)/3, 1.
    assert shares == {
        "pass@2": pytest.approx((2 / 3 + 2) / 4),
        "pass@3": 0.75,
        "pass^2": pytest.approx((1 / 3 + 1) / 4),
        "pass^3": 0.25,
    }
    assert (found["pass^3"]["n"], found["pass^3"]["direction"]) == (4, "higher")
    (tmp_path / "once").mkdir()
    once = await run(tmp_path / "once", suite(4), code, "thrice")
    assert not [name for name in once.metrics("thrice") if name.startswith("pass")]


async def test_rescoring_changes_the_figures_of_failures_too(tmp_path: Path) -> None:
    result = await run(tmp_path, suite(2), AGENTS, "breaks")
    assert "contains" not in result.metrics("breaks")
    (tmp_path / "new.json").write_text(json.dumps(suite(2, scorers=["exact", "contains"])))
    with closing(connect_to_read(result.database)) as connection:
        row = find_run(connection, "latest")
    await rescore(result.database, row, load_suite(tmp_path / "new.json"))
    assert result.metrics("breaks")["contains"]["value"] == 0.5


@pytest.mark.parametrize(
    ("scorers", "message"),
    [
        (["exact", "exact"], "exact: another scorer or metric has that name; give this one"),
        (["exact", {"numeric": {}, "as": "accuracy"}], "agentbench has a metric of that name"),
        ([{"exact": {}, "counts": False}], "no scorer counts"),
        ([{"exact": {}, "counts": "no"}], "`counts` is true or false, not 'no'"),
    ],
)
def test_names_and_parts_that_cannot_be_are_refused(
    tmp_path: Path, scorers: list[Any], message: str
) -> None:
    path = tmp_path / "suite.json"
    path.write_text(json.dumps(suite(scorers=scorers)))
    problems = validate_suite(load_suite(path))
    assert any(message in str(one) for one in problems), problems
