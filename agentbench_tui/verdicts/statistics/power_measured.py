"""Power and sample size with the measured standard deviation: of one side, or of two case
by case.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from agentbench_tui.analysis.groups.components import PairingGain, pairing_gain
from agentbench_tui.analysis.sample import mean_by
from agentbench_tui.contracts.document import finite
from agentbench_tui.contracts.stats import PairingGainResult
from agentbench_tui.model.errors import UsageError
from agentbench_tui.verdicts.comparison.comparison import SURE_REPEATS
from agentbench_tui.verdicts.comparison.moments import all_binary
from agentbench_tui.verdicts.comparison.pairing import repeat_means
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence
from agentbench_tui.verdicts.selection.measured import (
    Measured,
    by_told_runs,
    metrics_of,
    run_values,
    unit_of,
)
from agentbench_tui.verdicts.statistics.power_answers import (
    GAIN_FROM,
    Answer,
    Chances,
    Design,
    mcnemar_answer,
    size_for_shares,
    sizes_for,
    smallest_effects,
    smallest_share_difference,
)

if TYPE_CHECKING:
    from agentbench_tui.analysis.sample import Floats

MAIN = ("accuracy", "e2e_ms", "ttft_ms", "output_tokens", "request_throughput_per_s")
_USUAL_CHANGE, _USUAL_POINTS = 0.05, 0.02
_FEWEST = 2


@dataclass(frozen=True, slots=True)
class Gain:
    """Gain from pairing by case, for a metric of two sides."""

    name: str
    gain: PairingGain

    def result(self) -> PairingGainResult:
        """Return the gain as documents have it."""
        found = {**asdict(self.gain), "saved": finite(self.gain.saved)}
        return PairingGainResult(name=self.name, **found)


def of_one(
    one: Measured, metric: str | None, effect: float | None, n: int | None, chances: Chances
) -> list[Answer]:
    """Return what the existing runs detect against as many of another agent, and how many runs
    `effect` requires.
    """
    found: list[Answer] = []
    for name in metrics_of(one, MAIN if metric is None else (metric,)):
        label = f"{one.place} · {name}"
        if unit_of(name) == "share" and isinstance(one.evidence, TaskEvidence):
            found += _of_share(one.evidence, name, label, effect, n, chances)
        else:
            found += _of_runs(run_values(one, name).values, label, effect, n, chances)
    return found


def _of_runs(
    values: Floats, label: str, effect: float | None, n: int | None, chances: Chances
) -> list[Answer]:
    reason = ""
    if len(values) < _FEWEST:
        reason = f"needs 2 runs (have {len(values)})"
    elif not (values > 0).all():
        reason = "values of 0 or less have no ratio"
    elif values.min() == values.max():
        reason = "all runs are equal: no spread to plan from"
    if reason:
        return [Answer(label, "unpaired", None, None, "ratio", "n", chances.power, reason=reason)]
    sd = float(np.log(values).std(ddof=1))
    answers = smallest_effects(n or len(values), chances, sd, label)
    answers += sizes_for(effect or _USUAL_CHANGE, chances, sd, label)
    # how much pairs differ only two sides can tell
    return [one for one in answers if one.design == "unpaired"]


def _of_share(
    evidence: TaskEvidence,
    metric: str,
    label: str,
    effect: float | None,
    n: int | None,
    chances: Chances,
) -> list[Answer]:
    means = np.array(list(_case_means(evidence, metric).values()))
    points = effect or _USUAL_POINTS
    if not all_binary(means) and len(means) >= _FEWEST:
        return _of_graded(means, "unpaired", label, points, n, chances)
    share = float(means.mean())
    answers = [smallest_share_difference(n or len(means), share, chances, label)]
    other = share - points if share + points > 1 else share + points
    if 0 <= other <= 1:
        answers.append(size_for_shares(share, other, chances, label))
    return answers


def of_two(
    a: Measured,
    b: Measured,
    metric: str | None,
    effect: float | None,
    n: int | None,
    chances: Chances,
) -> tuple[list[Answer], list[Gain]]:
    """Return the pairs by case, or repeats, that a change requires, what `n` of them detect (by
    default the existing number), and the gain from pairing. Raises UsageError if both share no
    case.
    """
    if not (isinstance(a.evidence, TaskEvidence) and isinstance(b.evidence, TaskEvidence)):
        raise UsageError(f"{a.place}: load has no cases to pair; give one side at a time")
    answers: list[Answer] = []
    gains: list[Gain] = []
    sides = by_told_runs(a.evidence), by_told_runs(b.evidence)
    for name in metrics_of(a, MAIN if metric is None else (metric,)):
        pairs = _pairs(*sides, name)
        if pairs is None:
            continue
        label = f"{a.place} · {name}"
        first, second = pairs
        is_share = unit_of(name) == "share"
        logs = not is_share and bool((first > 0).all() and (second > 0).all())
        x, y = (np.log(first), np.log(second)) if logs else (first, second)
        gain = pairing_gain(x, y)
        if gain is not None and gain.pairs >= GAIN_FROM:
            gains.append(Gain(label, gain))
        if is_share and not all_binary(first, second):
            points = effect or _USUAL_POINTS
            answers += _of_graded(second - first, "paired", label, points, n, chances)
        elif is_share:
            answers += _discordance(first, second, label, n, chances)
        elif logs and gain is not None and gain.variance_difference > 0:
            spread = _spread(*sides, name, gain)
            answers += _of_ratios(spread, label, effect or _USUAL_CHANGE, n, chances)
    if not answers and not gains:
        raise UsageError(
            f"{a.place}: the common cases allow no estimate, because their values are too few "
            "or all equal; use more cases"
        )
    return answers, gains


@dataclass(frozen=True, slots=True)
class _Spread:
    """Standard deviation of a comparison of ratios, on logarithms."""

    what: Literal["cases", "repeats"]
    n: int
    """Pairs of cases, or repeats of the side with fewer."""
    sds: dict[str, float]
    """By design: of the pairs' differences, and of the values of a side."""


