"""Where queueing starts: closed loops of users before a target with a known number of slots."""

from __future__ import annotations

import heapq
import math

import numpy as np

from agentbench_tui.stress.advice.window_bounds import knee
from agentbench_tui.stress.report import LimitsUsed, ScenarioReport, WindowFacts
from agentbench_tui.stress.reporter import facts_of
from agentbench_tui.stress.stand.measured import Measured
from simulations.guarantee import Guarantee, Rate

USERS = (1, 2, 4, 8, 16, 24, 32)
SLOTS = (3, 6, 8, 12, 18)
SERVICE_S = 0.05
"""Median of a request that does not wait."""
SPREAD = 0.3
"""Log-sd of a request."""
REQUESTS = 300
"""In each window."""


def _window(users: int, slots: int, luck: float, draw: np.random.Generator) -> WindowFacts:
    """Users who ask again at once, first come first served; `luck` is the window's own factor."""
    service = SERVICE_S * luck * draw.lognormal(0, SPREAD, REQUESTS)
    ready, free = [0.0] * users, [0.0] * slots
    due, end = np.empty(REQUESTS), np.empty(REQUESTS)
    for request, takes in enumerate(service.tolist()):
        due[request] = heapq.heappop(ready)
        end[request] = max(due[request], heapq.heappop(free)) + takes
        heapq.heappush(ready, end[request])
        heapq.heappush(free, end[request])
    measured = Measured(
        phase="ladder",
        repeat=0,
        asked_per_s=None,
        users=users,
        length_s=float(end.max()),
        due_s=due,
        ok=np.ones(REQUESTS, np.bool_),
        e2e_ms=1_000 * (end - due),
        end_s=end,
    )
    return facts_of(measured)


def _starts(slots: int, run_luck: float, draw: np.random.Generator) -> float | None:
    luck = np.exp(draw.normal(0, run_luck, len(USERS))).tolist()
    windows = [_window(users, slots, own, draw) for users, own in zip(USERS, luck, strict=True)]
    limits = LimitsUsed(error_share=0.01, p95_ms=math.inf, completed_share=0.95, derived=True)
    report = ScenarioReport(scenario="high_load", status="complete", limits=limits, windows=windows)
    return knee(report, by_users=True)


def _slots(trial: int) -> int:
    return SLOTS[trial % len(SLOTS)]


def _found(trials: int, draw: np.random.Generator) -> Rate:
    """The first level with more users than slots: at least a third more here."""
    hits = 0
    for trial in range(trials):
        first = next(users for users in USERS if users > _slots(trial))
        hits += _starts(_slots(trial), 0.02, draw) == first
    return Rate(hits, trials)


def _too_early(trials: int, draw: np.random.Generator) -> Rate:
    hits = 0
    for trial in range(trials):
        starts = _starts(_slots(trial), 0.02, draw)
        hits += starts is not None and starts <= _slots(trial)
    return Rate(hits, trials)


def _without_queue(trials: int, draw: np.random.Generator) -> Rate:
    return Rate(sum(_starts(max(USERS), 0.02, draw) is not None for _ in range(trials)), trials)


_ASSUMES = "medians of windows of one level differ by 2% beyond their answers"
_BREAKS = "one window is disturbed by more than 10%, or levels are far apart"
_DESIGN = "stress, 7 levels of 1–32 users, 300 requests each"
ROWS = (
    Guarantee(
        f"{_DESIGN}, 3–18 slots",
        "queueing starts at the first level with more users than slots",
        _found,
        trials=200,
        lowest=0.9,
        assumes=_ASSUMES,
        breaks=_BREAKS,
    ),
    Guarantee(
        f"{_DESIGN}, 3–18 slots",
        "queueing is said to start while slots are free",
        _too_early,
        trials=200,
        highest=0.05,
        assumes=_ASSUMES,
        breaks=_BREAKS,
    ),
    Guarantee(
        f"{_DESIGN}, as many slots as users",
        "queueing is said to start",
        _without_queue,
        trials=200,
        highest=0.05,
        assumes=_ASSUMES,
        breaks=_BREAKS,
    ),
)
