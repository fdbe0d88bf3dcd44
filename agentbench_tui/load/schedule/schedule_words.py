"""Describes a load's schedule for screens and tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from agentbench_tui.model.text.plain_number import counted, plain

if TYPE_CHECKING:
    from agentbench_tui.model.suite import Benchmark

Block = Mapping[str, Any]


def plan_words(benchmark: Benchmark) -> str:
    """Describe the schedule of a load benchmark, as shown in a plan."""
    return schedule_words(benchmark.load)


def schedule_words(block: Block) -> str:
    """Describe a `load:` block, as plain data:

    `open loop, 50/s poisson, 10 s, at most 8 in flight`.
    """
    words = [_shape_words(block)]
    if block.get("duration_s") is not None:
        words.append(f"{plain(block['duration_s'])} s")
    if block.get("requests") is not None:
        words.append(counted(block["requests"], "request"))
    if block.get("max_in_flight") is not None:
        words.append(f"at most {block['max_in_flight']:,} in flight")
    return ", ".join(words)


def _shape_words(block: Block) -> str:
    if block.get("throughput"):
        return "closed loop, at maximum throughput"
    if block.get("concurrency") is not None:
        return f"closed loop, {_users(block)}"
    if block.get("trace") is not None:
        speed = block["trace"].get("speed", 1)
        return f"open loop, trace {block['trace']['file']}" + (
            f" ×{plain(speed)}" if speed != 1 else ""
        )
    process = block.get("arrivals", "constant")
    if block.get("rate") is not None:
        return f"open loop, {plain(block['rate'])}/s {process}"
    return f"open loop, {_rates(block)}, {process}"


def _users(block: Block) -> str:
    users, think_ms = block["concurrency"], block.get("think_time_ms", 0)
    words = counted(users, "user")
    return words + (f" thinking {plain(think_ms / 1000)} s" if think_ms else "")


def _rates(block: Block) -> str:
    if (ramp := block.get("ramp")) is not None:
        return f"{plain(ramp['start'])} to {plain(ramp['end'])}/s over {plain(ramp['over_s'])} s"
    if (steps := block.get("steps")) is not None:
        return ", ".join(f"{plain(one['rate'])}/s for {plain(one['for_s'])} s" for one in steps)
    if (spike := block.get("spike")) is not None:
        return (
            f"{plain(spike['rate'])}/s, from {plain(spike['at_s'])} s on"
            f" {plain(spike['peak'])}/s for {plain(spike['for_s'])} s"
        )
    sine = block["sine"]
    return f"{plain(sine['mean'])}±{plain(sine['amplitude'])}/s every {plain(sine['period_s'])} s"
