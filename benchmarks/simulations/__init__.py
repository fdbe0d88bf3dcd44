"""Simulations with known truth behind the guarantees of docs/decisions.md, one module a topic."""

from simulations import accuracy, cost, coverage, regressions

ROWS = (
    *accuracy.ROWS,
    *cost.ROWS,
    *regressions.ROWS,
    *coverage.ROWS,
)
