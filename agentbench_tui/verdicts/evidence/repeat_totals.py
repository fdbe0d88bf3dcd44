"""Totals known only for whole repeats: sums, rates, and resource use of the machine.

No single answer has such a value, so it cannot be compared case by case. Hourly costs are among
them: shared over a repeat's answers, each answer would vary like the repeat.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from agentbench_tui.analysis.sample import distinct, known_or_zero

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from agentbench_tui.analysis.sample import Floats
    from agentbench_tui.engine.task.observations import Observations
    from agentbench_tui.model.agent import AgentSpec
    from agentbench_tui.store.queries.iterations import IterationTotals

    Total = Callable[[NDArray[np.float64]], NDArray[np.float64]]
    Compute = Callable[[], Mapping[str, Floats]]


_MS_PER_S = 1000
_S_PER_HOUR = 3600


_NAMES = frozenset({
    "throughput_per_s", "tokens_used", "tokens_per_correct", "cost_usd", "cost_usd_per_correct",
    "cpu_ms_per_correct", "memory_peak_mb",
})  # fmt: skip
_HOURLY = "cost_usd_per_task"
"""Only of agents that are paid by the hour."""


class RepeatTotals(Mapping[str, "Floats"]):
    """Metric → a value per repeat, all computed when the first is used: a board by accuracy needs
    none, and computing them takes as long as the other evidence.
    """

    def __init__(self, names: Iterable[str], compute: Compute) -> None:
        """`names`: all names that `compute` may return."""
        self.possible = frozenset(names)
        self._compute = compute

    @cached_property
    def _values(self) -> Mapping[str, Floats]:
        return self._compute()

    def __getitem__(self, name: str) -> Floats:
        if name not in self.possible:
            raise KeyError(name)
        return self._values[name]

    def __contains__(self, name: object) -> bool:
        return name in self.possible and name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def total_names(agent: AgentSpec) -> frozenset[str]:
    """Return the names of the totals that `repeat_totals` may return for the agent's executions."""
    return _NAMES if agent.hourly_price_usd is None else _NAMES | {_HOURLY}


def repeat_totals(
    seen: Observations, iterations: Mapping[int, IterationTotals], agent: AgentSpec
) -> dict[str, Floats]:
    """Return metric → a value for each repeat with counted observations, in order; NaN if unknown,
    without metrics that no repeat has. `iterations`: the totals of each repeat's iterations.
    """
    numbers, _, place, _ = distinct(seen.repeat.astype(np.int64))
    count = len(numbers)

    def total(values: Floats) -> Floats:
        return np.bincount(place, values, count).astype(np.float64)

    asked = total(np.ones(len(seen)))
    right, answered = total(seen.right.astype(float)), total(seen.answered.astype(float))
    asking_s, cpu_s, memory_mb = _resources(iterations, numbers.tolist())
    tokens = known_or_zero(seen.input_tokens) + known_or_zero(seen.output_tokens)
    if not seen.known("input_tokens") and not seen.known("output_tokens"):
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
        found[_HOURLY] = cost / asked
    return {name: values for name, values in found.items() if not np.isnan(values).all()}


def _cost(seen: Observations, agent: AgentSpec, total: Total, asking_s: Floats) -> Floats:
    """Return the USD of each repeat, computed as in `engine.task.aggregate`; NaN if the cost of
    some answer is unknown.
    """
    cost = seen.cost_usd
    if agent.hourly_price_usd is not None:
        return total(known_or_zero(cost)) + asking_s / _S_PER_HOUR * agent.hourly_price_usd
    known = np.where(seen.answered, cost, known_or_zero(cost))
    return total(known) if not np.isnan(cost).all() else np.full(len(asking_s), math.nan)


def _per(amount: Floats, right: Floats) -> Floats:
    """Cost per correct answer; None if there was no correct answer, since it would be infinite."""
    return np.full(len(right), math.nan) if (right == 0).any() else amount / right


def _resources(
    iterations: Mapping[int, IterationTotals], repeats: list[int]
) -> tuple[Floats, Floats, Floats]:
    """Return each repeat's seconds of asking, seconds of CPU time, and peak memory in MB."""
    table = np.array([iterations.get(repeat, [math.nan] * 3) for repeat in repeats], np.float64)
    asking_s, cpu_s, memory_mb = table.reshape(-1, 3).T
    return asking_s, cpu_s, memory_mb
