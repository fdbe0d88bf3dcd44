"""Runs of a stress scenario with their results."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.store.queries.metrics import metric_values
from agentbench_tui.verdicts.evidence.whole_runs import mean_by_run, run_numbers

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from agentbench_tui.analysis.sample import Floats
    from agentbench_tui.verdicts.evidence.place import Execution

PRIMARY = (
    "resilience", "breaking_rate_per_s", "breaking_concurrency", "breaking_input_tokens",
    "recovery_s",
)  # fmt: skip
"""Metrics that judge a stress test by default."""
_KNOWN = frozenset({*PRIMARY, "error_share", "tokens_used", "cost_usd", "api_calls"})


class StressEvidence:
    """One value per run for each of its executions.

    The windows of a scenario have different loads, so they are not repeats, and their latencies
    cannot be combined: the scenario's result is the one value.
    """

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

    def by_run(self) -> StressEvidence:
        """Return the evidence with the means of whole runs, if a run has several executions."""
        return StressEvidence(self._connection, self.executions, by_run=True)

    def per_repeat(self, metric: str) -> Floats:
        """See `Evidence`."""
        found = [self._values.get((row["key"], metric), math.nan) for row in self.executions]
        values = np.array(found, np.float64)
        if self._averaged:
            values = mean_by_run(run_numbers(self.executions, [1] * len(found)), values)
        return values[~np.isnan(values)]

    def fewest_answers(self, metric: str) -> int:
        """See `Evidence`; there are no distributions."""
        del metric
        return 0

    @cached_property
    def _values(self) -> dict[tuple[int, str], float]:
        """Return the values by execution and metric."""
        keys = [row["key"] for row in self.executions]
        return {
            (key, name): value
            for key, values in metric_values(self._connection, keys, sorted(_KNOWN)).items()
            for name, value in values.items()
        }
