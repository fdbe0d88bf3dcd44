"""Compares training runs of a candidate with those of a control: one value per run, paired
or not.

Everything is shown side by side, and nothing is a gate for anything else: a bootstrap interval, a
permutation test, a rank test, Student's t, sizes, and a test of normality. What did not finish is
counted, and the result is told as well for the case that it would have gone badly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.analysis.differences.assumption_checks import GoodnessTest, levene, shapiro
from agentbench_tui.analysis.differences.difference_verdict import Verdict, verdict
from agentbench_tui.analysis.differences.effect_size import cliffs_delta, cohens_d, dz, hedges_g
from agentbench_tui.analysis.differences.equivalence import values_needed
from agentbench_tui.analysis.differences.rank import mann_whitney
from agentbench_tui.analysis.differences.signed_rank import wilcoxon
from agentbench_tui.analysis.differences.student import TTest, paired_t, welch
from agentbench_tui.analysis.groups.components import PairingGain, pairing_gain
from agentbench_tui.analysis.power import (
    power_paired,
    power_two_sample,
    sample_size_paired,
    sample_size_two_sample,
)
from agentbench_tui.analysis.resampling.bootstrap import (
    bootstrap_difference,
    bootstrap_paired_difference,
)
from agentbench_tui.analysis.resampling.permutation import (
    PermutationTest,
    permutation_test,
    sign_flip_test,
)
from agentbench_tui.analysis.resampling.resampling import BOOTSTRAP_FROM, Method, Resampling, Side
from agentbench_tui.analysis.scale import MARGINS
from agentbench_tui.verdicts.comparison.moments import pooled_sd, sd
from agentbench_tui.verdicts.comparison.pairing import LEAST_PAIRS
from agentbench_tui.verdicts.statistics.power_answers import GAIN_FROM
from agentbench_tui.verdicts.training.worst_case import WorstCase, worst_case

if TYPE_CHECKING:
    from agentbench_tui.analysis.intervals.interval import Interval
    from agentbench_tui.analysis.resampling.resampling import Bootstrap
    from agentbench_tui.analysis.sample import Floats
    from agentbench_tui.analysis.scale import Better
    from agentbench_tui.verdicts.training.run_summary import Run

LEAST_DRAWN = 2
"""Values below which nothing can be resampled."""
_ROUNDING = 1e-13
"""Relative rounding error left by a subtraction of equal values."""
NARROW_BELOW = 40
"""Number of runs below which the coverage of a plain bootstrap is reported; measured with 1,500
columns of 15 and of 30 normal values.
"""
PERMUTED_FROM = 4
"""Runs per side; with fewer, no permutation reaches p below 0.05, and Welch's p is used."""


@dataclass(frozen=True, slots=True)
class AskedOfRuns:
    """Settings of a comparison."""

    alpha: float = 0.05
    side: Side = "two-sided"
    method: Method = "bca"
    resamples: int | None = None
    seed: int = 42
    margin: float | None = None
    """Share of the larger mean; points of a share. None for 5%, or 2 points."""
    target: float | None = None
    """Difference, in the metric's unit, whose power is requested."""
    power: float = 0.8


