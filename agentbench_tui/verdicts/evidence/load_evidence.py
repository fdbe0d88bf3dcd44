"""Repeats of load executions, each with its metrics."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.model.figures.metric import find_metric
from agentbench_tui.store.queries.selection import specification_of
from agentbench_tui.verdicts.evidence.whole_runs import mean_by_run, run_numbers

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from agentbench_tui.analysis.sample import Floats
    from agentbench_tui.verdicts.evidence.place import Execution


class LoadEvidence:
    """Repeats of load executions, each with its own metrics."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        executions: Iterable[Execution],
        *,
        by_run: bool = False,
    ) -> None:
        self.executions = list(executions)
        self._connection = connection
        self._averaged = by_run

    def by_run(self) -> LoadEvidence:
        """Return the evidence with the means of whole runs instead of its repeats."""
        return self._of_runs

    @cached_property
    def _of_runs(self) -> LoadEvidence:
        return LoadEvidence(self._connection, self.executions, by_run=True)

    def per_repeat(self, metric: str) -> Floats:
        """See `Evidence`."""
        known = find_metric(metric)
        base = metric
        if known is not None and known.distribution and metric == known.name:
            base = f"{metric}.p50" if known.unit == "ms" else f"{metric}.mean"
        runs = [run for run, repeat in self._repeats if base in repeat]
        values = np.array([repeat[base][0] for _, repeat in self._repeats if base in repeat])
        if not self._averaged:
            return values
        _, of = np.unique(np.array(runs, np.int64), return_inverse=True)
        return mean_by_run(of.reshape(-1), values)

    def fewest_answers(self, metric: str) -> int:
        """See `Evidence`."""
        mean = f"{metric.partition('.')[0]}.mean"  # told of however few
        counts = (repeat[mean][1] for _, repeat in self._repeats if mean in repeat)
        return min(counts, default=0)

    def observed(self, metric: str) -> int:
        """Return the number of requests behind its values, over all repeats."""
        return sum(repeat[metric][1] for _, repeat in self._repeats if metric in repeat)

    @cached_property
    def _repeats(self) -> list[tuple[int, dict[str, tuple[float, int]]]]:
        """Return, for each repeat, the number of its run, and by metric its value and the requests
        behind it.
        """
        from agentbench_tui.load.results.aggregate import aggregate, read_windows
        from agentbench_tui.load.results.columns import read_columns
        from agentbench_tui.load.results.pricing import price_of
        from agentbench_tui.load.results.requests import Requests

        repeats = []
        runs = run_numbers(self.executions, [1] * len(self.executions)).tolist()
        for run, row in zip(runs, self.executions, strict=True):
            key = row["key"]
            agent = specification_of(self._connection, row)
            price = price_of(self._connection, key, agent)
            for number, window in read_windows(self._connection, key).items():
                columns = read_columns(self._connection, key, repeats=[number])
                found = aggregate(
                    Requests(columns, {number: window}),
                    agent,
                    None if price is None else price.of_request,
                )
                values = {
                    name: (metric.value, metric.n)
                    for name, metric in found.metrics.items()
                    if metric.value is not None
                }
                repeats.append((run, values))
        return repeats
