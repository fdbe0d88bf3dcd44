"""Sentences around the tables of load: reliability, rates, limits, disturbances."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from agentbench_tui.load.slo import share_of
from agentbench_tui.model.text.plain_number import plain
from agentbench_tui.presentation.numbers import (
    MISSING,
    Show,
    amount,
    chosen_percent,
    money,
    percent,
    with_interval,
)
from agentbench_tui.verdicts.evidence.place import point_words
from agentbench_tui.verdicts.load.load_spread import FEWEST_FOR_T
from agentbench_tui.verdicts.load.load_sweep import keeps_slo, within_slo

_FROM_DUE = ("e2e_ms", "ttft_ms", "ttfo_ms")
"""Metrics that count from the due time in an open loop."""
_NUMBER = re.compile(r"[0-9][0-9,.]*")
_PLACES_SHOWN = 3
"""Number of loads named in addition to the first of those that share a sentence."""
_LIMIT = {"client": "the client was the limit", "server": "the server was the limit"}


def headline(execution: dict[str, Any]) -> str:
    """Return the verdict, the rates, the answered requests, the limit, and the cost if known."""
    load = execution["load"]
    requests = load["requests"]
    asked = requests["asked_per_s"]
    rates = f"sent {_rate(requests['sent_per_s'])}"
    if asked is not None:
        rates = f"asked {_rate(asked)}, {rates}"
    words = [
        f"{name_of(execution)}: {load['verdict']}",
        rates,
        _became_of(requests),
        _LIMIT.get(load["limit"], ""),
        _cost(load),
    ]
    return " · ".join(word for word in words if word)


def _cost(load: dict[str, Any]) -> str:
    value = load["metrics"].get("cost_usd")
    return "" if value is None else f"cost {money(value)}"


def _became_of(requests: dict[str, Any]) -> str:
    """Say how many requests were answered, and what happened to the others."""
    others = (
        (sum(requests["failed"].values()), "failed"),
        (requests["unfinished"], "unfinished"),
        (requests["cancelled"], "broken off as planned"),
        (requests["unsent"], "never sent"),
    )
    told = [f"{count:,} {words}" for count, words in others if count]
    return ", ".join([f"{requests['ok']:,} of {requests['sent']:,} answered", *told])


def verdict_of(execution: dict[str, Any]) -> str:
    """Return the measurement quality, and the limit if there was one."""
    load = execution["load"]
    return " · ".join(filter(None, (load["verdict"], _LIMIT.get(load["limit"]))))


def name_of(execution: dict[str, Any]) -> str:
    """Return the agent, and the point if it has one."""
    name = f"{execution['agent_id']}{' (simulated)' if execution['simulated'] else ''}"
    point = point_words(execution["parameters"])
    return f"{name} {point}" if point else name


def rate_lines(load: dict[str, Any]) -> list[str]:
    """Return lines on throughput, tokens and goodput; failures by kind; the harness's cost."""
    metrics, requests, harness = load["metrics"], load["requests"], load["harness"]
    rates = _rates(load)
    share = metrics.get("goodput_share")
    if share is not None:
        limits = ", ".join(f"{name} {plain(limit)}" for name, limit in load["slo"].items())
        rates.append(f"{percent(share)} of what was due kept {limits} (SLO: {_kept_words(load)})")
    own = [
        _told("overhead p50 {} ms", harness.get("overhead_p50_ms")),
        _told("p99 {} ms", harness.get("overhead_p99_ms")),
        _told("{} µs CPU a request", harness.get("cpu_us_per_request")),
        _ceiling(harness),
        "real-time priority" if harness.get("realtime") else None,
    ]
    failed = [f"{kind} {count:,}" for kind, count in requests["failed"].items()]
    lines = [
        _from_due(load),
        " · ".join(rates),
        f"failed: {', '.join(failed)}" if failed else "",
        _told("connections opened: {}", requests.get("connections")),
        "harness: " + (", ".join(filter(None, own)) or "not calibrated"),
    ]
    return [line for line in lines if line]