@dataclass(frozen=True, slots=True)
class Power:
    """Number of runs that detect a difference, by *t*."""

    target: float
    power: float
    n: int
    """Pairs, or runs a side."""
    reached: float
    """Power with the existing runs."""


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Candidate compared with control in one metric; unknown numbers are None.

    A verdict that the unfinished runs could overturn becomes inconclusive, with a note.
    """

    metric: str
    unit: str
    better: Better
    paired: bool
    control: tuple[Run, ...]
    candidate: tuple[Run, ...]
    """Runs of the candidate; pairs are in the same order."""
    asked: AskedOfRuns
    n: int
    """Finished pairs, or finished runs of the smaller side."""
    a: float | None = None
    b: float | None = None
    effect: float | None = None
    """mean(candidate) - mean(control) of what finished."""
    bootstrap: Bootstrap | None = None
    permutation: PermutationTest | None = None
    p_rank: float | None = None
    t: TTest | None = None
    inner: Interval | None = None
    """By *t* at level 1 - 2 alpha, which decides equivalence."""
    sizes: dict[str, float | None] = field(default_factory=dict)
    """`dz` (for pairs), `cohens_d`, `hedges_g`, `cliffs_delta`; of candidate relative to
    control.
    """
    normality: dict[str, GoodnessTest | None] = field(default_factory=dict)
    """Shapiro–Wilk test of the values that the t test assumes to be normal, and Levene's test for
    unpaired groups.
    """
    gain: PairingGain | None = None
    power: Power | None = None
    worst: WorstCase | None = None
    sd: float | None = None
    """Standard deviation of the differences, or pooled."""
    p_adjusted: float | None = None
    verdict: Verdict = "inconclusive"
    n_needed: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def margin(self) -> float:
        """Return the smallest relevant difference, in the metric's unit."""
        if self.unit == "share":
            return self.asked.margin or MARGINS["points"]
        size = max(abs(self.a or 0.0), abs(self.b or 0.0)) or 1.0
        return (self.asked.margin or MARGINS["ratio"]) * size

    @property
    def p_value(self) -> float | None:
        """Return p of the permutation test; of Welch's *t* for groups in which no permutation
        reaches p below 5%.
        """
        if not self.paired and self.n < PERMUTED_FROM:
            return None if self.t is None else self.t.p
        return None if self.permutation is None else self.permutation.p

    @property
    def is_robust(self) -> bool:
        """Return whether the verdict holds in the worst case, or there is no worst case."""
        return self.worst is None or self.verdict != "inconclusive"

    def finished(self, runs: Sequence[Run]) -> int:
        return sum(run.is_finished for run in runs)


def compare_runs(
    metric: str,
    unit: str,
    better: Better,
    control: Sequence[Run],
    candidate: Sequence[Run],
    asked: AskedOfRuns,
    *,
    paired: bool,
) -> RunComparison:
    """Compare candidate with control, before the verdict: see `judged_runs`.

    Pairs are in the same order; a pair with an unfinished run is excluded from the figures, and
    counted.
    """
    found = RunComparison(
        metric, unit, better, paired, tuple(control), tuple(candidate), asked, n=0
    )
    if paired:
        whole = [
            (one.value, other.value)
            for one, other in zip(control, candidate, strict=True)
            if one.value is not None and other.value is not None
        ]
        a, b = (np.array([pair[side] for pair in whole], np.float64) for side in (0, 1))
    else:
        a, b = (_values(runs) for runs in (control, candidate))
    found = replace(found, n=min(len(a), len(b)))
    if not found.n:
        return found
    found = replace(
        found,
        a=float(a.mean()),
        b=float(b.mean()),
        effect=float((b - a).mean() if paired else b.mean() - a.mean()),
        worst=worst_case(found.control, found.candidate, paired=paired, how=asked),
    )
    return _of_pairs(found, a, b) if paired else _of_groups(found, a, b)


def judged_runs(
    found: RunComparison, p_adjusted: float | None, p_worst: float | None = None
) -> RunComparison:
    """Return the comparison with its verdict, once its p is adjusted for the other metrics.

    `p_worst` is that of the worst case, adjusted likewise; its own unless given.
    """
    alpha, margin = found.asked.alpha, found.margin
    inner = found.inner
    said = verdict(
        found.effect,
        None if inner is None else inner.low,
        None if inner is None else inner.high,
        p_adjusted,
        margin,
        found.better,
        alpha=alpha,
    )
    if not _holds(said, found, p_worst):
        note = f"{said} among what finished, but not in the worst case: inconclusive"
        return replace(found, p_adjusted=p_adjusted, notes=(note, *found.notes))
    needed = None
    if said == "inconclusive" and found.sd is not None:
        needed = values_needed(found.sd, margin, paired=found.paired, alpha=alpha)
        needed = max(needed, found.n + 1)
    return replace(found, p_adjusted=p_adjusted, verdict=said, n_needed=needed)


def _holds(said: Verdict, found: RunComparison, p_worst: float | None) -> bool:
    """Return whether the verdict on finished runs stays the same if the others are set to the
    worst case.
    """
    worst = found.worst
    if worst is None or said == "inconclusive":
        return True
    if said == "equivalent":
        return worst.reach is not None and worst.reach < found.margin
    same_way = (worst.effect > 0) == ((found.effect or 0.0) > 0)
    p = worst.p if p_worst is None else p_worst
    return same_way and p is not None and p < found.asked.alpha


