"""Numbers on the pages of a market world."""

from __future__ import annotations

from agentbench_tui.reports.market.page_parts import number


def test_a_number_has_the_digits_that_it_has() -> None:
    shown = [number(one) for one in (1234.5, -193.54114, 12_000, 0.25, -0.00001, -0.0, 100.0)]
    assert shown == ["1,234.5", "-193.5411", "12,000", "0.25", "0", "0", "100"]


def test_what_is_no_number_is_told_as_it_is() -> None:
    assert [number(one) for one in (None, True, "x")] == ["–", "True", "x"]
