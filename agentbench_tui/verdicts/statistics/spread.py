"""Variation between runs, the runs that a mean requires, and the sources of variation."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Literal

import numpy as np

from agentbench_tui.analysis.groups.components import SeedSplit, TwoLevel, seed_split, two_level
from agentbench_tui.analysis.runs.variance import (
    PrecisionCurve,
    RunsNeeded,
    half_width_curve,
    runs_needed,
)
from agentbench_tui.contracts.document import Json, finite
from agentbench_tui.contracts.stats import (
    MeanInterval,
    MetricSpread,
    PrecisionPoint,
    SeedShare,
    TwoLevelVariance,
)
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence
from agentbench_tui.verdicts.selection.measured import Measured, RunValues, run_values, unit_of

MAIN = (
    "accuracy", "e2e_ms", "ttft_ms", "tpot_ms", "output_tokens", "cost_usd_per_task",
    "request_throughput_per_s",
)  # fmt: skip
"""Metrics shown by default."""
_MOST_POINTS = 300
_LEAST_POINTS = 15
_BEYOND = 1.25
"""How far a curve extends beyond the required number of runs."""

Below = Literal["yes", "no", "open"]


@dataclass(frozen=True, slots=True)
class RunSpread:
    """Variation of one metric over the runs at one place."""

    name: str
    """Place and metric, or the summary of a learning curve."""
    unit: str
    runs: RunValues
    curve: PrecisionCurve
    needed: RunsNeeded
    threshold: float
    half_width: float
    seeds: SeedSplit | None = None
    levels: TwoLevel | None = None
    groups: Literal["repeat", "case"] = "repeat"
    """What the answers of each group in `levels` share."""

    @property
    def below_threshold(self) -> Below:
        """Return whether the CV lies below the threshold: undecided while its interval contains
        the threshold.
        """
        spread = self.curve.spread
        if spread is None or spread.low < self.threshold <= spread.high:
            return "open"
        return "yes" if spread.high < self.threshold else "no"


def spread_of(name: str, unit: str, runs: RunValues, threshold: float, wanted: float) -> RunSpread:
    """Return the variation of a run's values, and the runs that a half-width of `wanted` of the
    mean requires.
    """
    needed = runs_needed(runs.values, wanted)
    reach = max(len(runs.values), _LEAST_POINTS, math.ceil(_BEYOND * (needed.n or 0)))
    curve = half_width_curve(runs.values, min(reach, _MOST_POINTS))
    split = None if runs.seeds is None else seed_split(runs.values, runs.seeds)
    return RunSpread(name, unit, runs, curve, needed, threshold, wanted, seeds=split)


def spread_at(one: Measured, metric: str, threshold: float, wanted: float) -> RunSpread:
    """Return the variation of a measured metric, with its variance split into that within repeats
    (for shares: within cases) and between them.
    """
    found = spread_of(
        f"{one.place} · {metric}", unit_of(metric), run_values(one, metric), threshold, wanted
    )
    evidence = one.evidence
    column = evidence.values.get(metric) if isinstance(evidence, TaskEvidence) else None
    if not isinstance(evidence, TaskEvidence) or evidence.repeats < 2 or column is None:
        return found
    known = ~np.isnan(column)
    if unit_of(metric) == "share":  # whether an answer is right depends on the case most
        return replace(
            found, levels=two_level(column[known], evidence.cluster[known]), groups="case"
        )
    return replace(found, levels=two_level(column[known], evidence.repeat[known]))


def metric_spread(one: RunSpread) -> MetricSpread:
    """Return one metric as documents have it; all but `mean`, `sd` and variances are shares of the
    mean.
    """
    spread = one.curve.spread
    return MetricSpread(
        name=one.name,
        unit=one.unit,
        n=len(one.runs.values),
        runs_are=one.runs.what,
        values=tuple(one.runs.values.tolist()),
        mean=float(one.runs.values.mean()) if len(one.runs.values) else None,
        sd=None if spread is None else spread.sd,
        cv=None if spread is None else spread.cv,
        cv_low=None if spread is None else spread.low,
        cv_high=None if spread is None else spread.high,
        threshold=one.threshold,
        cv_below_threshold=one.below_threshold,
        half_width=one.needed.half_width,
        half_width_wanted=one.half_width,
        n_needed=one.needed.n,
        n_needed_low=one.needed.low,
        n_needed_high=one.needed.high,
        more=one.needed.more,
        reason=one.needed.reason or None,
        curve=tuple(PrecisionPoint(**asdict(point)) for point in one.curve.points),
        seeds=None if one.seeds is None else SeedShare(**_finite(one.seeds)),
        two_level=None if one.levels is None else _two_level(one.levels),
        two_level_of=None if one.levels is None else one.groups,
    )


def _two_level(levels: TwoLevel) -> TwoLevelVariance:
    figures = _finite(levels)
    for name in ("by_runs", "naive"):
        interval = getattr(levels, name)
        figures[name] = None if interval is None else MeanInterval(**asdict(interval))
    return TwoLevelVariance(**figures)


def _finite(figures: SeedSplit | TwoLevel) -> dict[str, Json]:
    return {
        name: finite(value) if isinstance(value, float) else value
        for name, value in asdict(figures).items()
    }
