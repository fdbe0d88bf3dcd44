"""Profiles: phases, functions, use and tokens as tables, then bottlenecks and savings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import asdict

from agentbench_tui.contracts.document import plain
from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.numbers import amount, duration, percent
from agentbench_tui.presentation.report import Column, Report, Row, Section, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.contracts.profile import ProfileDocument, ProfilePhase

_PHASES = (
    Column("name", "phase", names_row=True),
    Column("source", "source"),
    Column("share", "share", percent, True),
    Column("n", "n", right=True),
    Column("mean_ms", "mean", duration, right=True),
    Column("p50_ms", "p50", duration, right=True),
    Column("p95_ms", "p95", duration, right=True),
    Column("usage", "uses"),
    Column("reason", "note", lambda value: value or ""),
)
_FUNCTIONS = (
    Column("location", "function", names_row=True),
    Column("share", "share", percent, right=True),
    Column("own_ms", "own", duration, right=True),
    Column("cumulative_ms", "with what it calls", duration, right=True),
    Column("calls", "calls", right=True),
)
_FIGURES = (
    Column("name", "figure", names_row=True),
    Column("value", "value", amount, right=True),
    Column("n", "n", right=True),
    Column("reason", "note", lambda value: value or ""),
)


def profile_report(documents: Sequence[ProfileDocument], *, measured_only: bool = False) -> Report:
    """Return the sections of each profile; records have a row per phase.

    `measured_only` excludes rows and columns without a value from the tables of the sections.
    """
    rows = [
        {"benchmark_id": document.benchmark_id, **_phase_row(phase)}
        for document in documents
        for phase in document.phases
    ]
    return Report(
        Table((Column("benchmark_id", "benchmark"), *_PHASES), rows),
        [
            section
            for document in documents
            for section in _sections(document, measured_only=measured_only)
        ],
    )


def _sections(document: ProfileDocument, *, measured_only: bool) -> list[Section]:
    thing = "request" if document.is_load else "answer"
    looked_at = counted(document.looked_at, thing)
    title = f"{profile_title(document)}: {duration(document.total_ms)} in {looked_at}"
    phases = Table(_PHASES, [_phase_row(one) for one in document.phases])
    figures = Table(_FIGURES, _figures(document))
    if measured_only:
        phases, figures = _measured(phases, "mean_ms"), _measured(figures, "value")
    found = [Section(title, [phases])]
    if document.functions:
        title = "the call under cProfile, slower than those that were timed: own time of functions"
        found.append(Section(title, [Table(_FUNCTIONS, [*map(asdict, document.functions)])]))
    tables = [figures] if figures.rows else []
    title = "resource use and tokens" if tables else "bottlenecks"
    return [*found, Section(title, tables, _sentences(document))]


def _measured(table: Table, value: str) -> Table:
    """Return the rows with a value in the column `value`, and the columns that they fill."""
    rows = [row for row in table.rows if row[value] is not None]
    columns = [one for one in table.columns if any(row[one.key] not in {None, ""} for row in rows)]
    return Table(columns, rows)


def profile_title(document: ProfileDocument) -> str:
    simulated = " (simulated)" if document.simulated else ""
    agent = f"{document.agent_id}@{document.agent_version}{simulated}"
    return one_line(f"{document.benchmark_id} by {agent}")


def _phase_row(phase: ProfilePhase) -> dict[str, object]:
    usage = {} if phase.resource_usage is None else asdict(phase.resource_usage)
    told = (f"{name} {value:.3g}" for name, value in usage.items() if value is not None)
    return {**plain(phase), "name": one_line(phase.name), "usage": ", ".join(told)}


_OF_IMPACT = {
    "share": "an answer", "tail": "above the median", "function": "in the profiled call",
}  # fmt: skip
_OF_LOAD = {"cpu_percent": "processes: mean cpu %", "rss_mb": "processes: mean memory MB"}
"""Gauge → its name; those of single answers are shown with the phases."""


def _figures(document: ProfileDocument) -> list[Row]:
    use, tokens = document.resource_utilization, asdict(document.token_analysis)
    gauges = next(
        (one for scope, one in document.resources.items() if scope.startswith("agent:")), {}
    )
    return [
        *(
            {"name": words, "value": gauges[field].mean, "n": gauges[field].n, "reason": ""}
            for field, words in _OF_LOAD.items()
            if document.is_load and field in gauges
        ),
        *(
            {"name": name.replace("_", " "), "value": one.value, "n": one.n, "reason": one.reason}
            for name, one in asdict(use).items()
            if one is not None
        ),
        *(
            {
                "name": name.replace("_", " "),
                "value": tokens[name],
                "n": tokens["n"],
                "reason": None if tokens[name] is not None else tokens["reason"] or "not reported",
            }
            for name in ("input_tokens", "output_tokens", "cache_hits", "wasted_tokens",
                         "token_efficiency")
        ),
    ]  # fmt: skip


def _sentences(document: ProfileDocument) -> list[str]:
    lines = [
        f"bottleneck {one_line(one.location)}: {duration(one.impact_ms)} "
        f"{_OF_IMPACT[one.kind]}; "
        f"{one_line(one.cause)}; "
        f"{one.optimization_suggestion}"
        for one in document.bottlenecks
    ]
    lines += [
        f"to save {percent(one.estimated_impact)} of the {one.of} at most: "
        f"{one_line(one.potential_improvement)} (effort: {one.implementation_effort})"
        for one in document.optimization_opportunities
    ]
    return lines or ["no phase takes a tenth of the time, and nothing measured could be saved"]
