"""What a person sees of load: verdict first, then times, rates, failures, the harness's share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from agentbench_tui.cli.output import Column, print_json, print_prose, print_rows
from agentbench_tui.verdicts.figures import NOTHING, milliseconds, number

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
    if len(document["executions"]) == len(loads) == 1:
        print_load(loads[0], form)
    elif loads or form == "csv":
        print_loads(loads, form)
    if form == "table":
        for one in document["executions"]:
            if not one.get("load"):
                print_prose(f"{one['agent_id']}: {one['status']}: {one['stop_reason'] or NOTHING}")
        reason = document["stop_reason"]
        why = "" if reason in {None, document["status"]} else f" ({reason})"
        print_prose(f"run {document['run_id']}: {document['status']}{why}")


def print_loads(executions: list[dict[str, Any]], form: str) -> None:
    """A line for each execution of kind load, and what must be said beside its numbers."""
    rows = [load_row(one) for one in executions]
    with_parameters = form == "csv" or any(row["parameters_shown"] for row in rows)
    columns = [column for column in LOADS if with_parameters or column.key != "parameters_shown"]
    print_rows(rows, columns, form)
    if form == "table":
        for line in load_notes(executions):
            print_prose(line)


def print_load(execution: dict[str, Any], form: str) -> None:
    """One execution of kind load in full."""
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
    name = f"{execution['agent_id']}{' (simulated)' if execution['simulated'] else ''}"
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
    limit = {"client": "the client was the limit", "server": "the server was the limit"}
    words = [f"{name}: {load['verdict']}", rates, counts, limit.get(load["limit"], "")]
    return " · ".join(word for word in words if word)


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
        "parameters_shown": ", ".join(
            f"{name}={given}" for name, given in execution["parameters"].items()
        ),
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
    return NOTHING if value is None else f"{value:,.4g}/s"


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
        "e2e_ms, ttft_ms and ttfo_ms count from when a request was due" if load["is_open"] else "",
        " · ".join(filter(None, rates)),
        f"failed: {', '.join(failed)}" if failed else "",
        _told("connections opened: {}", requests.get("connections")),
        "harness: " + (", ".join(filter(None, own)) or "not calibrated"),
    ]
    return [line for line in lines if line]


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
            "parameters": ", ".join(f"{name}={one}" for name, one in group.parameters.items()),
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
