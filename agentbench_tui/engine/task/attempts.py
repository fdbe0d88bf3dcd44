"""pass@k of a rerun: the share of answers that were right within k attempts.

Only answers that were not right are asked again. That is enough: one that was right at the first
attempt is right within any number of them. The share is unbiased for the chance that one of k
attempts is right, provided that every answer that was not right was asked again each time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.analysis.intervals.estimate import estimate
from agentbench_tui.engine.task.aggregate import MetricValue
from agentbench_tui.model.answer import UNMEASURED
from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.store.answer_columns import clusters_of_cases
from agentbench_tui.store.queries.executions import find_execution
from agentbench_tui.store.reruns import earlier_execution, observations_of

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.store.reruns import Place


def pass_within_attempts(
    connection: sqlite3.Connection, execution_key: int, measured: int
) -> MetricValue | None:
    """The metric `pass@k` of an execution that holds the k-th attempts; None of any other.

    `measured`: the passes over the cases in its plan, those of earlier attempts included. There is
    no value, and a reason, if the run of earlier attempts was deleted, and if some answers that
    were not right were not asked again.
    """
    keys = [execution_key]
    while (earlier := earlier_execution(connection, keys[-1])) is not None:
        found = find_execution(connection, earlier)
        if found is None:
            return _unknown("pass@k", "the run of the earlier attempts was deleted")
        keys.append(found)
    if len(keys) == 1:
        return None
    passes = measured // len(keys)
    first, *later = (
        _right(connection, key, passes, drafted=key == execution_key) for key in reversed(keys)
    )
    right, missing = first, 0
    for attempts in later:
        missing += sum(not was and place not in attempts for place, was in right.items())
        right |= {place: True for place, is_right in attempts.items() if is_right}
    if missing:
        lacking = counted(missing, "answer")
        return _unknown(
            f"pass@{len(keys)}",
            f"{lacking} not right and not asked again (--failed and --wrong together ask all)",
        )
    clusters = dict(clusters_of_cases(connection, keys[-1]))
    return _share(f"pass@{len(keys)}", right, clusters)


def _right(
    connection: sqlite3.Connection, execution_key: int, passes: int, *, drafted: bool
) -> dict[Place, bool]:
    """Return for each counted observation, by its case, repeat and first pass, whether it is
    right."""
    return {
        (one.case_key, one.repeat, one.iteration % passes): one.correct
        for one in observations_of(connection, execution_key, drafted=drafted)
        if one.failure_kind not in UNMEASURED
    }


def _share(name: str, right: dict[Place, bool], clusters: dict[int, str]) -> MetricValue:
    """Return the share with its interval, in which a case, or its cluster, counts once."""
    units = [clusters.get(case, case) for case, _, _ in right]
    numbers = {unit: number for number, unit in enumerate(dict.fromkeys(units))}
    repeats = 1 < len(numbers) < len(units)
    found = estimate(
        np.array([*right.values()], np.float64),
        "share",
        clusters=np.array([numbers[unit] for unit in units]) if repeats else None,
    )
    return MetricValue(
        name, found.value, "share", found.low, found.high, found.n, found.reason or None
    )


def _unknown(name: str, reason: str) -> MetricValue:
    return MetricValue(name, None, "share", reason=reason)
