"""Simulations with known truth behind the guarantees of docs/decisions.md, one module a topic."""

from simulations import accuracy, coverage, regressions

ROWS = (
    *accuracy.ROWS,
    *regressions.ROWS,
    *coverage.ROWS,
)
