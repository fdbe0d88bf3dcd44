"""Groups of similar texts: with one template, a common beginning or end, or nearly equal.

Each function returns one label per text, int64[n]; similar texts have equal labels, and a text
without a similar one has its own. Time is linear in the characters, apart from sorting.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from agentbench_tui.analysis.sample import Integers

LONGEST_TEXT = 4_000
"""Characters of each text that are looked at."""
_MOST_CHARACTERS = 1_000_000
"""Total characters of all texts in the search for templates and near duplicates."""
_SHORTEST = 100
"""Minimum characters of each text that are compared there."""
_SHARED = 40
"""Characters that texts with one beginning share at least, beyond what all share."""
_NAMES = re.compile(
    r"\"[^\"\n]{0,200}\"|“[^”\n]{0,200}”|`[^`\n]{0,200}`|(?<!\w)'[^'\n]{1,200}'(?!\w)"
    r"|\b[A-Z][\w-]*|[+-]?\d[\d.,:/%]*"
)
"""Differing parts of questions of one template: quoted text, capitalized words, numbers."""
_GAP = re.compile(r"\x00(?:[\s,;.&-]*(?:and\s+|or\s+)?\x00)*|\s+")
_SPAN = 16
"""Bytes of a piece of text that is compared."""
_BINS, _BAND = 64, 4
_ALIKE = 0.6
"""Share of pieces in common (Jaccard) from which on texts are near duplicates."""
_EMPTY = np.uint64(2**64 - 1)

Hashes = NDArray[np.uint64]


def template_groups(texts: Sequence[str]) -> Integers:
    """Group texts that are equal except for numbers, names and quotations.

    Names are words with a capital. A run of masked words counts as one. Of long texts the beginning
    decides.
    """
    longest = _longest(len(texts))
    return _labels([_template(text, longest) for text in texts])


def prefix_groups(texts: Sequence[str]) -> Integers:
    """Group texts whose beginning is the same for at least half of their length, such as a
    passage.

    What all texts share (instructions) does not count.
    """
    texts = [text[:LONGEST_TEXT] for text in _distinct(texts)]
    order = sorted(range(len(texts)), key=texts.__getitem__)
    labels = np.arange(len(texts))
    for before, here in pairwise(order):
        a, b = texts[before], texts[here]
        least = max(_SHARED, -(-min(len(a), len(b)) // 2))
        if len(a) >= least and b.startswith(a[:least]):
            labels[here] = labels[before]
    return labels


def ending_groups(texts: Sequence[str]) -> Integers:
    """Group texts like `prefix_groups` by their ends: questions that precede their passage."""
    return prefix_groups([text[::-1] for text in texts])


def duplicate_groups(texts: Sequence[str]) -> Integers:
    """Group texts that share 6 of 10 pieces of 16 bytes, directly or through others.

    What all texts begin or end with does not count. MinHash by one permutation (Li, Owen & Zhang
    2012), of which equal bands name the pairs to look at (Indyk & Motwani 1998).
    """
    if len(texts) < 2:
        return np.arange(len(texts))
    longest = _longest(len(texts))
    parts = [" ".join(text[:longest].split()).lower() for text in _distinct(texts)]
    return _linked(_signatures(parts))


def stem_groups(names: Sequence[str]) -> Integers:
    """Group ids that are equal up to their last separator: `doc12-q3` and `doc12-q4`."""
    return _labels([re.sub(r"[-_./:#@][^-_./:#@]*$", "", name) for name in names])


def _longest(count: int) -> int:
    """Return the number of compared characters per text."""
    return min(LONGEST_TEXT, max(_SHORTEST, _MOST_CHARACTERS // max(count, 1)))


def _distinct(texts: Sequence[str]) -> list[str]:
    """Return the texts without their common beginning and end."""
    if not texts:
        return []
    begin = _common(texts)
    rest = [text[begin:] for text in texts]
    end = _common([text[::-1] for text in rest])
    return [text[: len(text) - end] for text in rest]


def _common(texts: Sequence[str]) -> int:
    """Return the number of characters with which all texts begin."""
    first, last = min(texts), max(texts)  # what these two share, all share
    low, high = 0, min(len(first), len(last))
    while low < high:
        middle = (low + high + 1) // 2
        if first[:middle] == last[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _template(text: str, longest: int) -> str:
    masked = _NAMES.sub("\0", text[:longest])
    if len(text) > longest:  # cut at a place that does not depend on the length of the names
        masked = masked[: longest // 2]
    return _GAP.sub(lambda gap: " " if gap[0].isspace() else "\0", masked)


def _labels(names: Sequence[str]) -> Integers:
    numbers: dict[str, int] = {}
    return np.fromiter((numbers.setdefault(one, len(numbers)) for one in names), np.int64)


def _signatures(texts: Sequence[str]) -> Hashes:
    """Return the smallest hash of each text's pieces in each of 64 bins, uint64[n, 64]."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    sizes = np.array([len(one) for one in encoded])
    whole = np.frombuffer(b"".join(encoded) + bytes(_SPAN), np.uint8)
    hashes = whole.astype(np.uint64) + np.uint64(1)
    base = np.uint64(0x9E3779B97F4A7C15)
    step = 1
    with np.errstate(over="ignore"):
        while step < _SPAN:  # a piece of 2k bytes from its two halves
            hashes = hashes[:-step] * base + hashes[step:]
            base, step = base * base, 2 * step
        hashes ^= hashes >> np.uint64(31)
        hashes *= np.uint64(0xBF58476D1CE4E5B9)
        hashes ^= hashes >> np.uint64(29)
    text = np.repeat(np.arange(len(texts)), sizes)
    hashes = hashes[: len(text)]
    ends = np.repeat(np.cumsum(sizes), sizes)
    inside = np.arange(len(text)) + _SPAN <= ends
    hashes, text = hashes[inside], text[inside]
    found = np.full(len(texts) * _BINS, _EMPTY)
    place = text * _BINS + (hashes >> np.uint64(58)).astype(np.int64)
    np.minimum.at(found, place, hashes)
    return found.reshape(len(texts), _BINS)


def _linked(signatures: Hashes) -> Integers:
    """Label texts that are linked by similar pairs."""
    count = len(signatures)
    pairs = [_pairs(signatures[:, start : start + _BAND]) for start in range(0, _BINS, _BAND)]
    first, second = np.concatenate(pairs, axis=1)
    a, b = np.divmod(np.unique(first * count + second), count)
    either = ((signatures[a] != _EMPTY) | (signatures[b] != _EMPTY)).sum(axis=1)
    both = ((signatures[a] == signatures[b]) & (signatures[a] != _EMPTY)).sum(axis=1)
    alike = both >= _ALIKE * either
    return connected(count, a[alike].tolist(), b[alike].tolist())


def connected(count: int, first: Sequence[int], second: Sequence[int]) -> Integers:
    """Return labels of `count` items, equal for items linked directly or indirectly by pairs."""
    leads_to = list(range(count))

    def end(of: int) -> int:
        while leads_to[of] != of:
            leads_to[of] = of = leads_to[leads_to[of]]
        return of

    for a, b in zip(first, second, strict=True):
        leads_to[end(a)] = end(b)
    return np.array([end(one) for one in range(count)], np.int64)


def _pairs(band: Hashes) -> Integers:
    """Return texts whose band equals that of the preceding text in order, int64[2, pairs]."""
    known = np.flatnonzero((band != _EMPTY).any(axis=1))
    order = known[np.lexsort(band[known].T)]
    equal = (band[order[1:]] == band[order[:-1]]).all(axis=1)
    return np.stack([order[:-1][equal], order[1:][equal]])
