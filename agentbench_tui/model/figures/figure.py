"""Description of one named number: unit, direction, formula, and the parts of a distribution."""

from __future__ import annotations

from typing import Literal

import msgspec

Direction = Literal["lower", "higher", "none"]


class Metric(msgspec.Struct, frozen=True):
    """One named number."""

    name: str
    unit: str
    direction: Direction
    """Which way is better; `none` for facts that are neither."""
    formula: str
    distribution: bool = False
    """True when it is taken per observation and reported by mean and percentiles."""
    load: bool = False
    """True when load benchmarks report it; a distribution then has p999 and max too."""

    @property
    def parts(self) -> tuple[str, ...]:
        """Return the parts after the dot; empty for a single number."""
        if not self.distribution:
            return ()
        return LOAD_PARTS if self.load else ("mean", *PERCENTILES)


PERCENTILES = ("p50", "p90", "p95", "p99")
"""Reported if the number of samples is sufficient, in addition to `mean`."""
LOAD_PARTS = ("mean", *PERCENTILES, "p999", "max")
"""Reported of load; `max` of any number of samples."""
SHARES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}
"""Percentile → share of the observations at or below it."""
