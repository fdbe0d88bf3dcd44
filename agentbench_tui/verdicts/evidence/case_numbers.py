"""Numbers of cases, equal for equal cases in all sources, and their clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from agentbench_tui.analysis.groups.text_groups import connected
from agentbench_tui.analysis.sample import sorted_distinct
from agentbench_tui.store.case_hashes import case_hashes
from agentbench_tui.store.datasets import case_ids, keys_of_dataset
from agentbench_tui.verdicts.evidence.case_facts import CaseFacts

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence

    from agentbench_tui.analysis.sample import Integers

    Hashes = NDArray[np.uint64]

Scalar = TypeVar("Scalar", bound=np.generic)
_NO_KEY = -1
"""Key of a case that only a file has."""


class _Dataset(NamedTuple):
    keys: Integers
    """Keys of its cases, in order."""
    numbers: Integers


class CaseNumbers:
    """Assigns one number to equal cases of different datasets, and so to their clusters.

    A dataset may have a million cases: what is known of each is kept in arrays.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.facts = CaseFacts(connection)
        self._connection = connection
        self._datasets: dict[int, _Dataset] = {}
        self._identity: Hashes = np.empty(0, np.uint64)
        """By number: hash of id and body; 0 for a case that only a file has."""
        self._key: Integers = np.empty(0, np.int64)
        """By number: key of the case in the store."""
        self._cluster: Integers = np.empty(0, np.int64)
        """By number: the cluster, -1 and below, if one is declared or the case is a copy under
        another id; otherwise the case's number. Empty while there is no cluster.
        """
        self._content: Hashes = np.empty(0, np.uint64)
        """By number: hash of everything but the id, for copies; 0 for other cases.

        Empty like `_cluster`.
        """
        self._clusters: dict[int, int] = {}
        """Hash of a cluster, or of what copies have in common → its number."""
        self._of_file: dict[str, int] = {}

    def of(self, dataset_key: int, cases: Integers) -> Integers:
        """Return the numbers of a dataset's cases, given by their keys."""
        dataset = self._of_dataset(dataset_key)
        first, last = dataset.keys[[0, -1]].tolist()
        follow_each_other = last - first + 1 == len(dataset.keys)
        place = cases - first if follow_each_other else np.searchsorted(dataset.keys, cases)
        if not np.array_equal(dataset.keys.take(place, mode="clip"), cases):
            raise KeyError(f"cases that dataset {dataset_key} does not have")
        return dataset.numbers[place]

    def of_ids(self, ids: Sequence[str]) -> Integers:
        """Return numbers for cases of which only the id is known, as in a file."""
        if not ids:
            return np.empty(0, np.int64)
        stored = np.flatnonzero(self._key != _NO_KEY)
        names = self.names(stored)
        by_id = self._of_file | dict(zip(names, stored.tolist(), strict=True))
        found = np.empty(len(ids), np.int64)
        new = 0
        for place, case_id in enumerate(ids):
            number = by_id.get(case_id)
            if number is None:
                number = by_id[case_id] = len(self._key) + new
                self._of_file[case_id] = number
                new += 1
            found[place] = number
        self._extend(np.zeros(new, np.uint64), np.full(new, _NO_KEY))
        return found

    def all_of(self, dataset_keys: Iterable[int]) -> Integers:
        """Return the numbers of all cases of some datasets, in order."""
        found = [self._of_dataset(key).numbers for key in dataset_keys]
        return sorted_distinct(np.concatenate([np.empty(0, np.int64), *found]))

    def clusters(self, numbers: Integers) -> Integers:
        """Return the independent unit: the cluster of a case, or the case itself if it has none."""
        return self._cluster[numbers] if self._clusters else numbers

    def copies(self, numbers: Integers) -> tuple[int, int]:
        """Return how many of these cases are copies except for the id, and of how many
        questions.
        """
        if not self._content.any():
            return 0, 0
        content = self._content[sorted_distinct(numbers)]
        counts = np.unique(content[content != 0], return_counts=True)[1]
        several = counts[counts > 1]
        return int(several.sum()), len(several)

    def joined(self, numbers: Integers, labels: Integers) -> Integers:
        """Return the labels of these cases, equal for copies of one question too."""
        if not self._content.any():
            return labels
        content = self._content[numbers]
        pairs = [*_first_of_each(labels), *_first_of_each(content, content != 0)]
        pairs.sort(key=lambda pair: pair[0])
        return connected(len(numbers), *zip(*pairs, strict=True))

    def keys_of(self, numbers: Integers) -> Mapping[int, int]:
        """Return store key → number, for those of the cases that are in the store."""
        keys = self._key[numbers]
        known = keys != _NO_KEY
        return dict(zip(keys[known].tolist(), numbers[known].tolist(), strict=True))

    def name(self, number: int) -> str:
        """Return the case's id."""
        return self.names(np.array([number]))[0]

    def names(self, numbers: Integers) -> list[str]:
        """Return the ids of cases."""
        keys = [*self.keys_of(numbers)]
        by_key = case_ids(self._connection, keys) if keys else {}
        of_file = {number: name for name, number in self._of_file.items()}
        return [
            of_file[number] if key == _NO_KEY else by_key[key]
            for number, key in zip(numbers.tolist(), self._key[numbers].tolist(), strict=True)
        ]

    def _of_dataset(self, dataset_key: int) -> _Dataset:
        found = self._datasets.get(dataset_key)
        if found is None:
            found = self._datasets[dataset_key] = self._number(dataset_key)
        return found

    def _number(self, dataset_key: int) -> _Dataset:
        keys = np.asarray(keys_of_dataset(self._connection, dataset_key), np.int64)
        hashes = case_hashes(self._connection, dataset_key)
        identity, content, cluster = (np.frombuffer(one, "<u8") for one in hashes)
        numbers = self._numbers_of(identity)
        is_new = numbers >= len(self._key)
        if is_new.all():
            self._extend(identity, keys)
        else:
            self._extend(identity[is_new], keys[is_new])
        self._note_clusters(numbers, content, cluster)
        return _Dataset(keys, numbers)

    def _numbers_of(self, identity: Hashes) -> Integers:
        """Return the numbers of known cases, and the next ones for others, in order."""
        if not len(self._identity):
            return np.arange(len(identity))
        order = np.argsort(self._identity)
        place = np.searchsorted(self._identity, identity, sorter=order)
        candidate = order[np.minimum(place, len(order) - 1)]
        is_known = self._identity[candidate] == identity
        next_ones = len(self._identity) + np.cumsum(~is_known) - 1
        return np.where(is_known, candidate, next_ones)

    def _extend(self, identity: Hashes, keys: Integers) -> None:
        count = len(self._key)
        self._identity = _after(self._identity, identity)
        self._key = _after(self._key, keys)
        if self._clusters:
            self._cluster = _after(self._cluster, np.arange(count, count + len(keys)))
            self._content = _after(self._content, np.zeros(len(keys), np.uint64))

    def _note_clusters(self, numbers: Integers, content: Hashes, cluster: Hashes) -> None:
        order = np.sort(content)
        copied = np.unique(order[1:][order[1:] == order[:-1]])
        if not len(copied) and not cluster.any():
            return
        if not self._clusters:
            self._cluster = np.arange(len(self._key))
            self._content = np.zeros(len(self._key), np.uint64)
        is_copy = np.isin(content, copied)
        self._content[numbers[is_copy]] = content[is_copy]
        # What copies have in common is no name of a cluster, although both are hashes.
        of = np.where(cluster != 0, cluster, np.where(is_copy, ~content, np.uint64(0)))
        labeled = np.flatnonzero(of != 0)
        for place, name in zip(labeled.tolist(), of[labeled].tolist(), strict=True):
            label = self._clusters.setdefault(name, -1 - len(self._clusters))
            self._cluster[numbers[place]] = label


def _after(known: NDArray[Scalar], more: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return both arrays concatenated; the second itself if the first is empty."""
    return np.concatenate([known, more]) if len(known) else more


def _first_of_each(
    labels: NDArray[np.generic], chosen: NDArray[np.bool_] | None = None
) -> list[tuple[int, int]]:
    """Return each chosen index with the first one of its label."""
    places = np.arange(len(labels)) if chosen is None else np.flatnonzero(chosen)
    _, first, at = np.unique(labels[places], return_index=True, return_inverse=True)
    return list(zip(places.tolist(), places[first[at.reshape(-1)]].tolist(), strict=True))
