"""One figure from few runs of several benchmarks, after Agarwal et al. 2021.

Tasks are benchmarks (at points of a sweep), runs are whole repeats, and a run's value is its mean
over the compared cases. The intervals describe the variance between runs, not between cases: see
`analysis.boards.task_aggregate`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from agentbench_tui.analysis.boards.task_aggregate import (
    RUNS_BEYOND_ONE,
    aggregate,
    bootstrap_aggregate,
    performance_profile,
    probability_of_improvement,
    runs_beyond_one,
    with_few_runs,
)
from agentbench_tui.analysis.resampling.resampling import Resampling
from agentbench_tui.analysis.sample import distinct, mean_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.analysis.intervals.interval import Interval
    from agentbench_tui.analysis.sample import Floats, Integers
    from agentbench_tui.verdicts.ranking.scorecard import Scorecard

Document = dict[str, Any]

TAUS = np.linspace(0, 0.95, 20)
_HOW = Resampling(seed=42, resamples=2_000, method="percentile")
_ALIKE = "no interval: every draw of the repeats gives the same"


def over_tasks(cards: Sequence[Scorecard], metric: str, cases: Integers) -> list[Document]:
    """Return for each contender the interquartile mean, performance profile, and the probability
    that one of its runs is better than one of the next contender's on a random benchmark.

    `cards` in the order of their places; `metric` is a share of which more is better. Everyone has
    the same benchmarks, since all have the cases.
    """
    runs = [_runs(card, metric, cases) for card in cards]
    found = []
    for place, tasks in enumerate(runs):
        follower = runs[place + 1] if place + 1 < len(runs) else None
        following = cards[place + 1].contender.name if follower is not None else None
        found.append(
            {
                "iqm": _iqm(tasks),
                "improvement": None
                if follower is None
                else {"over": following, **_improvement(tasks, follower)},
                "profile": _profile(tasks),
            }
        )
    return found


def _runs(card: Scorecard, metric: str, cases: Integers) -> list[Floats]:
    """Return the value of each repeat, by benchmark."""
    values = card.column(metric)
    kept = np.isin(card.case, cases) & ~np.isnan(values)
    first = distinct(card.repeat[kept]).first
    _, means = mean_by(card.repeat[kept], values[kept])
    places = card.place[kept][first]
    return [means[places == place] for place in np.unique(places)]


def _iqm(tasks: Sequence[Floats]) -> Document:
    found = bootstrap_aggregate(tasks, "iqm", _HOW)
    interval = None if found is None else with_few_runs(found, tasks)
    return _document(aggregate(tasks, "iqm"), interval, tasks)


def _improvement(ours: Sequence[Floats], theirs: Sequence[Floats]) -> Document:
    found = probability_of_improvement(ours, theirs, _HOW)
    interval = None if found is None else with_few_runs(found, ours, theirs, bounded=True)
    return _document(None if found is None else found.estimate, interval, ours, theirs)


def _profile(tasks: Sequence[Floats]) -> Document:
    found = performance_profile(tasks, TAUS, _HOW, few_runs=True)
    return {
        "taus": [round(float(tau), 4) for tau in found.taus],
        "share": found.share.tolist(),
        "low": None if found.low is None else found.low.tolist(),
        "high": None if found.high is None else found.high.tolist(),
    }


def _document(
    value: float | None, interval: Interval | None, *agents: Sequence[Floats]
) -> Document:
    if interval is not None:
        low, high = max(0.0, interval.low), min(1.0, interval.high)
        return {"value": value, "low": low, "high": high, "reason": ""}
    have = runs_beyond_one(*agents)
    reason = _ALIKE
    if have < RUNS_BEYOND_ONE:
        reason = f"needs {RUNS_BEYOND_ONE} more repeats than benchmarks (has {have} more)"
    return {"value": value, "low": None, "high": None, "reason": reason}
