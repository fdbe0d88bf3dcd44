"""Sentences around the tables of load: reliability, rates, limits, disturbances."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agentbench_tui.load.slo import share_of
from agentbench_tui.model.text.plain_number import plain
from agentbench_tui.presentation.numbers import (
    MISSING,
    amount,
    chosen_percent,
    duration,
    money,
    percent,
    with_interval,
)
from agentbench_tui.verdicts.evidence.place import point_words
from agentbench_tui.verdicts.load.load_spread import FEWEST_FOR_T
from agentbench_tui.verdicts.load.load_sweep import keeps_slo, within_slo

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentbench_tui.contracts.load import (
        HarnessFigures,
        LoadDocument,
        RequestTotals,
        SweepLimit,
    )
    from agentbench_tui.contracts.run import ExecutionResult

_FROM_DUE = ("e2e_ms", "ttft_ms", "ttfo_ms")
"""Metrics that count from the due time in an open loop."""
_NUMBER = re.compile(r"[0-9][0-9,.]*")
_PLACES_SHOWN = 3
"""Number of loads named in addition to the first of those that share a sentence."""
_WITH_SPREAD = ("mean", "p50", "p99")
"""Parts that are shown with what they vary by between repeats."""
_LIMIT = {"client": "the client was the limit", "server": "the server was the limit"}


def headline(execution: ExecutionResult) -> str:
    """Return the verdict, the rates, the answered requests, the limit, and the cost if known."""
    load = measured_load(execution)
    requests = load.requests
    rates = f"sent {_rate(requests.sent_per_s)}"
    if requests.asked_per_s is not None:
        rates = f"offered {_rate(requests.asked_per_s)}, {rates}"
    cost = load.number("cost_usd")
    words = [
        f"{name_of(execution)}: {load.verdict}",
        rates,
        _became_of(requests),
        _limit(load),
        "" if cost is None else f"cost {money(cost)}",
    ]
    return " · ".join(word for word in words if word)


def measured_load(execution: ExecutionResult) -> LoadDocument:
    """Return the load of an execution that has one."""
    load = execution.load_result
    assert load is not None, "only loads that were measured are shown"
    return load


def _became_of(requests: RequestTotals) -> str:
    """Say how many requests were answered, and what happened to the others."""
    others = (
        (sum(requests.failed.values()), "failed"),
        (requests.unfinished, "unfinished"),
        (requests.cancelled, "canceled as planned"),
        (requests.unsent, "never sent"),
    )
    told = [f"{count:,} {words}" for count, words in others if count]
    return ", ".join([f"{requests.ok or 0:,} of {requests.sent or 0:,} answered", *told])


def _limit(load: LoadDocument) -> str:
    return _LIMIT.get(load.limit or "", "")


def verdict_of(execution: ExecutionResult) -> str:
    """Return the measurement quality, and the limit if there was one."""
    load = measured_load(execution)
    return " · ".join(filter(None, (load.verdict, _limit(load))))


def name_of(execution: ExecutionResult) -> str:
    """Return the agent, and the point if it has one."""
    name = f"{execution.agent_id}{' (simulated)' if execution.simulated else ''}"
    point = point_words(execution.parameters)
    return f"{name} {point}" if point else name


def rate_lines(load: LoadDocument) -> list[str]:
    """Return lines on throughput, tokens and goodput; failures by kind; the harness's cost."""
    harness, slo = load.harness, load.slo or {}
    rates = _rates(load)
    share = load.number("goodput_share")
    if share is not None:
        limits = ", ".join(f"{name} {plain(limit)}" for name, limit in slo.items())
        rates.append(f"{percent(share)} of what was due kept {limits} (SLO: {_kept_words(load)})")
    own = [
        _told("overhead p50 {} ms", harness.overhead_p50_ms),
        _told("p99 {} ms", harness.overhead_p99_ms),
        _told("{} µs CPU a request", harness.cpu_us_per_request),
        _ceiling(harness),
        "real-time priority" if harness.realtime else None,
    ]
    failed = [f"{kind} {count:,}" for kind, count in load.requests.failed.items()]
    lines = [
        _from_due(load),
        " · ".join(rates),
        f"failed: {', '.join(failed)}" if failed else "",
        _told("connections opened: {}", load.requests.connections),
        "harness: " + (", ".join(filter(None, own)) or "not calibrated"),
    ]
    return [line for line in lines if line]


def _rates(load: LoadDocument) -> list[str]:
    """Return throughput, tokens and goodput, or the reasons for unknown ones."""
    mark = "~" if load.tokens_estimated else ""
    told, lacking = [], dict[str, list[str]]()
    for mark_of, words, name in (
        ("", "completed {}/s", "request_throughput_per_s"),
        (mark, "{} output tokens/s", "output_tokens_per_s"),
        (mark, "{} tokens/s per user", "output_tokens_per_s_per_user"),
        ("", "goodput {}/s", "goodput_per_s"),
    ):
        value = load.number(name)
        reason = load.unmeasured.get(name)
        if value is not None:
            varies = load.varies(name)
            ends = ""
            if varies is not None and varies.low is not None:
                ends = f" [{amount(varies.low)}, {amount(varies.high)}]"
            told.append(f"{mark_of}{words.format(amount(value))}{ends}")
        elif reason is not None and (load.slo or name != "goodput_per_s"):
            lacking.setdefault(reason, []).append(words.format(MISSING))
    return told + [f"{', '.join(words)} ({reason})" for reason, words in lacking.items()]


