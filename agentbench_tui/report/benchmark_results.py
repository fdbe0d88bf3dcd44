"""Results of a run as StateSet's benchmarks leave them: `benchmark_results.json`, `.html`, `.md`.

Times are those of the run's document. What the run does not know is null, in the tables "–".
"""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from statistics import stdev
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

Document = dict[str, Any]
SCHEMA = "agentbench.benchmark-results/1"
NAME = "benchmark_results"
WRITTEN = {"json": ("json",), "html": ("html",), "both": ("json", "html"), "md": ("md",)}
"""Choice → what is written."""
GOOD_P95_MS, RED_P99_MS, GOOD_PER_S = 200.0, 1000.0, 10.0
"""Good for real time; a red flag; good for production, in answers a second."""
_COLUMNS = (
    ("name", "benchmark"), ("agent", "agent"), ("iterations", "n"), ("avg_time_ms", "mean ms"),
    ("std_dev_ms", "sd ms"), ("p50_ms", "p50 ms"), ("p95_ms", "p95 ms"), ("p99_ms", "p99 ms"),
    ("throughput", "1/s"), ("memory_mb", "MB"), ("judged", "by the thresholds"),
)  # fmt: skip
_NOTE = (
    f"Good: p95 below {GOOD_P95_MS:g} ms, more than {GOOD_PER_S:g} answers a second. Red flag: "
    f"p99 above {RED_P99_MS:g} ms. p95 needs 59 answers, p99 299."
)


def benchmark_results(connection: sqlite3.Connection, run: Document) -> Document:
    """`results`, one for each execution of the run's document, by the names of the original."""
    (started_at,) = connection.execute(
        "SELECT started_at FROM runs WHERE id=?", (run["run_id"],)
    ).fetchone()
    return {
        "schema": SCHEMA,
        "name": ", ".join(dict.fromkeys(one["suite_id"] for one in run["executions"])),
        "run_id": run["run_id"],
        "timestamp": started_at,
        "thresholds": _NOTE,
        "results": [_result(connection, one) for one in run["executions"]],
    }


def _result(connection: sqlite3.Connection, execution: Document) -> Document:
    times = [
        row[0]
        for row in connection.execute(
            "SELECT a.e2e_ms FROM answers a JOIN benchmark_executions e ON e.key=a.execution_key"
            " WHERE e.id=? AND a.failure_kind IS NULL AND a.e2e_ms IS NOT NULL",
            (execution["execution_id"],),
        )
    ]
    metrics = execution["metrics"]

    def value(*names: str) -> float | None:
        known = (metrics[name]["value"] for name in names if name in metrics)
        return next((one for one in known if one is not None), None)

    found = {
        "name": execution["benchmark_id"],
        "iterations": execution["cases"]["answered"],
        "total_time_ms": sum(times) if times else None,
        "avg_time_ms": value("e2e_ms.mean"),
        "min_time_ms": min(times, default=None),
        "max_time_ms": max(times, default=value("e2e_ms.max")),
        "std_dev_ms": stdev(times) if len(times) > 1 else None,
        "p50_ms": value("e2e_ms.p50"),
        "p95_ms": value("e2e_ms.p95"),
        "p99_ms": value("e2e_ms.p99"),
        "throughput": value("request_throughput_per_s", "throughput_per_s"),
        "memory_mb": value("memory_peak_mb"),
        "metadata": {
            name: execution[name] for name in ("agent_id", "agent_version", "simulated", "status")
        },
    }
    of_requests = value("request_throughput_per_s")
    return {**found, "judged": judged(found["p95_ms"], found["p99_ms"], of_requests)}


def judged(p95_ms: float | None, p99_ms: float | None, per_s: float | None) -> list[str]:
    """What the thresholds say, as far as there are figures; `per_s` is of requests."""
    told = []
    if p95_ms is not None and p95_ms < GOOD_P95_MS:
        told.append("good p95")
    if per_s is not None and per_s > GOOD_PER_S:
        told.append("good throughput")
    if p99_ms is not None and p99_ms > RED_P99_MS:
        told.append("red flag: p99")
    return told


def as_json(document: Document) -> str:
    """The document itself."""
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def as_markdown(document: Document) -> str:
    """A table for each run."""
    head, *rows = _cells(document)
    lines = [f"# {document['name']}", "", "| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(one.replace("|", "\\|") for one in row) + " |" for row in rows]
    return "\n".join([*lines, "", _NOTE, "", f"Run {document['run_id']}.", ""])


def as_html(document: Document) -> str:
    """A page that needs nothing beside it."""
    head, *rows = _cells(document)
    titles = "".join(f"<th>{escape(one)}</th>" for one in head)
    body = "\n".join(
        "<tr>" + "".join(f"<td>{escape(one)}</td>" for one in row) + "</tr>" for row in rows
    )
    name = escape(document["name"])
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{name}</title>\n'
        "<style>body{font-family:sans-serif}td,th{padding:.2em .8em;text-align:right}"
        "td:nth-child(-n+2),th:nth-child(-n+2){text-align:left}</style></head>\n"
        f"<body><h1>{name}</h1>\n<table><tr>{titles}</tr>\n{body}\n</table>\n"
        f"<p>{escape(_NOTE)}</p><p>Run {escape(document['run_id'])}.</p></body></html>\n"
    )


WRITERS = {"json": as_json, "html": as_html, "md": as_markdown}


def write_results(document: Document, choice: str, folder: Path) -> list[Path]:
    """The files of a choice in `WRITTEN`; those of an earlier run are written over. Raises
    OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for kind in WRITTEN[choice]:
        path = folder / f"{NAME}.{kind}"
        path.write_text(WRITERS[kind](document), encoding="utf-8")
        written.append(path)
    return written


def _cells(document: Document) -> Sequence[list[str]]:
    rows = [[title for _, title in _COLUMNS]]
    for one in document["results"]:
        simulated = " (simulated)" if one["metadata"]["simulated"] else ""
        shown = {**one, "agent": one["metadata"]["agent_id"] + simulated}
        rows.append([_cell(shown[key]) for key, _ in _COLUMNS])
    return rows


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, list):
        return ", ".join(value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)
