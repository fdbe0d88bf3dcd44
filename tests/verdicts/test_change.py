"""Changes in words, and how many answers that follow each other are worth."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from agentbench_tui.analysis.differences.equivalence import values_needed
from agentbench_tui.analysis.power import sample_size_paired
from agentbench_tui.presentation.comparison.wording import change, needed_words
from agentbench_tui.verdicts.comparison.change import change_words, settling_words
from agentbench_tui.verdicts.comparison.comparison import Comparison
from agentbench_tui.verdicts.comparison.open_question import decided_words
from agentbench_tui.verdicts.comparison.settling_size import Open, Settling, settling_size
from agentbench_tui.verdicts.evidence.dependence import group_dependence, paired_dependence


def of_ratio(ratio: float, low: float, high: float) -> Comparison:
    return Comparison("e2e_ms", "ms", "lower", 0.05, ratio=ratio, low=low, high=high)


def of_share(difference: float, low: float, high: float) -> Comparison:
    return Comparison(
        "accuracy", "share", "higher", 0.02, difference=difference, low=low, high=high
    )


@pytest.mark.parametrize(
    ("one", "short", "long"),
    [
        (of_ratio(0.88, 0.84, 0.92), "0.880× [0.840, 0.920]", "e2e_ms 12% lower [8.0, 16]"),
        (of_ratio(0.766, 0.01, 40.71), "0.766× [0.0100, 40.7]",
         "e2e_ms 23% lower [-3,971, 99]"),
        (of_ratio(1.042, 1.001, 1.085), "1.04× [1.00, 1.08]", "e2e_ms 4.2% higher [0.1, 8.5]"),
        (of_ratio(2.5, 2.25, 2.75), "2.50× [2.25, 2.75]", "e2e_ms 2.50 times as high [2.25, 2.75]"),
        (of_ratio(1.0, 0.98, 1.02), "1.00× [0.980, 1.02]", "e2e_ms 0% apart [-2.0, 2.0]"),
        (of_ratio(0.9997, 0.98, 1.02), "1.00× [0.980, 1.02]",
         "e2e_ms less than 0.05% lower [-2.0, 2.0]"),
        (of_share(0.13, 0.103, 0.157), "+13.0 pp [+10.3, +15.7]",
         "accuracy 13.0 points higher [10.3, 15.7]"),
        (of_share(-0.05, -0.09, -0.01), "-5.0 pp [-9.0, -1.0]",
         "accuracy 5.0 points lower [1.0, 9.0]"),
        (of_share(0.0, -0.003, 0.003), "0.0 pp [-0.3, +0.3]",
         "accuracy 0 points apart [-0.3, 0.3]"),
        (of_share(-0.0004, -0.003, 0.002), "0.0 pp [-0.3, +0.2]",
         "accuracy less than 0.05 points lower [-0.2, 0.3]"),
        (Comparison("e2e_ms", "ms", "lower", 0.05), "–", "e2e_ms unknown"),
    ],
)  # fmt: skip
def test_a_change_in_words(one: Comparison, short: str, long: str) -> None:
    assert change(one) == short
    assert change_words(one) == long


def test_what_is_needed_in_words() -> None:
    runs = Comparison("e2e_ms", "ms", "lower", 0.05, n_needed=1376, varies_by="repeats")
    assert needed_words(runs) == "1,376 repeats"
    assert needed_words(runs.by_run()) == "1,376 runs"


def sizes(known: Open) -> Settling:
    found = settling_size(known, 0.05)
    assert found is not None
    return found


def test_the_quick_formula_for_many_agrees_with_the_exact_one() -> None:
    for paired in (True, False):
        exact = values_needed(0.5, 0.02, paired=paired)
        found = sizes(Open(0.5, 0.0, 0.02, 9, paired=paired))
        assert found.needed == found.to_exclude == pytest.approx(exact, rel=1e-3)
    few = values_needed(0.1, 0.05, paired=True)
    assert sizes(Open(0.1, 0.0, 0.05, 9, paired=True)).to_exclude == few
    assert sizes(Open(0.1, 0.0, 0.05, few + 7, paired=True)).to_exclude == few + 8


def test_what_was_seen_in_few_values_is_drawn_towards_nothing() -> None:
    """James & Stein: of 0.3 with standard error 0.1 remain 0.3 × (1 - 1/9)."""
    found = sizes(Open(0.5, 0.3, 0.02, 25, paired=True))
    assert found.effect == pytest.approx(0.3 * 8 / 9)
    assert found.to_detect == sample_size_paired(0.3 * 8 / 9 / 0.5).n
    assert found.needed == found.to_detect
    assert found.to_exclude == pytest.approx(values_needed(0.5, 0.02, paired=True), rel=1e-3)
    groups = sizes(Open(0.5, 0.3, 0.02, 50, paired=False))
    assert groups.effect == pytest.approx(0.3 * 8 / 9)


def test_an_effect_that_chance_explains_needs_what_excludes_the_margin() -> None:
    for seen in (0.09, -0.1, 0.102):  # standard error 0.1; of 0.102 remain 0.004
        found = sizes(Open(0.5, seen, 0.02, 25, paired=True))
        assert (found.effect, found.to_detect) == (None, None)
        assert found.needed == found.to_exclude


@pytest.mark.parametrize(("paired", "sd"), [(True, 1.0), (False, 0.5)])
def test_all_against_none_says_nothing_of_equality_until_there_are_many(
    paired: bool, sd: float
) -> None:
    found = sizes(Open(0.0, 1.0, 0.02, 4, paired=paired, reach=1.0))
    assert found.effect == 1.0
    sides = 1 if paired else 2  # z(0.95) + z(0.9) = 1.6449 + 1.2816
    assert found.to_exclude == pytest.approx(sides * (2.9264 * sd / 0.02) ** 2, rel=1e-3)


def test_what_is_almost_gone_is_not_told_as_gone() -> None:
    times = Comparison("e2e_ms", "ms", "lower", 0.05, ratio=0.00301, low=0.00255, high=0.00355)
    assert change_words(times) == "e2e_ms 99.7% lower [99.6, 99.7]"
    assert change_words(replace(times, ratio=0.0396)) == "e2e_ms 96% lower [99.6, 99.7]"
    assert decided_words(replace(times, verdict="better")) == "faster (99.7%)"


def test_what_it_takes_in_words() -> None:
    found = Comparison(
        "accuracy", "share", "higher", 0.02,
        n_needed=108, n_to_exclude=4893, effect_assumed=0.15,
    )  # fmt: skip
    excluding = "if both are equal, about 4,900 cases exclude a difference of 2 points"
    assert settling_words(found, "new") == (
        "accuracy: if new really is 15.0 points better, 108 cases show it in 4 of 5 tries;"
        f" {excluding}"
    )
    assert settling_words(replace(found, effect_assumed=None, n_needed=4893), "new") == (
        f"accuracy: {excluding}"
    )
    tokens = Comparison(
        "output_tokens", "tokens", "lower", 0.05,
        ratio=1.2, n_needed=60, n_to_exclude=300, effect_assumed=1.12,
    )  # fmt: skip
    assert settling_words(tokens, "B") == (
        "output_tokens: if B really is 12% higher, 60 cases show it in 4 of 5 tries; if both are"
        " equal, about 300 cases exclude a difference of 5%"
    )


def ar1(n: int, r: float, seed: int) -> np.ndarray:
    draw = np.random.default_rng(seed)
    x = draw.normal(size=n)
    for place in range(1, n):
        x[place] = r * x[place - 1] + np.sqrt(1 - r * r) * x[place]
    return x


def test_a_long_series_is_worth_what_its_correlation_leaves() -> None:
    found = paired_dependence(ar1(20_000, 0.7, 1))
    assert found is not None
    assert found.worth == pytest.approx(20_000 * 0.3 / 1.7, rel=0.1)
    assert found.factor == pytest.approx(20_000 / found.worth)


def test_independent_answers_keep_the_t_test() -> None:
    alternating = np.tile([1.0, 2.0], 20) + np.linspace(0, 0.1, 40)
    found = paired_dependence(alternating)
    assert found is not None
    assert found.factor == 1
    assert found.p == pytest.approx(stats.ttest_1samp(alternating, 0).pvalue)
    both = group_dependence(alternating, alternating + 1)
    assert both is not None
    assert both.p == pytest.approx(stats.ttest_ind(alternating, alternating + 1).pvalue)


def test_nothing_is_said_of_one_answer_or_of_equal_ones() -> None:
    assert paired_dependence(np.array([1.0])) is None
    assert paired_dependence(np.full(9, 2.0)) is None
    assert group_dependence(np.full(9, 2.0), np.full(9, 3.0)) is None
    five = paired_dependence(np.array([1.0, 1.1, 0.9, 1.05, 0.95]))
    assert five is not None
    assert five.worth == 2