def _from_due(load: LoadDocument) -> str:
    """Say which of the shown times count from the due time."""
    shown = [name for name in _FROM_DUE if (found := load.distribution(name)) and found.n]
    if not load.is_open or not shown:
        return ""
    *others, last = shown
    names = f"{', '.join(others)} and {last} count" if others else f"{last} counts"
    return f"{names} from when a request was due"


def slo_lines(executions: Sequence[ExecutionResult]) -> list[str]:
    """Say up to which level each sweep meets its SLO."""
    found = within_slo(executions)
    lines = []
    for one in found:
        place = f"{one.benchmark_id} {one.agent_id}: " if len(found) > 1 else ""
        lines.append(
            f"{place}highest {one.parameter} within the SLO: {_highest(one)} ({slo_words(one.slo)})"
        )
    return lines


def slo_words(slo: Mapping[str, float]) -> str:
    """Say which share of what was due has to keep which limits."""
    by_share: dict[float, list[str]] = {}
    for name, limit in slo.items():
        by_share.setdefault(share_of(name), []).append(f"{name.partition('.')[0]} {plain(limit)}")
    return ", ".join(
        f"at least {chosen_percent(share)} of what was due kept {', '.join(limits)}"
        for share, limits in by_share.items()
    )


def _kept_words(load: LoadDocument) -> str:
    """Say whether the SLO was kept, and the shares that it asks for."""
    shares = sorted({share_of(name) for name in load.slo or ()}, reverse=True)
    needed = " and ".join(chosen_percent(share) for share in shares)
    return f"at least {needed}: {'kept' if keeps_slo(load) else 'missed'}"


def _highest(found: SweepLimit) -> str:
    per_s = "/s" if found.parameter == "rate" else ""
    highest = found.highest
    if highest is None:
        return f"not known, {found.reason}" if found.reason else "none of those tried"
    if found.held == found.tried:
        return f"{plain(highest)}{per_s}, all that were tried"
    gaps = [value for value in found.tried if value < highest and value not in found.held]
    less = f", but not {', '.join(f'{plain(value)}{per_s}' for value in gaps)}" if gaps else ""
    return f"{plain(highest)}{per_s}{less}"


def repeats_line(executions: Sequence[ExecutionResult]) -> str:
    """Explain the ranges behind the figures; empty if there are none."""
    loads = map(measured_load, executions)
    repeats = max((one.repeats or 0 for one in loads if one.between_repeats), default=0)
    if repeats < FEWEST_FOR_T:
        return "[lowest, highest] of 2 repeats" if repeats else ""
    return f"[low, high]: 95% interval from the values of {repeats} repeats (t on their logs)"


def load_notes(executions: Sequence[ExecutionResult]) -> list[str]:
    """Return why a verdict is not clean, and every warning.

    For several loads, each has its own; those that differ only in numbers are listed once, with the
    first load's numbers and the names of the others.
    """
    groups: dict[str, list[tuple[str, str]]] = {}
    for one in executions:
        place, load = f"{one.benchmark_id} {name_of(one)}", measured_load(one)
        for text in (*load.warnings, *load.reasons):
            groups.setdefault(_NUMBER.sub("#", text), []).append((place, text))
    if len(executions) == 1:
        return [text for found in groups.values() for _, text in found]
    return [_note(found) for found in groups.values()]


def _note(found: list[tuple[str, str]]) -> str:
    (first, text), *others = found
    if not others:
        return f"{first}: {text}"
    where = [*dict.fromkeys("its other repeats" if one == first else one for one, _ in others)]
    more = f" and {len(where) - _PLACES_SHOWN} more" if len(where) > _PLACES_SHOWN else ""
    return f"{first}: {text} (alike: {', '.join(where[:_PLACES_SHOWN])}{more})"


def part_shown(load: LoadDocument, name: str, part: str) -> str:
    """Format a percentile, mean or maximum of a metric, with its variation between repeats, or
    the number of samples it needs.
    """
    metric = load.distribution(name)
    if metric is None:
        return MISSING
    value = metric.part(part)
    if value is not None:
        varies = load.varies(name, part) if part in _WITH_SPREAD else None
        ends = (None, None) if varies is None else (varies.low, varies.high)
        return with_interval(value, *ends, duration)
    needed = (metric.needs or {}).get(part)
    return MISSING if needed is None else f"needs {needed:,}"


def _ceiling(harness: HarnessFigures) -> str:
    """Format the senders' ceiling, and the range of its measurements."""
    most, least = harness.ceiling_per_s, harness.ceiling_low_per_s
    if most is None or least is None:
        return _told("ceiling {}/s", most)
    return f"ceiling {amount(most)}/s (at least {amount(least)})"


def _told(words: str, value: float | None) -> str:
    """Return the words with the number in them; empty without a number."""
    return "" if value is None else words.format(amount(value))


def _rate(value: float | None) -> str:
    return MISSING if value is None else f"{amount(value)}/s"
