"""Data of one selector, for questions about one side: benchmarks, and runs as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.model.errors import UsageError, did_you_mean
from agentbench_tui.model.figures.metric import METRICS, Metric, find_metric, known_metrics
from agentbench_tui.store.queries.metrics import has_metric
from agentbench_tui.verdicts.clusters.cluster_search import declared
from agentbench_tui.verdicts.evidence.declared_metrics import declare_benchmark_metrics
from agentbench_tui.verdicts.evidence.evidence import evidence_of
from agentbench_tui.verdicts.evidence.place import Place, by_place
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence
from agentbench_tui.verdicts.files.row_choice import NO_FILTER, RowFilter
from agentbench_tui.verdicts.files.sample_folder import read_samples
from agentbench_tui.verdicts.selection.file_side import SUITE
from agentbench_tui.verdicts.selection.selector import executions_of_selector, parse_selector

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.analysis.sample import Floats, Integers
    from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
    from agentbench_tui.verdicts.evidence.evidence import Evidence
    from agentbench_tui.verdicts.evidence.place import Execution
    from agentbench_tui.verdicts.selection.selector import Selector


@dataclass(frozen=True)
class Measured:
    """Measurements of a selector at one place."""

    selector: str
    place: Place
    evidence: Evidence
    notes: tuple[str, ...] = ()
    """How a file was read."""


@dataclass(frozen=True, slots=True)
class RunValues:
    """A metric with one value per run, in order of measurement."""

    values: Floats
    seeds: Integers | None
    """Seed of each; None if unknown."""
    what: str
    """Unit that counts as a run: `repeats`, `runs` or `rows`."""


def are_runs(selectors: Sequence[str]) -> bool:
    """Return whether the selector names several runs, which are combined."""
    return len(selectors) > 1 and all(parse_selector(text).kind == "run" for text in selectors)


def asked_metric(
    connection: sqlite3.Connection, name: str | None, selectors: Sequence[str]
) -> Metric | None:
    """Return the column of a file, or the metric of an experiment, with this `name`; None for a
    metric of agentbench. Raises UsageError for a name that cannot be either.
    """
    if name is None or find_metric(name) is not None:
        return None
    if any(parse_selector(text).kind == "file" for text in selectors):
        return Metric(name, "", "none", "A column of a file, as it is.")
    declare_benchmark_metrics(connection)
    if find_metric(name) is not None:
        return None
    if has_metric(connection, name):
        return Metric(name, "", "none", "What an experiment returned.")
    near = did_you_mean(name, [*METRICS, *known_metrics()])
    raise UsageError(f"--metric {name}: no such metric{near}; `agentbench explain` lists them")


def measured(
    connection: sqlite3.Connection,
    text: str,
    numbers: CaseNumbers,
    *,
    suite: str | None = None,
    benchmark: str | None = None,
    column: Metric | None = None,
    where: RowFilter = NO_FILTER,
    attempt: str = "",
) -> list[Measured]:
    """Return every place at which the selector has data; `where` selects the rows of a file,
    `attempt` the attempts at a case. Raises UsageError if there is none.
    """
    selector = parse_selector(text)
    if selector.kind == "file":
        return _of_file(selector, numbers, benchmark, column, where, attempt)
    rows = executions_of_selector(connection, selector, suite=suite, benchmark=benchmark)
    return _of_executions(connection, text, rows, numbers)


def with_clusters(places: Sequence[Measured], numbers: CaseNumbers, name: str) -> list[Measured]:
    """Return the same with the groups of a field as clusters (see `--cluster`).

    Raises UsageError where no case has the field.
    """
    (side,) = declared([dict(enumerate(one.evidence for one in places))], numbers, name)
    return [replace(one, evidence=side[number]) for number, one in enumerate(places)]


def runs_together(
    connection: sqlite3.Connection,
    texts: Sequence[str],
    numbers: CaseNumbers,
    *,
    suite: str | None = None,
    benchmark: str | None = None,
) -> list[Measured]:
    """Combine the measurements of several runs, for each agent at each place, as one run.

    Raises UsageError for an unknown selector.
    """
    rows: dict[int, Execution] = {}
    for text in texts:
        for row in executions_of_selector(
            connection, parse_selector(text), suite=suite, benchmark=benchmark
        ):
            rows[row["key"]] = row
    agents = dict.fromkeys(row["agent_id"] for row in rows.values())
    found = []
    for agent in agents:
        own = [row for row in rows.values() if row["agent_id"] == agent]
        found += _of_executions(connection, agent, own, numbers)
    return found


def _of_executions(
    connection: sqlite3.Connection, text: str, rows: Sequence[Execution], numbers: CaseNumbers
) -> list[Measured]:
    return [
        Measured(text, place, evidence_of(connection, found, numbers))
        for place, found in by_place(rows).items()
    ]


def _of_file(
    selector: Selector,
    numbers: CaseNumbers,
    benchmark: str | None,
    column: Metric | None,
    where: RowFilter,
    attempt: str,
) -> list[Measured]:
    path = Path(selector.name)
    file = read_samples(path, numbers, () if column is None else (column,), where, attempt)
    found = [
        Measured(selector.text, Place(SUITE, name or path.stem), evidence, file.notes)
        for name, evidence in file.benchmarks.items()
        if benchmark is None or name == benchmark
    ]
    if not found:
        near = did_you_mean(benchmark or "", list(file.benchmarks))
        raise UsageError(f"{path}: nothing of benchmark '{benchmark}' in it{near}")
    return found


def run_values(one: Measured, metric: str) -> RunValues:
    """Return one value per repeat, or per run if a file has several: repeats of one run are not
    runs. A file without either has one run per row.
    """
    evidence = one.evidence
    if not isinstance(evidence, TaskEvidence):
        return RunValues(evidence.per_repeat(metric), None, "repeats")
    evidence, what = by_told_runs(evidence), "repeats"
    if evidence.run_of is not None and evidence.runs == evidence.repeats > 1:
        what = "runs"
    if evidence.repeats == 1 and one.place.suite_id == SUITE:
        column = evidence.values.get(metric.partition(".")[0])
        if column is None:
            return RunValues(np.empty(0), None, "rows")
        known = ~np.isnan(column)
        seeds = evidence.seed[known] if evidence.seed.any() else None
        return RunValues(column[known], seeds, "rows")
    values = evidence.per_repeat(metric)
    seeds = np.array(
        [evidence.seed[evidence.repeat == number][0] for number in range(evidence.repeats)]
    )
    return RunValues(values, seeds if len(seeds) == len(values) else None, what)


def by_told_runs(evidence: TaskEvidence) -> TaskEvidence:
    """Return whole runs if a file has several, as `compare` does."""
    several = evidence.run_of is not None and evidence.runs > 1
    return evidence.by_run() if several else evidence


def metrics_of(one: Measured, wanted: Sequence[str]) -> list[str]:
    """Return those of the metrics that it has a value for in some run."""
    return [name for name in wanted if len(run_values(one, name).values)]


def unit_of(metric: str) -> str:
    """Return the unit; empty for a column of a file."""
    known = find_metric(metric)
    return "" if known is None else known.unit
