"""In which order those that are compared take turns: each at each place as often."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, TypeVar

from agentbench_tui.model.identity import derive_seed

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")


def in_turn(ones: Sequence[T], seed: int, repeat: int, nth: int = 0) -> list[T]:
    """All of them in the order of block `nth` of a repeat.

    Drawn anew for every square of as many repeats and blocks as there are of them, and turned by
    one place from each to the next (a Latin square), so that each stands at each place as often:
    who comes first finds caches cold, above all in a repeat's first block, and chance alone leaves
    that to one of them more often than to the others.
    """
    size = len(ones)
    order = list(ones)
    if size > 1:
        square = derive_seed(seed, repeat // size, nth // size)
        random.Random(square).shuffle(order)  # noqa: S311  # not a secret
        turn = (repeat + nth) % size
        order = order[turn:] + order[:turn]
    return order
