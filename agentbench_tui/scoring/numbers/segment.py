"""Properties of one side of an `=`, recorded while an expression is read."""

from __future__ import annotations

from dataclasses import dataclass, field

from agentbench_tui.scoring.numbers.units import Unit


class NotArithmetic(Exception):
    """Raised for a bracket that contains prose."""


@dataclass(slots=True)
class Segment:
    """Properties of the text between two `=` of a chain."""

    units: list[Unit] = field(default_factory=list)
    calculates: bool = False
    """It has an unevaluated sum or product of rational numbers: `17 + 25`."""
    operators: int = 0
