"""The gauges of the page Live: the machine, the agents' processes, each GPU."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from agentbench_tui.presentation.numbers import quantity
from agentbench_tui.tui.widgets.gauge import Cores, Gauge, GaugeRow, GaugesData
from agentbench_tui.tui.widgets.gpu_line import GpuLine, GpuProcessLine

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentbench_tui.tui.pages.live.state import LiveState

NO_GPU = "no samples: no GPU here, or its driver does not respond"


def machine(state: LiveState, *, with_processes: bool = False) -> GaugesData:
    """Return the gauges of the host, the agents' processes and each GPU, with its processes if
    requested.
    """
    rows: list[GaugeRow] = []
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
    rows += _gpus(gpus, with_processes=with_processes)
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


def _gpus(
    courses: Mapping[str, Sequence[Mapping[str, Any]]], *, with_processes: bool
) -> list[GpuLine]:
    """Return a line for each GPU, by number, with its MIG slices below it."""
    names = sorted(courses, key=lambda name: [int(part) for part in name.split(".")])
    return [_gpu(name, courses[name][-1], with_processes=with_processes) for name in names]


def _gpu(name: str, newest: Mapping[str, Any], *, with_processes: bool) -> GpuLine:
    processes = (newest.get("processes") or ()) if with_processes else ()
    return GpuLine(
        name,
        newest.get("utilisation_percent"),
        newest.get("memory_used_mb"),
        newest.get("memory_total_mb"),
        newest.get("power_w"),
        newest.get("power_limit_w"),
        newest.get("temperature_c"),
        newest.get("sm_clock_mhz"),
        tuple(newest.get("throttle_reasons") or ()),
        tuple(GpuProcessLine(one["pid"], one.get("memory_mb")) for one in processes),
    )
