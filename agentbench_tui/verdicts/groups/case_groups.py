"""Groups of cases by a field: `--by FIELD`.

A field is one of a case (`cluster`, `expected`, what its `metadata` holds), the benchmark or the
suite that the case was asked in, or a column of a file.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from dataclasses import field as made_by
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.model.case_fields import OF_METADATA, fields_of
from agentbench_tui.model.errors import UsageError, did_you_mean
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.store.queries.cases import case_fields

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence

    from agentbench_tui.analysis.groups.group_differences import Bools
    from agentbench_tui.analysis.sample import Integers
    from agentbench_tui.model.answer import Case
    from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
    from agentbench_tui.verdicts.evidence.place import Place

OF_PLACES = ("benchmark", "suite")
"""Fields that belong to the place where a case is asked."""
MOST_GROUPS = 500
"""Groups that are tested together."""
MOST_NUMBERS = 10
"""Number of distinct numbers that form separate groups; more are divided into quartiles of the
cases.
"""
_FEW_GROUPS = 12
"""Up to which a group may be a single case."""
_QUARTERS = (0.25, 0.5, 0.75)
_LARGEST_WHOLE = 1e15
"""Larger ones are shown with an exponent."""
_MOST_NAMED = 20
WITHOUT_FIELD = "–"
"""The name of the group of cases that have no value of the field."""

Values = tuple[str, ...]


@dataclass(frozen=True)
class CaseGroups:
    """The groups of one field, and the groups of each case."""

    field: str
    names: tuple[str, ...]
    """In order: numbers by size, texts by the alphabet, cases without the field (`–`) last."""
    of_case: Mapping[int, tuple[int, ...]] = made_by(default_factory=dict)
    """By number of the case (see `CaseNumbers`); a case that is missing has no value."""
    of_place: Mapping[Place, int] | None = None
    """Group of each place, if the field belongs to the place."""
    note: str = ""
    """How numbers were divided into ranges."""

    @property
    def label(self) -> str:
        """Return the field as a person writes it: without `metadata.`."""
        return self.field.removeprefix(OF_METADATA)

    def members(self, cases: Integers, place: Place) -> Bools:
        """Return which of these cases of a place are in which group, bool[groups, cases]."""
        inside = np.zeros((len(self.names), len(cases)), np.bool_)
        if self.of_place is not None:
            inside[self.of_place[place]] = True
            return inside
        without = (len(self.names) - 1,)
        different, at = np.unique(cases, return_inverse=True)
        table = np.zeros((len(self.names), len(different)), np.bool_)
        for column, case in enumerate(different.tolist()):
            table[list(self.of_case.get(case, without)), column] = True
        return np.asarray(table[:, at.reshape(-1)])


class CaseFields:
    """Fields of cases, from the store and from files."""

    def __init__(self) -> None:
        self._values: dict[str, dict[int, Values]] = {}
        """Field → number of the case → its values."""
        self._cases: set[int] = set()
        self._places: dict[Place, None] = {}
        self._columns: dict[str, None] = {}
        """Columns of files."""

    def add_stored(
        self, connection: sqlite3.Connection, dataset_keys: Iterable[int], numbers: CaseNumbers
    ) -> None:
        """Add the fields of the cases of these datasets."""
        for dataset_key, by_case in case_fields(connection, dataset_keys).items():
            keys = np.fromiter(by_case, np.int64, len(by_case))
            for number, fields in zip(
                numbers.of(dataset_key, keys).tolist(), by_case.values(), strict=True
            ):
                self._cases.add(number)
                for name, values in fields.items():
                    self._values.setdefault(name, {})[number] = values

    def add_case(self, number: int, case: Case) -> None:
        """Add a case that is not stored yet."""
        self._cases.add(number)
        for name, values in fields_of(case.cluster, case.expected, case.metadata).items():
            self._values.setdefault(name, {})[number] = values

    def add_column(self, name: str, cases: Sequence[int], texts: Sequence[str], where: str) -> None:
        """Add a column of a file, one value per row.

        Raises UsageError where the rows of one case differ in it: then it is no field of the case.
        """
        known = self._values.setdefault(name, {})
        self._cases.update(cases)
        for case, text in zip(cases, texts, strict=True):
            value = (text,) if text else ()
            if case in known and value and known[case] != value:
                shown = one_line(f"'{known[case][0]}' and '{text}'", 200)
                raise UsageError(
                    f"--by {name}: {where}: one case has {shown}, so it is not a field of the case"
                )
            if value:
                known[case] = value

    def add_columns(self, names: Iterable[str], cases: Sequence[int]) -> None:
        """Add the names of a file's columns whose values are not needed, and its cases."""
        self._columns.update(dict.fromkeys(names))
        self._cases.update(cases)

    def add_places(self, places: Iterable[Place]) -> None:
        """Add the places where the cases were asked."""
        self._places.update(dict.fromkeys(places))

    def names(self) -> list[str]:
        """Return every existing field, those of `metadata` without this prefix if that is
        unambiguous.
        """
        found = [*OF_PLACES, *(name for name in self._columns if name not in OF_PLACES)]
        for name in self._values:
            short = name.removeprefix(OF_METADATA)
            found.append(name if short in {*OF_PLACES, *self._values} else short)
        return sorted(set(found))

    def groups(self, wanted: str, option: str = "--by", also: Sequence[str] = ()) -> CaseGroups:
        """Return the groups of a field. Raises UsageError if no case has it, or it makes too many
        groups; `also` are other values of the option.
        """
        if wanted in OF_PLACES:
            return self._of_places(wanted)
        name = next((one for one in (wanted, OF_METADATA + wanted) if one in self._values), None)
        if name is None:
            advice = self._advice(wanted, also)
            raise UsageError(f"{option} {wanted}: no case has this field{advice}")
        return self._of_field(name, wanted, option)

    def _advice(self, wanted: str, also: Sequence[str]) -> str:
        names = self.names()
        near = did_you_mean(wanted, [*names, *also])
        shown = one_line(", ".join(names[:_MOST_NAMED]), 400)
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        keeping = f"`fields: {{metadata.{wanted}: {wanted}}}` in a suite"
        hint = "" if near else f". {one_line(keeping, 300)} keeps a field of its data file"
        return f"{near}; there are {shown}{more}{hint}"

    def _of_places(self, wanted: str) -> CaseGroups:
        of = {
            place: place.benchmark_id if wanted == "benchmark" else place.suite_id
            for place in self._places
        }
        names = tuple(dict.fromkeys(of.values()))
        return CaseGroups(
            wanted, names, of_place={place: names.index(one) for place, one in of.items()}
        )

    def _of_field(self, name: str, wanted: str, option: str) -> CaseGroups:
        values, note = self._values[name], ""
        order = _order({one for of_case in values.values() for one in of_case})
        numbers = _as_numbers(order)
        if numbers is not None and len(order) > MOST_NUMBERS:
            values, order = _in_quarters(values)
            note = f"{wanted}: numbers in ranges of about a quarter of the cases each"
        self._check_size(order, values, wanted, option)
        names = (*order, WITHOUT_FIELD) if self._cases - values.keys() else tuple(order)
        at = {one: place for place, one in enumerate(order)}
        of_case = {case: tuple(at[one] for one in of) for case, of in values.items()}
        return CaseGroups(name, names, of_case, note=note)

    def _check_size(
        self, order: Sequence[str], values: Mapping[int, Values], wanted: str, option: str
    ) -> None:
        sizes = Counter(one for of_case in values.values() for one in of_case)
        alone = sum(count == 1 for count in sizes.values())
        if len(order) > _FEW_GROUPS and 2 * alone > len(order):
            raise UsageError(
                f"{option} {wanted}: {alone:,} of its {len(order):,} values belong to a single case"
                f" ({len(values):,} cases have it), and one case says nothing of a group"
            )
        if len(order) > MOST_GROUPS:
            raise UsageError(
                f"{option} {wanted}: has {len(order):,} values; at most {MOST_GROUPS} groups are"
                " judged together"
            )


