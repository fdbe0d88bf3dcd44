"""Which tests are adjusted together: accuracy first, without those that can find nothing."""

from __future__ import annotations

import pytest

from agentbench_tui.verdicts.comparison.comparison import Comparison
from agentbench_tui.verdicts.evidence.metric_family import adjusted_together

MOST = 5


def of(
    metric: str,
    p: float | None,
    *,
    only: tuple[int, int] | None = None,
    ratio: float | None = None,
    comparable: bool = True,
) -> Comparison:
    ends = (None, None) if ratio is None else (ratio * 0.9, ratio * 1.1)
    return Comparison(
        metric, "share", "higher", 0.02,
        ratio=ratio, low=ends[0], high=ends[1], p_value=p, n=50, comparable=comparable,
        only_a=None if only is None else only[0], only_b=None if only is None else only[1],
    )  # fmt: skip


def test_accuracy_has_four_fifths_of_the_error() -> None:
    """0.039 × 1 / 0.8; what is left, 0.2, is then all for the two others by Holm: 0.03 × 2, 0.5."""
    group = [of("accuracy", 0.039, only=(2, 10)), of("e2e_ms", 0.03), of("output_tokens", 0.5)]
    found = adjusted_together([group], MOST)
    assert found.p == [[pytest.approx(0.04875), pytest.approx(0.06), pytest.approx(0.5)]]
    assert (found.adjustment, found.tests) == ("holm", 3)


def test_without_accuracy_it_is_holms_rule() -> None:
    found = adjusted_together([[of("e2e_ms", 0.02), of("ttft_ms", 0.03)]], MOST)
    assert found.p == [[pytest.approx(0.04), pytest.approx(0.04)]]


@pytest.mark.parametrize(("differ", "tests"), [(0, 1), (5, 1), (6, 2)])
def test_what_cannot_fall_below_5_percent_is_not_of_the_family(differ: int, tests: int) -> None:
    """Of five cases that differ the least p is 2 / 2^5 = 0.0625, of six 0.031."""
    group = [of("e2e_ms", 0.04), of("reliability", 1.0, only=(0, differ))]
    found = adjusted_together([group], MOST)
    assert found.tests == tests
    assert found.p == [[pytest.approx(0.04 * tests), 1.0]]


def test_a_test_that_stands_alone_is_counted_whatever_it_can_find() -> None:
    found = adjusted_together([[of("accuracy", 1.0, only=(1, 1))]], MOST)
    assert (found.p, found.tests) == ([[1.0]], 1)


def test_cost_that_is_tokens_times_a_price_shares_their_p() -> None:
    tokens, cost = of("output_tokens", 0.02, ratio=1.2), of("cost_usd_per_task", 0.02, ratio=1.2)
    found = adjusted_together([[of("e2e_ms", 0.5), tokens, cost]], MOST)
    assert found.p == [[pytest.approx(0.5), pytest.approx(0.04), pytest.approx(0.04)]]
    assert found.tests == 2
    dearer = of("cost_usd_per_task", 0.02, ratio=1.3)
    assert adjusted_together([[of("e2e_ms", 0.5), tokens, dearer]], MOST).tests == 3


def test_what_was_not_tested_or_may_not_be_compared_has_no_p() -> None:
    group = [of("accuracy", None), of("e2e_ms", 0.01, comparable=False), of("ttft_ms", 0.03)]
    found = adjusted_together([group, []], MOST)
    assert found.p == [[None, None, pytest.approx(0.03)], []]
    assert found.tests == 1


def test_more_tests_than_one_benchmark_has_are_a_scan() -> None:
    groups = [[of("accuracy", p, only=(5, 9)), of("e2e_ms", p)] for p in (0.01, 0.02, 0.03)]
    found = adjusted_together(groups, MOST)
    assert (found.adjustment, found.tests) == ("benjamini-hochberg", 6)
    assert found.p[0] == [pytest.approx(0.03), pytest.approx(0.03)]
