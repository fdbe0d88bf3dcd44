"""Axis of a search: rate, concurrency or input size, with its start and end."""

from __future__ import annotations

import math
from typing import Literal

import msgspec

AxisName = Literal["rate", "concurrency", "input"]

_ROUNDING = 1 + 1e-9


class Axis(msgspec.Struct, frozen=True, kw_only=True):
    """The searched quantity, and its range."""

    on: AxisName
    start: float
    """First level: normal load, which is expected to pass."""
    most: float
    """Nothing above is ever measured."""
    least: float | None = None
    """No level is below it; by default a thousandth of the start, and 1 for whole levels."""
    unit: str = ""
    """In words, such as `requests/s`."""

    def __post_init__(self) -> None:
        if not 0 < self.lowest <= self.start <= self.most < math.inf:
            raise ValueError(
                f"levels of {self.on} need 0 < least <= start <= most,"
                f" got {self.lowest:g}, {self.start:g} and {self.most:g}"
            )
        if self.whole and any(level % 1 for level in (self.lowest, self.start, self.most)):
            raise ValueError(f"levels of {self.on} are whole numbers")

    @property
    def whole(self) -> bool:
        return self.on != "rate"

    @property
    def lowest(self) -> float:
        if self.least is not None:
            return self.least
        return 1.0 if self.whole else self.start / 1024

    def up(self, level: float) -> float:
        return min(2 * level, self.most)

    def down(self, level: float) -> float:
        return max(math.floor(level / 2) if self.whole else level / 2, self.lowest)

    def between(self, low: float, high: float) -> float:
        """Return the geometric mean; for whole levels, one strictly between if one exists."""
        middle = math.sqrt(low * high)
        return min(max(round(middle), low + 1), high - 1) if self.whole else middle

    def close(self, low: float, high: float, ratio: float) -> bool:
        """Return whether no level between them is worth measuring."""
        return high <= low * ratio * _ROUNDING or (self.whole and high - low <= 1)