def _spread(a: TaskEvidence, b: TaskEvidence, metric: str, gain: PairingGain) -> _Spread:
    """Return the spread by cases; by repeats for times if there are enough repeats and they vary
    more, as `between_repeat` judges.
    """
    pairs, luck = gain.pairs, 0.0
    by_cases = gain.variance_difference / pairs
    if unit_of(metric) == "ms" and min(a.repeats, b.repeats) >= SURE_REPEATS:
        cases = np.array(sorted(_case_means(a, metric).keys() & _case_means(b, metric).keys()))
        means = [repeat_means(side, metric, cases, on_logs=True) for side in (a, b)]
        n = min(len(one.value) for one in means)
        if n >= SURE_REPEATS:
            by_repeats = sum(float(one.value.var(ddof=1)) / len(one.value) for one in means)
            luck = max(0.0, by_repeats - sum(one.rest for one in means))
            if by_repeats > by_cases:
                both = max(by_cases + luck, by_repeats)
                return _Spread("repeats", n, {"unpaired": math.sqrt(both * n / 2)})
    by_sides = (gain.variance_a + gain.variance_b) / pairs
    sds = {
        "paired": math.sqrt((by_cases + luck) * pairs),
        "unpaired": math.sqrt((by_sides + luck) * pairs / 2),
    }
    return _Spread("cases", pairs, sds)


def _of_ratios(
    spread: _Spread, label: str, effect: float, n: int | None, chances: Chances
) -> list[Answer]:
    found = []
    for design, sd in spread.sds.items():
        if sd > 0:
            both = smallest_effects(n or spread.n, chances, sd, label)
            both += sizes_for(effect, chances, sd, label)
            found += [replace(one, what=spread.what) for one in both if one.design == design]
    return found


def _discordance(
    first: Floats, second: Floats, label: str, n: int | None, chances: Chances
) -> list[Answer]:
    only_a, only_b = float((first > second).mean()), float((second > first).mean())
    if only_a == only_b:
        reason = "as many cases go either way: nothing to plan from"
        return [
            Answer(
                label,
                "paired",
                None,
                0.0,
                "points",
                "n",
                chances.power,
                what="cases",
                reason=reason,
            )
        ]
    return [
        mcnemar_answer(only_a, only_b, chances, n or len(first), label),
        mcnemar_answer(only_a, only_b, chances, None, label),
    ]


def _of_graded(
    values: Floats, design: Design, label: str, effect: float, n: int | None, chances: Chances
) -> list[Answer]:
    """Answer for graded credit: by how much cases differ rather than by how many, as tests of right
    and wrong do. `values` are the means of cases, or their differences within pairs.
    """
    sd = float(values.std(ddof=1))
    n = n or len(values)
    base = Answer(label, design, n, None, "points", "effect", chances.power, what="cases")
    if sd == 0:
        return [replace(base, reason="all cases are alike: no spread to plan from")]
    (seen,) = (one for one in smallest_effects(n, chances) if one.design == design)
    (size,) = (one for one in sizes_for(effect / sd, chances) if one.design == design)
    assert seen.effect is not None
    return [
        replace(base, effect=seen.effect * sd),
        replace(base, n=size.n, effect=effect, asked="n"),
    ]


def _pairs(a: TaskEvidence, b: TaskEvidence, metric: str) -> tuple[Floats, Floats] | None:
    """Return the means of the cases that both have."""
    first, second = _case_means(a, metric), _case_means(b, metric)
    both = sorted(first.keys() & second.keys())
    if len(both) < _FEWEST:
        return None
    return np.array([first[case] for case in both]), np.array([second[case] for case in both])


def _case_means(evidence: TaskEvidence, metric: str) -> dict[int, float]:
    column = evidence.values.get(metric.partition(".")[0])
    if column is None:
        return {}
    known = ~np.isnan(column)
    cases, means = mean_by(evidence.case[known], column[known])
    return dict(zip(cases.tolist(), means.tolist(), strict=True))


def matched(
    first: Sequence[Measured], second: Sequence[Measured]
) -> list[tuple[Measured, Measured]]:
    """Match what two selectors have at the same place; a file without a name matches any."""
    if len(first) == len(second) == 1:
        return [(first[0], second[0])]
    places = {one.place: one for one in second}
    return [(one, places[one.place]) for one in first if one.place in places]
