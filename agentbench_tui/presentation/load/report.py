"""Result of a load: verdict first, then times, rates, failures, the harness's share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.presentation.execution_records import execution_records
from agentbench_tui.presentation.load.sentences import (
    headline,
    load_notes,
    measured_load,
    name_of,
    part_shown,
    rate_lines,
    repeats_line,
    slo_lines,
    verdict_of,
)
from agentbench_tui.presentation.numbers import amount, count, money
from agentbench_tui.presentation.report import Column, Report, Row, Section, Table
from agentbench_tui.presentation.runs import ended
from agentbench_tui.verdicts.evidence.place import point_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.contracts.load import LoadDocument
    from agentbench_tui.contracts.run import ExecutionResult, RunDocument

MOST_IN_FULL = 4
"""Maximum number of loads of one run that are shown in full."""
_PARTS = {
    "mean": "mean", "p50": "p50", "p90": "p90", "p95": "p95", "p99": "p99", "p999": "p99.9",
    "max": "max",
}  # fmt: skip
"""Key in the document → title."""
_ORDER = (
    *("e2e_ms", "e2e_from_send_ms", "ttft_ms", "ttft_from_send_ms", "ttfo_ms", "tpot_ms"),
    *("itl_ms", "icl_ms", "send_lag_ms", "queue_ms"),
)
"""Order of the times in the table, if measured."""
_METRICS = (
    Column("metric", "metric", names_row=True),
    *(Column(part, title, right=True) for part, title in _PARTS.items()),
    Column("n", "n", count, right=True),
)
_LOADS = (
    Column("benchmark_id", "load", names_row=True),
    Column("agent", "agent", names_row=True),
    Column("parameters_shown", "parameters", names_row=True),
    Column("verdict", "verdict"),
    Column("asked_per_s", "offered/s", amount, right=True),
    Column("sent_per_s", "sent/s", amount, right=True),
    Column("answered_per_s", "completed/s", amount, right=True),
    Column("failed", "failed", count, right=True),
    Column("unfinished", "unfinished", count, right=True),
    Column("cancelled", "canceled", count, right=True),
    Column("unsent", "never sent", count, right=True),
    Column("e2e_p50", "e2e p50", right=True),
    Column("e2e_p95", "e2e p95", right=True),
    Column("e2e_p99", "e2e p99", right=True),
    Column("ttft_p50", "ttft p50", right=True),
    Column("ttft_p95", "ttft p95", right=True),
    Column("ttft_p99", "ttft p99", right=True),
    Column("output_tokens_per_s", "tokens/s", amount, right=True),
    Column("goodput_per_s", "goodput/s", amount, right=True),
    Column("cost_usd", "USD", money, right=True),
)
_WHERE_ANY = ("unfinished", "cancelled", "unsent")
"""Columns of counts that are shown only if a count is above 0."""


def load_report(run: RunDocument, comparison: Sequence[Section] = ()) -> Report:
    """Return the result of `agentbench load`: one load in full, a sweep with a line per level, and
    several targets with their comparison, which is the answer, before them.
    """
    loads = [one for one in run.executions if one.load_result is not None]
    alone = len(run.executions) == len(loads) == 1
    sections = measured_sections(loads, in_full=alone)
    verdict = f" · {verdict_of(loads[0])}" if alone else ""
    last = sections.pop() if sections else Section()
    closing = [
        *last.sentences,
        *(f"{name_of(one)}: {ended(one)}" for one in run.executions if one.load_result is None),
        # On a small screen the head has gone by.
        f"run {run.run_id}: {ended(run)}{verdict}",
    ]
    sections = [*comparison, *sections, msgspec.structs.replace(last, sentences=closing)]
    return Report(execution_records(run.executions), sections)


def load_sections(executions: Sequence[ExecutionResult], *, in_full: bool) -> list[Section]:
    """Return the loads among the executions of a run: in full if they are few, else in one table;
    then those that were not measured.
    """
    loads = [one for one in executions if one.load_result is not None]
    endings = [
        f"{one.benchmark_id} {name_of(one)}: {ended(one)}"
        for one in executions
        if one.load_result is None
    ]
    sections = measured_sections(loads, in_full=in_full and len(loads) <= MOST_IN_FULL)
    return [*sections, Section(sentences=endings)] if endings else sections


def measured_sections(loads: Sequence[ExecutionResult], *, in_full: bool) -> list[Section]:
    """Return loads that were measured, each in full or all in one table."""
    if in_full:
        several = len({one.benchmark_id for one in loads}) > 1
        return [_in_full(one, f"{one.benchmark_id} " if several else "") for one in loads]
    return [_in_one_table(loads)] if loads else []


def _in_full(execution: ExecutionResult, place: str) -> Section:
    load = measured_load(execution)
    rows = _metric_rows(load)
    told = [repeats_line([execution]), *rate_lines(load), *load_notes([execution])]
    return Section(
        f"{place}{headline(execution)}",
        [Table(_METRICS, rows)] if rows else [],
        [*filter(None, told)],
        is_answer=True,
    )


def _in_one_table(executions: Sequence[ExecutionResult]) -> Section:
    rows = [*map(_load_row, executions)]
    unused = {key for key in _WHERE_ANY if not any(row[key] for row in rows)}
    if len({row["benchmark_id"] for row in rows}) == 1:
        unused.add("benchmark_id")
    if not any(row["parameters_shown"] for row in rows):
        unused.add("parameters_shown")
    if not any(measured_load(one).slo for one in executions):
        unused.add("goodput_per_s")
    if all(row["cost_usd"] is None for row in rows):
        unused.add("cost_usd")
    columns = [column for column in _LOADS if column.key not in unused]
    told = [*slo_lines(executions), repeats_line(executions), *load_notes(executions)]
    return Section(tables=[Table(columns, rows)], sentences=[*filter(None, told)])


def _metric_rows(load: LoadDocument) -> list[Row]:
    """Return a row for each measured time, with percentiles in readable form."""
    return [
        {
            "metric": f"~{name}" if metric.estimated else name,
            **{part: part_shown(load, name, part) for part in _PARTS},
            "n": metric.n,
        }
        for name in _ORDER
        if (metric := load.distribution(name)) is not None and metric.n
    ]


def _load_row(execution: ExecutionResult) -> Row:
    """Return one line of the table of loads."""
    load = measured_load(execution)
    requests = load.requests
    return {
        "benchmark_id": execution.benchmark_id,
        "agent": execution.agent_id + (" (simulated)" if execution.simulated else ""),
        "parameters_shown": point_words(execution.parameters),
        "verdict": load.verdict,
        "asked_per_s": requests.asked_per_s,
        "sent_per_s": requests.sent_per_s,
        "answered_per_s": load.number("request_throughput_per_s"),
        "failed": sum(requests.failed.values()),
        **{key: getattr(requests, key) for key in _WHERE_ANY},
        **{
            f"{time}_{part}": part_shown(load, f"{time}_ms", part)
            for time in ("e2e", "ttft")
            for part in ("p50", "p95", "p99")
        },
        "output_tokens_per_s": load.number("output_tokens_per_s"),
        "goodput_per_s": load.number("goodput_per_s"),
        "cost_usd": load.number("cost_usd"),
    }
