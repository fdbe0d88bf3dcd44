"""Variation between the repeats of a load: the figures of each, and an interval from them.

Requests of one repeat are not independent of each other: they share a connection, a cache, a
moment of the machine. Repeats are, so that what varies between them is the error of a figure.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.contracts.load import MetricRepeats, RepeatSpread
from agentbench_tui.model.figures.metric import LOAD_PARTS, METRICS

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from agentbench_tui.model.figures.metric import Metric
    from agentbench_tui.store.queries.runs import Row

FEWEST_FOR_T = 3
"""Repeats for a t interval; that of two is too wide to be useful."""
_SUMS = frozenset({"connections", "received_bytes"})
"""Metrics that are totals over all repeats by definition."""
_PARTS = tuple(part for part in LOAD_PARTS if part != "max")
"""The largest of all is no figure that the repeats vary around."""


def between_repeats(connection: sqlite3.Connection, row: Row) -> dict[str, MetricRepeats] | None:
    """Return the repeats of each metric (and statistic); None for a load that was measured once.

    `row`: of `queries.executions_of`. Left out is what not every repeat has a value of, such as a
    percentile of too few requests. Reads one repeat after the other.
    """
    from agentbench_tui.load.results.aggregate import aggregate, read_windows
    from agentbench_tui.load.results.columns import read_columns
    from agentbench_tui.load.results.requests import Requests
    from agentbench_tui.model.agent import AgentSpec

    windows = read_windows(connection, row["key"])
    if len(windows) < 2:
        return None
    # Costs are not asked for, so that it does not matter what the agent's hour costs.
    agent = AgentSpec(row["agent_id"], row["agent_version"], "")
    repeats = []
    for repeat, window in windows.items():
        columns = read_columns(connection, row["key"], repeats={repeat})
        repeats.append(aggregate(Requests(columns, {repeat: window}), agent).metrics)

    def spread(name: str, metric: Metric) -> RepeatSpread | None:
        values = [one[name].value if name in one else None for one in repeats]
        known = [value for value in values if value is not None]
        return _spread(known, metric) if len(known) == len(values) else None

    found: dict[str, MetricRepeats] = {}
    for name, metric in METRICS.items():
        if not metric.load or name in _SUMS:
            continue
        if metric.distribution:
            of_parts = {part: spread(f"{name}.{part}", metric) for part in _PARTS}
            known = {part: one for part, one in of_parts.items() if one is not None}
            if known:
                found[name] = msgspec.convert(known, MetricRepeats)
        elif (whole := spread(name, metric)) is not None:
            found[name] = MetricRepeats(**msgspec.structs.asdict(whole))
    return found


def _spread(values: Sequence[float], metric: Metric) -> RepeatSpread:
    """Return the values with the interval of their geometric mean; with their range for two values;
    with neither if one is 0, or for shares, whose logarithms are not bounded by 1.
    """
    from agentbench_tui.analysis.intervals.interval import t_log_interval

    low = high = method = None
    if len(values) < FEWEST_FOR_T:
        low, high, method = min(values), max(values), "range"
    elif min(values) > 0 and metric.unit != "share":
        interval = t_log_interval(values)
        if interval is not None and math.isfinite(interval.high):
            low, high, method = interval.low, interval.high, interval.method
    return RepeatSpread(values=tuple(values), low=low, high=high, method=method)