def _order(values: Iterable[str]) -> list[str]:
    """Sort numbers by size, other texts alphabetically."""
    found = sorted(values, key=lambda text: (text.casefold(), text))
    numbers = _as_numbers(found)
    if numbers is None:
        return found
    return [text for _, text in sorted(zip(numbers, found, strict=True))]


def _as_numbers(texts: Sequence[str]) -> list[float] | None:
    """Return the numbers; None unless all values are finite numbers."""
    try:
        numbers = [float(text) for text in texts]
    except ValueError:
        return None
    return numbers if all(map(np.isfinite, numbers)) else None


def _in_quarters(values: Mapping[int, Values]) -> tuple[dict[int, Values], list[str]]:
    """Return the cases by ranges of the number, each named by its minimum and maximum; a case with
    several numbers is in the range of each.
    """
    pairs = [(case, float(text)) for case, texts in values.items() for text in texts]
    column = np.array([number for _, number in pairs])
    edges = np.unique(np.quantile(column, _QUARTERS))
    ranges = np.searchsorted(edges, column, side="left")
    used, of_pair = np.unique(ranges, return_inverse=True)
    parts = [column[ranges == number] for number in used]
    names = _range_names([(float(part.min()), float(part.max())) for part in parts])
    found: dict[int, Values] = {}
    for (case, _), place in zip(pairs, of_pair.reshape(-1).tolist(), strict=True):
        found[case] = tuple(dict.fromkeys((*found.get(case, ()), names[place])))
    return found, names


def _range_names(ends: Sequence[tuple[float, float]]) -> list[str]:
    """Name each range by its ends, shortened if the names remain distinct."""
    names: list[str] = []
    for digits in (6, 17):  # 17 digits tell any two floats apart
        shown = [tuple(_shown(end, digits) for end in both) for both in ends]
        names = [low if low == high else f"{low}–{high}" for low, high in shown]
        if len(set(names)) == len(names):
            break
    return names


def _shown(number: float, digits: int) -> str:
    """Format whole numbers, such as a time in seconds, in full."""
    is_whole = number.is_integer() and abs(number) < _LARGEST_WHOLE
    return str(int(number)) if is_whole else f"{number:.{digits}g}"
