"""The gauges of the page Live: the machine, the agents' processes, each GPU."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from agentbench_tui.tui.axis import quantity
from agentbench_tui.tui.widgets.gauge import Cores, Gauge, GaugesData

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentbench_tui.tui.live_state import LiveState

NO_GPU = "no readings: no GPU here, or its driver cannot be asked"


def machine(state: LiveState) -> GaugesData:
    """The host, the agents' processes and each GPU."""
    rows: list[Gauge | Cores] = []
    host = _course(state, "host")
    if host:
        rows += _host(host)
    for scope in sorted(state.gauges):
        if scope.startswith("agent:"):
            rows += _agent(scope.removeprefix("agent:"), _course(state, scope))
    gpus = [scope for scope in sorted(state.gauges) if scope.startswith("gpu:")]
    for scope in gpus:
        rows += _gpu(scope.removeprefix("gpu:"), _course(state, scope))
    if host and not gpus:
        rows.append(Gauge("GPU", None, reason=_why_no_gpu(state)))
    return GaugesData(rows, reason="no readings yet: they come once a second")


def _why_no_gpu(state: LiveState) -> str:
    overhead = json.loads(state.run.get("overhead") or "{}")
    reason = (overhead.get("gauges") or {}).get("gpu_reason")
    return str(reason or NO_GPU)


def _course(state: LiveState, scope: str) -> list[Mapping[str, Any]]:
    return list(state.gauges.get(scope, ()))


def _gauge(
    label: str,
    readings: Sequence[Mapping[str, Any]],
    name: str,
    limit: float | None,
    unit: str,
    **more: Any,
) -> Gauge | None:
    """None where it was never read."""
    values = [one.get(name) for one in readings]
    if all(value is None for value in values):
        return None
    return Gauge(label, values[-1], limit, unit, history=values[-10:], **more)


def _host(readings: Sequence[Mapping[str, Any]]) -> list[Gauge | Cores]:
    newest = readings[-1]
    total = newest.get("memory_total_mb")
    found: list[Gauge | Cores | None] = [_gauge("CPU", readings, "cpu_percent", 100.0, "%")]
    if cores := newest.get("core_percent"):
        found.append(Cores("cores", cores))
    found += [
        _gauge("memory", readings, "memory_used_mb", total, "MB"),
        _gauge("waited", readings, "run_queue_wait_ms_per_s", 1000.0, "ms", warn=0.02, bad=0.1,
               note="for a core, in a second"),
    ]  # fmt: skip
    if (newest.get("psi_io_percent") or 0) > 1:
        found.append(_gauge("disk stalls", readings, "psi_io_percent", 100.0, "%", warn=0.1))
    return [one for one in found if one is not None]


def _agent(name: str, readings: Sequence[Mapping[str, Any]]) -> list[Gauge | Cores]:
    """CPU of its processes, 100 % a core, and what they have in memory."""
    newest = readings[-1]
    memory = newest.get("rss_mb")
    notes = [] if memory is None else [quantity(memory, "MB")]
    if (newest.get("processes") or 1) > 1:
        notes.append(f"{newest['processes']} processes")
    gauge = _gauge(name, readings, "cpu_percent", None, "%", note=", ".join(notes))
    return [] if gauge is None else [gauge]


def _gpu(name: str, readings: Sequence[Mapping[str, Any]]) -> list[Gauge | Cores]:
    newest = readings[-1]
    reasons = ", ".join(newest.get("throttle_reasons") or ())
    note = f"held down: {reasons}" if reasons else ""
    found = [
        _gauge(f"GPU {name}", readings, "utilisation_percent", 100.0, "%", warn=1.1, bad=1.2,
               note=note),
        _gauge("  memory", readings, "memory_used_mb", newest.get("memory_total_mb"), "MB"),
        _gauge("  power", readings, "power_w", newest.get("power_limit_w"), "W", warn=0.95,
               bad=1.1),
        _gauge("  heat", readings, "temperature_c", 90.0, "°C", warn=0.9, bad=1.0),
        _gauge("  clock", readings, "sm_clock_mhz", None, "MHz"),
    ]  # fmt: skip
    return [one for one in found if one is not None]
