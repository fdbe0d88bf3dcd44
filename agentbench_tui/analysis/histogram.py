"""A live histogram with bounded relative error: logarithmic buckets that can be added.

Every bucket is 1% wider than the one below, so that a percentile is right within 0.5% over any
range of positive numbers; the buckets in use are kept in a dictionary. Exact figures come from the
raw samples afterwards: this one is for screens and ticks while a run goes on.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from math import log2
from typing import TYPE_CHECKING, Self

import msgspec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RATIO = 1.01
"""Upper end of a bucket over its lower end."""
RELATIVE_ERROR = (RATIO - 1) / (RATIO + 1)
"""Largest relative error of `percentile`: 0.4976%."""
_PER_OCTAVE = 1 / math.log2(RATIO)
_SHIFT = 1 << 17
"""Makes every float's bucket positive, so that int() rounds down."""
_MIDDLE = 2 * RATIO / (RATIO + 1)
"""From the lower end of a bucket to the value that is equally wrong, relatively, at both ends."""
_FORMAT = 1


class Histogram:
    """Counts of values >= 0, whole or not, in any unit; zeros are counted exactly."""

    __slots__ = ("_counts", "zeros")

    def __init__(self, values: Iterable[float] = ()) -> None:
        self._counts: defaultdict[int, int] = defaultdict(int)
        self.zeros = 0
        """Number of values that were 0."""
        for value in values:
            self.record(value)

    def record(self, value: float, count: int = 1) -> None:
        """Count a value this many times. Raises ValueError if it is negative, NaN or infinite."""
        try:
            self._counts[int(log2(value) * _PER_OCTAVE + _SHIFT)] += count
        except (ValueError, OverflowError):
            if value != 0:
                raise ValueError(f"a histogram takes finite values >= 0, got {value}") from None
            self.zeros += count

    @classmethod
    def of_many(cls, values: NDArray[np.float64]) -> Self:
        """Return the histogram of many finite values >= 0; equal to recording each, except for
        rounding at the edge of a bucket. Raises ValueError like `record`.
        """
        import numpy as np

        if not (np.isfinite(values).all() and (values >= 0).all()):
            raise ValueError("a histogram takes finite values >= 0")
        histogram = cls()
        above = values[values > 0]
        histogram.zeros = len(values) - len(above)
        if len(above):
            places = (np.log2(above) * _PER_OCTAVE + _SHIFT).astype(np.int64)
            lowest = int(places.min())
            counts = np.bincount(places - lowest)
            for place in np.flatnonzero(counts).tolist():
                histogram._counts[lowest + place] = int(counts[place])
        return histogram

    def merge(self, other: Histogram) -> None:
        """Add the counts of the other, as if its values had been recorded here."""
        self.zeros += other.zeros
        for bucket, count in other._counts.items():
            self._counts[bucket] += count

    def __len__(self) -> int:
        """Return the number of recorded values."""
        return self.zeros + sum(self._counts.values())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Histogram):
            return NotImplemented
        return self.zeros == other.zeros and self._counts == other._counts

    __hash__ = None  # type: ignore[assignment]  # mutable: how the data model says so

    def percentile(self, q: float) -> float | None:
        """Return the smallest recorded value with at least a share q (0 … 1) of all at or
        below it.

        Within RELATIVE_ERROR of that value; None while nothing is recorded.
        """
        return self.percentiles((q,))[0]

    def percentiles(self, shares: Iterable[float]) -> list[float | None]:
        """Return `percentile` of each share, in one pass over the buckets."""
        wanted = list(shares)
        if not all(0 <= q <= 1 for q in wanted):
            raise ValueError(f"percentiles take shares from 0 to 1, got {wanted}")
        total = len(self)
        found: list[float | None] = [None] * len(wanted)
        if total == 0:
            return found
        ranks = sorted((max(1, math.ceil(q * total)), place) for place, q in enumerate(wanted))
        buckets = iter(sorted(self._counts.items()))
        seen, reached = self.zeros, None
        for rank, place in ranks:
            while seen < rank:
                reached, count = next(buckets)
                seen += count
            found[place] = 0.0 if reached is None else _representative(reached)
        return found

    def buckets(self) -> list[tuple[float, float, int]]:
        """Return (from, to, count) of each used bucket, in order; zeros first as (0, 0, count)."""
        rows = [(0.0, 0.0, self.zeros)] if self.zeros else []
        for bucket, count in sorted(self._counts.items()):
            low = _lower_end(bucket)
            rows.append((low, low * RATIO, count))
        return rows

    def to_bytes(self) -> bytes:
        """Return the counts, compact: 2 to 4 bytes per used bucket for counts below 65,536."""
        numbers, before = [_FORMAT, self.zeros], 0
        for bucket, count in sorted(self._counts.items()):
            numbers += (bucket - before, count)
            before = bucket
        return msgspec.msgpack.encode(numbers)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read the result of `to_bytes`. Raises ValueError for invalid data."""
        try:
            numbers = msgspec.msgpack.decode(data, type=list[int])
        except msgspec.DecodeError as error:
            raise ValueError(f"not a histogram: {error}") from error
        if len(numbers) < 2 or len(numbers) % 2 or numbers[0] != _FORMAT or min(numbers) < 0:
            raise ValueError("not a histogram of a format this version knows")
        histogram = cls()
        histogram.zeros = numbers[1]
        bucket = 0
        for step, count in zip(numbers[2::2], numbers[3::2], strict=True):
            bucket += step
            if not 0 < bucket < 2 * _SHIFT:
                raise ValueError(f"not a histogram: no bucket {bucket}")
            histogram._counts[bucket] = count
        return histogram


def _lower_end(bucket: int) -> float:
    return math.exp2((bucket - _SHIFT) / _PER_OCTAVE)


def _representative(bucket: int) -> float:
    return _lower_end(bucket) * _MIDDLE
