"""Sampling of the gauges during a run, and their storage."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.store.writes.live import GaugeRow, add_gauge

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from agentbench_tui.engine.run.context import RunContext
    from agentbench_tui.instruments.sampler import Sampler


def sampler_of(context: RunContext, folder: Path) -> Sampler:
    """Create the sampler that the plan's benchmarks require, not started yet; `folder` selects
    the disk to watch.
    """
    from agentbench_tui.instruments.gpu import open_gpus
    from agentbench_tui.instruments.registry import gpu_details, sampling_interval_s
    from agentbench_tui.instruments.sampler import Sampler

    asked = [spec for group in context.plan.groups for spec in group.benchmark["instruments"]]
    details = gpu_details(asked)
    return Sampler(
        roots=context.process_roots,
        sink=_sink(context),
        disk_path=folder,
        interval_s=sampling_interval_s(asked),
        gpus=lambda: open_gpus(pcie="pcie" in details, processes="processes" in details),
    )


def _sink(context: RunContext) -> Callable[[str, float, dict[str, object]], None]:
    def sink(scope: str, at: float, reading: dict[str, object]) -> None:
        known = {name: value for name, value in reading.items() if value is not None}
        text = msgspec.json.encode(known).decode()
        add_gauge(context.writer, GaugeRow(context.run_key, at, scope, text))

    return sink
