"""Why a figure has no interval, in words that are true of it."""

from typing import Any

import pytest

from agentbench_tui.verdicts.ranking.missing_interval import _why


@pytest.mark.parametrize(
    ("name", "low", "told"),
    [
        ("request_throughput_per_s", None, "has no interval in 48 answers"),
        ("tokens_per_correct", None, "has no interval in 48 answers: too few of them right"),
        ("tokens_per_correct", 3.0, "has no upper end in 48 answers: too few of them right"),
    ],
)
def test_only_what_is_counted_by_right_answers_lacks_them(
    name: str, low: float | None, told: str
) -> None:
    found: dict[str, Any] = {"n": 48, "low": low, "high": None, "reason": None}
    assert _why(name, found) == told
