"""Dependence between cases that nobody declared: what is named, applied, and held back."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from agentbench_tui.model.errors import UsageError
from agentbench_tui.verdicts.clusters.case_groupings import Grouping, declared_grouping, groupings
from agentbench_tui.verdicts.clusters.undeclared_clusters import Grouped, candidates_of_pairs
from agentbench_tui.verdicts.comparison.compare import OnBenchmark, compare
from agentbench_tui.verdicts.comparison.comparison import Asked
from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence
from agentbench_tui.verdicts.selection.side import load_sides, with_clusters

Columns = dict[str, list[str]]


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    found = sqlite3.connect(":memory:")
    yield found
    found.close()


def write(path: Path, right: np.ndarray, columns: Columns) -> None:
    names = list(columns)
    rows = [
        ",".join([f"c{case}", str(int(one)), *(columns[name][case] for name in names)])
        for case, one in enumerate(right)
    ]
    path.write_text("\n".join([",".join(["case", "accuracy", *names]), *rows]) + "\n")


def compared(
    connection: sqlite3.Connection, folder: Path, a: np.ndarray, b: np.ndarray,
    columns: Columns, of_b: Columns | None = None, cluster: str | None = None,
) -> OnBenchmark:  # fmt: skip
    """Two files with these answers, compared in accuracy."""
    write(folder / "a.csv", a, columns)
    write(folder / "b.csv", b, columns if of_b is None else of_b)
    numbers = CaseNumbers(connection)
    selectors = [f"file:{folder / name}" for name in ("a.csv", "b.csv")]
    sides = load_sides(connection, selectors, None, None, numbers)
    if cluster is not None:
        sides = with_clusters(sides, numbers, cluster)
    asked = Asked(cluster=cluster)
    (pair,) = compare(connection, sides, numbers, asked, ["accuracy"]).pairs
    return pair.benchmarks[0]


def by_group(shares: list[float], size: int) -> np.ndarray:
    """The first so many of `size` cases of each group are right."""
    return np.concatenate([np.arange(size) < round(share * size) for share in shares])


def passages(groups: int, size: int) -> list[str]:
    return [f"p{group}" for group in range(groups) for _ in range(size)]


def test_a_column_in_which_differences_go_together_is_named_and_counts_as_draws(
    connection: sqlite3.Connection, tmp_path: Path
) -> None:
    """B is right on whole passages that A is wrong on, 8 of 12; A on the other 4."""
    a = by_group([0.0] * 8 + [1.0] * 4, 10)
    columns = {"passage_id": passages(12, 10)}
    on = compared(connection, tmp_path, a, 1 - a, columns)
    (finding,) = on.clusters
    assert finding.grouping.name == "passage_id"
    assert finding.consequence == "applied"
    assert finding.found.icc == pytest.approx(1.0)
    assert finding.found.effective_n == pytest.approx(12)
    assert on.metrics[0].clusters == 12
    # 8 against 4 passages: 2 (1 + 12 + 66 + 220 + 495) / 2^12 = 0.388
    assert on.metrics[0].p_value == pytest.approx(1588 / 4096)
    assert on.metrics[0].verdict == "inconclusive"
    assert "120 cases are worth about 12" in on.notes[0]
    assert "--cluster passage_id" in on.notes[0]


def test_the_declared_cluster_is_not_looked_for_and_gives_the_same(
    connection: sqlite3.Connection, tmp_path: Path
) -> None:
    a = by_group([0.0] * 8 + [1.0] * 4, 10)
    columns = {"passage_id": passages(12, 10)}
    on = compared(connection, tmp_path, a, 1 - a, columns, cluster="passage_id")
    assert on.clusters == ()
    assert on.metrics[0].p_value == pytest.approx(1588 / 4096)
    as_cases = compared(connection, tmp_path, a, 1 - a, columns, cluster="case")
    assert as_cases.metrics[0].verdict == "better"
    assert as_cases.metrics[0].clusters is None


def test_a_field_that_means_nothing_changes_nothing(
    connection: sqlite3.Connection, tmp_path: Path
) -> None:
    draw = np.random.default_rng(5)
    a, b = draw.random(120) < 0.5, draw.random(120) < 0.8
    columns = {"passage_id": passages(12, 10)}
    with_field = compared(connection, tmp_path, a, b, columns)
    without = compared(connection, tmp_path, a, b, {})
    assert with_field.clusters == ()
    assert with_field.metrics == without.metrics
    assert with_field.metrics[0].verdict == "better"


def test_a_column_of_answers_is_no_candidate(
    connection: sqlite3.Connection, tmp_path: Path
) -> None:
    """The grades of A and of B differ, so that they are no property of the case."""
    a = by_group([0.0] * 8 + [1.0] * 4, 10)
    grade = [str(one) for one in passages(12, 10)]
    of_b = {"grade": [*grade[10:], *grade[:10]]}
    assert compared(connection, tmp_path, a, 1 - a, {"grade": grade}, of_b).clusters == ()


def test_few_values_are_a_category_and_leave_the_verdict(
    connection: sqlite3.Connection, tmp_path: Path
) -> None:
    """B is right where A is wrong on 2 of 3 levels; on the third both are right."""
    a = by_group([0.0, 0.0, 1.0], 30)
    on = compared(connection, tmp_path, a, np.ones(90), {"level": passages(3, 30)})
    (finding,) = on.clusters
    assert finding.consequence == "mix"
    assert on.metrics[0].verdict == "better"
    assert on.metrics[0].clusters is None
    assert "about this mix" in on.notes[0]


@pytest.mark.parametrize(("extra", "named"), [(0, ()), (1, ()), (10, ("output_tokens",))])
def test_categories_between_which_the_difference_hardly_varies_are_not_named(
    connection: sqlite3.Connection, tmp_path: Path, extra: int, named: tuple[str, ...]
) -> None:
    """B takes half of A's 100 tokens, and 1 (2%) or 10 (20%) more on the last of three levels;
    what matters is 5%."""
    rows = [(case, "abc"[case // 30], case % 2) for case in range(90)]
    for name, tokens in (("a", 100), ("b", 50)):
        more = extra if name == "b" else 0
        lines = [
            f"c{n},{x},{tokens + odd * tokens // 50 + more * (x == 'c')}" for n, x, odd in rows
        ]
        path = tmp_path / f"{name}.csv"
        path.write_text("case,level,output_tokens\n" + "\n".join(lines) + "\n")
    numbers = CaseNumbers(connection)
    selectors = [f"file:{tmp_path / name}" for name in ("a.csv", "b.csv")]
    sides = load_sides(connection, selectors, None, None, numbers)
    (pair,) = compare(connection, sides, numbers, Asked(), ["output_tokens"]).pairs
    assert tuple(one.metric for one in pair.benchmarks[0].clusters) == named


def test_a_verdict_that_a_suspect_cluster_explains_is_held_back(
    connection: sqlite3.Connection, tmp_path: Path
) -> None:
    """Right of 5 on each of 8 passages. Too little to show that cases of a passage go together
    (p 0.12 by analysis of variance), but with passages as draws 20 of the 2^8 signs do as well:
    p is 0.078."""
    a = by_group([0.6, 0.0, 0.4, 0.4, 0.6, 0.4, 0.2, 0.2], 5)
    b = by_group([0.8, 0.2, 0.8, 1.0, 0.4, 1.0, 0.4, 0.2], 5)
    columns = {"passage_id": passages(8, 5)}
    plain = compared(connection, tmp_path, a, b, columns, cluster="case")
    assert plain.metrics[0].verdict == "better"
    on = compared(connection, tmp_path, a, b, columns)
    assert on.clusters == ()
    assert on.metrics[0].verdict == "inconclusive"
    assert on.metrics[0].p_value == pytest.approx(20 / 256)
    assert "may be alike" in on.metrics[0].notes[-1]
    assert "--cluster passage_id" in on.metrics[0].notes[-1]


def test_ids_and_inputs_are_candidates(connection: sqlite3.Connection) -> None:
    numbers = CaseNumbers(connection)
    ids = [f"doc{case // 4}-q{case % 4}" for case in range(12)]
    cases = numbers.of_ids(ids)
    texts = [
        f"Name{case} has {case} {['apples', 'pears', 'plums'][case % 3]}." for case in range(12)
    ]
    numbers.facts.add_texts(cases.tolist(), texts)
    found = {one.name: one for one in groupings(numbers, np.sort(cases))}
    assert found["id"].groups == 3
    assert found["template"].groups == 3
    assert not np.array_equal(found["id"].labels, found["template"].labels)


def test_one_partition_under_two_names_is_one_candidate(connection: sqlite3.Connection) -> None:
    numbers = CaseNumbers(connection)
    cases = numbers.of_ids([f"doc{case // 4}-q{case % 4}" for case in range(12)])
    numbers.facts.add_column(
        "document", "a.csv", cases.tolist(), [f"d{case // 4}" for case in range(12)]
    )
    assert [one.name for one in groupings(numbers, cases)] == ["document"]


def test_a_field_that_no_case_has_is_refused_with_those_that_there_are(
    connection: sqlite3.Connection,
) -> None:
    numbers = CaseNumbers(connection)
    cases = numbers.of_ids(["a", "b"])
    numbers.facts.add_column("passage", "a.csv", cases.tolist(), ["x", "x"])
    with pytest.raises(UsageError, match='did you mean "passage"'):
        declared_grouping(numbers, cases, "pasage")


def test_known_clusters_are_not_parted() -> None:
    """A field whose values differ within a cluster says nothing of the clusters."""
    cases = np.arange(12)
    evidence = TaskEvidence(
        [], cases, cases // 2, np.zeros(12, np.int64), np.zeros(12, np.int64),
        {"accuracy": np.arange(12) % 3 / 2.0}, 1,
    )  # fmt: skip
    across = Grouping("metadata.across", "field", cases % 2)
    above = Grouping("metadata.above", "field", cases // 6)
    found = candidates_of_pairs(
        evidence, evidence, ["accuracy"], cases, Grouped(lambda: [across, above])
    )
    assert [one.name for one in found.groupings] == ["metadata.above"]
    assert found.labels[0].tolist() == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize(("metric", "is_suspect"), [("e2e_ms", True), ("cost_usd_per_task", False)])
def test_times_are_suspect_at_a_laxer_level(metric: str, is_suspect: bool) -> None:
    """A test of ratios of geometric means has no slack that absorbs a missed cluster."""
    cases, groups = np.arange(40), np.arange(40) // 4
    draw = np.random.default_rng(5)
    hard = draw.normal(0, 3, 40)  # alike in both, and not within groups
    difference = draw.normal(size=40) + 0.35 * draw.normal(size=10)[groups]
    p = stats.f_oneway(*difference.reshape(10, 4)).pvalue
    assert 0.10 < p < 0.25
    logs = np.stack((hard - difference / 2, hard + difference / 2)) / 10
    a, b = (
        TaskEvidence([], cases, cases, cases * 0, cases * 0, {metric: np.exp(one) / 3}, 1)
        for one in logs
    )
    grouping = Grouping("metadata.source", "field", groups)
    found = candidates_of_pairs(a, b, [metric], cases, Grouped(lambda: [grouping]))
    assert bool(found.suspects(metric)) == is_suspect
