"""Whether a difference varies between groups, where no case is asked of both sides."""

import numpy as np
import pytest
from scipy.stats import f as f_distribution

from agentbench_tui.verdicts.comparison.compare import compare_evidence
from agentbench_tui.verdicts.comparison.comparison import Asked
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence
from agentbench_tui.verdicts.groups.compare_groups import GroupedSides, compare_each
from agentbench_tui.verdicts.groups.heterogeneity import heterogeneity

GROUPS = 4
CLUSTERS, SIZE = 10, 10
"""Of each group of a side, and their cases."""
ASKED = Asked(paired="no", resamples=99)


def side(right: np.ndarray, first: int, *, is_clustered: bool) -> TaskEvidence:
    """Of bool[groups, clusters, cases], its cases and clusters numbered from `first`."""
    case = first + np.arange(right.size)
    cluster = -1 - first - np.arange(right.size) // SIZE if is_clustered else case
    nothing = np.zeros(right.size, np.int64)
    values = {"accuracy": right.reshape(-1).astype(float)}
    return TaskEvidence([], case, cluster, nothing, nothing, values, 1)


def p_varies(a: np.ndarray, b: np.ndarray, *, is_clustered: bool) -> float:
    groups = np.repeat(np.arange(GROUPS), a[0].size)
    members = groups == np.arange(GROUPS)[:, np.newaxis]
    sides = GroupedSides(
        side(a, 0, is_clustered=is_clustered), side(b, 10_000, is_clustered=is_clustered),
        members, members,
    )  # fmt: skip
    compared = compare_each(sides, [f"g{n}" for n in range(GROUPS)], ASKED, "accuracy")
    (whole,), _ = compare_evidence(sides.a, sides.b, ASKED, ["accuracy"])
    found = heterogeneity(whole, sides, compared, ASKED).p_varies
    assert found is not None
    return found


def by_document(draw: np.random.Generator) -> np.ndarray:
    """Answers of one document are all right or all wrong in half of the documents."""
    shape = (GROUPS, CLUSTERS, 1)
    alike, same = draw.random(shape) < 0.5, draw.random(shape) < 0.7
    return np.where(alike, same, draw.random((GROUPS, CLUSTERS, SIZE)) < 0.7)


def test_p_of_independent_cases_is_that_of_cochrans_q() -> None:
    draw = np.random.default_rng(4)
    a, b = (draw.random((GROUPS, CLUSTERS, SIZE)) < 0.7 for _ in "ab")
    n = CLUSTERS * SIZE
    right_a, right_b = (one.sum(axis=(1, 2)) for one in (a, b))
    share_a, share_b = ((right + 1) / (n + 2) for right in (right_a, right_b))
    variance = share_a * (1 - share_a) / n + share_b * (1 - share_b) / n
    effect, weight = right_b / n - right_a / n, 1 / variance
    q = float(weight @ (effect - np.average(effect, weights=weight)) ** 2)
    expected = f_distribution.sf(q / (GROUPS - 1), GROUPS - 1, GROUPS * (2 * n - 2))
    assert p_varies(a, b, is_clustered=False) == pytest.approx(expected, rel=1e-6)


def test_equal_sides_of_declared_clusters_are_rarely_said_to_vary() -> None:
    # As if their cases were independent it is said of 6 in 10 such comparisons.
    draw = np.random.default_rng(11)
    said = sum(
        p_varies(by_document(draw), by_document(draw), is_clustered=True) < 0.05 for _ in range(100)
    )
    assert said <= 12
