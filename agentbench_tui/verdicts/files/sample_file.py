"""Reads samples of a file as evidence: `agentbench compare file:a.csv file:b.csv`.

A row is one answer. What failed is counted: wrong for accuracy and reliability, without a time.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from agentbench_tui.model.bounds import LARGEST_NUMBER, LARGEST_SEED
from agentbench_tui.model.errors import UsageError, did_you_mean
from agentbench_tui.model.figures.metric import METRICS
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence
from agentbench_tui.verdicts.files.file_case_facts import add_case_facts
from agentbench_tui.verdicts.files.file_field import NO_FIELD, FileField
from agentbench_tui.verdicts.files.retries import Tries, choose_tries, unused_words
from agentbench_tui.verdicts.files.row_choice import NO_FILTER, RowFilter, check_split, choose_rows
from agentbench_tui.verdicts.files.sample_cells import NOTHING, YES, number_of, text_of
from agentbench_tui.verdicts.files.sample_columns import (
    KINDS,
    STATUS_CODES,
    Meaning,
    ValueColumn,
    is_wanted,
    meaning,
    nameless_words,
    point_suffix,
)
from agentbench_tui.verdicts.files.table_file import Table, read_table, table_of_object

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from agentbench_tui.analysis.sample import Floats, Integers
    from agentbench_tui.model.figures.metric import Metric
    from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers

_FINE_STATUS = {
    "ok", "success", "succeeded", "done", "complete", "completed", "finished", "answered",
    "passed", "true", "1", *map(str, range(200, 300)),
}  # fmt: skip
_FINE_HTTP = frozenset(map(str, range(200, 400)))
_FINE_FLAG = {"false", "0", "0.0", "no", "ok"}
"""Values of a status or error column in rows that did not fail."""
_LEFT_OUT = {"grader", "harness", "cancelled", "unfinished", "skipped"}
"""Kinds of ends that are not the agent's fault: excluded, and reported."""
_LONGEST_KIND = 30


class SampleFile(msgspec.Struct, frozen=True):
    """Content of a file, by benchmark."""

    path: Path
    benchmarks: dict[str, TaskEvidence]
    """The key is empty if the file names no benchmark."""
    seeded: bool
    """Whether it has the seed of each answer."""
    notes: tuple[str, ...]
    """How it was read, and which rows failed."""


def read_sample_file(
    path: Path,
    numbers: CaseNumbers,
    chosen: Sequence[Metric] = (),
    where: RowFilter = NO_FILTER,
    attempt: str = "",
    by: FileField = NO_FIELD,
) -> SampleFile:
    """Read samples of a CSV, JSON lines or JSON file, or iterations of an AgentFarm result.

    `chosen` are metrics that are taken from the column of their name as it is; `where` chooses the
    rows that count, `attempt` among the tries of a case (see `choose_tries`), `by` takes a column
    as a field of the cases. Cases get their
    numbers from `numbers`, by their ids: load what a store knows of them before. Raises UsageError
    with file and line.
    """
    from agentbench_tui.verdicts.files.agentfarm_file import is_agentfarm_result, result_table

    names = {metric.name for metric in chosen}
    wanted = names | where.keys() | by.names
    content = read_table(path, lambda name: is_wanted(name, wanted))
    notes: tuple[str, ...] = ()
    if isinstance(content, dict):
        if is_agentfarm_result(content):
            content, notes = result_table(path, content, wanted)
        else:
            content = table_of_object(path, content, lambda name: is_wanted(name, wanted))
    missing = [name for name in names if name not in content.names]
    if missing:
        near = did_you_mean(missing[0], content.names)
        raise UsageError(f"{path}: has no column '{missing[0]}'{near}; {_has(content)}")
    columns = meaning(content.names, chosen)
    if not columns.values and not columns.failures:
        raise UsageError(_no_metric(content))
    content, choices = choose_rows(content, where)
    notes += tuple(f"{path}: {choice}" for choice in choices)
    return _Reader(content, columns).read(numbers, notes, attempt, by)


def _no_metric(table: Table) -> str:
    return (
        f"{table.path}: no column is a metric by its name ({_has(table)}); "
        "--metric NAME takes one as it is (to compare, with --better higher or lower)"
    )


