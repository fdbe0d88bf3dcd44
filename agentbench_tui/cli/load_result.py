"""What a person sees of load: verdict first, then times, rates, failures, the harness's share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from agentbench_tui.cli.load_rows import print_raw
from agentbench_tui.cli.output import Column, print_json, print_prose, print_rows
from agentbench_tui.verdicts.figures import NOTHING, milliseconds, number, point_words, rate

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.engine.plan import Plan

SWEEP_SCHEMA = "agentbench.load-sweep/1"

_PARTS = (
    ("mean", "mean"),
    ("p50", "p50"),
    ("p90", "p90"),
    ("p95", "p95"),
    ("p99", "p99"),
    ("p999", "p99.9"),
    ("max", "max"),
)
"""Key in the document, and title."""
_ORDER = (
    "e2e_ms",
    "e2e_from_send_ms",
    "ttft_ms",
    "ttft_from_send_ms",
    "ttfo_ms",
    "tpot_ms",
    "itl_ms",
    "icl_ms",
    "send_lag_ms",
    "queue_ms",
)
"""Times that the table shows, those that were measured."""

_FROM_DUE = ("e2e_ms", "ttft_ms", "ttfo_ms")
"""Those that count from the due time in an open loop."""
_LIMIT = {"client": "the client was the limit", "server": "the server was the limit"}
RAW = ("csv", "jsonl")
"""Formats that hold numbers, where the others are for people."""

METRICS = (
    Column("metric", "metric", names_row=True),
    *(Column(key, title, right=True) for key, title in _PARTS),
    Column("n", "n", number(0), right=True),
)
LOADS = (
    Column("benchmark_id", "load", names_row=True),
    Column("agent", "agent", names_row=True),
    Column("parameters_shown", "parameters", names_row=True),
    Column("asked_per_s", "asked/s", number(1), right=True),
    Column("sent_per_s", "sent/s", number(1), right=True),
    Column("answered_per_s", "answered/s", number(1), right=True),
    Column("failed", "failed", number(0), right=True),
    Column("e2e_p50", "e2e p50", right=True),
    Column("e2e_p95", "e2e p95", right=True),
    Column("ttft_p50", "ttft p50", right=True),
    Column("ttft_p95", "ttft p95", right=True),
    Column("output_tokens_per_s", "tokens/s", number(0), right=True),
    Column("goodput_per_s", "goodput/s", number(1), right=True),
    Column("verdict", "verdict"),
)


def print_load_run(_: sqlite3.Connection, document: dict[str, Any], form: str) -> None:
    """The result of `agentbench load`: of one load in full, of a sweep a line a point."""
    loads = [one for one in document["executions"] if one.get("load")]
    if form == "json":
        documents = [one["load"] for one in loads]
        if len(document["executions"]) == len(documents) == 1:
            print_json(documents[0])
        else:
            sweep = {"schema": SWEEP_SCHEMA, "run_id": document["run_id"]}
            unmeasured = [
                {key: one[key] for key in ("agent_id", "parameters", "status", "stop_reason")}
                for one in document["executions"]
                if not one.get("load")
            ]
            points = {"points": documents, "unmeasured": unmeasured}
            print_json({**sweep, "status": document["status"], **points})
        return
    if form in RAW:
        print_raw(document["executions"], form)
        return
    alone = len(document["executions"]) == len(loads) == 1
    if alone:
        print_load(loads[0], form)
    elif loads:
        print_loads(loads, form)
    if form == "table":
        for one in document["executions"]:
            if not one.get("load"):
                print_prose(f"{_name(one)}: {_ending(one)}")
        # On a small screen the head has gone by.
        verdict = f" · {verdict_of(loads[0])}" if alone else ""
        print_prose(f"run {document['run_id']}: {_ending(document)}{verdict}")


def _ending(of: dict[str, Any]) -> str:
    """The status of a run or an execution, and why, where that says more."""
    status, reason = of["status"], of["stop_reason"]
    return str(status) if reason in {None, status} else f"{status} ({reason})"


def print_loads(executions: list[dict[str, Any]], form: str) -> None:
    """A line for each measured execution of kind load, and what must be said beside its numbers;
    CSV and JSON lines as `load_rows` has them."""
    if form in RAW:
        print_raw(executions, form)
        return
    rows = [load_row(one) for one in executions]
    unused = set()
    if not any(row["parameters_shown"] for row in rows):
        unused.add("parameters_shown")
    if not any(one["load"]["slo"] for one in executions):
        unused.add("goodput_per_s")
    print_rows(rows, [column for column in LOADS if column.key not in unused], form)
    if form == "table":
        for line in load_notes(executions):
            print_prose(line)


def print_load(execution: dict[str, Any], form: str) -> None:
    """One execution of kind load in full. `form`: `table` or `md`."""
    load = execution["load"]
    if form == "table":
        print_prose(headline(execution))
        click.echo()
    print_rows(metric_rows(load), METRICS, form)
    if form == "table":
        click.echo()
        for line in [*rate_lines(load), *load_notes([execution])]:
            print_prose(line)


def headline(execution: dict[str, Any]) -> str:
    """The verdict, the rates asked and sent, what was answered, and who was the limit."""
    load = execution["load"]
    requests = load["requests"]
    asked = requests["asked_per_s"]
    rates = f"sent {_rate(requests['sent_per_s'])}"
    if asked is not None:
        rates = f"asked {_rate(asked)}, {rates}"
    failed = sum(requests["failed"].values())
    counts = f"{requests['ok']:,} of {requests['sent']:,} answered"
    if failed:
        counts += f", {failed:,} failed"
    if requests["cancelled"]:
        counts += f", {requests['cancelled']:,} broken off as planned"
    words = [f"{_name(execution)}: {load['verdict']}", rates, counts, _LIMIT.get(load["limit"], "")]
    return " · ".join(word for word in words if word)


def verdict_of(execution: dict[str, Any]) -> str:
    """How far to believe it, and who was the limit where somebody was."""
    load = execution["load"]
    return " · ".join(filter(None, (load["verdict"], _LIMIT.get(load["limit"]))))


def _name(execution: dict[str, Any]) -> str:
    """The agent, and the point where it has one."""
    name = f"{execution['agent_id']}{' (simulated)' if execution['simulated'] else ''}"
    point = point_words(execution["parameters"])
    return f"{name} {point}" if point else name


def metric_rows(load: dict[str, Any]) -> list[dict[str, Any]]:
    """A row for each time that was measured, percentiles as a person reads them."""
    rows = []
    for name in _ORDER:
        metric = load["metrics"].get(name)
        if metric is None or not metric["n"]:
            continue
        row = {"metric": f"~{name}" if metric.get("estimated") else name, "n": metric["n"]}
        rows.append(row | {key: part_shown(metric, key) for key, _ in _PARTS})
    return rows


def part_shown(metric: dict[str, Any] | None, key: str) -> str:
    """A percentile, mean or maximum; how many samples it needs where there are too few."""
    if metric is None:
        return NOTHING
    value = metric.get(key)
    if value is not None:
        return milliseconds(value)
    needed = metric.get("needs", {}).get(key)
    return NOTHING if needed is None else f"needs {needed:,}"


def load_row(execution: dict[str, Any]) -> dict[str, Any]:
    """One line of the table of loads."""
    load = execution["load"]
    requests, metrics = load["requests"], load["metrics"]
    return {
        "benchmark_id": execution["benchmark_id"],
        "agent": execution["agent_id"] + (" (simulated)" if execution["simulated"] else ""),
        "parameters_shown": point_words(execution["parameters"]),
        "asked_per_s": requests["asked_per_s"],
        "sent_per_s": requests["sent_per_s"],
        "answered_per_s": metrics.get("request_throughput_per_s"),
        "failed": sum(requests["failed"].values()),
        "e2e_p50": part_shown(metrics.get("e2e_ms"), "p50"),
        "e2e_p95": part_shown(metrics.get("e2e_ms"), "p95"),
        "ttft_p50": part_shown(metrics.get("ttft_ms"), "p50"),
        "ttft_p95": part_shown(metrics.get("ttft_ms"), "p95"),
        "output_tokens_per_s": metrics.get("output_tokens_per_s"),
        "goodput_per_s": metrics.get("goodput_per_s"),
        "verdict": load["verdict"],
    }


def _rate(value: float | None) -> str:
    return NOTHING if value is None else f"{rate(value)}/s"


def rate_lines(load: dict[str, Any]) -> list[str]:
    """Throughput, tokens and goodput; failures by kind; what the harness itself cost."""
    metrics, requests, harness = load["metrics"], load["requests"], load["harness"]
    mark = "~" if load["tokens_estimated"] else ""
    rates = [
        _told("answered {}/s", metrics.get("request_throughput_per_s")),
        _told(f"{mark}{{}} output tokens/s", metrics.get("output_tokens_per_s")),
        _told(f"{mark}{{}} tokens/s per user", metrics.get("output_tokens_per_s_per_user")),
        _told("goodput {}/s", metrics.get("goodput_per_s")),
    ]
    share = metrics.get("goodput_share")
    if share is not None:
        limits = ", ".join(f"{name} {limit:g}" for name, limit in load["slo"].items())
        rates.append(f"{share:.1%} of what was due kept {limits}")
    own = [
        _told("overhead p50 {} ms", harness.get("overhead_p50_ms")),
        _told("p99 {} ms", harness.get("overhead_p99_ms")),
        _told("{} µs CPU a request", harness.get("cpu_us_per_request")),
        _told("ceiling {}/s", harness.get("ceiling_per_s")),
        "real-time priority" if harness.get("realtime") else None,
    ]
    failed = [f"{kind} {count:,}" for kind, count in requests["failed"].items()]
    lines = [
        _from_due(load),
        " · ".join(filter(None, rates)),
        f"failed: {', '.join(failed)}" if failed else "",
        _told("connections opened: {}", requests.get("connections")),
        "harness: " + (", ".join(filter(None, own)) or "not calibrated"),
    ]
    return [line for line in lines if line]


def _from_due(load: dict[str, Any]) -> str:
    """Which of the times that are shown count from the due time."""
    shown = [name for name in _FROM_DUE if (load["metrics"].get(name) or {"n": 0})["n"]]
    if not load["is_open"] or not shown:
        return ""
    *others, last = shown
    names = f"{', '.join(others)} and {last} count" if others else f"{last} counts"
    return f"{names} from when a request was due"


def _told(words: str, value: float | None) -> str:
    """The words with the number in them; nothing where there is none."""
    if value is None:
        return ""
    return words.format(f"{value:,.0f}" if value >= 1000 else f"{value:.3g}")


def load_notes(executions: list[dict[str, Any]]) -> list[str]:
    """Why a verdict is not clean, and every warning, with its execution where there are several."""
    lines: list[str] = []
    for one in executions:
        load = one["load"]
        told = [*load["warnings"], *load["reasons"]]
        name = ""
        if len(executions) > 1:
            row = load_row(one)
            name = " ".join(
                word
                for word in (row["benchmark_id"], row["agent"], row["parameters_shown"])
                if word
            )
        lines += [f"{name}: {text}" if name else text for text in told]
    return lines


def print_load_plan(plan: Plan, form: str) -> None:
    """What `agentbench load` would do, a line for each point."""
    from agentbench_tui.load.schedule_words import schedule_words

    rows = [
        {
            "agent_id": execution.agent.id,
            "target": execution.agent.target,
            "parameters": point_words(group.parameters),
            "schedule": schedule_words(group.benchmark["load"]),
            "repeats": plan.repeats,
            "seed": group.seed,
        }
        for group, execution in plan.executions()
    ]
    columns = (
        Column("agent_id", "agent", names_row=True),
        Column("target", "target"),
        Column("parameters", "point"),
        Column("schedule", "schedule"),
        Column("repeats", "repeats", right=True),
        Column("seed", "seed", right=True),
    )
    print_rows(rows, columns, form, document={"schema": "agentbench.plan/1", "executions": rows})
    if form == "table":
        click.echo(f"{len(rows)} load{'' if len(rows) == 1 else 's'}; nothing was run", err=True)
