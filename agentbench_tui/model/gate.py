"""Gates: one small expression language for thresholds, as in `accuracy>=0.8`."""

from __future__ import annotations

import math
import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentbench_tui.model.errors import UsageError, did_you_mean
from agentbench_tui.model.metric import SCORES, known_metrics

if TYPE_CHECKING:
    from collections.abc import Callable

_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "==": operator.eq,
}
_FORM = re.compile(r"\s*([a-z][a-z0-9_.]*)\s*(>=|<=|==|>|<)\s*(\S+)\s*")


@dataclass(frozen=True, slots=True)
class Gate:
    """A threshold that every measured execution must meet."""

    name: str
    """A metric (`e2e_ms.p95`) or a score (`overall`, `speed_score`)."""
    comparison: str
    threshold: float

    def holds(self, value: float) -> bool:
        """Whether the value meets the threshold."""
        return _OPERATORS[self.comparison](value, self.threshold)

    def __str__(self) -> str:
        return f"{self.name}{self.comparison}{self.threshold:g}"


def gate_names() -> tuple[str, ...]:
    """Every name that a gate may stand on: metrics, and scores as `NAME_score` or `overall`."""
    scores = tuple(name if name == "overall" else f"{name}_score" for name in SCORES)
    return (*known_metrics(), *scores)


def parse_gate(text: str) -> Gate:
    """The gate that `text` states. Raises UsageError with the reason."""
    match = _FORM.fullmatch(text)
    if match is None:
        raise UsageError(
            f"gate {text!r}: expected NAME OPERATOR NUMBER, such as accuracy>=0.8 or "
            "e2e_ms.p95<=1200"
        )
    name, comparison, number = match.groups()
    if name not in gate_names():
        raise UsageError(
            f"gate {text!r}: unknown metric '{name}'{did_you_mean(name, gate_names())}; "
            "`agentbench explain` lists them"
        )
    try:
        threshold = float(number)
    except ValueError:
        threshold = math.nan
    if not math.isfinite(threshold):
        raise UsageError(f"gate {text!r}: '{number}' is not a number")
    return Gate(name, comparison, threshold)
