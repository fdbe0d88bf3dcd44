"""pass@k and pass^k of a comparison: shown next to the main metrics, and never judged with them."""

from __future__ import annotations

import asyncio
import math
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from agentbench_tui.contracts.document import plain
from agentbench_tui.store.database import connect_to_read
from agentbench_tui.verdicts.comparison.compare import compare
from agentbench_tui.verdicts.comparison.compare_document import compare_document
from agentbench_tui.verdicts.comparison.comparison import Asked
from agentbench_tui.verdicts.comparison.main_metrics import attempt_metrics
from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
from agentbench_tui.verdicts.selection.side import load_sides
from tests.engine.carried_out import run, suite
from tests.verdicts.evidence_made import asked

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence

CASES, ATTEMPTS = 24, 3
DOCUMENTS, QUESTIONS = 30, 4
AGENTS = """
def lucky(request):  # right at one of three attempts at every case
    n = int(request.case.input)
    return str(n) if request.iteration == n % 3 else "?"
def steady(request):  # right at every attempt at a third of the cases, else never
    n = int(request.case.input)
    return str(n) if n % 3 == 0 else "?"
def by_document(request):  # right once more often in half of the documents
    n = int(request.case.input)
    return str(n) if request.iteration < 1 + (n // 4) % 2 else "?"
def in_all(request):
    n = int(request.case.input)
    return str(n) if request.iteration < 1 + (n // 4 // 2) % 2 else "?"
"""


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("attempts")
    document = suite(CASES, iterations={"warmup": 0, "measured": ATTEMPTS})
    return asyncio.run(run(folder, document, AGENTS, "lucky", "steady")).database


def compared(database: Path, *metrics: str, selectors: Sequence[str] = ("lucky", "steady")) -> Any:
    with closing(connect_to_read(database)) as connection:
        numbers = CaseNumbers(connection)
        sides = load_sides(connection, selectors, None, None, numbers)
        found = compare(connection, sides, numbers, Asked(), metrics)
        return plain(compare_document(connection, found, numbers, 5))


def test_equal_accuracy_can_hide_opposite_agents(database: Path) -> None:
    document = compared(database)
    (accuracy,) = [one for one in document["metrics"] if one["metric"] == "accuracy"]
    assert accuracy["a"] == accuracy["b"] == pytest.approx(1 / 3)
    any_right, all_right = document["benchmarks"][0]["attempts"]
    # `lucky` is right at one of three attempts at each case, `steady` at all three or none.
    assert (any_right["metric"], any_right["a"], any_right["b"]) == ("pass@3", 1, 1 / 3)
    assert (all_right["metric"], all_right["a"], all_right["b"]) == ("pass^3", 0, 1 / 3)
    assert any_right["difference"] == pytest.approx(-2 / 3)
    assert (any_right["only_a"], any_right["only_b"], any_right["n"]) == (16, 0, CASES)
    assert any_right["high"] < 0 < all_right["low"]


def test_they_add_no_test_and_change_no_other_figure(database: Path) -> None:
    document = compared(database)
    names = [one["metric"] for one in document["metrics"]]
    assert not [name for name in names if name.startswith("pass")]
    # Naming the main metrics leaves pass@k and pass^k out, and must change nothing else.
    alone = compared(database, *names)
    assert not alone["benchmarks"][0]["attempts"]
    for name in ("metrics", "tests", "adjustment", "overall", "recommendations"):
        assert document[name] == alone[name]


def test_their_interval_is_that_of_the_metric_by_name(database: Path) -> None:
    shown = {one["metric"]: one for one in compared(database)["benchmarks"][0]["attempts"]}
    for tested in compared(database, "pass@3", "pass^3")["metrics"]:
        one = shown[tested["metric"]]
        assert {name: tested[name] for name in one} == one


def of_attempts(**by_case: list[float]) -> TaskEvidence:
    """Evidence with pass@k and pass^k of each case: `any_2` is pass@2, `all_2` is pass^2."""
    signs = {"any": "@", "all": "^"}
    values = {
        f"pass{signs[way]}{k}": np.array(values)
        for name, values in by_case.items()
        for way, k in [name.split("_")]
    }
    cases = len(next(iter(by_case.values())))
    return replace(asked(cases, accuracy=np.ones(cases)), values=values)


def test_attempts_that_always_end_alike_are_not_shown() -> None:
    same = of_attempts(any_2=[1, 0], all_2=[1, 0])
    assert attempt_metrics(same, same) == ()


@pytest.mark.parametrize(("most_of_b", "names"), [(2, ("pass@2", "pass^2")),
                                                  (4, ("pass@4", "pass^4"))])  # fmt: skip
def test_k_is_the_most_attempts_that_both_have(most_of_b: int, names: tuple[str, ...]) -> None:
    of_two: dict[str, list[float]] = {"any_2": [0.5, 1], "all_2": [0.1, 1]}
    of_four: dict[str, list[float]] = {**of_two, "any_4": [0.9, 1], "all_4": [0, 1]}
    b = of_attempts(**(of_four if most_of_b == 4 else of_two))
    assert attempt_metrics(of_attempts(**of_four), b) == names
    assert attempt_metrics(b, of_attempts(**of_four)) == names


def test_without_attempts_on_both_sides_there_are_none() -> None:
    once = asked(2, accuracy=[1, 0])
    assert attempt_metrics(of_attempts(any_2=[0.5, 1], all_2=[0.1, 1]), once) == ()


def test_k_that_few_cases_have_is_not_taken() -> None:
    nan = math.nan
    side = of_attempts(any_2=[1, 0.5, 0], all_2=[0, 0, 0], any_5=[1, nan, nan], all_5=[0, nan, nan])
    assert attempt_metrics(side, side) == ("pass@2", "pass^2")


async def test_a_cluster_that_accuracy_shows_counts_for_them_too(tmp_path: Path) -> None:
    cases = [
        {"id": f"c{n}", "input": str(n), "expected": str(n),
         "metadata": {"document": f"d{n // QUESTIONS}"}}
        for n in range(DOCUMENTS * QUESTIONS)
    ]  # fmt: skip
    document = suite(dataset={"cases": cases}, iterations={"warmup": 0, "measured": 3})
    result = await run(tmp_path, document, AGENTS, "by_document", "in_all")
    found = compared(result.database, selectors=("by_document", "in_all"))
    (accuracy,) = [one for one in found["metrics"] if one["metric"] == "accuracy"]
    assert accuracy["clusters"] == DOCUMENTS
    attempts = found["benchmarks"][0]["attempts"]
    assert [one["metric"] for one in attempts] == ["pass@3", "pass^3"]
    assert {one["clusters"] for one in attempts} == {DOCUMENTS}
