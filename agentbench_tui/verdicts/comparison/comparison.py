"""One metric of B compared with A: the difference, its uncertainty, and its relevance.

A is the control, B the candidate, and the verdict is about B.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import msgspec

from agentbench_tui.analysis.differences.difference_verdict import Verdict
from agentbench_tui.analysis.runs.between_run import DRAWS_NEEDED, LARGE_CHANGE
from agentbench_tui.analysis.scale import Better

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentbench_tui.analysis.differences.paired_effect import Effect
    from agentbench_tui.model.figures.metric import Metric

ALPHA = 0.05
LEVEL = 1 - ALPHA
EQUIVALENCE_LEVEL = 1 - 2 * ALPHA
EQUAL_PAIRS = 15
CONSTANT_PAIRS = 59
"""Minimum number of cases for the verdict `equivalent` on a ratio.

The second applies if all cases differ equally: with that many, another 5% would have appeared with
a probability of 95%.
"""
LEAST_CLUSTERS = 6
"""As of pairs: with fewer no sign-flip p is below 0.05."""
SURE_REPEATS = 3
"""Repeats per side from which on a difference in time must also hold between whole repeats."""

FEW_REPEATS = (
    f"fewer than {SURE_REPEATS} repeats per side: another repeat may differ by more than the"
    " interval says (--runs 5)"
)
FEW_DRAWS = (
    f"fewer than {DRAWS_NEEDED} independent runs per side: decided only beyond"
    f" {100 * LARGE_CHANGE:.0f}%"
)
"""Why a difference in time that seems clear is no verdict."""
ALONE = (
    "the interval does not contain `no difference`, but it is for this metric alone; p is adjusted"
    " for all tests, and decides"
)
"""Why an interval without `no difference` goes with a p above 5%."""
TOO_SMALL = (
    "a difference is shown, but its estimate is below half of the smallest difference that matters;"
    " more data would show whether it matters"
)
"""Why a p below 5% goes with no verdict."""

Paired = Literal["auto", "yes", "no"]
RatioOf = Literal["geometric means", "totals", "ratios of sums"]
Unit = Literal["cases", "repeats", "runs"]
"""Unit of the values: `runs` if whole runs replace repeats."""


class Asked(msgspec.Struct, frozen=True):
    """Settings of a comparison."""

    paired: Paired = "auto"
    margin: float | None = None
    """None for the metric's own."""
    seed: int = 42
    resamples: int | None = None
    columns: Mapping[str, Metric] = msgspec.field(default_factory=dict)
    """By name the metrics that are columns of files, as they are."""
    cluster: str | None = None
    """The grouping that was declared as the cluster (`--cluster`); None to look for one."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Result for one metric of two sides; unknown numbers are None."""

    metric: str
    unit: str
    better: Better
    margin: float
    """Points of a share, else a share of the value."""
    a: float | None = None
    b: float | None = None
    """Geometric mean if the ratio is one of geometric means, Σ ÷ Σ if of ratios of sums, otherwise
    the mean."""
    difference: float | None = None
    ratio: float | None = None
    ratio_of: RatioOf = "geometric means"
    geometric_ratio: float | None = None
    """Ratio of geometric means, if `ratio` is one of totals."""
    low: float | None = None
    high: float | None = None
    """Upper end of the 95% interval of the ratio if there is one, else of the difference."""
    inner_low: float | None = None
    inner_high: float | None = None
    """Upper end of the 90% interval, which decides equivalence."""
    p_value: float | None = None
    p_adjusted: float | None = None
    p_rank: float | None = None
    """p of the rank test, as a check."""
    p_large: float | None = None
    """p of a difference larger than 10%, for a time with few draws; it alone decides then."""
    p_serial: float | None = None
    """p that allows for correlation between answers of one repeat, if it is larger than
    `p_value`.
    """
    method: str = ""
    effect_size: float | None = None
    """Cliff's delta of B over A: the share of B's values above A's, less the share below."""
    hedges_g: float | None = None
    """For groups, on logarithms if a ratio is given; for pairs, the mean ÷ sd of the
    differences.
    """
    paired: bool = False
    n: int = 0
    """Pairs, or values of the smaller side."""
    of: Unit = "cases"
    only_a: int | None = None
    only_b: int | None = None
    """Number of cases that only side B answers correctly, if each is right or wrong."""
    sd: float | None = None
    """Standard deviation of the pairs' differences, or pooled over the values; on logarithms if a
    ratio is given. For correlated values, that of independent values with the same precision.
    """
    clusters: int | None = None
    """Number of independent groups of pairs, if some are correlated."""
    comparable: bool = True
    """False if the circumstances differ (a time on another machine) or values are unknown; there is
    then no verdict.
    """
    unknown: tuple[int, int] = (0, 0)
    """Answers of A, and of B, whose cost or tokens are not known."""
    verdict: Verdict = "inconclusive"
    repeats: int = 0
    """Number on the side with fewer; whole runs if those are counted."""
    draws: int | None = None
    """For a time: independent draws of the run on the side with fewer.

    None if both sides share their runs, or if the metric does not depend on the machine.
    """
    few_repeats: bool = False
    """Whether a time rests on too few repeats to estimate the variance between repeats."""
    varies_by: Unit = "cases"
    """The unit that `sd` and the interval are based on, and therefore of which more are needed."""
    n_needed: int | None = None
    """Pairs or values per side, in the unit of `varies_by`, that detect `effect_assumed` with 80%
    power; if that is None, those that exclude a difference of the margin.
    """
    n_to_exclude: int | None = None
    """Sample size that excludes the margin with 80% power, if there is no difference."""
    effect_assumed: float | None = None
    """The observed difference (or ratio, if there is one), shrunk toward none; None if chance alone
    can explain it.
    """
    is_paid: bool = False
    """Whether it is an amount that is paid for, so that totals are compared."""
    notes: tuple[str, ...] = field(default=())
    """Remarks, and the reasons for missing numbers."""

    @property
    def is_ratio(self) -> bool:
        return self.ratio is not None

    @property
    def is_of_sums(self) -> bool:
        """Return whether ratios of sums are compared, by their ratio or by their difference."""
        return self.ratio_of == "ratios of sums"

    @property
    def has_few_draws(self) -> bool:
        """Return whether the between-run variance was assumed."""
        return self.draws is not None and self.draws < DRAWS_NEEDED

    def with_effect(self, effect: Effect) -> Comparison:
        """Return the comparison with the interval, p, method and reason of a test."""
        difference, inner = effect.difference, effect.at(EQUIVALENCE_LEVEL)
        if effect.ratio is not None and self.a is not None and self.b is not None:
            difference = self.b - self.a  # of what is shown, such as geometric means
        return replace(
            self,
            difference=difference,
            ratio=effect.ratio,
            low=effect.low,
            high=effect.high,
            inner_low=inner.low,
            inner_high=inner.high,
            p_value=effect.p,
            method=effect.method if effect.p is not None else "",
            notes=self.notes + ((effect.reason,) if effect.reason else ()),
        )

    def by_run(self) -> Comparison:
        """Compare evidence in which whole runs replace repeats."""
        of: Unit = "runs" if self.of == "repeats" else self.of
        varies_by: Unit = "runs" if self.varies_by == "repeats" else self.varies_by
        return replace(self, of=of, varies_by=varies_by)

    @property
    def p_tested(self) -> float | None:
        """Return the p that is adjusted for the number of tests, and decides."""
        return self.p_value if self.p_serial is None else self.p_serial
