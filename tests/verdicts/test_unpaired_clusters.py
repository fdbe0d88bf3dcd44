"""Declared clusters where cases are not held against themselves: each is one draw."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ttest_ind

from agentbench_tui.verdicts.clusters.case_groupings import Grouping
from agentbench_tui.verdicts.clusters.undeclared_clusters import Grouped, candidates_of_groups
from agentbench_tui.verdicts.comparison.compare import OnBenchmark, compare
from agentbench_tui.verdicts.comparison.comparison import Asked, Comparison
from agentbench_tui.verdicts.comparison.head_to_head import compare_metric
from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence
from agentbench_tui.verdicts.selection.side import load_sides

UNPAIRED = Asked(paired="no")


def side(
    metric: str, values: np.ndarray, clusters: np.ndarray, repeats: int = 1, first: int = 0
) -> TaskEvidence:
    """Each case, numbered from `first`, asked once in each repeat, always with the same value."""
    count = len(values)
    return TaskEvidence(
        [], np.tile(first + np.arange(count), repeats), np.tile(-1 - clusters, repeats),
        np.zeros(count * repeats, np.int64), np.repeat(np.arange(repeats), count),
        {metric: np.tile(values.astype(float), repeats)}, repeats,
    )  # fmt: skip


def compared(metric: str, a: np.ndarray, b: np.ndarray, size: int, repeats: int = 1) -> Comparison:
    """Of clusters of `size` equal values."""
    clusters = np.repeat(np.arange(len(a)), size)
    of_a = side(metric, np.repeat(a, size), clusters, repeats)
    of_b = side(metric, np.repeat(b, size), clusters, repeats, first=1_000)
    found = compare_metric(metric, of_a, of_b, UNPAIRED)
    assert found is not None
    return found


def test_shares_of_whole_clusters_are_compared_by_clusters() -> None:
    a, b = np.array([1, 1, 1, 0, 0, 0, 0, 0, 0, 0]), np.array([1, 1, 1, 1, 1, 1, 1, 0, 0, 0])
    found = compared("accuracy", a, b, 20)
    assert found.difference == pytest.approx(0.4)
    assert found.p_value == pytest.approx(ttest_ind(b, a, equal_var=False).pvalue)
    assert (found.n, found.clusters) == (200, 10)


@pytest.mark.parametrize("repeats", [1, 3])
def test_times_of_whole_clusters_are_compared_by_clusters(repeats: int) -> None:
    draw = np.random.default_rng(2)
    a, b = draw.lognormal(5, 0.5, 8), draw.lognormal(5.5, 0.5, 8)
    # In random order no neighbors are alike.
    found = compared("e2e_ms", a, b, 15, repeats)
    assert found.ratio == pytest.approx(float(np.exp(np.log(b).mean() - np.log(a).mean())))
    expected = ttest_ind(np.log(b), np.log(a), equal_var=False).pvalue
    assert found.p_tested is not None
    assert found.p_tested >= expected * 0.99
    assert found.p_value == pytest.approx(expected, rel=1e-6) or repeats == 3


def test_clusters_of_unlike_size_leave_the_mean_and_give_the_clustered_error() -> None:
    """The standard error of B is 0 here, so that of A alone is in the statistic: CR1 by hand."""
    values = np.array([1, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0])
    clusters = np.array([0, 0, 0, 0, 0, 1, 1, 2, 2, 2, 3, 4])
    other = side("score_x", np.full(12, 0.5), np.arange(12))
    mine = side("score_x", values, clusters)
    from agentbench_tui.model.figures.metric import Metric

    asked = Asked(paired="no", columns={"score_x": Metric("score_x", "", "higher", "x")})
    found = compare_metric("score_x", mine, other, asked)
    assert found is not None
    mean = values.mean()
    sums = [(values[clusters == one] - mean).sum() for one in range(5)]
    error = float(np.sqrt(np.square(sums).sum() * 5 / 4) / 12)
    assert found.difference == pytest.approx(0.5 - mean)
    assert found.low is not None
    assert found.high is not None
    # Half-width of a symmetric interval: t with about 4 degrees of freedom times the error.
    assert (found.high - found.low) / 2 == pytest.approx(2.776 * error, rel=0.01)
    assert found.clusters == 5


def of_files(
    folder: Path, a: list[int], b: list[int], size: int, column: str = "document"
) -> OnBenchmark:
    """Files with no case in common: documents of `size` questions, all right or all wrong."""
    selectors = []
    for name, shares in (("a", a), ("b", b)):
        rows = [
            f"{name}{group}-{n},{right},{name}{group}"
            for group, right in enumerate(shares)
            for n in range(size)
        ]
        path = folder / f"{name}.csv"
        path.write_text("\n".join([f"case,accuracy,{column}", *rows]) + "\n")
        selectors.append(f"file:{path}")
    with closing(sqlite3.connect(":memory:")) as connection:
        numbers = CaseNumbers(connection)
        sides = load_sides(connection, selectors, None, None, numbers)
        (pair,) = compare(connection, sides, numbers, Asked(), ["accuracy"]).pairs
    return pair.benchmarks[0]


def test_documents_whose_questions_go_together_count_as_draws_without_pairs_too(
    tmp_path: Path,
) -> None:
    a, b = [1] * 4 + [0] * 6, [1] * 7 + [0] * 3
    on = of_files(tmp_path, a, b, 10)
    (found,) = on.metrics
    assert not found.paired
    assert (found.n, found.clusters) == (100, 10)
    expected = ttest_ind(b, a, equal_var=False).pvalue
    assert found.p_value == pytest.approx(expected)
    assert found.verdict == "inconclusive"  # 40 against 70 of 100 would be p < 0.001
    assert on.notes[0].startswith(
        "accuracy: values of cases with the same `document` are alike (intraclass correlation"
        " 1.00): 200 cases are worth about 20, so each of the 20 groups counts as one draw."
    )


def test_a_column_of_two_files_with_other_cases_may_be_of_the_answers(tmp_path: Path) -> None:
    on = of_files(tmp_path, [1] * 4 + [0] * 6, [1] * 7 + [0] * 3, 10, column="grade")
    assert "grade" not in " ".join(on.notes)


def test_categories_are_no_clusters_of_cases_that_are_not_paired() -> None:
    levels = np.repeat([0, 1, 2], 20)
    values = (np.arange(60) % 10 < 3 + 3 * levels).astype(float)
    a, b = side("accuracy", values, np.arange(60)), side("accuracy", values, np.arange(60))
    level = Grouping("metadata.level", "field", levels)
    found = candidates_of_groups(a, b, ["accuracy"], np.arange(60), Grouped(lambda: [level]))
    assert found.groupings == ()
    assert found.findings() == []
