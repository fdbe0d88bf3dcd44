"""Executions for spreadsheets and scripts: raw numbers in rows, for CSV and JSON lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.contracts.load import LoadDistribution
from agentbench_tui.model.figures.load_figures import COUNTS
from agentbench_tui.model.figures.metric import METRICS
from agentbench_tui.model.gate import UNANSWERED
from agentbench_tui.presentation.report import Table, raw_columns
from agentbench_tui.presentation.runs import kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.contracts.document import Json
    from agentbench_tui.contracts.load import LoadDocument
    from agentbench_tui.contracts.run import ExecutionResult

    Record = dict[str, Json]

_PARTS = ("mean", "p50", "p90", "p95", "p99", "p999", "max")
_OF_METRIC = ("metric", "unit", "value", *_PARTS, "n", "estimated", "needs")
_CASES = ("observed", "answered", "correct")
_COUNTS = ("sent", "ok", "cancelled", "unfinished", "unsent", "unanswered", "resent")


def execution_records(executions: Sequence[ExecutionResult]) -> Table:
    """Return one measured load as rows for its verdict, each count and each metric; else one row
    per execution.

    What is not known or not supported by enough samples is None.
    """
    if len(executions) == 1 and (load := executions[0].load_result) is not None:
        return Table(raw_columns(_OF_METRIC), [*_raw_counts(load), *_raw_metrics(load)])
    rows = [*map(_raw_point, executions)]
    names = list(dict.fromkeys(name for row in rows for name in row))
    # Every row has every name, whatever was measured of it.
    return Table(raw_columns(names), [{name: row.get(name) for name in names} for row in rows])


def _raw_counts(load: LoadDocument) -> list[Record]:
    """Return the verdict, the limit, the requested rate and each count of a load, as rows like
    those of `_raw_metrics`.
    """
    rows = []
    for name, value in _facts(load).items():
        figure = UNANSWERED if name == UNANSWERED.name else COUNTS.get(name)
        row = dict.fromkeys(_OF_METRIC) | {"metric": name, "value": value}
        rows.append(row | {"unit": None if figure is None else figure.unit})
    return rows


def _facts(load: LoadDocument) -> Record:
    """Return the facts that come before the metrics of a load, by their names in the document."""
    requests = load.requests
    return {
        "verdict": load.verdict,
        "limit": load.limit,
        "asked_per_s": requests.asked_per_s,
        **{name: getattr(requests, name) for name in _COUNTS},
        "failed": sum(requests.failed.values()),
    }


def _raw_metrics(load: LoadDocument) -> list[Record]:
    """Return a row for each measured metric of a load: `value` of a rate, sum or count, or the
    statistics of a distribution; `needs` is the number of samples that one requires.
    """
    rows = []
    for name, found in load.metrics.items():
        row: Record = dict.fromkeys(_OF_METRIC)
        row |= {"metric": name, "unit": METRICS[name].unit}
        if isinstance(found, LoadDistribution):
            if not found.n:
                continue
            row |= {part: found.part(part) for part in _PARTS}
            row |= {"n": found.n, "estimated": bool(found.estimated), "needs": found.needs or None}
        elif found is None:
            continue
        else:
            row["value"] = found
        rows.append(row)
    return rows


def _raw_point(one: ExecutionResult) -> Record:
    """Return the row of an execution: its identity, and for a load its verdict, counts, and each
    measured metric by its name in gates, such as `e2e_ms.p95`.
    """
    row: Record = {
        "suite_id": one.suite_id,
        "benchmark_id": one.benchmark_id,
        "agent_id": one.agent_id,
        "simulated": one.simulated,
        **{f"parameters.{name}": given for name, given in one.parameters.items()},
        "status": one.status,
        "stop_reason": one.stop_reason,
    }
    load, kind = one.load_result, kind_of(one)
    if load is not None:
        row |= _facts(load)
        for metric in _raw_metrics(load):
            row |= _parts_of(metric)
    elif not kind.runs_by_schedule:
        row |= {name: getattr(one.cases, name) for name in _CASES}
        if kind.measures_code or kind.sends_load:  # nothing there is right or wrong
            row["correct"] = None
        row["failures"] = one.failures
        row |= {name: found.value for name, found in one.metrics.items()}
    return row


def _parts_of(metric: Record) -> Record:
    name = metric["metric"]
    if metric["value"] is not None:
        return {name: metric["value"]}
    return {f"{name}.{part}": metric[part] for part in (*_PARTS, "n")}
