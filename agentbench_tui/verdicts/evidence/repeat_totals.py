"""Totals known only for a whole repeat: sums, rates, and resource use of the machine.

No single answer has such a value, so it cannot be compared case by case. Hourly costs are among
them: shared over a repeat's answers, each answer would vary like the repeat.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from agentbench_tui.analysis.sample import distinct
from agentbench_tui.store.queries.iterations import totals_by_repeat

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from agentbench_tui.analysis.sample import Floats
    from agentbench_tui.engine.task.observations import Observations
    from agentbench_tui.model.agent import AgentSpec

    Total = Callable[[NDArray[np.float64]], NDArray[np.float64]]


_MS_PER_S = 1000
_S_PER_HOUR = 3600


def repeat_totals(
    connection: sqlite3.Connection, execution_key: int, seen: Observations, agent: AgentSpec
) -> dict[str, Floats]:
    """Metric → a value for each repeat that has counted observations, in their order; NaN where it
    is not known. Metrics of which no repeat has a value are left out."""
    numbers, _, place, _ = distinct(seen.repeat.astype(np.int64))
    count = len(numbers)

    def total(values: Floats) -> Floats:
        return np.bincount(place, values, count).astype(np.float64)

    asked = total(np.ones(len(seen)))
    right, answered = total(seen.right.astype(float)), total(seen.answered.astype(float))
    asking_s, cpu_s, memory_mb = _resources(connection, execution_key, numbers.tolist())
    tokens = np.nan_to_num(seen.input_tokens) + np.nan_to_num(seen.output_tokens)
    if np.isnan(seen.input_tokens).all() and np.isnan(seen.output_tokens).all():
        tokens = np.full(len(seen), math.nan)
    cost = _cost(seen, agent, total, asking_s)
    rate = np.full(count, math.nan)
    if not agent.recorded:
        np.divide(answered, asking_s, out=rate, where=asking_s > 0)
    found = {
        "throughput_per_s": rate,
        "tokens_used": total(tokens),
        "tokens_per_correct": _per(total(tokens), right),
        "cost_usd": cost,
        "cost_usd_per_correct": _per(cost, right),
        "cpu_ms_per_correct": _per(cpu_s * _MS_PER_S, right),
        "memory_peak_mb": memory_mb,
    }
    if agent.hourly_price_usd is not None:
        found["cost_usd_per_task"] = cost / asked
    return {name: values for name, values in found.items() if not np.isnan(values).all()}


def _cost(seen: Observations, agent: AgentSpec, total: Total, asking_s: Floats) -> Floats:
    """USD of each repeat, as computed by `engine.task.aggregate`; NaN if the cost of some answer
    is unknown.
    """
    cost = seen.cost_usd
    if agent.hourly_price_usd is not None:
        return total(np.nan_to_num(cost)) + asking_s / _S_PER_HOUR * agent.hourly_price_usd
    known = np.where(seen.answered, cost, np.nan_to_num(cost))
    return total(known) if not np.isnan(cost).all() else np.full(len(asking_s), math.nan)


def _per(amount: Floats, right: Floats) -> Floats:
    """Cost per correct answer; None if there was no correct answer, since it would be infinite."""
    return np.full(len(right), math.nan) if (right == 0).any() else amount / right


def _resources(
    connection: sqlite3.Connection, execution_key: int, repeats: list[int]
) -> tuple[Floats, Floats, Floats]:
    """Seconds of asking, of CPU time, and peak memory in MB of each repeat."""
    known = totals_by_repeat(connection, execution_key)
    table = np.array([known.get(repeat, [math.nan] * 3) for repeat in repeats], np.float64)
    asking_s, cpu_s, memory_mb = table.reshape(-1, 3).T
    return asking_s, cpu_s, memory_mb
