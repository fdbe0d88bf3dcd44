"""Order in which compared agents take turns: each at each position equally often."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, TypeVar

from agentbench_tui.model.identity import derive_seed

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")


def in_turn(ones: Sequence[T], seed: int, repeat: int, nth: int = 0) -> list[T]:
    """Return them in the order of block `nth` of a repeat.

    A random Latin square is drawn for every set of as many blocks and repeats as there are items,
    so each item is equally often at each position: the first finds cold caches, above all in a
    repeat's first block, and independent draws would leave that to one item more often than to
    others.
    """
    size = len(ones)
    order = list(ones)
    if size > 1:
        square = derive_seed(seed, repeat // size, nth // size)
        random.Random(square).shuffle(order)  # noqa: S311  # not a secret
        turn = (repeat + nth) % size
        order = order[turn:] + order[:turn]
    return order
