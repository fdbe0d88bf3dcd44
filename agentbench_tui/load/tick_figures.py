"""What a tick tells of the samples beyond what their sender has counted: gaps and queueing.

Worked out by the coordinator, once a second, so that a sender spends nothing on it.
"""

from __future__ import annotations

import numpy as np

from agentbench_tui.analysis.histogram import Histogram
from agentbench_tui.load.columns import SAMPLE
from agentbench_tui.load.sample import unpack_gaps, unpack_rows


def histograms(samples: list[bytes], gaps: list[bytes]) -> tuple[bytes | None, bytes | None]:
    """(gaps between the chunks of answers, time from due to sent) in ms, as `Histogram.to_bytes`,
    of chunks as `load.protocol.Chunk` has them. None where there are no values."""
    waited = unpack_rows(samples).rows.reshape(-1).view(SAMPLE)["lag_us"] if samples else ()
    between = unpack_gaps(gaps) if gaps else ()
    return _histogram(between), _histogram(waited)


def _histogram(values_us: object) -> bytes | None:
    values = np.asarray(values_us, np.float64)
    return Histogram.of_many(values / 1e3).to_bytes() if len(values) else None
