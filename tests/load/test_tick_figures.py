"""Ticks of loads tell of gaps and queueing, and of nothing where nothing was measured."""

import random
from array import array

import numpy as np
import pytest

from agentbench_tui.analysis.histogram import Histogram
from agentbench_tui.load.results.tick_figures import histograms
from agentbench_tui.load.sending.sample import FIELDS, ROW, pack_gaps, pack_rows


def rows(*lags_us: int) -> bytes:
    place = [name for name, _ in FIELDS].index("lag_us")
    return pack_rows(
        b"".join(
            ROW.pack(*(lag if n == place else 0 for n in range(len(FIELDS)))) for lag in lags_us
        )
    )


def test_gaps_and_queueing_are_told_in_ms() -> None:
    samples = [rows(0, 1500, 1500), rows(2500, 0)]
    gaps, queue = histograms(samples, [pack_gaps(array("I", [10_000, 12_000, 10_000]))])
    assert gaps == Histogram([10.0, 10.0, 12.0]).to_bytes()
    assert queue == Histogram([0.0, 0.0, 1.5, 1.5, 2.5]).to_bytes()


def test_without_samples_nothing_is_told() -> None:
    assert histograms([], []) == (None, None)


def test_many_values_at_once_are_counted_as_one_by_one() -> None:
    draw = random.Random(5)
    values = [0.0, 0.0, *(draw.lognormvariate(3, 2) for _ in range(5000))]
    assert Histogram.of_many(np.array(values)) == Histogram(values)
    with pytest.raises(ValueError, match="finite"):
        Histogram.of_many(np.array([1.0, -1.0]))
