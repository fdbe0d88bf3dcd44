"""Words what remains undecided when another metric is decided: how much worse it may be."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from agentbench_tui.model.text.plain_number import percent_number, plain, with_unit

if TYPE_CHECKING:
    from agentbench_tui.verdicts.comparison.comparison import Comparison

_NOUNS = {
    "cost_usd_per_task": "cost",
    "output_tokens": "output tokens",
    "input_tokens": "input tokens",
    "e2e_ms": "end-to-end latency",
    "ttft_ms": "time to first token",
}
_GAINS = {"ms": ("faster", "slower"), "USD": ("cheaper", "more expensive")}
"""Unit → words for B having less, and more, of it."""
_TWICE = 2.0


def decided_words(one: Comparison) -> str:
    """Format what B is shown to be: `faster (15%)`, `better in accuracy (13.0 points)`."""
    if one.ratio is not None and one.unit in _GAINS:
        return f"{_GAINS[one.unit][one.ratio > 1]} ({_percent(one.ratio)})"
    size = _percent(one.ratio) if one.ratio is not None else _size(one, one.difference)
    return f"{one.verdict} in {_noun(one)}" + (f" ({size})" if size else "")


def open_words(one: Comparison, *, for_b: bool) -> str:
    """Say how bad the undecided metric may be at worst, such as `its cost may be up to 5 times as
    high`. Describes A against B unless `for_b`.
    """
    low, high = one.low, one.high
    if not for_b:
        low, high = _reciprocal(one, low, high)
    end = high if one.better == "lower" else low
    more = "high" if one.better == "lower" else "low"
    noun = f"its {_noun(one)} may be"
    if end is None or not math.isfinite(end) or (one.ratio is not None and end <= 0):
        return f"{noun} {more}er by any amount"
    if one.ratio is None:
        return f"{noun} up to {_size(one, end)} {more}er"
    if end >= _TWICE:
        return f"{noun} up to {plain(end, 2)} times as high"
    return f"{noun} up to {_percent(end)} {more}er"


def _reciprocal(
    one: Comparison, low: float | None, high: float | None
) -> tuple[float | None, float | None]:
    if one.ratio is None:
        return None if high is None else -high, None if low is None else -low
    return 1 / high if high else None, 1 / low if low else None


def _noun(one: Comparison) -> str:
    return _NOUNS.get(one.metric, one.metric)


def _percent(ratio: float) -> str:
    return f"{percent_number(abs(100 * (ratio - 1)))}%"


def _size(one: Comparison, difference: float | None) -> str:
    if difference is None:
        return ""
    if one.unit == "share":
        return f"{100 * abs(difference):.1f} points"
    return with_unit(plain(abs(difference), 3), one.unit)