def _has(table: Table) -> str:
    return f"it has {', '.join(table.names[:12])}" + (" …" if len(table.names) > 12 else "")


class _Reader:
    """Converts the cells of one table to evidence."""

    def __init__(self, table: Table, columns: Meaning) -> None:
        self._table = table
        self._columns = columns
        self._failed: list[str] = []
        """Reason of each failed row; empty for others."""
        self._infinite: dict[str, NDArray[np.bool_]] = {}
        """By metric, which rows have an infinite value; it counts as missing."""

    def read(
        self, numbers: CaseNumbers, notes: tuple[str, ...], attempt: str, by: FileField
    ) -> SampleFile:
        self._check_one_agent()
        values = {one.metric.name: self._numbers(one) for one in self._columns.values}
        self._failed = self._failures(values)
        counts = np.array([kind not in _LEFT_OUT for kind in self._failed])
        read_as = ", ".join(one.words for one in self._columns.values if one.words)
        words = [f"read as: {read_as}"] if read_as else []
        words += self._ignored_words()
        words += self._failure_words() + self._missing_words(values)
        if self._columns.within is not None:
            task = self._columns.roles["case"]
            words.append(f"'{task}' and '{self._columns.within}' together name the case")
        tries = self._tries(values, attempt)
        if tries is not None:
            counts &= tries.counts
            words.append(tries.note)
        words += unused_words(attempt, self._columns.roles)
        if "case" in self._columns.roles:
            check_split(self._table, self._observations())
        else:
            words += nameless_words(self._table.names, self._columns)
        if not counts.any():
            raise UsageError(f"{self._table.path}: none of its {len(self._table)} rows counts")
        columns = self._counted(values)
        benchmarks = {}
        for name, rows in self._by_benchmark(counts).items():
            benchmarks[name] = self._evidence(rows, columns, numbers)
            by.take(self._table, rows, benchmarks[name].case)
            add_case_facts(self._table, self._columns, rows, benchmarks[name].case, numbers.facts)
        return SampleFile(
            self._table.path,
            benchmarks,
            "seed" in self._columns.roles,
            (*notes, *(f"{self._table.path}: {one}" for one in words)),
        )

    def _observations(self) -> list[Hashable]:
        """Return the observation of each row, as far as its columns identify it."""
        roles = ("benchmark", "point", "case", "seed", "run", "repeat", "iteration")
        columns = [cells for role in roles if (cells := self._column(role)) is not None]
        return [tuple(map(text_of, cells)) for cells in zip(*columns, strict=True)]

    def _tries(self, values: dict[str, Floats], choice: str) -> Tries | None:
        if "attempt" not in self._columns.roles or "case" not in self._columns.roles:
            return None
        right = np.array([not kind for kind in self._failed])
        if "accuracy" in values:
            right &= values["accuracy"] == 1
        tries = self._whole_numbers("attempt")
        return choose_tries(self._observations(), tries, right, values, choice, self._table.path)

    def _where(self, row: int, name: str) -> str:
        return f"{self._table.path}:{self._table.lines[row]}: {name}"

    def _column(self, role: str) -> list[Any] | None:
        name = self._columns.roles.get(role)
        if name is None:
            return None
        cells = self._table.columns[name]
        if role != "case" or self._columns.within is None:
            return cells
        pairs = zip(cells, self._table.columns[self._columns.within], strict=True)
        named = [(text_of(task), text_of(inner)) for task, inner in pairs]
        return ["/".join(names) if all(names) else "" for names in named]

    def _check_one_agent(self) -> None:
        agents = {text_of(cell) for cell in self._column("agent") or ()} - NOTHING
        if len(agents) > 1:
            some = ", ".join(sorted(agents)[:4])
            raise UsageError(
                f"{self._table.path}: column '{self._columns.roles['agent']}' names {len(agents)} "
                f"agents ({some}): put each agent into a separate file"
            )

    def _numbers(self, column: ValueColumn) -> Floats:
        """Return the column's values in the metric's unit; NaN if missing."""
        cells = self._table.columns[column.name]
        share = column.metric.unit == "share"
        decimal_comma = self._table.has_decimal_commas(column.name)
        found = np.empty(len(cells))
        for row, cell in enumerate(cells):
            value = number_of(cell, share=share, decimal_comma=decimal_comma)
            if value is None:
                text = text_of(cell)[:40]
                raise UsageError(f"{self._where(row, column.name)}: '{text}' is no number")
            found[row] = value * column.factor
        infinite = np.isinf(found)
        self._infinite[column.metric.name] = infinite
        found[infinite] = math.nan
        self._check_range(column, found)
        return found

    def _check_range(self, column: ValueColumn, found: Floats) -> None:
        share = column.metric.unit == "share"
        least = -LARGEST_NUMBER if column.chosen and not share else 0.0
        most = 1.0 if share else LARGEST_NUMBER
        outside = np.flatnonzero((found < least) | (found > most))
        if len(outside):
            row = int(outside[0])
            what = f"{self._where(row, column.name)}: {found[row] / column.factor:.6g}"
            if not share:
                raise UsageError(f"{what} is out of range, {least:g} to {most:g}")
            better = f"to compare, with --better {column.metric.direction}"
            way = f"--metric {column.name} takes it as it is ({better})"
            if column.name in METRICS:
                way = "write 0.87 or 87% for 87%"
            raise UsageError(f"{what} is not a share between 0 and 1; {way}")

    def _failures(self, values: dict[str, Floats]) -> list[str]:
        """Return why each row failed; a row without any value failed too."""
        failed = [""] * len(self._table)
        for name in reversed(self._columns.failures):  # the first one has the last word
            plain = name.lower()
            of_http = "_".join(re.findall(r"[a-z]+", plain)) in STATUS_CODES
            fine = _FINE_HTTP if of_http else _FINE_STATUS if plain == "status" else _FINE_FLAG
            for row, cell in enumerate(self._table.columns[name]):
                text = text_of(cell).lower()
                text = text.removesuffix(".0") if of_http else text
                if text not in NOTHING and text not in fine:
                    is_kind = plain in KINDS and text not in YES and len(text) < _LONGEST_KIND
                    failed[row] = text if is_kind else f"HTTP {text}" if of_http else "error"
        if values:
            empty = np.all([np.isnan(column) for column in values.values()], axis=0)
            infinite = np.any([self._infinite[name] for name in values], axis=0)
            for row in np.flatnonzero(empty).tolist():
                failed[row] = failed[row] or ("infinite" if infinite[row] else "empty")
        return failed

    def _counted(self, values: dict[str, Floats]) -> dict[str, Floats]:
        """Return the values of the answers: a failure is wrong, without time, tokens, cost."""
        failed = np.array([bool(kind) for kind in self._failed])
        found = {}
        for column in self._columns.values:
            value = values[column.metric.name]
            if column.metric.name == "accuracy":
                found["accuracy"] = np.where(failed, 0.0, np.nan_to_num(value))
            elif column.metric.unit in {"tokens", "USD"}:
                found[column.metric.name] = value  # what failed may have used some
            else:
                found[column.metric.name] = np.where(failed, math.nan, value)
        return found | {"reliability": 1.0 - failed}

    def _ignored_words(self) -> list[str]:
        of = {one.metric.name: one.name for one in self._columns.values}
        return [
            f"column '{one.name}' ignored: {one.metric.name} is read from '{of[one.metric.name]}'"
            for one in self._columns.ignored
        ]

    def _failure_words(self) -> list[str]:
        said = []
        kinds = Counter(kind for kind in self._failed if kind and kind not in _LEFT_OUT)
        if kinds:
            names = ", ".join(f"{kind} {count}" for kind, count in kinds.most_common(5))
            said.append(
                f"{kinds.total()} of {len(self._failed)} rows failed ({names}): they count as "
                "wrong and have no time"
            )
        left_out = Counter(kind for kind in self._failed if kind in _LEFT_OUT)
        if left_out:
            names = ", ".join(f"{kind} {count}" for kind, count in left_out.most_common())
            said.append(f"{left_out.total()} rows excluded, not the agent's fault ({names})")
        return said

    def _missing_words(self, values: dict[str, Floats]) -> list[str]:
        answered = np.array([not kind for kind in self._failed])
        said = []
        for name, column in values.items():
            missing = int((np.isnan(column) & answered).sum())
            infinite = int((self._infinite[name] & answered).sum())
            if 0 < missing < answered.sum():
                of_them = f", of {infinite} it is infinite" if infinite else ""
                wrong = ": they count as wrong" if name == "accuracy" else ""
                said.append(f"{missing} rows have no {name}{of_them}{wrong}")
        return said

    def _by_benchmark(self, counts: Any) -> dict[str, Integers]:
        rows = np.flatnonzero(counts)
        cells = self._column("benchmark")
        if cells is None:
            return {"": rows}
        points = self._column("point")
        names = np.array(
            [
                text_of(cells[row]) + ("" if points is None else point_suffix(text_of(points[row])))
                for row in rows.tolist()
            ]
        )
        return {str(name): rows[names == name] for name in np.unique(names)}

    def _evidence(
        self, rows: Integers, values: dict[str, Floats], numbers: CaseNumbers
    ) -> TaskEvidence:
        seeds = self._whole_numbers("seed")[rows].astype(np.int64)
        case, cluster = self._cases(rows, seeds, numbers)
        roles = [role for role in ("run", "repeat") if role in self._columns.roles]
        repeats = self._labels(roles or ["iteration"], rows)
        count = int(repeats.max()) + 1
        run_of: Integers | None = None
        if "run" in roles:
            run_of = np.empty(count, np.int64)
            run_of[repeats] = self._labels(["run"], rows)
        return TaskEvidence(
            [],
            case,
            cluster,
            seeds,
            repeats,
            {
                name: column[rows]
                for name, column in values.items()
                if not np.isnan(column[rows]).all()
            },
            count,
            names_cases="case" in self._columns.roles,
            tells_failures=bool(self._columns.failures) or any(self._failed),
            run_of=run_of,
        )

    def _whole_numbers(self, role: str) -> Floats:
        """Return the value of each row; 0 without such a column."""
        cells = self._column(role)
        found = np.zeros(len(self._table))
        for row, cell in enumerate(cells or ()):
            value = number_of(cell, share=False, decimal_comma=False)
            if value is None or value != value or not value.is_integer():
                text = text_of(cell)[:40]
                raise UsageError(f"{self._where(row, role)}: '{text}' is not a whole number")
            if abs(value) > LARGEST_SEED:
                raise UsageError(f"{self._where(row, role)}: is out of range")
            found[row] = int(value)
        return found

    def _cases(
        self, rows: Integers, seeds: Integers, numbers: CaseNumbers
    ) -> tuple[Integers, Integers]:
        """Return the numbers of the cases, and their independent units."""
        cells = self._column("case")
        if cells is not None:
            case = numbers.of_ids([self._case_id(cells, row) for row in rows.tolist()])
            return case, self._clusters(rows, numbers.clusters(case))
        if "seed" in self._columns.roles:  # one case, and each seed of it a draw of its own
            return numbers.of_ids([""] * len(rows)), self._clusters(rows, seeds)
        lines = [f"{self._table.path}:{self._table.lines[row]}" for row in rows.tolist()]
        case = numbers.of_ids(lines)
        return case, self._clusters(rows, case)

    def _case_id(self, cells: list[Any], row: int) -> str:
        text = text_of(cells[row])
        if not text:
            name = self._columns.roles["case"]
            raise UsageError(f"{self._where(row, name)}: is empty; each row needs its case")
        return text

    def _clusters(self, rows: Integers, otherwise: Integers) -> Integers:
        if self._column("cluster") is None:
            return otherwise
        return self._labels(["cluster"], rows)

    def _labels(self, roles: Sequence[str], rows: Integers) -> Integers:
        """Return numbers 0 … for the combinations of these columns; all 0 without such columns."""
        known = [cells for role in roles if (cells := self._column(role)) is not None]
        said = ["\n".join(text_of(cells[row]) for cells in known) for row in rows.tolist()]
        _, found = np.unique(said, return_inverse=True)
        return found.reshape(-1).astype(np.int64)
