"""Rates of load for each repeat: of every second, of the steady part, and overall.

In an open loop the clock asks, so a rate is what came of the requests that became due in that part
÷ its length: whatever shape the schedule has, no answer is lost at its ends. A server that falls
behind takes longer than that to answer them, and then as long as it took divides.

In a closed loop the answers ask. There the steady part leaves out the ramp before it and the drain
after it: filling and emptying the target would make it look slower than it is. A window too short
for one is measured as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agentbench_tui.analysis.summary import Drift, drift
from agentbench_tui.load.results.columns import Flags, Floats
from agentbench_tui.load.results.requests import Requests
from agentbench_tui.load.results.window import Window

LEAST_WAVES = 5
"""Answers that each place in flight gives in the steady part of a closed loop, at least. Where all
go in step, the slope through 5 is off by up to 4%, through 3 by 11%, through 2 by 25%."""
DRIFT_P = 0.01
LEAST_GROWTH = 1.5
"""Growth of the median latency from the first to the last third, below which it may be noise."""
_WHOLE_FROM_THIRDS = 1.5
"""Factor between the growth over the whole window and from the middle of its first third to that
of its last, for even growth.
"""


@dataclass(frozen=True, slots=True)
class Steady:
    """The measured part of a window, in seconds since its start."""

    from_s: float
    to_s: float

    @property
    def length_s(self) -> float:
        return self.to_s - self.from_s


@dataclass(frozen=True, slots=True)
class Rates:
    """Rates of one repeat, per second; None if there is nothing to divide by."""

    steady: Steady | None
    """None when the window ended before that part began, or soon after in a closed loop."""
    throughput: float | None
    request_throughput: float | None
    """Includes canceled requests, as do output tokens and goodput."""
    output_tokens: float | None
    input_tokens: float | None
    goodput: float | None
    sent: float | None
    """In an open loop, only the first requests of sessions, which the schedule determines."""
    due: float | None
    """Rate that became due in the drawn schedule; None for a closed loop."""
    sent_share: float | None
    """Share of the requested rate; None for a closed loop and for a window that was cut short."""


def rates_of(requests: Requests, repeat: int, good: Flags) -> Rates:
    """Return the rates of one repeat; `good` marks the requests, of all, that met the SLO."""
    window = requests.windows[repeat]
    own = requests.columns.repeat == repeat
    answered, begun = own & requests.answered, own & requests.begun
    steady = steady_part(requests, repeat)
    pace = _pace(requests, own, window, steady)

    def rate(amounts: Floats | Flags) -> float | None:
        return None if pace is None else float(np.nansum(pace * amounts))

    sent = _sent_per_s(requests, own, window)
    asked = window.asked_per_s
    return Rates(
        steady=steady,
        throughput=_throughput(requests, own, answered),
        request_throughput=rate(begun),
        output_tokens=rate(requests.received_tokens),
        input_tokens=rate(answered * requests.columns.input_tokens),
        goodput=rate(good),
        sent=sent,
        due=_due_per_s(requests, own, window),
        sent_share=sent / asked if sent is not None and asked and not window.stopped else None,
    )


def steady_part(requests: Requests, repeat: int) -> Steady | None:
    """Return the part from the end of the plan's ramp to the end of the window; None if it is
    empty, or too short in a closed loop.

    A closed loop without a ramp begins to be steady after one median latency from sending: by then
    as many answers end as requests begin.
    """
    window = requests.windows[repeat]
    from_s = window.ramp_s or 0.0
    if not window.is_open:
        begun = requests.begun & (requests.columns.repeat == repeat)
        ends = requests.columns.end_s[begun]
        if window.ramp_s is None and len(ends):
            from_s = float(np.median(requests.columns.e2e_from_send_ms[begun])) / 1e3
        places = sum(worker.most_in_flight for worker in window.workers)
        if np.count_nonzero((ends > from_s) & (ends <= window.window_s)) < LEAST_WAVES * places:
            return None
    return Steady(from_s, window.window_s) if from_s < window.window_s else None


def growth(requests: Requests, rows: Flags) -> Drift | None:
    """Return the growth of the latency from the first third of those requests to the last, in
    order of due time; None if it did not grow by half, with confidence.
    """
    order = np.argsort(requests.columns.due_s[rows], kind="stable")
    found = drift(requests.taken_ms[rows][order])
    if found is None or found.p >= DRIFT_P or found.last < LEAST_GROWTH * found.first:
        return None
    return found


def _pace(requests: Requests, own: Flags, window: Window, steady: Steady | None) -> Floats | None:
    """Return the contribution of each request to a rate, per second; None if there is no rate."""
    if steady is None:
        return None if window.is_open else _whole(requests, own, window)
    if not window.is_open:
        return np.where(own, _slope(requests, steady), 0.0)
    due = requests.columns.due_s
    own = own & (due >= steady.from_s) & (due <= steady.to_s)
    return np.where(own, 1 / _answering_s(requests, own & requests.begun, steady), 0.0)


def _answering_s(requests: Requests, begun: Flags, steady: Steady) -> float:
    """Return the seconds that a server needs for the requests of an open loop.

    This is the time in which they become due or, if the server falls behind, from the first answer
    to the last. One slow answer at the end does not count as falling behind: the time is at most
    extended by the growth of the latency.
    """
    grew = growth(requests, begun)
    if grew is None:
        return steady.length_s
    ends = requests.columns.end_s[begun]
    taken_s = float(ends.max() - ends.min()) * len(ends) / (len(ends) - 1)
    grew_s = _WHOLE_FROM_THIRDS * (grew.last - grew.first) / 1e3
    return max(steady.length_s, min(taken_s, steady.length_s + grew_s))


def _slope(requests: Requests, steady: Steady) -> Floats:
    """Return each request's contribution by when it ended in the steady part.

    The rate is the slope of the least-squares line through the count of answers over time. An
    answer that ends x from the middle of a part of length 2h adds 3 (1 - x²/h²) / 4h to it, one
    outside nothing. Dividing the count by the length instead is wrong by a whole wave of answers
    where users go in step, as those of a closed loop do on a server whose times hardly vary.
    """
    half = steady.length_s / 2
    from_middle = (requests.columns.end_s - steady.from_s - half) / half
    return np.clip(1 - from_middle**2, 0, None) * 3 / (4 * half)


def _whole(requests: Requests, own: Flags, window: Window) -> Floats | None:
    """Return the rate over all requests of a closed loop, so that none is lost: the mean number in
    flight ÷ the mean latency (Little's law).

    Counting until the last answer would include the drain, with ever fewer users; counting until
    the window's end could miss a whole wave of synchronized users.
    """
    from_s, to_s = window.ramp_s or 0.0, window.window_s
    taken_s = float(np.nansum((requests.columns.end_s - requests.columns.sent_s)[own]))
    if from_s >= to_s or taken_s <= 0:
        return None
    inside = np.clip(requests.columns.end_s, from_s, to_s)
    inside -= np.clip(requests.columns.sent_s, from_s, to_s)
    return np.where(own, float(np.nansum(inside[own])) / taken_s / (to_s - from_s), 0.0)


def _throughput(requests: Requests, own: Flags, answered: Flags) -> float | None:
    if not answered.any():
        return None
    whole_s = requests.columns.end_s[answered].max() - requests.columns.due_s[own].min()
    return float(np.count_nonzero(answered) / whole_s) if whole_s > 0 else None


def _sent_per_s(requests: Requests, own: Flags, window: Window) -> float | None:
    """Return the rate of requests sent while the schedule was running; those sent in the drain
    were late. A schedule determines sessions, so their later requests do not count.
    """
    length_s = asking_s(window)
    if window.is_open:
        own = own & ~requests.columns.follow_up
    if length_s <= 0:
        return None
    return float(np.count_nonzero(own & (requests.columns.sent_s <= length_s)) / length_s)


def _due_per_s(requests: Requests, own: Flags, window: Window) -> float | None:
    length_s = asking_s(window)
    if not window.is_open or length_s <= 0:
        return None
    unsent = sum(worker.offered - worker.sent for worker in window.workers)
    return (np.count_nonzero(own & ~requests.columns.follow_up) + unsent) / length_s


def asking_s(window: Window) -> float:
    """Return the seconds that the drawn schedule spans: a schedule that ends by its requests may
    take more or less than its mean.
    """
    if not window.window_s and window.asked and window.asked_per_s:  # a single request, at once
        return window.asked / window.asked_per_s
    return window.window_s
