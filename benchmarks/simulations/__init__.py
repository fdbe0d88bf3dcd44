"""Simulations with known truth behind the guarantees of docs/decisions.md, one module a topic."""

from simulations import accuracy, cost, coverage, regressions, run_luck

ROWS = (
    *accuracy.ROWS,
    *cost.ROWS,
    *run_luck.ROWS,
    *regressions.ROWS,
    *coverage.ROWS,
)
