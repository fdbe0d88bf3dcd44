"""Compares what selectors name: options and selectors in, verdict and document out.

The command line and the Python API both compare by this.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.model.errors import UsageError
from agentbench_tui.verdicts.comparison.compare import check_metrics, compare
from agentbench_tui.verdicts.comparison.compare_document import compare_document
from agentbench_tui.verdicts.comparison.comparison import Asked
from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
from agentbench_tui.verdicts.evidence.declared_metrics import declare_benchmark_metrics
from agentbench_tui.verdicts.files.file_field import NO_FIELD, FileField
from agentbench_tui.verdicts.groups.case_groups import CaseFields
from agentbench_tui.verdicts.groups.compare_groups import compare_by_groups
from agentbench_tui.verdicts.groups.compare_groups_document import groups_document
from agentbench_tui.verdicts.selection.given_sides import (
    check_where,
    file_columns,
    reading_sides,
)
from agentbench_tui.verdicts.selection.side import is_of_files, load_sides

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from agentbench_tui.analysis.scale import Better
    from agentbench_tui.contracts.compare import CompareDocument, CompareMatrixDocument
    from agentbench_tui.model.figures.metric import Metric
    from agentbench_tui.verdicts.comparison.compare import Compared
    from agentbench_tui.verdicts.comparison.comparison import Paired
    from agentbench_tui.verdicts.groups.compare_groups import ComparedByGroups


class ComparisonOptions(msgspec.Struct, frozen=True):
    """Selectors and options of `agentbench compare`, with its names and defaults."""

    selectors: tuple[str, ...]
    suite: str | None = None
    benchmark: str | None = None
    metrics: tuple[str, ...] = ()
    better: Better | None = None
    where: Mapping[str, str] = msgspec.field(default_factory=dict)
    attempt: str = ""
    cluster: str | None = None
    paired: Paired = "auto"
    margin: float | None = None
    seed: int = 42
    limit: int = 5
    """Maximum number of cases to list on which two sides disagree."""
    by: str | None = None
    by_limit: int = 30
    labels: tuple[str, ...] = ()
    """Names of the sides in documents and tables; by default the selectors."""


class SelectorComparison(msgspec.Struct, frozen=True):
    """A comparison with its document."""

    found: Compared
    document: CompareDocument | CompareMatrixDocument
    groups: ComparedByGroups | None
    """With `by`, the comparison in each group of cases."""


def compare_selectors(
    options: ComparisonOptions, database: Path, say: Callable[[str], object] = lambda _: None
) -> SelectorComparison:
    """Compare what the selectors name; without a database if they name files alone.

    Raises UsageError, Unmeasured and StoreError. `say` receives remarks on the input, such as
    skipped rows of a file.
    """
    _check(options)  # before any database is opened
    with reading_sides(options.selectors, database) as connection:
        return compare_from(connection, options, say)


def compare_from(
    connection: sqlite3.Connection,
    options: ComparisonOptions,
    say: Callable[[str], object] = lambda _: None,
) -> SelectorComparison:
    """Compare what the selectors name, from an open database; see `compare_selectors`."""
    columns = _check(options)
    selectors, metrics = options.selectors, options.metrics
    asked = Asked(
        options.paired, options.margin, options.seed, columns=columns, cluster=options.cluster
    )
    if not is_of_files(selectors):
        declare_benchmark_metrics(connection)
    check_metrics(metrics, columns)
    numbers, fields = CaseNumbers(connection), CaseFields()
    column = NO_FIELD if options.by is None else FileField(options.by, fields)
    sides = load_sides(
        connection, selectors, options.suite, options.benchmark, numbers,
        [*columns.values()], options.where, options.attempt, column, options.cluster,
    )  # fmt: skip
    if options.labels:
        named = zip(sides, options.labels, strict=True)
        sides = [
            replace(side, selector=replace(side.selector, text=label)) for side, label in named
        ]
    for note in dict.fromkeys(note for side in sides for note in side.notes):
        say(note)
    found = compare(connection, sides, numbers, asked, metrics)
    document = compare_document(connection, found, numbers, options.limit)
    groups = None
    if options.by is not None:
        groups = compare_by_groups(connection, found, numbers, fields, options.by, metrics)
        breakdown = groups_document(groups, options.by_limit)
        document = msgspec.structs.replace(document, breakdown=breakdown)
    return SelectorComparison(found, document, groups)


def _check(options: ComparisonOptions) -> dict[str, Metric]:
    """Return the columns of files to compare. Raises UsageError."""
    selectors = options.selectors
    _check_selectors(selectors)
    check_where(selectors, options.where, options.attempt)
    return file_columns(selectors, options.metrics, options.better)


def _check_selectors(selectors: tuple[str, ...]) -> None:
    if not selectors:
        raise UsageError("name what to compare: two agents, versions, runs, tags or files")
    if len(selectors) < 2:
        raise UsageError(
            f"only '{selectors[0]}' is given; add a second agent, version or run to compare it with"
        )
    if len(selectors) > 2 and len(set(selectors)) < len(selectors):
        twice = next(one for one in selectors if selectors.count(one) > 1)
        raise UsageError(f"'{twice}' is given twice")
