"""Numbers of cases, the same for equal cases wherever they were asked, and their clusters."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.analysis.groups.text_groups import connected
from agentbench_tui.verdicts.evidence.case_facts import CaseFacts

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence

    from agentbench_tui.analysis.sample import Integers


class CaseNumbers:
    """Gives equal cases of different datasets the same number, and so with their clusters."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.facts = CaseFacts(connection)
        self._connection = connection
        self._datasets: dict[int, dict[int, int]] = {}
        self._known: dict[tuple[str, str], int] = {}
        """By id and body of the case."""
        self._names: dict[int, str] = {}
        self._clusters: dict[str, int] = {}
        self._cluster_of: dict[int, int] = {}
        """By number of the case, where its author gave it a cluster, or where it is a copy of
        another but for the id: -1 and below."""
        self._content: dict[int, str] = {}
        """By number of the case, all of it but the id."""

    def of(self, dataset_key: int, cases: Integers) -> Integers:
        """Numbers of cases of a dataset, given by their keys."""
        numbers = self._of_dataset(dataset_key)
        return np.fromiter((numbers[case] for case in cases.tolist()), np.int64, len(cases))

    def of_ids(self, ids: Sequence[str]) -> Integers:
        """Numbers of cases of which the id alone is known, as in a file: by what is so called."""
        if not ids:
            return np.empty(0, np.int64)
        by_id = {name: number for number, name in self._names.items()}
        found = np.empty(len(ids), np.int64)
        for place, case_id in enumerate(ids):
            number = by_id.get(case_id)
            if number is None:
                number = by_id[case_id] = self._known.setdefault((case_id, ""), len(self._known))
                self._names[number] = case_id
            found[place] = number
        return found

    def all_of(self, dataset_keys: Iterable[int]) -> set[int]:
        """Numbers of all cases of some datasets."""
        return {number for key in dataset_keys for number in self._of_dataset(key).values()}

    def clusters(self, numbers: Integers) -> Integers:
        """What is independent: the cluster of a case, and of one without any the case itself."""
        if not self._cluster_of:
            return numbers
        of = self._cluster_of
        return np.fromiter((of.get(one, one) for one in numbers.tolist()), np.int64, len(numbers))

    def copies(self, numbers: Integers) -> tuple[int, int]:
        """Return how many of these cases are copies but for the id, and of how many questions."""
        content = [self._content[one] for one in set(numbers.tolist()) if one in self._content]
        several = [count for count in Counter(content).values() if count > 1]
        return sum(several), len(several)

    def joined(self, numbers: Integers, labels: Integers) -> Integers:
        """Return the labels of these cases, the same for copies of one question too."""
        place_of: dict[int | str, int] = {}
        pairs = []
        for place, (number, label) in enumerate(
            zip(numbers.tolist(), labels.tolist(), strict=True)
        ):
            pairs.append((place, place_of.setdefault(label, place)))
            if number in self._content:
                pairs.append((place, place_of.setdefault(self._content[number], place)))
        return connected(len(numbers), *zip(*pairs, strict=True)) if pairs else labels

    def by_dataset(self) -> Mapping[int, Mapping[int, int]]:
        """Dataset key → case key → number, of the datasets that were asked for so far."""
        return self._datasets

    def name(self, number: int) -> str:
        """The case's id."""
        return self._names[number]

    def _of_dataset(self, dataset_key: int) -> dict[int, int]:
        numbers = self._datasets.get(dataset_key)
        if numbers is None:
            numbers = self._datasets[dataset_key] = self._number(dataset_key)
        return numbers

    def _number(self, dataset_key: int) -> dict[int, int]:
        rows = self._connection.execute(
            "SELECT key, case_id, body, CASE WHEN instr(body, '\"cluster\"')"
            " THEN json_extract(body, '$.cluster') END, json_remove(body, '$.id')"
            " FROM cases WHERE dataset_key=?",
            (dataset_key,),
        ).fetchall()
        numbers = {}
        counts = Counter(content for *_, content in rows)
        for key, case_id, body, cluster, content in rows:
            number = self._known.setdefault((case_id, body), len(self._known))
            numbers[key] = number
            self._names[number] = case_id
            if counts[content] > 1:
                self._content[number] = content
            name = cluster or (f"copies of {content}" if counts[content] > 1 else None)
            if name is not None:
                self._cluster_of[number] = self._clusters.setdefault(name, -1 - len(self._clusters))
        return numbers
