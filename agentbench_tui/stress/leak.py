"""Effect of a leak on the score: service ends when memory is full.

Only for a growth that is certain and large enough: a program grows by a few megabytes within a
minute without a leak, and a projection of that over a week would be meaningless.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from agentbench_tui.analysis.load.resilience import WEEK_H, share_of_week
from agentbench_tui.stress.faults.host_memory import BYTES_PER_MB, read_host_memory

if TYPE_CHECKING:
    from agentbench_tui.stress.report import ScenarioReport, ScoreFacts, TrendFacts

LEAST_GROWTH = 0.1
"""Growth over the observed time, relative to the initial memory, below which nothing is
predicted.
"""


class Room(NamedTuple):
    """Memory that a target may still use."""

    mb: float
    of: str
    """Owner of the memory, for a sentence."""


def room_for(held_mb: float, limit_mb: float | None) -> Room:
    """Return the memory left up to its own limit if it has one, else on this machine."""
    if limit_mb is not None:
        left_mb = max(0.0, limit_mb - held_mb)
        return Room(left_mb, f"the {left_mb:,.0f} MB up to its limit")
    left_mb = read_host_memory().available_bytes / BYTES_PER_MB
    return Room(left_mb, f"the {left_mb:,.0f} MB that this machine has left")


def tell_leak(report: ScenarioReport, limit_mb: float | None) -> None:
    """Add the room for memory, and the effect of a leak on the score, to a report with trends and a
    score. Change nothing if memory does not rise, or too little to decide.
    """
    report.observations.pop("memory_room_mb", None)
    trend = next((one for one in report.trends if one.of == "memory"), None)
    if trend is None or trend.direction != "rises" or trend.first is None or trend.last is None:
        return
    room = room_for(trend.last, limit_mb)
    report.observations |= {"memory_room_mb": room.mb, "memory_room_of": room.of}
    if report.score is not None and trend.last - trend.first >= LEAST_GROWTH * trend.first:
        report.score = _less_leak(report.score, trend, room)


def _less_leak(score: ScoreFacts, trend: TrendFacts, room: Room) -> ScoreFacts:
    """Return the score over a week in which the target serves until its memory is full."""
    share, least, most = (
        share_of_week(room.mb, growth) for growth in (trend.per_hour, trend.high, trend.low)
    )
    if share == 1.0:
        return score
    return replace(
        score,
        value=share * score.value,
        low=None if score.low is None else least * score.low,
        high=None if score.high is None else most * score.high,
        watched=score.value,
        words=f"{score.value:.3g} while it was watched; as memory grows, {room.of} are used up"
        f" after {share * WEEK_H:.3g} h [{least * WEEK_H:.3g}, {most * WEEK_H:.3g}] of a week's"
        f" {WEEK_H:.0f} h, and from then on nothing is served",
    )
