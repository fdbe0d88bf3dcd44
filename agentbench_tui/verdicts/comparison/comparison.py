"""One metric of B against A: how much, how sure, and whether it matters.

A is the control, B the candidate, and the verdict is about B.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from agentbench_tui.analysis.differences.equivalence import Verdict, verdict
from agentbench_tui.analysis.runs.between_run import DRAWS_NEEDED, LARGE_CHANGE
from agentbench_tui.analysis.runs.version_gate import RUNS_NEEDED
from agentbench_tui.analysis.scale import Better
from agentbench_tui.verdicts.comparison.settling_size import Open, settling_size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentbench_tui.model.figures.metric import Metric

ALPHA = 0.05
LEVEL = 1 - ALPHA
EQUIVALENCE_LEVEL = 1 - 2 * ALPHA
EQUAL_PAIRS = 15
CONSTANT_PAIRS = 59
"""Fewest cases with which a ratio is called equivalent; the latter where all of them differ alike:
of so many another 5 % would have shown, with a chance of 95 %."""
LEAST_CLUSTERS = 6
"""As of pairs: with fewer no sign-flip p is below 0.05."""
SURE_REPEATS = 3
"""Of each side, from which on a difference in time must show between whole repeats too."""

FEW_REPEATS = (
    f"fewer than {SURE_REPEATS} repeats per side: another repeat may differ by more than the"
    " interval says (--runs 5)"
)
FEW_DRAWS = (
    f"fewer than {DRAWS_NEEDED} independent runs per side: decided only beyond"
    f" {100 * LARGE_CHANGE:.0f}%"
)
"""Why a difference in time that seems clear is no verdict."""

Paired = Literal["auto", "yes", "no"]
RatioOf = Literal["geometric means", "totals"]
Unit = Literal["cases", "repeats", "runs"]
"""What the values are of: `runs` where whole runs take the place of repeats."""


@dataclass(frozen=True, slots=True)
class Asked:
    """How to compare."""

    paired: Paired = "auto"
    margin: float | None = None
    """None for the metric's own."""
    seed: int = 42
    resamples: int | None = None
    columns: Mapping[str, Metric] = field(default_factory=dict)
    """By name the metrics that are columns of files, as they are."""
    cluster: str | None = None
    """The grouping that was declared as the cluster (`--cluster`); None to look for one."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is known of one metric of two sides; numbers are None where they are not."""

    metric: str
    unit: str
    better: Better
    margin: float
    """Points of a share, else a share of the value."""
    a: float | None = None
    b: float | None = None
    """Geometric means where the ratio is of those, otherwise means."""
    difference: float | None = None
    ratio: float | None = None
    ratio_of: RatioOf = "geometric means"
    geometric_ratio: float | None = None
    """Of geometric means, where `ratio` is of totals."""
    low: float | None = None
    high: float | None = None
    """95 % interval of the ratio, where there is one, else of the difference."""
    inner_low: float | None = None
    inner_high: float | None = None
    """90 % interval, which decides on equivalence."""
    p_value: float | None = None
    p_adjusted: float | None = None
    p_rank: float | None = None
    """Of the rank test, as a check beside."""
    p_large: float | None = None
    """Of a time of few draws: of a difference larger than 10%, which alone decides then."""
    p_serial: float | None = None
    """Where it is larger than `p_value`: allowing for answers of one repeat that hang together."""
    method: str = ""
    effect_size: float | None = None
    """Cliff's delta of B over A: the share of B's values above A's, less the share below."""
    hedges_g: float | None = None
    """Of groups, on logs where a ratio is told; of pairs mean ÷ sd of the differences."""
    paired: bool = False
    n: int = 0
    """Pairs, or values of the smaller side."""
    of: Unit = "cases"
    only_a: int | None = None
    only_b: int | None = None
    """Cases that one side alone is right on, where each is either right or wrong."""
    sd: float | None = None
    """Of the pairs' differences, or pooled of the values; on logs where a ratio is told. Where
    values go together that of independent ones which would tell as little."""
    clusters: int | None = None
    """Independent groups of pairs, where some go together."""
    comparable: bool = True
    """False where the circumstances differ (a time on another machine) or values are unknown: then
    without a verdict."""
    unknown: tuple[int, int] = (0, 0)
    """Answers of A, and of B, whose cost or tokens are not known."""
    verdict: Verdict = "inconclusive"
    repeats: int = 0
    """Of the side with fewer; whole runs where those are counted."""
    draws: int | None = None
    """Of a time: independent draws of the run on the side with fewer. None where both sides share
    their runs, or where the machine has no say in the metric."""
    few_repeats: bool = False
    """Whether a time rests on fewer repeats than show how much repeats differ."""
    varies_by: Unit = "cases"
    """Where `sd` and the interval come from, and so what more are needed of."""
    n_needed: int | None = None
    """Pairs or values a side, of what it `varies_by`, that find `effect_assumed` in 4 of 5 tries;
    where that is None, those that exclude a difference of the margin."""
    n_to_exclude: int | None = None
    """The same to exclude a difference of the margin, if there is none at all."""
    effect_assumed: float | None = None
    """The difference, or the ratio where there is one, drawn towards none; None where chance is
    enough to explain what was seen."""
    is_paid: bool = False
    """Whether it is an amount that is paid for, so that totals are compared."""
    notes: tuple[str, ...] = field(default=())
    """What is to be known of it, and why what is missing is missing."""

    @property
    def is_ratio(self) -> bool:
        return self.ratio is not None

    @property
    def has_few_draws(self) -> bool:
        """Whether the between-run variance was assumed."""
        return self.draws is not None and self.draws < DRAWS_NEEDED

    def by_run(self) -> Comparison:
        """The same of evidence in which whole runs took the place of repeats."""
        of: Unit = "runs" if self.of == "repeats" else self.of
        varies_by: Unit = "runs" if self.varies_by == "repeats" else self.varies_by
        return replace(self, of=of, varies_by=varies_by)

    @property
    def p_tested(self) -> float | None:
        """What is adjusted for the number of tests, and decides."""
        return self.p_value if self.p_serial is None else self.p_serial


