"""Cases that several benchmarks ask: counted in each of them, and one draw in every interval."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))

from carried_out import run, suite
from evidence_made import asked

from agentbench_tui.store.database import reading
from agentbench_tui.store.queries.runs import executions_of, find_run
from agentbench_tui.verdicts.comparison.compare import compare
from agentbench_tui.verdicts.comparison.comparison import Asked
from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
from agentbench_tui.verdicts.evidence.shared_cases import independent_units
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence
from agentbench_tui.verdicts.groups.breakdown import Breakdown, breakdown
from agentbench_tui.verdicts.groups.case_groups import CaseFields
from agentbench_tui.verdicts.groups.compare_groups import ComparedByGroups, compare_by_groups
from agentbench_tui.verdicts.ranking.leaderboard import leaderboard_document
from agentbench_tui.verdicts.ranking.scoreboard import BoardAsked
from agentbench_tui.verdicts.selection.side import load_sides

AGENTS = """
def weak(prompt):
    return prompt if int(prompt) % 3 else "?"
def strong(prompt):
    return prompt if int(prompt) % 7 else "?"
"""
NOTE = (
    "60 cases are asked in several benchmarks: each counts once in each of them, and as one"
    " independent case in intervals and tests"
)


def stored(folder: Path, benchmarks: int) -> Path:
    """A run of 60 cases of two topics, asked alike in so many benchmarks."""
    cases = [
        {"id": f"c{n}", "input": str(n), "expected": str(n), "metadata": {"topic": "ab"[n % 2]}}
        for n in range(60)
    ]
    document = suite(dataset={"cases": cases})
    (first,) = document["benchmarks"]
    document["benchmarks"] = [
        first | {"benchmark_id": f"place-{number}"} for number in range(benchmarks)
    ]
    folder.mkdir()
    return asyncio.run(run(folder, document, AGENTS, "weak", "strong")).database


@pytest.fixture(scope="module")
def databases(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("shared")
    return stored(folder / "once", 1), stored(folder / "twice", 2)


def broken_down(database: Path, field: str) -> Breakdown:
    with reading(database) as connection:
        rows = executions_of(connection, find_run(connection, "latest")["key"])
        return breakdown(connection, rows, field)


def compared(database: Path, field: str) -> ComparedByGroups:
    with reading(database) as connection:
        numbers = CaseNumbers(connection)
        sides = load_sides(connection, ("weak", "strong"), None, None, numbers)
        found = compare(connection, sides, numbers, Asked(), ("accuracy",))
        return compare_by_groups(connection, found, numbers, CaseFields(), field, ("accuracy",))


def board(database: Path) -> dict[str, Any]:
    with reading(database) as connection:
        document = leaderboard_document(connection, BoardAsked("accuracy"))
    (found,) = document["boards"]
    return dict(found)


def test_the_same_answers_in_a_second_benchmark_make_no_interval_narrower(
    databases: tuple[Path, Path],
) -> None:
    once, twice = (broken_down(one, "topic") for one in databases)
    assert (once.notes, twice.notes) == ((), (NOTE,))
    for of_once, of_twice in zip(once.agents, twice.agents, strict=True):
        for a, b in zip(of_once.groups, of_twice.groups, strict=True):
            assert (b.cases, b.answers) == (2 * a.cases, 2 * a.answers)
            assert b.main.value == pytest.approx(a.main.value)
            assert (b.main.low, b.main.high) == pytest.approx((a.main.low, a.main.high), abs=0.01)
            assert b.pooled == pytest.approx(a.pooled, abs=0.02)


def test_each_benchmark_is_a_group_with_all_its_cases(databases: tuple[Path, Path]) -> None:
    for one in broken_down(databases[1], "benchmark").agents:
        assert [group.cases for group in one.groups] == [60, 60]
        assert min(group.p_adjusted or 0 for group in one.groups) > 0.8
        first, second = (group.pooled for group in one.groups)
        assert first == second


def test_a_comparison_by_groups_counts_a_case_of_two_benchmarks_as_one_draw(
    databases: tuple[Path, Path],
) -> None:
    once, twice = (compared(one, "topic") for one in databases)
    assert (once.notes, twice.notes) == ((), (NOTE,))
    for a, b in zip(once.pairs[0].groups, twice.pairs[0].groups, strict=True):
        (of_a,), (of_b,) = a.metrics, b.metrics
        assert (of_a.n, of_a.clusters) == (30, None)
        assert (of_b.n, of_b.clusters) == (60, 30)
        assert of_b.difference == pytest.approx(of_a.difference)
        widths = [(one.high or 0) - (one.low or 0) for one in (of_a, of_b)]
        assert widths[1] > 0.75 * widths[0]  # 60 independent pairs: 0.71
        assert (of_b.p_value or 0) > 0.3 * (of_a.p_value or 0)


def test_a_leaderboard_of_two_benchmarks_has_the_interval_of_the_cases(
    databases: tuple[Path, Path],
) -> None:
    once, twice = (board(one) for one in databases)
    for a, b in zip(once["standings"], twice["standings"], strict=True):
        assert b["score"] == pytest.approx(a["score"])
        assert (b["low"], b["high"]) == pytest.approx((a["low"], a["high"]), abs=0.01)


def of_store(cases: list[int], clusters: list[int], *, local: bool) -> TaskEvidence:
    made = asked(len(cases))
    return TaskEvidence(
        [{"run_id": "r"}], np.array(cases), np.array(clusters), made.seed, made.repeat, {}, 1,
        clusters_are_local=local,
    )  # fmt: skip


def partition(labels: np.ndarray[Any, Any]) -> list[list[int]]:
    return [np.flatnonzero(labels == one).tolist() for one in dict.fromkeys(labels.tolist())]


def test_clusters_that_share_a_case_are_one_unit() -> None:
    # Place 0 has clusters that were found, {1, 2} and {3}; place 1 has the case 2 and the case 5.
    first = of_store([1, 2, 3], [-1, -1, -2], local=True)
    second = of_store([2, 5], [2, 5], local=False)
    labels = np.concatenate(independent_units([(0, first), (1, second)]))
    assert partition(labels) == [[0, 1, 3], [2], [4]]


def test_numbers_of_found_clusters_mean_nothing_elsewhere() -> None:
    first = of_store([1, 2], [-1, -1], local=True)
    second = of_store([3, 4], [-1, -1], local=True)
    declared = of_store([5, 6], [-1, -2], local=False)
    parts = [*enumerate((first, second, declared))]
    assert partition(np.concatenate(independent_units(parts))) == [[0, 1], [2, 3], [4], [5]]


def test_a_declared_cluster_is_one_unit_in_all_benchmarks() -> None:
    first = of_store([1, 2], [-1, 2], local=False)
    second = of_store([3, 4], [-1, 4], local=False)
    labels = np.concatenate(independent_units([(0, first), (1, second)]))
    assert partition(labels) == [[0, 2], [1], [3]]
