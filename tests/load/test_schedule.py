"""When arrivals count as late."""

import pytest
from driving import constant, model_target, plan, users

from agentbench_tui.load.schedule.arrivals import Arrivals, Ramp
from agentbench_tui.load.schedule.schedule import late_after_ns
from agentbench_tui.load.sending.protocol import ClosedLoop, OpenLoop

TARGET = model_target("http://127.0.0.1:1/v1")
RAMP = OpenLoop(Arrivals(process="constant", profile=Ramp(0.1, 9.9, 10.0)))


@pytest.mark.parametrize(
    ("schedule", "duration_s", "allowed_ms"),
    [
        (constant(1000), 10.0, 1.0),  # 5% of a gap of 1 ms is less than the floor
        (constant(10), None, 5.0),
        (RAMP, 10.0, 10.0),  # 50 in 10 s: a gap of 200 ms on average
        (users(3), 10.0, None),
    ],
)
def test_an_arrival_is_late_by_more_than_a_20th_of_the_windows_mean_gap(
    schedule: OpenLoop | ClosedLoop, duration_s: float | None, allowed_ms: float | None
) -> None:
    found = late_after_ns(plan(TARGET, schedule, duration_s=duration_s))

    assert found == (None if allowed_ms is None else pytest.approx(allowed_ms * 1e6))
