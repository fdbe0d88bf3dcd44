"""Divides the time of one answer into phases, from the harness's measurements and the agent's
spans.

Times are ms since the first attempt was sent. A phase that was not measured has a reason and no
time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

NOT_STREAMED = "not streamed"
NO_SPANS = "no spans reported"
NOT_TIMED = "not timed"
MOST_SPANS, _DEEPEST = 1_000, 50
"""Limits on the spans of an answer that are shown, and on their nesting depth; deeper spans are
flattened.
"""
_ROUNDING_MS = 1e-3
"""By how much a span may reach over the one that holds it."""


@dataclass(frozen=True, slots=True)
class SpanNode:
    """A span with the spans inside it; times since the answer's own attempt was sent."""

    name: str
    start_ms: float
    end_ms: float
    children: tuple[SpanNode, ...] = ()

    @property
    def took_ms(self) -> float:
        return self.end_ms - self.start_ms

    @property
    def own_ms(self) -> float:
        """Return the time not covered by spans inside it; parallel spans count once."""
        return max(0.0, self.took_ms - covered_ms(self.children, self.start_ms, self.end_ms))


@dataclass(frozen=True, slots=True)
class Timed:
    """A stretch of time; without a start it was not measured, and `reason` says why."""

    name: str
    start_ms: float | None
    end_ms: float | None
    children: tuple[Timed, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Observed:
    """Time and tokens of one observation; unknown values are None."""

    seq: int
    case_id: str
    waiting_ms: float
    """Time on earlier attempts and the pauses between them; for a load's request, until it was
    sent.
    """
    e2e_ms: float | None
    ttft_ms: float | None = None
    failed: bool = False
    correct: bool | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    spans: tuple[SpanNode, ...] = ()

    @property
    def tokens(self) -> int | None:
        """Return input plus output tokens; None if neither is known."""
        known = [one for one in (self.input_tokens, self.output_tokens) if one is not None]
        return sum(known) if known else None

    @property
    def total_ms(self) -> float:
        """Return the time from the first attempt to the end."""
        return self.waiting_ms + (self.e2e_ms or 0.0)


def covered_ms(spans: Sequence[SpanNode], start_ms: float, end_ms: float) -> float:
    """Return the length of the union of the spans within a stretch."""
    total, reached = 0.0, start_ms
    for one in sorted(spans, key=lambda one: one.start_ms):
        begins, ends = max(one.start_ms, reached), min(one.end_ms, end_ms)
        if ends > begins:
            total += ends - begins
            reached = ends
    return total


def nested(spans: Sequence[dict[str, Any]]) -> tuple[SpanNode, ...]:
    """Nest an agent's spans (`name`, `start_ms`, `duration_ms`), each in the shortest one that
    contains it. Spans that overlap without containing each other are siblings.
    """
    times = {
        at: (float(one["start_ms"]), float(one["start_ms"]) + float(one["duration_ms"]))
        for at, one in enumerate(spans[:MOST_SPANS])
        if one["duration_ms"] >= 0
    }
    children: dict[int, list[int]] = {}
    open_spans: list[int] = []
    for at in sorted(times, key=lambda at: (times[at][0], -times[at][1], at)):
        while open_spans and (
            len(open_spans) >= _DEEPEST or not _holds(times[open_spans[-1]], times[at])
        ):
            open_spans.pop()
        children.setdefault(open_spans[-1] if open_spans else -1, []).append(at)
        open_spans.append(at)

    def made(at: int) -> SpanNode:
        inside = tuple(map(made, children.get(at, [])))
        return SpanNode(str(spans[at]["name"]), *times[at], inside)

    return tuple(map(made, children.get(-1, [])))


def _holds(outer: tuple[float, float], inner: tuple[float, float]) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1] + _ROUNDING_MS


def request_phases(one: Observed) -> tuple[Timed, ...]:
    """Return the phases of a load's request: waiting to be sent, first token, generation."""
    if one.e2e_ms is None:
        return ()
    end, sent = one.total_ms, one.waiting_ms
    waited = (Timed("waiting", 0.0, sent),) if sent > 0 else ()
    if one.ttft_ms is None:
        return (*waited, Timed("answer", sent, end), _no_first_token())
    first = min(end, sent + one.ttft_ms)
    return (*waited, Timed("first token", sent, first), Timed("generation", first, end))


def _no_first_token() -> Timed:
    return Timed("first token", None, None, reason=NOT_STREAMED)


def answer_phases(row: dict[str, Any]) -> tuple[Timed, ...]:
    """Return the phases of an observation (of `store.queries.answer_pages.observation_at`): earlier
    attempts, first token, generation, the agent's spans, scoring. Empty if it was never sent.
    """
    took, before = row["e2e_ms"], row["waiting_ms"]
    if took is None:
        return ()
    end = before + took
    phases = [_earlier(row)] if row["attempts"] or before > 0 else []
    first = row["ttft_ms"]
    if first is None:
        parts: tuple[Timed, ...] = (_no_first_token(),)
    else:
        at = min(end, before + first)
        parts = (Timed("first token", before, at), Timed("generation", at, end))
    phases.append(Timed("answer", before, end, parts))
    spans = nested((row["answer"] or {}).get("spans") or [])
    told = tuple(_timed(one, before) for one in spans)
    phases.extend(told or [Timed("agent's spans", None, None, reason=NO_SPANS)])
    phases.append(Timed("scoring", None, None, reason=NOT_TIMED))
    return tuple(phases)


def _earlier(row: dict[str, Any]) -> Timed:
    attempts = row["attempts"]
    since = row["sent_ms"] - row["waiting_ms"]
    children = tuple(
        Timed(
            f"attempt {one['attempt'] + 1}: {one['failure_kind']}",
            one["sent_ms"] - since,
            one["sent_ms"] - since + one["e2e_ms"],
        )
        for one in attempts
    )
    return Timed("waiting", 0.0, row["waiting_ms"], children)


def _timed(span: SpanNode, shift_ms: float) -> Timed:
    children = tuple(_timed(one, shift_ms) for one in span.children)
    return Timed(span.name, span.start_ms + shift_ms, span.end_ms + shift_ms, children)
