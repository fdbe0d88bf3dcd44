"""Matches an answer's items with the expected ones in any order."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

Fits = Callable[[int, int], bool]
"""Whether an expected item, by its index, may be matched with a given one, by its index."""


_MOST_REMEMBERED = 1 << 22
"""Pairs whose answers are remembered, a byte each."""


def most_pairs(
    expected: int, given: int, fits: Fits, *, sooner: Fits | None = None
) -> list[int | None]:
    """Return the given item for each expected one, in a maximum matching.

    An item with a partner by `sooner`, which implies `fits`, keeps a partner. Each takes the first
    free item; an item without one gets it along an augmenting path (Berge 1957), if there is one.
    `fits` is called only as needed.
    """
    if expected * given <= _MOST_REMEMBERED:
        fits = _asked_once(fits, expected, given)
    pairs: list[int | None] = [None] * expected
    holder: dict[int, int] = {}
    free = list(range(given))
    takes = sooner or fits
    for one in range(expected):
        place = next((i for i, at in enumerate(free) if takes(one, at)), None)
        if place is not None:
            pairs[one] = at = free.pop(place)
            holder[at] = one

    @cache
    def all_of(one: int) -> list[int]:
        return [at for at in range(given) if fits(one, at)]

    dead_ends: dict[int, int] = {}  # no path leads out of what a search in vain has been through
    for root in [one for one, at in enumerate(pairs) if at is None]:
        if len(holder) == given:
            break
        reached = dict(dead_ends)
        end = _free_end(root, all_of, holder, reached)
        if end is None:
            dead_ends = reached
        while end is not None:  # each on the way takes the next, and leaves what it had
            one = holder[end] = reached[end]
            pairs[one], end = end, pairs[one]
    return pairs


def _asked_once(fits: Fits, expected: int, given: int) -> Fits:
    """Return `fits` with cached results: for nested lists, computing twice at each level would cost
    2 to the power of the depth.
    """
    answers = bytearray(expected * given)

    def asked(one: int, at: int) -> bool:
        place = one * given + at
        if not answers[place]:
            answers[place] = 1 + fits(one, at)
        return answers[place] == 2

    return asked


def _free_end(
    root: int, all_of: Callable[[int], list[int]], holder: dict[int, int], reached: dict[int, int]
) -> int | None:
    """Return the nearest unmatched given item, along an augmenting path.

    `reached` is filled: given thing → the expected one that it was reached from.
    """
    queue = [root]
    for one in queue:
        for at in all_of(one):
            if at not in reached:
                reached[at] = one
                if at not in holder:
                    return at
                queue.append(holder[at])
    return None
