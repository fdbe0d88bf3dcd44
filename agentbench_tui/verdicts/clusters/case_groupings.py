"""Candidate clusters of cases: by fields, columns, ids, and similar inputs.

A grouping is a candidate for a cluster. Which ones matter is decided by the answers, see
`undeclared_clusters`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from agentbench_tui.analysis.groups.text_groups import (
    duplicate_groups,
    ending_groups,
    prefix_groups,
    stem_groups,
    template_groups,
)
from agentbench_tui.model.case_fields import OF_METADATA
from agentbench_tui.model.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from agentbench_tui.analysis.sample import Integers
    from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers

Kind = Literal["field", "column", "id", "text"]

BY_CASE = "case"
"""Grouping name which states that every case is an independent draw."""
LEAST_SIZE = 1.5
"""Size of the group that a case is in, on average, from which on a grouping can matter."""
MOST = 12
"""Groupings that are looked at; the more, the less each can show."""

_OF_TEXTS: Mapping[str, Callable[[Sequence[str]], Integers]] = {
    "beginning": prefix_groups,
    "ending": ending_groups,
    "near-duplicates": duplicate_groups,
    "template": template_groups,
}
_OF_IDS = "id"


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """Cases in groups."""

    name: str
    """As `--cluster` takes it: a field, a column, or one of `id`, `beginning`, `ending`,
    `near-duplicates`, `template`."""
    kind: Kind
    labels: Integers
    """One for each of the cases that were given."""

    @property
    def groups(self) -> int:
        return len(np.unique(self.labels))

    @property
    def is_source(self) -> bool:
        """Return whether each group is a source of cases, never a category such as difficulty."""
        return self.kind == "text" and self.name != "template"


def groupings(numbers: CaseNumbers, cases: Integers, least: float = LEAST_SIZE) -> list[Grouping]:
    """Return the candidates for clusters of these cases, at most `MOST`, each partition once.

    A candidate has two groups at least, and a case is in one of `least` cases on average.
    Columns of files count only where they cannot depend on the answers.
    """
    facts, wanted, keys = numbers.facts, cases.tolist(), numbers.keys_of(cases)
    found = [
        Grouping(name, "field", _labels(values, wanted))
        for name, values in facts.fields(keys).items()
    ]
    trusted = facts.trusted_columns()
    for name, values in facts.columns().items():
        if name in trusted:
            found.append(Grouping(name, "column", _labels(values, wanted)))
    found.append(Grouping(_OF_IDS, "id", stem_groups(numbers.names(cases))))
    texts = facts.texts(keys)
    if any(case in texts for case in wanted):
        found += _of_texts(texts, wanted)
    return _distinct(one for one in found if _can_matter(one.labels, least))


def declared_grouping(numbers: CaseNumbers, cases: Integers, name: str) -> Grouping:
    """Return the grouping of this name; `passage` stands for `metadata.passage` if that is a field.

    Raises UsageError if no case has such a field.
    """
    wanted, keys = cases.tolist(), numbers.keys_of(cases)
    fields, columns = numbers.facts.fields(keys), numbers.facts.columns()
    for known, values in ((name, fields), (OF_METADATA + name, fields), (name, columns)):
        if known in values and any(case in values[known] for case in wanted):
            kind: Kind = "field" if values is fields else "column"
            return Grouping(known, kind, _labels(values[known], wanted))
    if name == BY_CASE:
        return Grouping(name, "id", np.arange(len(wanted)))
    if name == _OF_IDS:
        return Grouping(name, "id", stem_groups(numbers.names(cases)))
    if name in _OF_TEXTS:
        texts = numbers.facts.texts(keys)
        labels = _OF_TEXTS[name]([texts.get(case, "") for case in wanted])
        return Grouping(name, "text", labels)
    known_names = [*fields, *columns, *_OF_TEXTS, _OF_IDS, BY_CASE]
    near = did_you_mean(name, known_names)
    raise UsageError(
        f"--cluster {name}: no case has this field{near}; there are {', '.join(known_names[:20])}"
    )


def _of_texts(texts: Mapping[int, str], cases: Sequence[int]) -> list[Grouping]:
    known = [texts.get(case, "") for case in cases]
    return [Grouping(name, "text", group(known)) for name, group in _OF_TEXTS.items()]


def _labels(values: Mapping[int, str], cases: Sequence[int]) -> Integers:
    """Return a label for each value; a case without a value gets its own group."""
    of_value: dict[str, int] = {}
    labels = np.empty(len(cases), np.int64)
    for place, case in enumerate(cases):
        value = values.get(case)
        labels[place] = -1 - place if value is None else of_value.setdefault(value, len(of_value))
    return labels


def _can_matter(labels: Integers, least: float) -> bool:
    sizes = np.unique(labels, return_counts=True)[1]
    return len(sizes) > 1 and float(sizes @ sizes) / len(labels) >= least


def _distinct(candidates: Iterable[Grouping]) -> list[Grouping]:
    """Drop groupings that give the same partition as an earlier one."""
    found: dict[bytes, Grouping] = {}
    for one in candidates:
        _, first, place = np.unique(one.labels, return_index=True, return_inverse=True)
        found.setdefault(first[place.reshape(-1)].tobytes(), one)
    return list(found.values())[:MOST]
