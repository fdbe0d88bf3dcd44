"""A schedule as a person reads it."""

from typing import Any

import pytest

from agentbench_tui.load.schedule.schedule_words import schedule_words


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ({"rate": 1e6, "duration_s": 10.0}, "open loop, 1,000,000/s constant, 10 s"),
        ({"rate": 0.00005, "arrivals": "poisson"}, "open loop, 0.00005/s poisson"),
        (
            {"ramp": {"start": 0.0, "end": 2e6, "over_s": 1e6}},
            "open loop, 0 to 2,000,000/s over 1,000,000 s, constant",
        ),
        (
            {"spike": {"rate": 5.0, "peak": 1_234_567.0, "at_s": 2.5, "for_s": 1.0}},
            "open loop, 5/s, from 2.5 s on 1,234,567/s for 1 s, constant",
        ),
        ({"concurrency": 1, "think_time_ms": 1e9}, "closed loop, 1 user thinking 1,000,000 s"),
        (
            {"throughput": True, "requests": 1000},
            "closed loop, at maximum throughput, 1,000 requests",
        ),
    ],
)
def test_words_of_a_schedule_have_no_exponents(block: dict[str, Any], words: str) -> None:
    assert schedule_words(block) == words
