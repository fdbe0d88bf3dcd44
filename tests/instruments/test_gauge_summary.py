import math
import statistics

from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.instruments.summary import FieldSummary, GaugeSummary

numbers = st.floats(-1e12, 1e12, allow_nan=False)


@given(st.lists(numbers, min_size=1, max_size=50))
def test_low_mean_high_of_the_readings(values: list[float]) -> None:
    gauges = GaugeSummary()
    for value in values:
        gauges.add("host", {"load1": value})
    found = gauges.summary()["host"]["load1"]
    assert (found.low, found.high, found.n) == (min(values), max(values), len(values))
    assert found.low <= found.mean <= found.high
    assert math.isclose(found.mean, statistics.fmean(values), rel_tol=1e-9, abs_tol=1e-2)


def test_a_field_counts_only_the_readings_that_know_it() -> None:
    gauges = GaugeSummary()
    gauges.add("gpu:0", {"power_w": 100.0})
    gauges.add("gpu:0", {})
    gauges.add("gpu:0", {"power_w": 300})
    gauges.add("gpu:1", {"power_w": 7.0})
    assert gauges.summary() == {
        "gpu:0": {"power_w": FieldSummary(100.0, 200.0, 300.0, 2)},
        "gpu:1": {"power_w": FieldSummary(7.0, 7.0, 7.0, 1)},
    }


def test_names_texts_lists_and_truths_have_no_mean() -> None:
    gauges = GaugeSummary()
    gauges.add("gpu:3", {"index": 3, "name": "x", "throttle_reasons": ["a"], "idle": True})
    assert gauges.summary() == {"gpu:3": {}}
