"""`agentbench.load/1`: results of a load execution, for scripts and screens."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from agentbench_tui.analysis.summary import needed
from agentbench_tui.model.figures.load_figures import COUNTS, HARNESS
from agentbench_tui.model.figures.metric import METRICS, SHARES
from agentbench_tui.model.gate import UNANSWERED
from agentbench_tui.store.queries.runs import load_summary_of, metrics_of, run_id_of
from agentbench_tui.verdicts.load.load_spread import between_repeats

if TYPE_CHECKING:
    import sqlite3

SCHEMA = "agentbench.load/1"
_BESIDE = ("tokens_used", "cost_usd", "cost_usd_per_task", "api_calls", "retries")
"""Metrics that loads have in common with other kinds."""

Document = dict[str, Any]


def load_document(connection: sqlite3.Connection, row: Document) -> Document | None:
    """Return the document of an execution (a row of `queries.executions_of`); None without a
    measured load.

    A percentile that the samples cannot support is null, and `needs` says how many it takes; what
    was not measured is null, and `reason` or `unmeasured` says why.
    """
    text = load_summary_of(connection, row["key"])
    if text is None:
        return None
    summary = json.loads(text)
    found = metrics_of(connection, row["key"])
    metrics: Document = {}
    unmeasured: dict[str, str] = {}
    for name, metric in METRICS.items():
        if not metric.load and name not in _BESIDE:
            continue
        if metric.distribution:
            metrics[name] = _distribution(name, metric.parts, found)
        elif name in found:
            metrics[name] = found[name]["value"]
            if found[name]["value"] is None:
                unmeasured[name] = found[name]["reason"]
    return {
        "schema": SCHEMA,
        "run_id": run_id_of(connection, row["run_key"]),
        "execution_id": row["id"],
        "agent_id": row["agent_id"],
        "agent_version": row["agent_version"],
        "suite_id": row["suite_id"],
        "benchmark_id": row["benchmark_id"],
        "parameters": row["parameters"],
        "simulated": bool(row["simulated"]),
        "status": row["status"],
        "stop_reason": row["stop_reason"],
        "verdict": summary.pop("verdict"),
        "reasons": summary.pop("reasons"),
        "limit": summary.pop("limit"),
        "warnings": summary.pop("warnings"),
        "requests": _counted(summary.pop("requests")),
        "metrics": metrics,
        "unmeasured": unmeasured,
        "between_repeats": between_repeats(connection, row) if summary["repeats"] > 1 else None,
        "harness": summary.pop("harness"),
        **summary,
    }


def unmeasured_load(run: Document, execution: Document) -> Document:
    """Return the document of a load that could not be measured: every figure null, with the reason.

    `run`, `execution`: from `agentbench.run/1`.
    """
    reason = execution["stop_reason"] or execution["status"]
    metrics: Document = {}
    unmeasured: dict[str, str] = {}
    for name, metric in METRICS.items():
        if metric.load and metric.distribution:
            metrics[name] = dict.fromkeys(metric.parts) | {"n": 0, "reason": reason}
        elif metric.load or name in _BESIDE:
            metrics[name], unmeasured[name] = None, reason
    beside = (UNANSWERED.name, "sent_per_s", "connections", "received_bytes")
    counts = dict.fromkeys((*COUNTS, *beside))
    same = (
        *("execution_id", "agent_id", "agent_version", "suite_id", "benchmark_id"),
        *("parameters", "simulated", "status", "stop_reason"),
    )
    return {
        "schema": SCHEMA,
        "run_id": run["run_id"],
        **{key: execution[key] for key in same},
        "verdict": None,
        "reasons": [reason],
        "limit": None,
        "warnings": [],
        "requests": counts | {"failed": execution["failures"]},
        "metrics": metrics,
        "unmeasured": unmeasured,
        "between_repeats": None,
        "harness": dict.fromkeys((*HARNESS, "calibrated_at", "realtime")),
        **dict.fromkeys(("is_open", "on_this_machine", "slo", "repeats", "steady")),
        "tokens_estimated": None,
    }


def _counted(requests: Document) -> Document:
    """Return the stored counts, and figures derived from them."""
    return requests | {UNANSWERED.name: requests["sent"] - requests["ok"] - requests["cancelled"]}


def _distribution(name: str, parts: tuple[str, ...], found: Document) -> Document:
    values = {part: found[f"{name}.{part}"] for part in parts if f"{name}.{part}" in found}
    shown: Document = {part: value["value"] for part, value in values.items()}
    n = max((value["n"] for value in values.values()), default=0)
    shown["n"] = n
    needs = {part: needed(q) for part, q in SHARES.items() if 0 < n < needed(q)}
    if needs:
        shown["needs"] = needs
    reasons = {value["reason"] for value in values.values() if value["value"] is None}
    if n == 0 and reasons:
        shown["reason"] = min(reasons)
    if any(value["value"] is not None and value["reason"] for value in values.values()):
        shown["estimated"] = True
    return shown
