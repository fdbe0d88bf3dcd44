"""Simulations with known truth behind the guarantees of docs/decisions.md, one module a topic."""

from simulations import (
    accuracy,
    clusters,
    cost,
    coverage,
    groups,
    power,
    queueing,
    ratios,
    regressions,
    run_luck,
    sample_size,
)

ROWS = (
    *accuracy.ROWS,
    *clusters.ROWS,
    *cost.ROWS,
    *ratios.ROWS,
    *run_luck.ROWS,
    *regressions.ROWS,
    *coverage.ROWS,
    *sample_size.ROWS,
    *power.ROWS,
    *groups.ROWS,
    *queueing.ROWS,
)
