"""Figures of one agent in each group of cases, and which groups differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from agentbench_tui.analysis.groups.group_differences import DRAWS, common_mean, group_differences
from agentbench_tui.analysis.groups.partial_pooling import FEWEST_GROUPS, partially_pooled
from agentbench_tui.analysis.intervals.estimate import Estimate, estimate
from agentbench_tui.verdicts.comparison.comparison import ALPHA
from agentbench_tui.verdicts.evidence.unit_values import unit_values

if TYPE_CHECKING:
    from agentbench_tui.analysis.groups.group_differences import Bools
    from agentbench_tui.analysis.sample import Floats, Integers

SEED = 42
Way = Literal["higher", "lower"]


@dataclass(frozen=True, slots=True)
class GroupFigures:
    """Figures of one agent in one group of cases; unknown numbers are None."""

    group: str
    cases: int
    answers: int
    """Counted observations, failed ones included."""
    answered: int
    correct: int | None
    main: Estimate
    """The main metric, estimated as for the whole: value, 95% interval, or the reason for a
    missing one.
    """
    e2e_ms: Estimate
    tokens: float | None
    """Mean per counted observation, input and output together."""
    cost_usd: float | None
    cost_usd_per_task: Estimate
    failures: dict[str, int]
    """Failure kind → observations."""
    pooled: float | None = None
    """The value, shrunk toward those of the other groups (partial pooling)."""
    pooled_low: float | None = None
    pooled_high: float | None = None
    p_value: float | None = None
    """p of the group against all other cases."""
    p_adjusted: float | None = None
    differs: Way | None = None
    """How the group differs from the rest, if the adjusted p is below 5%."""


@dataclass(frozen=True, slots=True)
class GroupedAnswers:
    """The observations of one agent over all its benchmarks, and the groups of their cases."""

    case: Integers
    cluster: Integers
    repeat: Integers
    values: dict[str, Floats]
    members: Bools

    def only(self, kept: Bools) -> GroupedAnswers:
        return replace(
            self,
            case=self.case[kept],
            cluster=self.cluster[kept],
            repeat=self.repeat[kept],
            values={name: column[kept] for name, column in self.values.items()},
            members=self.members[:, kept],
        )

    def known(self, metric: str) -> GroupedAnswers:
        """Return the observations that have a value of the metric."""
        unknown = np.full(len(self.case), np.nan)
        return self.only(~np.isnan(self.values.get(metric, unknown)))


def group_figures(
    name: str, answers: GroupedAnswers, metric: str, failures: Counter[str]
) -> GroupFigures:
    """Return the figures of some answers, with `metric` as the main one."""
    right = answers.values.get("correct_share")
    reliability = answers.values.get("reliability", np.zeros(len(answers.case)))
    costs = answers.values.get("cost_usd_per_task")
    is_priced = costs is not None and len(costs) > 0 and not np.isnan(costs).any()
    times = _time(answers)
    return GroupFigures(
        name,
        len(np.unique(answers.case)),
        len(answers.case),
        round(float(np.nansum(reliability))),
        None if right is None or np.isnan(right).all() else round(float(np.nansum(right))),
        times if metric == "e2e_ms" else _share(answers, metric),
        times,
        _tokens(answers),
        float(costs.sum()) if costs is not None and is_priced else None,
        estimate(costs, "amount", clusters=answers.cluster)
        if costs is not None and is_priced
        else Estimate(None, None, None, 0, "mean", "not known for all answers"),
        dict(failures.most_common()),
    )


def _share(answers: GroupedAnswers, metric: str) -> Estimate:
    known = answers.known(metric)
    if not len(known.case):
        return Estimate(None, None, None, 0, "share", "no value in this group")
    return estimate(known.values[metric], "share", clusters=known.cluster)


def _time(answers: GroupedAnswers) -> Estimate:
    known = answers.known("e2e_ms")
    if not len(known.case):
        return Estimate(None, None, None, 0, "median", "nothing answered")
    return estimate(known.values["e2e_ms"], "time", runs=known.repeat)


def _tokens(answers: GroupedAnswers) -> float | None:
    columns = [
        answers.values[name] for name in ("input_tokens", "output_tokens") if name in answers.values
    ]
    known = [column for column in columns if not np.isnan(column).all()]
    if not known:
        return None
    return float(np.mean(np.sum([np.nan_to_num(column) for column in known], axis=0)))


def judged_groups(
    found: Sequence[GroupFigures], answers: GroupedAnswers, metric: str, draws: int = DRAWS
) -> tuple[list[GroupFigures], float | None, str]:
    """Return the groups with their difference from the rest, and p of all groups being equal."""
    share = metric != "e2e_ms"
    column = answers.values.get(metric)
    if column is None:
        return list(found), None, "none"
    if not share:
        with np.errstate(invalid="ignore", divide="ignore"):
            column = np.where(column > 0, np.log(column), np.nan)
    units = unit_values(answers.case, answers.cluster, column, answers.members, share=share)
    if units is None:
        return list(found), None, "none"
    tests = group_differences(
        units.value, units.members, share=share, sizes=units.sizes, seed=SEED, draws=draws
    )
    pooled = _pooled(units.means, units.variances, share=share)
    center = float(units.value.mean())
    judged = []
    for place, one in enumerate(found):
        p_adjusted = tests.p_adjusted[place]
        way: Way = "higher" if units.means[place] > center else "lower"
        value, low, high = pooled[place]
        judged.append(
            replace(
                one, pooled=value, pooled_low=low, pooled_high=high, p_value=tests.p[place],
                p_adjusted=p_adjusted,
                differs=way if p_adjusted is not None and p_adjusted < ALPHA else None,
            )
        )  # fmt: skip
    return judged, common_mean(units.value, units.members, seed=SEED, draws=draws), tests.method


_Ends = tuple[float | None, float | None, float | None]


def _pooled(means: Floats, variances: Floats, *, share: bool) -> list[_Ends]:
    """Return the pooled value of each group with its interval; times are on logarithms."""
    pooled: list[_Ends] = [(None, None, None)] * len(means)
    known = np.isfinite(means) & np.isfinite(variances) & (variances > 0)
    if known.sum() < FEWEST_GROUPS:
        return pooled
    found = partially_pooled(means[known], variances[known])
    assert found is not None
    for place, one in zip(np.flatnonzero(known).tolist(), found, strict=True):
        ends = np.array([one.value, one.low, one.high])
        value, low, high = (np.clip(ends, 0.0, 1.0) if share else np.exp(ends)).tolist()
        pooled[place] = (value, low, high)
    return pooled
