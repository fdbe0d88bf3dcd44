"""Planned windows of a scenario, with their expected and longest duration."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from agentbench_tui.analysis.load.level_verdict import LONGEST
from agentbench_tui.stress.faults.failures import NAMES
from agentbench_tui.stress.scenarios.concurrent_requests import STRESS_SHARE
from agentbench_tui.stress.scenarios.large_inputs import SHORT_TOKENS, WINDOW_SHARE
from agentbench_tui.stress.scenarios.rate_limiting import LEAST_STEP_S, LONGEST_WAIT_S, STEP_SHARE
from agentbench_tui.stress.scenarios.spike_load import BEFORE_PIECES
from agentbench_tui.stress.search.breaking_point import MOST_MEASUREMENTS
from agentbench_tui.stress.search.searching import LONGEST_FOR_LIMIT_S, MOST_REQUESTS_S, PROBE_S
from agentbench_tui.stress.stand.normal import BASELINE_PIECES, STEP_S, piece_of
from agentbench_tui.stress.stand.outage import LEAD_PIECES, LEAST_AFTER_PIECES
from agentbench_tui.stress.stand.stand import IDLE_LIMIT_S, LEAST_IDLE_LIMIT_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentbench_tui.stress.spec import StressSpec

USUAL_PROBES = 18
"""Probes of a search: 14 to 22 on ten kinds of simulated servers."""
_MEMORY_WINDOWS = 12


class WindowGroup(NamedTuple):
    """Some windows of a scenario."""

    words: str
    usual_s: float
    """At targets that answer within a second or so."""
    longest_s: float


def planned_windows(spec: StressSpec) -> tuple[list[WindowGroup], float, float]:
    """The parts of a scenario, about how long they take together, and how long at most, drains and
    starts left out. Slow answers make windows longer; `max_s` ends everything."""
    parts = [_normal(spec), *_PARTS[spec.scenario](spec)]
    usual_s = sum(part.usual_s for part in parts)
    longest_s = sum(part.longest_s for part in parts)
    most_s = math.inf if spec.max_s is None else spec.max_s
    return parts, min(usual_s, most_s), min(longest_s, most_s)


def _normal(spec: StressSpec) -> WindowGroup:
    steps = math.floor(math.log2(spec.most_concurrency)) + 1
    baseline_s = BASELINE_PIECES * piece_of(spec.time_scale)
    step_s = spec.scaled(STEP_S)
    return WindowGroup(
        f"normal load: up to {steps} steps of users",
        steps * max(step_s, 1.0) + baseline_s,
        steps * max(step_s, _slow_s(spec)) + baseline_s,
    )


def _search(on: str, spec: StressSpec, usual_s: float, longest_s: float) -> WindowGroup:
    idle_s = max(spec.scaled(IDLE_LIMIT_S), LEAST_IDLE_LIMIT_S)
    return WindowGroup(
        f"search on {on}: about {USUAL_PROBES} probes, {MOST_MEASUREMENTS} at most",
        USUAL_PROBES * usual_s,
        MOST_MEASUREMENTS * (LONGEST * longest_s + idle_s),
    )


def _probes(on: str, spec: StressSpec) -> WindowGroup:
    usual_s = spec.scaled((PROBE_S + LONGEST_FOR_LIMIT_S) / 2) + 1.0
    return _search(on, spec, usual_s, max(spec.scaled(MOST_REQUESTS_S), _slow_s(spec)))


def _slow_s(spec: StressSpec) -> float:
    """Return the longest duration of a window, with slow answers at its end."""
    return spec.scaled(LONGEST_FOR_LIMIT_S) + 10.0


def _held(words: str, seconds: float) -> WindowGroup:
    shown = f"{seconds:,.0f}" if seconds >= 100 else f"{seconds:.3g}"
    return WindowGroup(f"{words}, {shown} s", seconds, seconds)


def _recovery(spec: StressSpec) -> WindowGroup:
    return _held("recovery at normal load", spec.watched_s)


def _high_load(spec: StressSpec) -> list[WindowGroup]:
    return [
        _probes("rate", spec),
        _held(f"{spec.multiple:g} × normal rate", spec.length_s),
        _recovery(spec),
    ]


def _sustained_load(spec: StressSpec) -> list[WindowGroup]:
    return [_held("soak at seven tenths of what it can do", spec.length_s)]


def _spike_load(spec: StressSpec) -> list[WindowGroup]:
    each = spec.length_s + spec.watched_s
    before_s = BEFORE_PIECES * piece_of(spec.time_scale)
    words = f"{spec.spikes} spikes of {spec.multiple:g} × normal, each with its recovery"
    return [_held(words, before_s + spec.spikes * each)]


def _memory_pressure(spec: StressSpec) -> list[WindowGroup]:
    seconds = 2 * spec.length_s + spec.watched_s
    words = f"memory by users, ballast and limit: about {_MEMORY_WINDOWS} windows"
    return [WindowGroup(words, seconds, 2 * seconds)]


def _concurrent_requests(spec: StressSpec) -> list[WindowGroup]:
    return [
        _probes("users", spec),
        _held("scalability law: 24 windows of 8 numbers of users", spec.length_s),
        _held(f"{spec.most_concurrency:,} users", STRESS_SHARE * spec.length_s),
        _recovery(spec),
    ]


def _large_inputs(spec: StressSpec) -> list[WindowGroup]:
    window_s = WINDOW_SHARE * spec.length_s
    return [
        WindowGroup("short inputs", len(SHORT_TOKENS) * 1.0, len(SHORT_TOKENS) * window_s),
        _search("input", spec, min(window_s, 5.0), window_s),
        _held("the longest inputs", spec.length_s),
        _recovery(spec),
    ]


def _rate_limiting(spec: StressSpec) -> list[WindowGroup]:
    step_s = max(STEP_SHARE * spec.length_s, LEAST_STEP_S)
    steps = math.ceil(math.log2(max(2.0, spec.most_rate)))
    return [
        WindowGroup("rate doubled until it refuses", 4 * step_s, steps * step_s),
        _held("half as much again as it takes", spec.length_s),
        WindowGroup("recovery at normal load", spec.watched_s, spec.watched_s + LONGEST_WAIT_S),
    ]


def _failure_recovery(spec: StressSpec) -> list[WindowGroup]:
    piece_s = piece_of(spec.time_scale)
    after_s = max(LEAST_AFTER_PIECES * piece_s, spec.watched_s)
    faults = len(NAMES) if spec.faults is None else len(spec.faults)
    each = LEAD_PIECES * piece_s + spec.length_s + after_s
    return [_held(f"{faults} faults, each with its recovery", faults * each)]


_PARTS: dict[str, Callable[[StressSpec], list[WindowGroup]]] = {
    "high_load": _high_load,
    "sustained_load": _sustained_load,
    "spike_load": _spike_load,
    "memory_pressure": _memory_pressure,
    "concurrent_requests": _concurrent_requests,
    "large_inputs": _large_inputs,
    "rate_limiting": _rate_limiting,
    "failure_recovery": _failure_recovery,
}
