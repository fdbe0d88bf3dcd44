"""Words a change in the document of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.model.text.plain_number import percent_number, plain, with_unit

if TYPE_CHECKING:
    from agentbench_tui.verdicts.comparison.comparison import Comparison

_TWICE = 2.0
"""Ratio from which on a change is written as a factor instead of a percentage."""


def change_words(one: Comparison) -> str:
    """Format a change, such as `e2e_ms 12% lower [8, 16]` or `accuracy 13.0 points higher [10.3,
    15.7]`. A change that rounds to 0 is not called higher or lower.
    """
    if one.ratio is not None:
        return f"{one.metric} {_ratio_words(one.ratio, one.low, one.high)}"
    if one.difference is None:
        return f"{one.metric} unknown"
    share = one.unit == "share"
    factor, unit = (100, " points") if share else (1, f" {one.unit}")
    way = "higher" if one.difference >= 0 else "lower"
    sign = 1 if one.difference >= 0 else -1
    digits = ".1f" if share else ".3g"

    def shown(value: float | None) -> str:
        return "" if value is None else f"{sign * factor * value:{digits}}"

    ends = (one.low, one.high) if sign > 0 else (one.high, one.low)
    words = f"{shown(one.difference)}{unit} {way}"
    if one.difference == 0:
        words = f"0{unit} apart"
    elif float(shown(one.difference)) == 0:
        words = f"less than 0.05{unit} {way}"
    return f"{one.metric} {_with_ends(words, *map(shown, ends))}"


def margin_words(one: Comparison) -> str:
    """Format the smallest relevant change: `2 points`, `5%`."""
    return with_unit(plain(100 * one.margin, 6), "points" if one.unit == "share" else "%")


def settling_words(one: Comparison, candidate: str) -> str:
    """Format `accuracy: if B really is 15.0 points better, 108 cases show it in 4 of 5 tries; if
    both are equal, about 4,900 cases exclude a difference of 2 points`; empty if unknown.
    """
    if one.n_needed is None:
        return ""
    of = one.varies_by
    if one.n_to_exclude is None:
        return f"{one.metric}: {one.n_needed:,} {of}"
    excluding = f"if both are equal, about {_about(one.n_to_exclude):,} {of} exclude a difference"
    excluding += f" of {margin_words(one)}"
    if one.effect_assumed is None:
        return f"{one.metric}: {excluding}"
    if one.is_ratio:
        words = _ratio_words(one.effect_assumed, None, None)
    else:
        size = abs(one.effect_assumed)
        is_share = one.unit == "share"
        words = f"{100 * size:.1f} points" if is_share else with_unit(f"{size:.3g}", one.unit)
        words += " higher" if one.effect_assumed > 0 else " lower"
        if one.unit == "share":
            better = (one.effect_assumed > 0) == (one.better == "higher")
            words = words.rsplit(" ", 1)[0] + (" better" if better else " worse")
    return (
        f"{one.metric}: if {candidate} really is {words}, {one.n_needed:,} {of} show it in 4 of 5"
        f" tries; {excluding}"
    )


def _about(count: int) -> int:
    """Round to two leading digits, the precision of such an estimate."""
    step: int = 10 ** max(len(str(count)) - 2, 0)
    return round(count / step) * step


def _ratio_words(ratio: float, low: float | None, high: float | None) -> str:
    if ratio >= _TWICE:
        return _with_ends(
            f"{plain(ratio, 3, filled=True)} times as high", _ratio(low), _ratio(high)
        )
    way, sign = ("higher", 1) if ratio >= 1 else ("lower", -1)

    def percent(value: float | None) -> str:
        return "" if value is None else _number(100 * sign * (value - 1))

    ends = (low, high) if sign > 0 else (high, low)
    words = f"{percent(ratio)}% {way}"
    if ratio == 1:
        words = "0% apart"
    elif float(percent(ratio)) == 0:
        words = f"less than 0.05% {way}"
    return _with_ends(words, *map(percent, ends))


def _with_ends(text: str, low: str, high: str) -> str:
    return f"{text} [{low}, {high}]" if low and high else text


def _ratio(value: float | None) -> str:
    return "" if value is None else plain(value, 3, filled=True)


def _points(value: float | None) -> str:
    return "" if value is None else f"{100 * value:z.1f}"


def _number(value: float) -> str:
    return percent_number(value, 0 if abs(value) >= 10 else 1)