def _rates(load: dict[str, Any]) -> list[str]:
    """Return throughput, tokens and goodput, or the reasons for unknown ones."""
    mark = "~" if load["tokens_estimated"] else ""
    told, lacking = [], dict[str, list[str]]()
    for mark_of, words, name in (
        ("", "answered {}/s", "request_throughput_per_s"),
        (mark, "{} output tokens/s", "output_tokens_per_s"),
        (mark, "{} tokens/s per user", "output_tokens_per_s_per_user"),
        ("", "goodput {}/s", "goodput_per_s"),
    ):
        value = load["metrics"].get(name)
        reason = load["unmeasured"].get(name)
        if value is not None:
            varies = spread_of(load, name)
            ends = "" if varies.get("low") is None else f" {_ends(varies)}"
            told.append(f"{mark_of}{words.format(amount(value))}{ends}")
        elif reason is not None and (load["slo"] or name != "goodput_per_s"):
            lacking.setdefault(reason, []).append(words.format(MISSING))
    return told + [f"{', '.join(words)} ({reason})" for reason, words in lacking.items()]


def _from_due(load: dict[str, Any]) -> str:
    """Say which of the shown times count from the due time."""
    shown = [name for name in _FROM_DUE if (load["metrics"].get(name) or {"n": 0})["n"]]
    if not load["is_open"] or not shown:
        return ""
    *others, last = shown
    names = f"{', '.join(others)} and {last} count" if others else f"{last} counts"
    return f"{names} from when a request was due"


def slo_lines(executions: list[dict[str, Any]]) -> list[str]:
    """Say up to which level each sweep meets its SLO."""
    found = within_slo(executions)
    lines = []
    for one in found:
        place = f"{one['benchmark_id']} {one['agent_id']}: " if len(found) > 1 else ""
        lines.append(
            f"{place}highest {one['parameter']} within the SLO: {_highest(one)}"
            f" ({slo_words(one['slo'])})"
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


def _kept_words(load: dict[str, Any]) -> str:
    """Say whether the SLO was kept, and the shares that it asks for."""
    shares = sorted({share_of(name) for name in load["slo"]}, reverse=True)
    needed = " and ".join(chosen_percent(share) for share in shares)
    return f"at least {needed}: {'kept' if keeps_slo(load) else 'missed'}"


def _highest(found: dict[str, Any]) -> str:
    per_s = "/s" if found["parameter"] == "rate" else ""
    highest = found["highest"]
    if highest is None:
        reason = found["reason"]
        return f"not known, {reason}" if reason else "none of those tried"
    if found["held"] == found["tried"]:
        return f"{plain(highest)}{per_s}, all that were tried"
    gaps = [value for value in found["tried"] if value < highest and value not in found["held"]]
    less = f", but not {', '.join(f'{plain(value)}{per_s}' for value in gaps)}" if gaps else ""
    return f"{plain(highest)}{per_s}{less}"


def repeats_line(executions: list[dict[str, Any]]) -> str:
    """Explain the ranges behind the figures; empty if there are none."""
    repeats = max(
        (one["load"]["repeats"] for one in executions if one["load"].get("between_repeats")),
        default=0,
    )
    if repeats < FEWEST_FOR_T:
        return "[lowest, highest] of 2 repeats" if repeats else ""
    return f"[low, high]: 95% interval from the values of {repeats} repeats (t on their logs)"


def load_notes(executions: list[dict[str, Any]]) -> list[str]:
    """Return why a verdict is not clean, and every warning.

    For several loads, each has its own; those that differ only in numbers are listed once, with the
    first load's numbers and the names of the others.
    """
    groups: dict[str, list[tuple[str, str]]] = {}
    for one in executions:
        place = f"{one['benchmark_id']} {name_of(one)}"
        for text in (*one["load"]["warnings"], *one["load"]["reasons"]):
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


def spread_of(load: dict[str, Any], name: str) -> dict[str, Any]:
    """Format the variation between repeats of a metric; empty if unknown."""
    found: dict[str, Any] = (load.get("between_repeats") or {}).get(name, {})
    return found


def _ends(varies: dict[str, Any]) -> str:
    return f"[{amount(varies['low'])}, {amount(varies['high'])}]"


def with_range(value: float, varies: dict[str, Any] | None, show: Show) -> str:
    """Format `360 ms [352, 370]`; without an interval the value alone."""
    return with_interval(value, (varies or {}).get("low"), (varies or {}).get("high"), show)


def _ceiling(harness: dict[str, Any]) -> str:
    """Format the senders' ceiling, and the range of its measurements."""
    most, least = harness.get("ceiling_per_s"), harness.get("ceiling_low_per_s")
    if most is None or least is None:
        return _told("ceiling {}/s", most)
    return f"ceiling {amount(most)}/s (at least {amount(least)})"


def _told(words: str, value: float | None) -> str:
    """Return the words with the number in them; empty without a number."""
    return "" if value is None else words.format(amount(value))


def _rate(value: float | None) -> str:
    return MISSING if value is None else f"{amount(value)}/s"