def judged(found: Comparison, p_adjusted: float | None, pairs: int = 1) -> Comparison:
    """Return the comparison with its verdict, from a p adjusted for the others of its table.

    `pairs`: how many pairs of sides are compared. A time of few draws needs a difference that is
    larger than 10% with confidence in all of them together (Bonferroni).
    """
    if found.few_repeats and not found.has_few_draws:  # else runs are too few, which is told
        found = replace(found, notes=(*found.notes, FEW_REPEATS))
    effect = found.ratio if found.is_ratio else found.difference
    margin = found.margin
    if not found.is_ratio and found.unit != "share":
        # A share of the larger value where there is no ratio of the two, so that A and B may swap.
        margin = margin * max(abs(found.a or 0.0), abs(found.b or 0.0)) or margin
    if not found.comparable:
        return replace(found, p_adjusted=None, verdict="inconclusive", n_needed=None)
    said = verdict(
        effect,
        found.inner_low,
        found.inner_high,
        p_adjusted,
        margin,
        found.better,
        ratio=found.is_ratio,
        alpha=ALPHA,
    )
    least = _least_for_equivalence(found)
    if said == "equivalent" and found.n < least:
        return replace(found, p_adjusted=p_adjusted, varies_by=found.of, n_needed=least)
    found = replace(found, p_adjusted=p_adjusted, verdict=said)
    is_large = found.p_large is not None and found.p_large < ALPHA / pairs
    if found.has_few_draws and said != "inconclusive" and (said == "equivalent" or not is_large):
        notes = (*found.notes, FEW_DRAWS)
        found = replace(found, verdict="inconclusive", varies_by="runs", notes=notes)
    if found.verdict != "inconclusive":
        return replace(found, n_needed=None)
    found = _with_need(found, margin, _alpha(found.p_tested, p_adjusted))
    if found.has_few_draws and effect is not None:
        excludes = None if found.n_to_exclude is None else max(found.n_to_exclude, RUNS_NEEDED)
        needed = max(found.n_needed or 0, RUNS_NEEDED)
        found = replace(found, n_needed=needed, n_to_exclude=excludes)
    return found


def _alpha(p: float | None, p_adjusted: float | None) -> float:
    """What p itself has to fall below, among the tests that it stands among."""
    if not p or not p_adjusted:
        return ALPHA
    return ALPHA * min(1.0, p / p_adjusted)


def _least_for_equivalence(found: Comparison) -> int:
    """Values below which it is not believed that nothing differs.

    A few may agree by luck, and what never varied says of a sparse difference only that it is rare.
    Shares have intervals that know it.
    """
    if found.unit == "share":
        return 0
    if found.of != "cases":
        return SURE_REPEATS
    low, high = found.inner_low, found.inner_high
    is_constant = low is not None and high is not None and math.isclose(low, high, rel_tol=1e-9)
    return CONSTANT_PAIRS if is_constant else EQUAL_PAIRS


def _with_need(found: Comparison, margin: float, alpha: float) -> Comparison:
    """With `n_needed`, `n_to_exclude` and `effect_assumed`, where they are known."""
    effect = found.ratio if found.is_ratio else found.difference
    if found.sd is None or effect is None or (found.is_ratio and not 0 < effect < math.inf):
        return replace(found, n_needed=None)
    by_cases = found.varies_by == "cases"
    settling = settling_size(
        Open(
            found.sd,
            math.log(effect) if found.is_ratio else effect,
            math.log1p(margin) if found.is_ratio else margin,
            _have(found),
            paired=found.paired and by_cases,
            reach=None if found.is_ratio else _reach(found),
            only=None if found.only_a is None else (found.only_a, found.only_b or 0),
        ),
        alpha,
    )
    if settling is None:
        return replace(found, n_needed=None)
    fewest = _least_for_equivalence(found) if by_cases or found.of != "cases" else 0
    if found.clusters is not None and found.clusters < LEAST_CLUSTERS:
        fewest = max(fewest, math.ceil(LEAST_CLUSTERS * found.n / found.clusters))
    assumed = settling.effect
    if assumed is not None and found.is_ratio:
        assumed = math.exp(assumed)
    return replace(
        found,
        n_needed=max(settling.needed, fewest),
        n_to_exclude=max(settling.to_exclude, fewest),
        effect_assumed=assumed,
    )


def _have(found: Comparison) -> int:
    """Values of what it varies by, on the side with fewer."""
    if found.varies_by == "runs" and found.has_few_draws:
        return found.draws or 0
    return found.n if found.varies_by == found.of else found.repeats


def _reach(found: Comparison) -> float | None:
    """How far from no difference the interval still goes that decides on equivalence."""
    if found.inner_low is None or found.inner_high is None:
        return None
    return max(abs(found.inner_low), abs(found.inner_high))
