"""The five dimensions of a score, and their weights in the overall score of a suite."""

from __future__ import annotations

DEFAULT_WEIGHTS = {
    "accuracy": 0.30, "speed": 0.20, "efficiency": 0.20, "cost": 0.15, "reliability": 0.15
}  # fmt: skip
"""Dimension → its weight in a suite that gives none."""
DIMENSIONS = tuple(DEFAULT_WEIGHTS)
