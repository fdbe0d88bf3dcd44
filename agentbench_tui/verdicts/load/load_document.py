"""`agentbench.load/1`: results of a load execution, for scripts and screens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET

from agentbench_tui.analysis.summary import needed
from agentbench_tui.contracts.load import (
    HarnessFigures,
    LoadDistribution,
    LoadDocument,
    RequestTotals,
)
from agentbench_tui.model.figures.metric import METRICS, SHARES
from agentbench_tui.store.queries.runs import load_summary_of, metrics_of, run_id_of
from agentbench_tui.verdicts.load.load_spread import between_repeats

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

    from agentbench_tui.contracts.run import ExecutionResult
    from agentbench_tui.store.queries.runs import Row

_BESIDE = ("tokens_used", "cost_usd", "cost_usd_per_task", "api_calls", "retries")
"""Metrics that loads have in common with other kinds."""
_SAME = (
    *("agent_id", "agent_version", "suite_id", "benchmark_id", "parameters", "status"),
    "stop_reason",
)
"""Fields that a load has in common with its execution."""


class _Requests(msgspec.Struct):
    """Counts from which another one is derived."""

    sent: int
    ok: int
    cancelled: int


def load_document(connection: sqlite3.Connection, row: Row) -> LoadDocument | None:
    """Return the document of an execution (a row of `queries.executions_of`); None without a
    measured load.

    A percentile that the samples cannot support is None, and `needs` says how many it takes; what
    was not measured is None, and `reason` or `unmeasured` says why.
    """
    text = load_summary_of(connection, row["key"])
    if text is None:
        return None
    summary = msgspec.json.decode(text)
    counts = msgspec.convert(summary["requests"], _Requests)
    unanswered = counts.sent - counts.ok - counts.cancelled
    found = metrics_of(connection, row["key"])
    metrics: dict[str, LoadDistribution | float | None] = {}
    unmeasured: dict[str, str | None] = {}
    for name, metric in METRICS.items():
        if not metric.load and name not in _BESIDE:
            continue
        if metric.distribution:
            metrics[name] = _distribution(name, metric.parts, found)
        elif name in found:
            metrics[name] = found[name]["value"]
            if found[name]["value"] is None:
                unmeasured[name] = found[name]["reason"]
    own = {
        "run_id": run_id_of(connection, row["run_key"]),
        "execution_id": row["id"],
        **{name: row[name] for name in _SAME},
        "simulated": bool(row["simulated"]),
        "requests": summary["requests"] | {"unanswered": unanswered},
        "metrics": metrics,
        "unmeasured": unmeasured,
        "between_repeats": between_repeats(connection, row) if summary["repeats"] > 1 else None,
    }
    return msgspec.convert(summary | own, LoadDocument)


def unmeasured_load(run_id: str, execution: ExecutionResult) -> LoadDocument:
    """Return the document of a load that could not be measured: every figure None, with the
    reason.
    """
    reason = execution.stop_reason or execution.status
    metrics: dict[str, LoadDistribution | float | None] = {}
    unmeasured: dict[str, str | None] = {}
    for name, metric in METRICS.items():
        if metric.load and metric.distribution:
            parts = dict.fromkeys(metric.parts)
            metrics[name] = msgspec.convert(parts | {"n": 0, "reason": reason}, LoadDistribution)
        elif metric.load or name in _BESIDE:
            metrics[name], unmeasured[name] = None, reason
    counts = dict.fromkeys(RequestTotals.__struct_fields__) | {"failed": execution.failures}
    own = {
        "run_id": run_id,
        "execution_id": execution.execution_id,
        **{name: getattr(execution, name) for name in (*_SAME, "simulated")},
        "reasons": (reason,),
        "warnings": (),
        "requests": counts,
        "metrics": metrics,
        "unmeasured": unmeasured,
        "harness": dict.fromkeys(HarnessFigures.__struct_fields__),
    }
    required = (one.name for one in msgspec.structs.fields(LoadDocument) if one.required)
    return msgspec.convert(dict.fromkeys(required) | own, LoadDocument)


def _distribution(name: str, parts: tuple[str, ...], found: Mapping[str, Row]) -> LoadDistribution:
    values = {part: found[f"{name}.{part}"] for part in parts if f"{name}.{part}" in found}
    n = max((value["n"] for value in values.values()), default=0)
    needs = {part: needed(q) for part, q in SHARES.items() if 0 < n < needed(q)}
    reasons = {value["reason"] for value in values.values() if value["value"] is None}
    is_estimated = any(value["value"] is not None and value["reason"] for value in values.values())
    return LoadDistribution(
        **{part: value["value"] for part, value in values.items()},
        n=n,
        needs=needs or UNSET,
        reason=min(reasons) if n == 0 and reasons else UNSET,
        estimated=True if is_estimated else UNSET,
    )
