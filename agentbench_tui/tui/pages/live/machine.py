"""The gauges of the page Live: the machine, the agents' processes, each GPU."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from agentbench_tui.presentation.numbers import quantity
from agentbench_tui.tui.widgets.gauge import Cores, Gauge, GaugesData

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentbench_tui.tui.pages.live.state import LiveState

NO_GPU = "no samples: no GPU here, or its driver does not respond"
NOT_TOLD = "not reported by driver"
IN_SLICES = "not reported in slices"


def machine(state: LiveState) -> GaugesData:
    """Return the gauges of the host, the agents' processes and each GPU."""
    rows: list[Gauge | Cores] = []
    host = _course(state, "host")
    if host:
        rows += _host(host)
    for scope in sorted(state.gauges):
        if scope.startswith("agent:"):
            rows += _agent(scope.removeprefix("agent:"), _course(state, scope))
    gpus = {
        scope.removeprefix("gpu:"): _course(state, scope)
        for scope in state.gauges
        if scope.startswith("gpu:")
    }
    rows += _gpus(gpus)
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
    """Return the gauge; None if it was never sampled."""
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
    """Return the CPU of its processes, 100% per core, and their memory."""
    newest = readings[-1]
    memory = newest.get("rss_mb")
    notes = [] if memory is None else [quantity(memory, "MB")]
    if (newest.get("processes") or 1) > 1:
        notes.append(f"{newest['processes']} processes")
    gauge = _gauge(name, readings, "cpu_percent", None, "%", note=", ".join(notes))
    return [] if gauge is None else [gauge]


def _gpus(courses: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[Gauge]:
    """Return the gauges of each GPU and MIG slice, by number: first the use of all, then the
    memory of all, and so on; a GPU that does not report a value says so.
    """
    names = sorted(courses, key=lambda name: [int(part) for part in name.split(".")])
    sliced = {name.partition(".")[0] for name in names if "." in name}
    found: list[Gauge] = []
    for kind in (_use, _memory, _power, _heat, _clock):
        for name in names:
            label = f"GPU {name} {_KINDS[kind]}".rstrip()
            gauge = kind(label, courses[name])
            is_slice = "." in name
            if gauge is None and not is_slice:
                why = IN_SLICES if kind is _use and name in sliced else NOT_TOLD
                gauge = Gauge(label, None, reason=why)
            found += [] if gauge is None else [gauge]
    return found


def _use(label: str, readings: Sequence[Mapping[str, Any]]) -> Gauge | None:
    return _gauge(label, readings, "utilisation_percent", 100.0, "%", warn=1.1, bad=1.2)


def _memory(label: str, readings: Sequence[Mapping[str, Any]]) -> Gauge | None:
    total = readings[-1].get("memory_total_mb")
    return _gauge(label, readings, "memory_used_mb", total, "MB")


def _power(label: str, readings: Sequence[Mapping[str, Any]]) -> Gauge | None:
    limit = readings[-1].get("power_limit_w")
    return _gauge(label, readings, "power_w", limit, "W", warn=0.95, bad=1.1)


def _heat(label: str, readings: Sequence[Mapping[str, Any]]) -> Gauge | None:
    return _gauge(label, readings, "temperature_c", 90.0, "°C", warn=0.9, bad=1.0)


def _clock(label: str, readings: Sequence[Mapping[str, Any]]) -> Gauge | None:
    reasons = ", ".join(readings[-1].get("throttle_reasons") or ())
    note = f"held: {reasons}" if reasons else ""
    return _gauge(label, readings, "sm_clock_mhz", None, "MHz", note=note)


_KINDS = {_use: "", _memory: "memory", _power: "power", _heat: "heat", _clock: "clock"}
"""Label of each kind of row, after the GPU's number."""
