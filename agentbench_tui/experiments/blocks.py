"""In which order variants are called: all of them in each block, and each at each place alike."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, TypeVar

from agentbench_tui.model.identity import derive_seed

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")


def block_of(variants: Sequence[T], seed: int, repeat: int, nth: int) -> list[T]:
    """The variants in the order of block `nth` of a repeat.

    Drawn anew for every square of as many repeats and blocks as there are variants, and turned by
    one place from each to the next (a Latin square), so that each variant stands at each place as
    often: whoever comes first finds caches cold, above all in a repeat's first block, and chance
    alone would leave that to one of them more than to the others.
    """
    size = len(variants)
    order = list(variants)
    square = derive_seed(seed, repeat // size, nth // size)
    random.Random(square).shuffle(order)  # noqa: S311  # not a secret
    turn = (repeat + nth) % size
    return order[turn:] + order[:turn]
