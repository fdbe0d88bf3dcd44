"""Rates of load, a repeat at a time: what went through each second, in the steady part and in all.

The steady part of a window leaves out the ramp before it and the drain after it: filling and
emptying the target would make it look slower than it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agentbench_tui.load.columns import Flags, Floats
from agentbench_tui.load.requests import Requests
from agentbench_tui.load.window import Window


@dataclass(frozen=True, slots=True)
class Steady:
    """The steady part of a window, in seconds since its start."""

    from_s: float
    to_s: float

    @property
    def length_s(self) -> float:
        return self.to_s - self.from_s


@dataclass(frozen=True, slots=True)
class Rates:
    """Rates of one repeat, per second; None where there is nothing to divide by."""

    steady: Steady | None
    """None when the window ended before its steady part began."""
    throughput: float | None
    request_throughput: float | None
    output_tokens: float | None
    input_tokens: float | None
    goodput: float | None
    sent: float | None
    """In an open loop the first requests of sessions only: what the schedule asks for."""
    due: float | None
    """What the schedule, as it was drawn, made due; None for a closed loop."""
    sent_share: float | None
    """Of the asked rate; None for a closed loop and for a window that was cut short."""


def rates_of(requests: Requests, repeat: int, good: Flags) -> Rates:
    """Rates of one repeat; `good` says which of all requests kept the SLO."""
    window = requests.windows[repeat]
    own = requests.columns.repeat == repeat
    answered = own & requests.answered
    steady = steady_part(requests, repeat)
    pace = np.where(own, _pace(requests, steady), 0.0)
    asking_s = _asking_s(window)

    def rate(amounts: Floats) -> float | None:
        return None if steady is None else float(np.nansum(amounts))

    sent = _sent_per_s(requests, own, window)
    asked = window.asked_per_s
    return Rates(
        steady=steady,
        throughput=_throughput(requests, own, answered),
        request_throughput=rate(pace * answered),
        output_tokens=rate(pace * requests.output_tokens),
        input_tokens=rate(pace * answered * requests.columns.input_tokens),
        goodput=float(np.count_nonzero(own & good)) / asking_s if asking_s > 0 else None,
        sent=sent,
        due=_due_per_s(requests, own, window),
        sent_share=sent / asked if sent is not None and asked and not window.stopped else None,
    )


def steady_part(requests: Requests, repeat: int) -> Steady | None:
    """From the end of the ramp to the last arrival; None when that is nothing.

    The ramp is the plan's, else one median latency from sending: by then as many answers end as
    requests begin.
    """
    window = requests.windows[repeat]
    ramp_s = window.ramp_s
    if ramp_s is None:
        latencies = requests.e2e_from_send_ms[
            requests.answered & (requests.columns.repeat == repeat)
        ]
        ramp_s = float(np.median(latencies)) / 1e3 if len(latencies) else 0.0
    return Steady(ramp_s, window.window_s) if ramp_s < window.window_s else None


def _pace(requests: Requests, steady: Steady | None) -> Floats:
    """What each request adds to a rate, per second, by when it ended in the steady part.

    The rate is the slope of the least-squares line through the count of answers over time. An
    answer that ends x from the middle of a part of length 2h adds 3 (1 - x²/h²) / 4h to it, one
    outside nothing. Dividing the count by the length instead is wrong by a whole wave of answers
    where users go in step, as those of a closed loop do on a server whose times hardly vary.
    """
    if steady is None:
        return np.zeros(len(requests))
    half = steady.length_s / 2
    from_middle = (requests.columns.end_s - steady.from_s - half) / half
    return np.clip(1 - from_middle**2, 0, None) * 3 / (4 * half)


def _throughput(requests: Requests, own: Flags, answered: Flags) -> float | None:
    if not answered.any():
        return None
    whole_s = requests.columns.end_s[answered].max() - requests.columns.due_s[own].min()
    return float(np.count_nonzero(answered) / whole_s) if whole_s > 0 else None


def _sent_per_s(requests: Requests, own: Flags, window: Window) -> float | None:
    """What left while the schedule asked for it; what left in the drain was late.

    A schedule asks for sessions: their later requests are no answer to it.
    """
    length_s = _asking_s(window)
    if window.is_open:
        own = own & ~requests.columns.follow_up
    if length_s <= 0:
        return None
    return float(np.count_nonzero(own & (requests.columns.sent_s <= length_s)) / length_s)


def _due_per_s(requests: Requests, own: Flags, window: Window) -> float | None:
    length_s = _asking_s(window)
    if not window.is_open or length_s <= 0:
        return None
    unsent = sum(worker.offered - worker.sent for worker in window.workers)
    return (np.count_nonzero(own & ~requests.columns.follow_up) + unsent) / length_s


def _asking_s(window: Window) -> float:
    """Seconds that the schedule spans; its last arrival comes before their end."""
    if window.asked and window.asked_per_s and not window.stopped:
        return window.asked / window.asked_per_s
    return window.window_s
