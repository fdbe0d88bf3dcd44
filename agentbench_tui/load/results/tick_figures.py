"""Live figures beyond the load worker's counts, from the samples: chunk gaps and queueing.

Computed by the coordinator once a second, so that a sender spends no time on it; without numpy,
whose import would take longer.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from agentbench_tui.analysis.histogram import Histogram
from agentbench_tui.load.sending.sample import gaps_of, lags_of

if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable, Sequence


def histograms(
    samples: Sequence[bytes], gaps: Sequence[bytes]
) -> tuple[bytes | None, bytes | None]:
    """Return (gaps between the chunks of answers, time from due to sent) in ms, as
    `Histogram.to_bytes`, for chunks of `load.sending.protocol.Chunk`. None without values.
    """
    return _histogram(map(gaps_of, gaps)), _histogram(map(lags_of, samples))


def _histogram(columns_us: Iterable[array[int]]) -> bytes | None:
    occur: Counter[int] = Counter()
    for column in columns_us:
        occur.update(column)
    if not occur:
        return None
    histogram = Histogram()
    for value_us, count in occur.items():
        histogram.record(value_us / 1e3, count)
    return histogram.to_bytes()
