"""The sides of a comparison: the data of each selector, by benchmark and point of a sweep."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from agentbench_tui.model.errors import UsageError
from agentbench_tui.verdicts.clusters.cluster_search import declared
from agentbench_tui.verdicts.evidence.evidence import evidence_of
from agentbench_tui.verdicts.evidence.place import by_place
from agentbench_tui.verdicts.files.file_field import NO_FIELD, FileField
from agentbench_tui.verdicts.files.row_choice import NO_FILTER, RowFilter
from agentbench_tui.verdicts.files.sample_folder import read_samples
from agentbench_tui.verdicts.selection.file_side import placed_files, without_seeds
from agentbench_tui.verdicts.selection.partial_runs import partial_run_words
from agentbench_tui.verdicts.selection.selector import executions_of_selector, parse_selector

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Mapping, Sequence

    from agentbench_tui.model.figures.metric import Metric
    from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
    from agentbench_tui.verdicts.evidence.evidence import Evidence
    from agentbench_tui.verdicts.evidence.place import Execution, Place
    from agentbench_tui.verdicts.files.sample_file import SampleFile
    from agentbench_tui.verdicts.selection.selector import Selector


@dataclass(frozen=True)
class Side:
    """One side, with what it has in common with another."""

    selector: Selector
    evidence: dict[Place, Evidence]
    alone: tuple[Place, ...] = ()
    """Places where no other side was measured."""
    simulated: bool = False
    agent_id: str | None = None
    """None of a file."""
    versions: tuple[str, ...] = field(default=())
    notes: tuple[str, ...] = field(default=())
    """How a file was read, and which rows failed; which partial runs were passed over."""

    @property
    def label(self) -> str:
        """Return its name in documents and tables: the selector, as written."""
        return self.selector.text


def load_sides(
    connection: sqlite3.Connection,
    selectors: Sequence[str],
    suite: str | None,
    benchmark: str | None,
    numbers: CaseNumbers,
    columns: Sequence[Metric] = (),
    where: RowFilter = NO_FILTER,
    attempt: str = "",
    by: FileField = NO_FIELD,
    cluster: str | None = None,
) -> list[Side]:
    """Return the sides of the selectors in order, with evidence where two or more meet.

    `columns` are metrics that only files have; `where` chooses the rows of files, `attempt` among
    the tries of a case, `by` takes a column of files as a field of the cases; the groups of the
    field `cluster` are the clusters. Raises UsageError for a selector that means nothing, a field
    that no case has, and when no benchmark is shared.
    """
    parsed = [parse_selector(text) for text in selectors]
    stored = [one for one in parsed if one.kind != "file"]
    rows = [
        executions_of_selector(connection, one, suite=suite, benchmark=benchmark) for one in stored
    ]
    chosen = _chosen(stored, rows)
    placed = [by_place(found, chosen) for found in rows]
    files = _read_files(parsed, placed, numbers, columns, where, attempt, by)
    of_files = placed_files(files, list(dict.fromkeys(chain(*placed))), benchmark)
    seeded = all(file.seeded for file in files)
    places: list[Collection[Place]] = [*placed, *of_files]
    met = [{at for other in places if other is not one for at in other} for one in places]
    of_store = iter(
        [
            _side(connection, *one, numbers, seeded=seeded)
            for one in zip(stored, rows, placed, met[: len(placed)], strict=True)
        ]
    )
    named = (one for one in parsed if one.kind == "file")
    of_file = iter(
        [
            _file_side(*one, seeded=seeded)
            for one in zip(named, files, of_files, met[len(placed) :], strict=True)
        ]
    )
    sides = [next(of_file if one.kind == "file" else of_store) for one in parsed]
    if not any(side.evidence for side in sides):
        raise UsageError(_nothing_shared(sides))
    return sides if cluster is None else with_clusters(sides, numbers, cluster)


def with_clusters(sides: Sequence[Side], numbers: CaseNumbers, name: str) -> list[Side]:
    """Return the sides with the groups of a field as clusters, overriding declared ones (see
    `--cluster`). Raises UsageError if no case has the field.
    """
    found = declared([side.evidence for side in sides], numbers, name)
    return [replace(side, evidence=one) for side, one in zip(sides, found, strict=True)]


def is_of_files(selectors: Sequence[str]) -> bool:
    """Return whether only files are selected, so that no database is needed."""
    return all(parse_selector(text).kind == "file" for text in selectors)


def _read_files(
    selectors: Sequence[Selector],
    placed: Sequence[Mapping[Place, Sequence[Execution]]],
    numbers: CaseNumbers,
    columns: Sequence[Metric],
    where: RowFilter,
    attempt: str,
    by: FileField,
) -> list[SampleFile]:
    files = [Path(one.name) for one in selectors if one.kind == "file"]
    if files:  # whose cases are told by ids, so that those of the store have to be known
        rows = [row for of_side in placed for found in of_side.values() for row in found]
        numbers.all_of({row["dataset_key"] for row in rows} - {None})
    return [read_samples(path, numbers, columns, where, attempt, by) for path in files]


def _chosen(selectors: Sequence[Selector], rows: Sequence[list[Execution]]) -> set[str]:
    """Return parameters that may differ: those that a selector names, if each of the others names
    them too or was not measured with them.
    """
    named = {name for one in selectors for name in one.point}
    return {
        name
        for name in named
        if all(
            name in one.point or all(name not in row["parameters"] for row in found)
            for one, found in zip(selectors, rows, strict=True)
        )
    }


def _side(
    connection: sqlite3.Connection,
    selector: Selector,
    rows: Sequence[Execution],
    placed: dict[Place, list[Execution]],
    met: set[Place],
    numbers: CaseNumbers,
    *,
    seeded: bool,
) -> Side:
    evidence = {
        place: evidence_of(connection, found, numbers)
        for place, found in placed.items()
        if place in met
    }
    return Side(
        selector,
        evidence if seeded else without_seeds(evidence),
        tuple(place for place in placed if place not in met),
        any(row["simulated"] for row in rows),
        rows[0]["agent_id"],
        tuple(sorted({row["agent_version"] for row in rows})),
        tuple(partial_run_words(rows, "run:{run}/{agent} selects the partial one")),
    )


def _file_side(
    selector: Selector,
    file: SampleFile,
    placed: Mapping[Place, Evidence],
    met: set[Place],
    *,
    seeded: bool,
) -> Side:
    evidence = {place: found for place, found in placed.items() if place in met}
    alone = tuple(place for place in placed if place not in met)
    return Side(selector, evidence if seeded else without_seeds(evidence), alone, notes=file.notes)


def _nothing_shared(sides: Sequence[Side]) -> str:
    has = "; ".join(
        f"{side.label} was measured on {', '.join(map(str, side.alone[:4]))}"
        + (" …" if len(side.alone) > 4 else "")
        for side in sides
    )
    return f"no benchmark in common: {has}"
