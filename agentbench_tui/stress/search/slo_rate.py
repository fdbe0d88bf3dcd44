"""The highest rate at which a target keeps its service-level objective.

A rate passes where every limit of the SLO is kept by its share of the due requests beyond doubt,
and fails where one is missed beyond doubt (`analysis.load.level_verdict`). The search is that of
`breaking_point`: doubling, then bisection until the failing rate is within 10% of the passing one,
both of which are then repeated.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.analysis.load.level_verdict import (
    Check,
    LevelVerdict,
    Limits,
    judge_level,
    requests_needed,
)
from agentbench_tui.load.slo import metric_of, share_of
from agentbench_tui.model.text.plain_number import plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentbench_tui.load.results.requests import Requests

LEAST_S = 4.0
"""Least length of a window."""
LONGEST_S = 30.0
LIMIT_LENGTHS = 20
"""Times the longest limit that a window lasts, if that is not over `LONGEST_FOR_LIMIT_S`: a queue
that grows by 5% is then seen within it."""
LONGEST_FOR_LIMIT_S = 10.0


def window_s(rate: float, slo: Mapping[str, float]) -> float:
    """Return the length of a window at a rate: enough requests to pass, and long enough for a
    queue to show."""
    needed = max(requests_needed(_limits(name)) for name in slo)
    for_limit_s = min(LIMIT_LENGTHS * max(slo.values()) / 1e3, LONGEST_FOR_LIMIT_S)
    return min(LONGEST_S, max(LEAST_S, for_limit_s, 1.05 * needed / rate))


def judge_slo(
    windows: Sequence[Requests], slo: Mapping[str, float], length: int = 1
) -> LevelVerdict:
    """Judge a rate by all windows that were measured at it; `length` as of `judge_level`."""
    verdicts = {name: _judge(windows, name, limit, length) for name, limit in slo.items()}
    outcomes = [verdict.outcome for verdict in verdicts.values()]
    checks = tuple(_check(name, slo[name], verdict) for name, verdict in verdicts.items())
    order = ("fail", "extend", "unclear", "pass")
    worst = min(outcomes, key=order.index)
    return LevelVerdict(worst, checks, sum(len(one) for one in windows))


def _limits(name: str) -> Limits:
    return Limits(error_share=1 - share_of(name), completed_share=0.5)


def _judge(windows: Sequence[Requests], name: str, limit: float, length: int) -> LevelVerdict:
    """Judge one limit: a request that does not keep it, or failed, counts as an error."""
    kept = [
        one.good({name: limit})[np.argsort(one.columns.due_s, kind="stable")] for one in windows
    ]
    flags = np.concatenate(kept)
    # Latency is in the flags, and every request is given the time to end.
    return judge_level(flags, np.zeros(len(flags)), len(flags), _limits(name), length=length)


def _check(name: str, limit: float, verdict: LevelVerdict) -> Check:
    return replace(verdict.checks[0], name=f"share over {metric_of(name)} {plain(limit)} ms")
