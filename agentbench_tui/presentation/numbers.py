"""Format of numbers, units, money, durations, sizes and percentages: one rule each.

Measured values have three significant digits and a suitable unit (`1.20 s`, `512 MB`), measured
shares one decimal (`97.2%`), counts every digit (`1,234`). A value chosen by a person, such as a
limit, keeps its digits (`95%`, `30 s`). An unknown value is `–`, never 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from decimal import Decimal

from agentbench_tui.model.text.plain_number import percent_number, plain

MISSING = "–"
"""Shown where a number could not be measured."""
Show = Callable[[float | None], str]

_DIGITS = 3
_PRECISE_DIGITS = 5
_LEAST_USD = 1e-9
"""Smaller amounts are written with an exponent, because their zeros are hard to count."""
_LEAST_EACH_USD = 1e-4
"""Smaller prices have too many zeros to compare: they are given per million."""
_MANY = 1e6
_PER_MANY = "/1M"
_SHARES = frozenset({"accuracy", "reliability"})
"""Dimensions whose score is a metric that is a share: one number, one format."""
_ROUNDING = 1e-9
"""What rounding may take from 100%."""
_LARGE_AMOUNT = 1000
"""From here on numbers are whole, with commas."""
_LARGEST_WHOLE = 1e15
"""From here on a double has no exact digits: an exponent says so."""
_SCALES: dict[str, tuple[tuple[float, str], ...]] = {
    "ms": (
        (3_600_000.0, "h"),
        (60_000.0, "min"),
        (1000.0, "s"),
        (1.0, "ms"),
        (1e-3, "µs"),
        (1e-6, "ns"),
    ),
    "s": ((3600.0, "h"), (60.0, "min"), (1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
    "B": ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")),
    "MB": ((1e6, "TB"), (1e3, "GB"), (1.0, "MB"), (1e-3, "kB"), (1e-6, "B")),
}
"""Larger and smaller units of a unit, largest first, in its own terms."""
_MINUTES_FROM = 10
"""Shorter times are written in seconds: 90 s, not 1.5 min."""
_COUNTS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_EXACT_BELOW = 9999.5
"""Numbers of four digits are written out where larger ones are abbreviated."""
_ALMOST = 0.9995
"""From this share of a unit on a value would be rounded up to it."""


def count(value: float | None) -> str:
    """Return a whole number with commas: `1,234`."""
    return _known(value, lambda known: f"{known:z,.0f}")


def from_one(index: int) -> str:
    """Return the number of a repeat or iteration for people, who count from 1; it is stored, and
    printed for scripts, as an index from 0.
    """
    return f"{index + 1:,}"


def decimals(places: int) -> Show:
    """Return what writes a number with so many decimals: an effect size, a factor."""
    return lambda value: _known(value, lambda known: f"{known:z,.{places}f}")


score: Show = decimals(3)
"""Write a score between 0 and 1: `0.858`."""


def of_dimension(dimension: str) -> Show:
    """Return what writes a score of a dimension: accuracy and reliability are measured shares."""
    return percent if dimension in _SHARES else score


def amount(value: float | None) -> str:
    """Return a rate or another amount in three significant digits: `12.3`, `0.5`, `12,346`."""
    return _known(value, _amount)


def precise(value: float | None) -> str:
    """Return a number in five significant digits, where it is itself the result: a mean, a sd."""
    return _known(value, lambda known: plain(known, _PRECISE_DIGITS))


def signed_amount(value: float | None) -> str:
    """Return a difference in three significant digits: `+12.3`, `-0.5`, `0`."""
    return _known(value, lambda known: f"{'+' if known > 0 else ''}{_amount(known + 0.0)}")


def per_second(value: float | None) -> str:
    """Return a rate: `12.3/s`."""
    return _known(value, lambda known: f"{_amount(known)}/s")


def _amount(value: float) -> str:
    return _digits(value)


def percent(share: float | None) -> str:
    """Return a measured share: `97.2%`, and with more decimals what would round to 0 or 100.

    Only an exact 0 and 1 are `0%` and `100%`.
    """
    return _known(share, _percent)


def _percent(share: float) -> str:
    value = _in_percent(share)
    if value in {0, 100}:
        return f"{abs(value):.0f}%"
    if abs(value) < 0.05:
        return f"{plain(value, 1)}%"
    return f"{percent_number(value, 1)}%"


def _in_percent(share: float) -> float:
    """The sum of all parts is 100, though rounding may have left 99.99999999999997 of it."""
    value = 100 * share
    return 100.0 if abs(value - 100) < _ROUNDING else value


def short_percent(share: float | None) -> str:
    """Return a share where there is little room, such as at a gauge: `43%`, `99.7%`, `100%`."""
    return _known(share, lambda known: f"{percent_number(_in_percent(known))}%")


def signed_percent(share: float | None) -> str:
    """Return a relative change: `+21.0%`, `-0.04%`, and `0%` where there is none."""
    return _known(share, lambda known: f"{'+' if known > 0 else ''}{_percent(known)}")


def chosen_percent(share: float) -> str:
    """Return a share that a person chose, such as a limit or a confidence level: `95%`, `2.5%`."""
    return f"{plain(100 * share, 6)}%"


def points(difference: float | None) -> str:
    """Return a difference of two shares in percentage points, signed: `+13.0 pp`."""
    return _known(difference, lambda known: f"{'+' if known > 0 else ''}{100 * known:z.1f} pp")


def size_in_points(difference: float | None) -> str:
    """Return how large a difference of two shares is, whichever way: `2.5 pp`."""
    return _known(difference, lambda known: f"{100 * abs(known):.1f} pp")


def ratio(value: float | None) -> str:
    """Return how many times as large something is: `1.42×`."""
    return _known(value, lambda known: f"{plain(known, _DIGITS, filled=True)}×")


def p_value(value: float | None) -> str:
    """Return a p value: `0.017`, `<0.001`."""
    return _known(value, lambda known: "<0.001" if known < 0.001 else f"{known:.3f}")


def p_relation(value: float) -> str:
    """Return a p value after its letter: `= 0.041`, `< 0.001`."""
    return "< 0.001" if value < 0.001 else f"= {p_value(value)}"


def money(usd: float | None) -> str:
    """Return US dollars: `$1,234.50`, and below one dollar two significant digits: `$0.063`."""
    return _known(usd, _money)


def _money(usd: float) -> str:
    sign, size = ("-" if usd < 0 else ""), abs(usd)
    if size >= 0.995 or size == 0:
        return f"{sign}${size:,.2f}"
    # All that may be listed below each other is written alike, without an exponent.
    small = f"{Decimal(f'{size:#.2g}'):f}" if size >= _LEAST_USD else f"{size:.1e}"
    return f"{sign}${small}"


def money_each(usd: float | None) -> str:
    """Return what one task or one answer costs: `$0.063`, and `$0.11/1M` of next to nothing."""
    if usd is not None and 0 < abs(usd) < _LEAST_EACH_USD:
        return f"{_money(_MANY * usd)}{_PER_MANY}"
    return money(usd)


def price_words(usd: float, things: str) -> str:
    """Return what one of several things costs: `$0.063 each`, `$0.11 per million answers`."""
    shown = money_each(usd)
    many = shown.removesuffix(_PER_MANY)
    return f"{shown} each" if many == shown else f"{many} per million {things}"


def money_of_many(amounts: Iterable[float | None]) -> tuple[float, str]:
    """Return a factor by which amounts below each other are readable, and its word.

    Amounts in USD for one thing; 1.0 and an empty word unless one of them has too many zeros.
    """
    known = [abs(usd) for usd in amounts if usd]
    return (_MANY, "million ") if known and min(known) < _LEAST_EACH_USD else (1.0, "")


def duration(ms: float | None) -> str:
    """Return a measured time, given in milliseconds: `980 ms`, `1.20 s`, `10.0 min`."""
    return quantity(ms, "ms", filled=True)


def duration_s(seconds: float | None) -> str:
    """Return a measured time, given in seconds: `12.3 s`, `20.0 min`."""
    return quantity(seconds, "s", filled=True)


def chosen_duration(seconds: float) -> str:
    """Return a time that a person chose, given in seconds: `30 s`, `1.5 s`, `20 min`."""
    return quantity(seconds, "s")


def size(megabytes: float | None) -> str:
    """Return an amount of memory or of a disk, given in MB of 10⁶ bytes: `512 MB`, `1.20 GB`."""
    return quantity(megabytes, "MB", filled=True)


def measured(value: float | None, unit: str) -> str:
    """Return a value of a metric as its unit asks for; `unit` as metrics declare it."""
    show = _OF_UNIT.get(unit)
    if show is not None:
        return show(value)
    return _known(value, lambda known: f"{_amount(known)} {unit}".rstrip())


def measure_of(unit: str) -> Show:
    """Return what writes the values of a metric with this unit, without a unit that is a noun."""
    return _OF_UNIT.get(unit, amount)


_OF_UNIT: dict[str, Show] = {
    "share": percent,
    "score": score,
    "ms": duration,
    "s": duration_s,
    "MB": size,
    "USD": money_each,
    "$": money_each,
    "1/s": per_second,
}


def with_interval(
    value: float | None, low: float | None, high: float | None, show: Show = score
) -> str:
    """Return `0.812 [0.700, 0.900]`; ends that have the value's unit are written without it."""
    shown = show(value)
    if value is None or low is None or high is None:
        return shown
    return f"{shown} {bracketed(shown, show(low), show(high))}"


