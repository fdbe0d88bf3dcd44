"""Draws points to index, and points to search for, from four distributions."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

Distribution = Literal["uniform", "clustered", "linear", "sparse"]
Floats = NDArray[np.float64]

SIDE = 1000.0
CLUSTERS = 5


def draw_places(n: int, distribution: Distribution, seed: int) -> Floats:
    """Return (n, 2) points in a square of 1000 by 1000.

    `clustered`: five normal clouds of deviation 50 to 150; `linear`: near its two diagonals;
    `sparse`: on a lattice with some jitter, so that none are close together.
    """
    random = np.random.default_rng(seed)
    if distribution == "uniform":
        return random.uniform(0, SIDE, (n, 2))
    if distribution == "clustered":
        centers = random.uniform(0, SIDE, (CLUSTERS, 2))
        deviations = random.uniform(50, 150, CLUSTERS)
        which = random.integers(0, CLUSTERS, n)
        drawn = random.normal(centers[which], deviations[which, None])
    elif distribution == "linear":
        along = random.uniform(0, SIDE, n)
        across = np.where(random.random(n) < 0.5, along, SIDE - along)
        drawn = np.column_stack((along, across + random.normal(0, 5, n)))
    else:
        lines = int(np.ceil(np.sqrt(n)))
        gap = SIDE / lines
        chosen = random.permutation(lines * lines)[:n]
        corner = np.column_stack((chosen % lines, chosen // lines)) * gap
        drawn = corner + gap / 2 + random.uniform(-gap / 4, gap / 4, (n, 2))
    return np.asarray(np.clip(drawn, 0, SIDE))