def _of_pairs(found: RunComparison, a: Floats, b: Floats) -> RunComparison:
    asked, d = found.asked, _differences(a, b)
    of_differences = paired_t(d, asked.side, 1 - asked.alpha)
    within = paired_t(d, level=1 - 2 * asked.alpha)
    ranked = wilcoxon(d, asked.side)
    spread = sd(d)
    return replace(
        found,
        bootstrap=bootstrap_paired_difference(np.zeros_like(d), d, _resampling(asked)),
        permutation=sign_flip_test(d, asked.side, seed=asked.seed),
        p_rank=None if ranked is None else ranked.p,
        t=of_differences,
        inner=None if within is None else within.interval,
        sizes={"dz": dz(d), **_sizes(a, b)},
        normality={"differences": shapiro(d)},
        gain=pairing_gain(a, b) if len(d) >= GAIN_FROM else None,
        power=_power(asked, spread, len(d), len(d), paired=True),
        sd=spread,
        notes=_notes(found, len(d), of="pairs"),
    )


def _of_groups(found: RunComparison, a: Floats, b: Floats) -> RunComparison:
    asked = found.asked
    of_means = welch(b, a, asked.side, 1 - asked.alpha)
    within = welch(b, a, level=1 - 2 * asked.alpha)
    ranked = mann_whitney(b, a, asked.side)
    spread = pooled_sd(a, b)
    return replace(
        found,
        bootstrap=bootstrap_difference(a, b, _resampling(asked)),
        permutation=permutation_test(b, a, asked.side, seed=asked.seed),
        p_rank=None if ranked is None else ranked.p,
        t=of_means,
        inner=None if within is None else within.interval,
        sizes=_sizes(a, b),
        normality={"control": shapiro(a), "candidate": shapiro(b), "levene": levene(a, b)},
        power=_power(asked, spread, len(a), len(b), paired=False),
        sd=spread,
        notes=_notes(found, found.n, of="runs a side"),
    )


def _resampling(asked: AskedOfRuns) -> Resampling:
    return Resampling(
        asked.seed, asked.resamples, 1 - asked.alpha, asked.side, asked.method, LEAST_DRAWN
    )


def _differences(a: Floats, b: Floats) -> Floats:
    """Return b - a; differences that are equal except for rounding are made equal."""
    d = b - a
    if len(d) and np.ptp(d) <= _ROUNDING * max(np.abs(a).max(), np.abs(b).max()):
        return np.full_like(d, np.median(d))
    return d


def _values(runs: Sequence[Run]) -> Floats:
    return np.array([run.value for run in runs if run.value is not None], np.float64)


def _sizes(a: Floats, b: Floats) -> dict[str, float | None]:
    return {
        "cohens_d": cohens_d(b, a),
        "hedges_g": hedges_g(b, a),
        "cliffs_delta": cliffs_delta(b, a),
    }


def _power(
    asked: AskedOfRuns, spread: float | None, n: int, other: int, *, paired: bool
) -> Power | None:
    if asked.target is None or not spread:
        return None
    # A test for `less` looks for a difference of that size below.
    effect = abs(asked.target) / spread * (-1 if asked.side == "less" else 1)
    if paired:
        needed = sample_size_paired(effect, asked.power, alpha=asked.alpha, alternative=asked.side)
        reached = power_paired(effect, n, alpha=asked.alpha, alternative=asked.side)
    else:
        needed = sample_size_two_sample(
            effect, asked.power, alpha=asked.alpha, alternative=asked.side
        )
        reached = power_two_sample(effect, n, other, alpha=asked.alpha, alternative=asked.side)
    return Power(asked.target, asked.power, needed.n, reached)


def _notes(found: RunComparison, n: int, of: str) -> tuple[str, ...]:
    if n < LEAST_DRAWN:
        return (f"an interval and a test need 2 {of} at least, better 15",)
    said = []
    if n < NARROW_BELOW:
        few = "of 5 it holds the mean in 84% of cases instead of 95%, of 10 in 90%"
        more = "of 15 it holds the mean in 91% of cases instead of 95%, of 30 in 92%"
        told = few if n < BOOTSTRAP_FROM else more
        said.append(f"a bootstrap of {n} {of} is too narrow ({told}): trust the t interval")
    if found.paired and n < LEAST_PAIRS:
        said.append(f"of {n} pairs no p of flipped signs can fall below {2.0 ** (1 - n):.2g}")
    return tuple(said)
