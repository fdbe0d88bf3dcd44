"""Results of a run as StateSet's benchmarks leave them: `benchmark_results.json` and `.md`, and the
chapters that `benchmark_results.html` has beyond a report of the run.

Times are those of the run's document; the standard deviation is that of a sample (n - 1), and the
total is the sum over all answers: where several were under way at once it is more than the time on
the clock. What the run does not know is null, in the tables "–".
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.full_report.parts import Chapter
from agentbench_tui.presentation.report import Column, Section, Table
from agentbench_tui.reports.benchmark_results.breakdown_table import (
    breakdown_section,
    markdown_section,
)
from agentbench_tui.reports.benchmark_results.thresholds import (
    NOTE,
    Figures,
    by_rubrics,
    judged,
    memory_growth,
    rubric_words,
)
from agentbench_tui.store.queries.runs import execution_key_of, start_of_run
from agentbench_tui.verdicts.evidence.place import point_words
from agentbench_tui.verdicts.groups.breakdown_document import breakdown_document
from agentbench_tui.verdicts.runs.run_times import latencies_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from agentbench_tui.verdicts.groups.breakdown import Breakdown

Document = dict[str, Any]
SCHEMA = "agentbench.benchmark-results/1"
NAME = "benchmark_results"
_COLUMNS = (
    ("name", "benchmark"), ("point", "point"), ("agent", "agent"), ("iterations", "n"),
    ("accuracy", "accuracy"), ("avg_time_ms", "mean ms"), ("std_dev_ms", "sd ms"),
    ("min_time_ms", "min ms"), ("p50_ms", "p50 ms"), ("p95_ms", "p95 ms"), ("p99_ms", "p99 ms"),
    ("max_time_ms", "max ms"), ("total_time_ms", "total ms"), ("throughput", "1/s"),
    ("memory_mb", "MB"), ("rubrics", "by the rubrics"), ("judged", "by the thresholds"),
)  # fmt: skip
_NAMES = ("benchmark", "point", "agent")
_TEXTS = (*_NAMES, "by the rubrics", "by the thresholds")
_LONGEST = 80
"""Characters of a heading."""


def benchmark_results(connection: sqlite3.Connection, run: Document) -> Document:
    """Return `benchmark_results.json`: one result per execution, with the original's field
    names.
    """
    started_at = start_of_run(connection, run["run_id"])
    return {
        "schema": SCHEMA,
        "name": ", ".join(dict.fromkeys(one["suite_id"] for one in run["executions"])),
        "run_id": run["run_id"],
        "timestamp": started_at,
        "thresholds": NOTE,
        "results": [_result(connection, one) for one in run["executions"]],
    }


def _result(connection: sqlite3.Connection, execution: Document) -> Document:
    key = execution_key_of(connection, execution["execution_id"])
    has_mean = execution["metrics"].get("e2e_ms.mean", {}).get("value") is not None
    times = latencies_of(connection, key, has_mean=has_mean)
    spread = float(times.std(ddof=1)) if len(times) > 1 else None
    mean = float(times.mean()) if len(times) else 0.0
    metrics = execution["metrics"]

    def value(*names: str) -> float | None:
        known = (metrics[name]["value"] for name in names if name in metrics)
        return next((one for one in known if one is not None), None)

    found = {
        "name": execution["benchmark_id"],
        "iterations": execution["cases"]["answered"],
        "accuracy": value("accuracy"),
        "total_time_ms": float(times.sum()) if len(times) else None,
        "avg_time_ms": value("e2e_ms.mean"),
        "min_time_ms": float(times.min()) if len(times) else None,
        "max_time_ms": float(times.max()) if len(times) else None,
        "std_dev_ms": spread,
        "p50_ms": value("e2e_ms.p50"),
        "p95_ms": value("e2e_ms.p95"),
        "p99_ms": value("e2e_ms.p99"),
        "throughput": value("request_throughput_per_s", "throughput_per_s"),
        "memory_mb": value("memory_peak_mb"),
        "metadata": {
            name: execution[name]
            for name in ("agent_id", "agent_version", "parameters", "simulated", "status")
        },
    }
    figures = Figures(
        p95_ms=value("e2e_ms.p95"),
        p99_ms=value("e2e_ms.p99"),
        per_s=value("request_throughput_per_s"),
        cv=spread / mean if spread is not None and mean else None,
        memory_mb=value("memory_peak_mb"),
        growth_mb_per_min=memory_growth(connection, execution["execution_id"]),
        gpu_percent=value("gpu_usage_percent"),
    )
    return {
        **found,
        "gpu_percent": figures.gpu_percent,
        "memory_growth_mb_per_min": figures.growth_mb_per_min,
        "rubrics": by_rubrics(connection, execution),
        "judged": judged(figures),
    }


@dataclass(frozen=True, slots=True)
class ByGroups:
    """The run by groups of cases, and how many of them are shown."""

    found: Breakdown
    limit: int


def as_json(document: Document, by: ByGroups | None = None) -> str:
    """The document itself; `breakdown` has the groups."""
    if by is not None:
        document = document | {"breakdown": breakdown_document(by.found, by.limit)}
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def as_markdown(document: Document, by: ByGroups | None = None) -> str:
    """A table of the run, and one of its groups."""
    head, *rows = _cells(document)
    lines = [f"# {document['name']}", "", "| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(one.replace("|", "\\|") for one in row) + " |" for row in rows]
    groups = [] if by is None else markdown_section(by.found, by.limit)
    return "\n".join([*lines, "", *groups, NOTE, "", f"Run {document['run_id']}.", ""])


def results_chapters(document: Document, by: ByGroups | None = None) -> list[Chapter]:
    """Return what the other files have and a report of the run does not."""
    chapters = []
    if by is not None:
        name = one_line(by.found.field, _LONGEST)
        chapters.append(Chapter("groups", f"By {name}", [breakdown_section(by.found, by.limit)]))
    head, *rows = _cells(document)
    columns = [
        Column(str(place), title, right=title not in _TEXTS, names_row=title in _NAMES)
        for place, title in enumerate(head)
    ]
    cells = [{str(place): cell for place, cell in enumerate(row)} for row in rows]
    section = Section("", [Table(columns, cells)], [NOTE])
    return [*chapters, Chapter("thresholds", "Results by thresholds", [section])]


WRITERS = {"json": as_json, "md": as_markdown}


def write_results(
    document: Document, kinds: Sequence[str], folder: Path, by: ByGroups | None = None
) -> list[Path]:
    """Write a file of each kind in `WRITERS`, over those of an earlier run. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for kind in kinds:
        path = folder / f"{NAME}.{kind}"
        path.write_text(WRITERS[kind](document, by), encoding="utf-8")
        written.append(path)
    return written


def _cells(document: Document) -> Sequence[list[str]]:
    shown = [_shown(one) for one in document["results"]]
    needless = set()
    if len({one["point"] for one in shown}) < 2:
        needless.add("point")
    if all(one["accuracy"] is None for one in shown):
        needless.add("accuracy")
    columns = [one for one in _COLUMNS if one[0] not in needless]
    rows = [[_cell(one[key]) for key, _ in columns] for one in shown]
    return [[title for _, title in columns], *rows]


def _shown(result: Document) -> Document:
    about = result["metadata"]
    return {
        **result,
        "agent": about["agent_id"] + (" (simulated)" if about["simulated"] else ""),
        "point": point_words(about["parameters"]),
        "rubrics": [rubric_words(one) for one in result["rubrics"]],
    }


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, list):
        return ", ".join(value)
    if not isinstance(value, float):
        return str(value)
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