def measured_estimate(value: float | None, low: float | None, high: float | None, unit: str) -> str:
    """Return a value of a metric with its unit and interval: `12.3 words [10.1, 14.5]`."""
    return with_interval(value, low, high, lambda known: measured(known, unit))


def estimate(value: float | None, low: float | None, high: float | None, show: Show) -> str:
    """Return a value with its interval, `[–]` if that is unknown, and – for an unbounded end."""
    shown = show(value)
    if value is None:
        return shown
    if low is None and high is None:
        return f"{shown} [{MISSING}]"
    return f"{shown} {bracketed(shown, show(low), show(high))}"


def bracketed(value: str, low: str, high: str) -> str:
    """Return the ends in brackets, without the unit where all three texts have one unit."""
    number, unit = _parted(value)
    ends = [_parted(low), _parted(high)]
    if unit and number and all(name == unit or text in {"∞", MISSING} for text, name in ends):
        low, high = (text for text, _ in ends)
    return f"[{low}, {high}]"


def _parted(text: str) -> tuple[str, str]:
    """A written number and the unit that follows it."""
    for end in ("%", "×", "/s"):
        if text.endswith(end):
            return text.removesuffix(end), end
    number, _, unit = text.partition(" ")
    return number, unit


def quantity(
    value: float | None, unit: str = "", missing: str = MISSING, *, filled: bool = False
) -> str:
    """Return three significant digits with the unit that suits: `200 ms`, `1.2 s`, `12k`.

    Numbers from 10,000 on are abbreviated, as at an axis or a gauge, where there is little room.
    Units that scale: ms, s, B, MB. `$` is in front, `/s` behind without a space. `missing` for
    None, NaN and infinity. `filled`: with zeros, `1.20 s`, as measured values are written.
    """
    if value is None or not math.isfinite(value):
        return missing
    size_of = abs(value)
    if unit in _SCALES:
        factor, name = scale(size_of, unit)
        return f"{_digits(value / factor, filled=filled)} {name}"
    factor, letter = abbreviation(size_of)
    digits = f"{_digits(size_of / factor)}{letter}"
    if unit in {"$", "USD"}:
        return ("-" if value < 0 else "") + (f"${digits}" if letter else _money(size_of))
    digits = f"-{digits}" if value < 0 else digits
    return f"{digits}{'' if not unit or unit.startswith(('/', '%')) else ' '}{unit}"


