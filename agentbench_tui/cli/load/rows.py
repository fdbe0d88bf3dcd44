"""Executions for spreadsheets and scripts: raw numbers in rows, for CSV and JSON lines."""

from __future__ import annotations

from typing import Any

from agentbench_tui.cli.console.output import print_rows
from agentbench_tui.model.figures.load_figures import COUNTS
from agentbench_tui.model.figures.metric import METRICS
from agentbench_tui.model.gate import UNANSWERED
from agentbench_tui.presentation.report import Column

_PARTS = ("mean", "p50", "p90", "p95", "p99", "p999", "max")
_OF_METRIC = ("metric", "unit", "value", *_PARTS, "n", "estimated", "needs")
_CASES = ("observed", "answered", "correct")
_COUNTS = ("sent", "ok", "cancelled", "unfinished", "unsent", "unanswered", "resent")


def print_raw(executions: list[dict[str, Any]], form: str) -> None:
    """Print one measured load as rows for its verdict, each count and each metric; else one row per
    execution.

    `form`: `csv` or `jsonl`. What is not known or not supported by enough samples is empty, null.
    """
    if len(executions) == 1 and executions[0].get("load"):
        columns = [Column(name, name) for name in _OF_METRIC]
        load = executions[0]["load"]
        print_rows([*raw_counts(load), *raw_metrics(load)], columns, form)
        return
    rows = raw_points(executions)
    names = list(dict.fromkeys(name for row in rows for name in row))
    # Every row has every name, whatever was measured of it.
    rows = [{name: row.get(name) for name in names} for row in rows]
    print_rows(rows, [Column(name, name) for name in names], form)


def raw_counts(load: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the verdict, the limit, the requested rate and each count of a load document, as
    rows like those of `raw_metrics`.
    """
    rows = []
    for name, value in told_first(load).items():
        figure = UNANSWERED if name == UNANSWERED.name else COUNTS.get(name)
        row = dict.fromkeys(_OF_METRIC) | {"metric": name, "value": value}
        rows.append(row | {"unit": None if figure is None else figure.unit})
    return rows


def told_first(load: dict[str, Any]) -> dict[str, Any]:
    """Return the facts that come before the metrics of a load, by their names in the document."""
    requests = load["requests"]
    return {
        "verdict": load["verdict"],
        "limit": load["limit"],
        "asked_per_s": requests["asked_per_s"],
        **{name: requests.get(name) for name in _COUNTS},
        "failed": sum(requests["failed"].values()),
    }


def raw_metrics(load: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a row for each measured metric of a load document: `value` of a rate, sum or count, or
    the statistics of a distribution; `needs` is the number of samples that one requires.
    """
    rows = []
    for name, found in load["metrics"].items():
        row: dict[str, Any] = dict.fromkeys(_OF_METRIC)
        row |= {"metric": name, "unit": METRICS[name].unit}
        if isinstance(found, dict):
            if not found["n"]:
                continue
            row |= {part: found.get(part) for part in (*_PARTS, "n")}
            row |= {"estimated": bool(found.get("estimated")), "needs": found.get("needs")}
        elif found is None:
            continue
        else:
            row["value"] = found
        rows.append(row)
    return rows


def raw_points(executions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each execution: its identity, and for a load its verdict, counts, and each
    measured metric by its name in gates, such as `e2e_ms.p95`.
    """
    rows = []
    for one in executions:
        row = {name: one[name] for name in ("suite_id", "benchmark_id", "agent_id", "simulated")}
        row |= {f"parameters.{name}": given for name, given in one["parameters"].items()}
        row |= {name: one[name] for name in ("status", "stop_reason")}
        load = one.get("load")
        if load is not None:
            row |= told_first(load)
            for metric in raw_metrics(load):
                row |= _parts_of(metric)
        elif one.get("kind") != "load":
            row |= {name: one["cases"][name] for name in _CASES}
            if one.get("kind") in {"experiment", "stress"}:  # nothing there is right or wrong
                row["correct"] = None
            row["failures"] = one["failures"]
            row |= {name: found["value"] for name, found in one["metrics"].items()}
        rows.append(row)
    return rows


def _parts_of(metric: dict[str, Any]) -> dict[str, Any]:
    name = metric["metric"]
    if metric["value"] is not None:
        return {name: metric["value"]}
    return {f"{name}.{part}": metric[part] for part in (*_PARTS, "n")}
