"""Use of time, tokens and the machine in one execution.

Phases come from the harness's measurements (attempts, first token, last token) and from the agents'
spans; what neither provides has no number and a reason. Nothing is estimated.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import msgspec

from agentbench_tui.contracts.profile import FlameFrame, ProfiledAnswer, ProfilePhase, TokenFigure
from agentbench_tui.contracts.run import GaugeSummary
from agentbench_tui.store.queries.answer_pages import observation_at
from agentbench_tui.store.queries.answers import count_answers
from agentbench_tui.store.queries.gauges import gauges_of
from agentbench_tui.store.queries.load import stored_requests
from agentbench_tui.store.queries.profiles import profiled_answers
from agentbench_tui.verdicts.load.slow_samples import read_observed
from agentbench_tui.verdicts.profile.phases import (
    NO_SPANS,
    NOT_STREAMED,
    NOT_TIMED,
    Observed,
    SpanNode,
    Timed,
    answer_phases,
    covered_ms,
    nested,
    request_phases,
)

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.verdicts.evidence.place import Execution

MOST_ANSWERS = 5_000
"""The first ones of an execution, of which the time is taken apart."""
TAIL_FROM = 20
"""Minimum number of values for a 95th percentile: with fewer it would be the largest value."""
TOOL = "tool"
"""Spans of this name, or of `tool:NAME`, are the time of tools."""
NOT_JUDGED = "no answer was judged"
_TOLD = 3
"""Bottlenecks."""
_LEAST_SHARE, _LEAST_TAIL = 0.1, 3.0
"""From which on a phase is called a bottleneck."""


@dataclass(frozen=True, slots=True)
class SlowPhase:
    """A phase with a large share of the time, or with a long tail."""

    kind: Literal["share", "tail"]
    phase: ProfilePhase
    value: float


@dataclass(frozen=True, slots=True)
class TimeProfile:
    """Where time and tokens of some answers went; see `profile`."""

    total_ms: float
    phases: tuple[ProfilePhase, ...]
    """`resource_usage` is not known yet."""
    slow: tuple[SlowPhase, ...]
    flame: FlameFrame | None
    tokens: tuple[TokenFigure, ...]
    typical: ProfiledAnswer | None
    slowest: ProfiledAnswer | None


@dataclass(frozen=True, slots=True)
class ExecutionProfile:
    """The profile of an execution; of a load, of its requests."""

    times: TimeProfile
    observed: list[Observed]
    """The first answers or requests."""
    answers: int
    """All of them."""
    is_load: bool
    resources: dict[str, dict[str, GaugeSummary]]


@dataclass(slots=True)
class _Node:
    """Spans of one name at one position, over all answers."""

    total_ms: float = 0.0
    children: dict[str, _Node] = field(default_factory=dict)


def read_profile(connection: sqlite3.Connection, execution: Execution) -> ExecutionProfile:
    """Return the profile of an execution of `queries.executions_of`."""
    key = execution["key"]
    observed, answers = _read_answers(connection, key)
    is_load = not answers and any(stored_requests(connection, key))
    if is_load:
        observed, answers = read_observed(connection, execution, MOST_ANSWERS)
    gauges = msgspec.convert(gauges_of(connection, key), dict[str, dict[str, GaugeSummary]])
    return ExecutionProfile(profile(observed), observed, answers, is_load, gauges)


def answer_times(
    connection: sqlite3.Connection, found: ExecutionProfile, answer: ProfiledAnswer
) -> tuple[Timed, ...]:
    """Return the phases of one answer, or of one request of a load, for a waterfall."""
    if found.is_load:
        return request_phases(found.observed[answer.seq])
    row = observation_at(connection, answer.seq)
    return () if row is None else answer_phases(row)


def _read_answers(connection: sqlite3.Connection, execution_key: int) -> tuple[list[Observed], int]:
    """Return the first answers, and the total number."""
    observed = [
        Observed(
            seq=row.seq,
            case_id=row.case_id,
            waiting_ms=row.waiting_ms,
            e2e_ms=row.e2e_ms,
            ttft_ms=row.ttft_ms,
            failed=row.failure_kind is not None,
            correct=None if row.correct is None else bool(row.correct),
            input_tokens=row.input_tokens,
            output_tokens=row.output_tokens,
            cached_tokens=row.cached_tokens,
            reasoning_tokens=row.reasoning_tokens,
            spans=nested(json.loads(row.spans)) if row.spans else (),
        )
        for row in profiled_answers(connection, execution_key, MOST_ANSWERS)
    ]
    return observed, count_answers(connection, execution_key)


def profile(observed: Sequence[Observed]) -> TimeProfile:
    """Return where the time of these answers went.

    A phase has its total in ms, its share of all time, the number n of answers that have it, and
    mean, p50, p95 and p95/p50. The time of a span excludes the spans inside it. Parallel spans
    count separately, so their shares may add up to more than 1.
    """
    timed = [one for one in observed if one.e2e_ms is not None]
    phases = [*_of_harness(timed), *_of_spans(timed)]
    answered = sorted(
        (one for one in timed if not one.failed), key=lambda one: (one.total_ms, one.seq)
    )
    typical = answered[(len(answered) - 1) // 2] if answered else None
    return TimeProfile(
        sum(one.total_ms for one in timed),
        tuple(phases),
        tuple(_slow(phases)),
        _flame(timed),
        tuple(_tokens(observed)),
        _place(typical),
        _place(max(timed, key=lambda one: one.total_ms, default=None)),
    )


def _place(one: Observed | None) -> ProfiledAnswer | None:
    if one is None:
        return None
    return ProfiledAnswer(seq=one.seq, case_id=one.case_id, total_ms=one.total_ms)


def _of_harness(timed: Sequence[Observed]) -> list[ProfilePhase]:
    total = sum(one.total_ms for one in timed)
    streamed = [one for one in timed if one.ttft_ms is not None and one.e2e_ms is not None]
    rest = [one.e2e_ms for one in timed if one.ttft_ms is None and one.e2e_ms is not None]
    told = [one for one in timed if one.spans]
    tools = [_tool_ms(one) for one in told if any(map(_is_tool, _all(one.spans)))]
    no_tool = "no span is named tool:NAME" if told else NO_SPANS
    return [
        _phase("waiting", "harness", (one.waiting_ms for one in timed if one.waiting_ms > 0),
               total, "nothing waited or was asked twice"),
        _phase("first token", "harness", (one.ttft_ms or 0.0 for one in streamed), total,
               NOT_STREAMED),
        _phase("generation", "harness",
               (max(0.0, (one.e2e_ms or 0.0) - (one.ttft_ms or 0.0)) for one in streamed), total,
               NOT_STREAMED),
        _phase("answer, whole", "harness", rest, total, "every answer was streamed"),
        _phase("tools", "spans", tools, total, no_tool),
        _phase("scoring", "harness", (), total, NOT_TIMED),
    ]  # fmt: skip


def _of_spans(timed: Sequence[Observed]) -> list[ProfilePhase]:
    total = sum(one.total_ms for one in timed)
    by_name: dict[str, list[float]] = {}
    outside = []
    for one in timed:
        own: dict[str, float] = {}
        for span in _all(one.spans):
            own[span.name] = own.get(span.name, 0.0) + span.own_ms
        for name, ms in own.items():
            by_name.setdefault(name, []).append(ms)
        if one.spans and one.e2e_ms is not None:
            outside.append(one.e2e_ms - covered_ms(one.spans, 0.0, one.e2e_ms))
    phases = [_phase(name, "agent", values, total, "") for name, values in by_name.items()]
    phases.sort(key=lambda one: -(one.total_ms or 0.0))
    return [*phases, _phase("outside of spans", "agent", outside, total, NO_SPANS)]


def _phase(
    name: str, source: str, values: Iterable[float], total: float, reason: str
) -> ProfilePhase:
    found = sorted(values)
    p50, p95 = _rank(found, 0.5), _rank(found, 0.95) if len(found) >= TAIL_FROM else None
    return ProfilePhase(
        name=name,
        source=source,
        total_ms=sum(found) if found else None,
        share=sum(found) / total if found and total else None,
        n=len(found),
        mean_ms=sum(found) / len(found) if found else None,
        p50_ms=p50,
        p95_ms=p95,
        tail=p95 / p50 if p95 is not None and p50 else None,
        reason=None if found else reason,
        resource_usage=None,
    )


def _rank(found: Sequence[float], share: float) -> float | None:
    """Return the nearest rank: the smallest value that has at least this share at or below it."""
    return found[max(1, math.ceil(share * len(found))) - 1] if found else None


def _all(spans: Iterable[SpanNode]) -> Iterable[SpanNode]:
    for span in spans:
        yield span
        yield from _all(span.children)


def _is_tool(span: SpanNode) -> bool:
    return span.name == TOOL or span.name.startswith(f"{TOOL}:")


def _tool_ms(one: Observed) -> float:
    """Return the time in which any tool worked."""
    return covered_ms([*filter(_is_tool, _all(one.spans))], 0.0, one.e2e_ms or 0.0)


def _slow(phases: Sequence[ProfilePhase]) -> list[SlowPhase]:
    """Return the phases with the largest shares and those with the longest tails.

    Parts are preferred to the whole answer, if there are any.
    """
    parts = [one for one in phases if one.share is not None and one.name != "tools"]
    finer = [one for one in parts if one.name != "answer, whole"]
    if sum(one.share or 0.0 for one in finer) >= _LEAST_SHARE:
        parts = finer
    shares = [SlowPhase("share", one, one.share or 0.0) for one in parts]
    tails = [SlowPhase("tail", one, one.tail) for one in parts if one.tail is not None]
    return [
        one
        for many, least in ((shares, _LEAST_SHARE), (tails, _LEAST_TAIL))
        for one in sorted(many, key=lambda one: -one.value)[:_TOLD]
        if one.value >= least
    ]


def _flame(timed: Sequence[Observed]) -> FlameFrame | None:
    """Return the mean ms per answer in each span, over the answers that report spans."""
    told = [one for one in timed if one.spans and one.e2e_ms is not None]
    if not told:
        return None
    root = _Node(sum(one.e2e_ms or 0.0 for one in told))
    for one in told:
        _add(root, one.spans)
    return _framed("answer", root, len(told))


def _add(node: _Node, spans: Sequence[SpanNode]) -> None:
    for span in spans:
        child = node.children.setdefault(span.name, _Node())
        child.total_ms += span.took_ms
        _add(child, span.children)


def _framed(name: str, node: _Node, answers: int) -> FlameFrame:
    children = tuple(_framed(of, child, answers) for of, child in node.children.items())
    return FlameFrame(name=name, value=node.total_ms / answers, children=children)


def _tokens(observed: Sequence[Observed]) -> list[TokenFigure]:
    """Return figures of tokens; `n` is the number of observations that report them."""
    unknown = "not reported by the agent"
    found = []
    for name in ("input", "output", "cached", "reasoning"):
        known = [value for one in observed if (value := getattr(one, f"{name}_tokens")) is not None]
        found.append(_figure(name, sum(known), len(known), unknown))
    spent = [one for one in observed if one.tokens is not None]
    total = sum(one.tokens or 0 for one in spent)
    right = sum(1 for one in observed if one.correct)
    each = _figure("an answer", total / len(spent) if spent else 0, len(spent), unknown)
    of_right = _figure("a right answer", total / right if right else 0, len(spent), unknown)
    if spent and not right:
        judged = any(one.correct is not None for one in observed)
        why = "no right answer" if judged else NOT_JUDGED
        of_right = TokenFigure(name=of_right.name, value=None, n=of_right.n, reason=why)
    wasted = [one.tokens or 0 for one in spent if one.failed]
    wrong = [one.tokens or 0 for one in spent if not one.failed and one.correct is False]
    return [
        *found,
        each,
        of_right,
        _figure("of failures", sum(wasted), len(wasted), _none_of(observed, True)),
        _figure("of wrong ones", sum(wrong), len(wrong), _none_of(observed, False)),
    ]


def _none_of(observed: Sequence[Observed], failed: bool) -> str:
    """Return why no tokens of failures, or of wrong answers, are known."""
    if failed:
        there = any(one.failed for one in observed)
        return "not reported of what failed" if there else "nothing failed"
    if all(one.correct is None for one in observed):
        return NOT_JUDGED
    there = any(one.correct is False and not one.failed for one in observed)
    return "not reported by the agent" if there else "no wrong answer"


def _figure(name: str, value: float, n: int, reason: str) -> TokenFigure:
    return TokenFigure(name=name, value=value if n else None, n=n, reason=None if n else reason)