def scale(size_of: float, unit: str) -> tuple[float, str]:
    """Return the divisor for a value of this size, and its unit."""
    scales = _SCALES[unit]
    if size_of == 0:
        return 1.0, unit
    for factor, name in scales:
        if size_of >= factor * (_MINUTES_FROM if name == "min" else 1) * _ALMOST:
            return factor, name
    return scales[-1]


def has_scale(unit: str) -> bool:
    """Return whether a unit has larger and smaller ones."""
    return unit in _SCALES


def abbreviation(size_of: float) -> tuple[float, str]:
    """Return the divisor of a number where there is little room, and its letter."""
    return next(
        (
            one
            for one in _COUNTS
            if size_of >= (_EXACT_BELOW if one[1] == "k" else one[0] * _ALMOST)
        ),
        (1.0, ""),
    )


def _digits(value: float, *, filled: bool = False) -> str:
    """Three significant digits, or all of a whole part that has more."""
    if abs(value) >= _LARGEST_WHOLE:
        return f"{value:.{_DIGITS}g}"
    if abs(value) >= _LARGE_AMOUNT - 0.5:
        return f"{value:,.0f}"
    return plain(value, _DIGITS, filled=filled)


def _known(value: float | None, show: Callable[[float], str]) -> str:
    if value is None or math.isnan(value):
        return MISSING
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    return show(value)
