"""Numbers, units, money, durations, sizes and percentages: the same value reads the same."""

import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.presentation.numbers import (
    amount,
    bracketed,
    chosen_duration,
    chosen_percent,
    count,
    decimals,
    duration,
    duration_s,
    measured,
    money,
    of_dimension,
    p_relation,
    p_value,
    per_second,
    percent,
    points,
    price_words,
    quantity,
    ratio,
    score,
    signed_percent,
    size,
    with_interval,
)

NANOSECONDS = {"ns": 1, "µs": 10**3, "ms": 10**6, "s": 10**9, "min": 6 * 10**10, "h": 36 * 10**11}
BYTES = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
POSITIVE = st.floats(1e-3, 1e9)


def read(text: str, units: dict[str, int]) -> Decimal:
    """The value of a written quantity, in the smallest unit."""
    number, unit = text.split(" ")
    return Decimal(number.replace(",", "")) * units[unit]


def plain(text: str) -> float:
    return float(re.sub("[$,%×]", "", text).removesuffix("/s"))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.00002, "20.0 ns"),
        (0.25, "250 µs"),
        (1.5, "1.50 ms"),
        (99.96, "100 ms"),
        (123.4, "123 ms"),
        (999.6, "1.00 s"),
        (1200, "1.20 s"),
        (12_345, "12.3 s"),
        (90_000, "90.0 s"),
        (600_000, "10.0 min"),
        (7_200_000, "2.00 h"),
        (7.2e9, "2,000 h"),
        (0, "0.00 ms"),
        (None, "–"),
        (float("nan"), "–"),
    ],
)
def test_a_time_has_three_digits_and_the_unit_that_suits(value: float | None, text: str) -> None:
    assert duration(value) == text


@given(POSITIVE)
def test_a_time_reads_the_same_whatever_unit_it_was_stored_in(ms: float) -> None:
    ours, theirs = (read(text, NANOSECONDS) for text in (duration(ms), duration_s(ms / 1000)))
    assert float(ours) == pytest.approx(float(theirs), rel=1e-2)
    assert duration(1000 * round(ms)) == duration_s(round(ms)) or not round(ms)


@given(POSITIVE)
def test_a_time_keeps_three_significant_digits(ms: float) -> None:
    assert float(read(duration(ms), NANOSECONDS)) == pytest.approx(ms * 1e6, rel=0.00501)


@given(POSITIVE, POSITIVE)
def test_a_longer_time_never_reads_as_a_shorter_one(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert read(duration(low), NANOSECONDS) <= read(duration(high), NANOSECONDS)


def test_a_time_that_a_person_chose_has_the_digits_that_it_was_given() -> None:
    assert [chosen_duration(seconds) for seconds in (0.2, 1.5, 30, 90, 1200)] == [
        "200 ms", "1.5 s", "30 s", "90 s", "20 min",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.972, "97.2%"),
        (0.04, "4.0%"),
        (0, "0%"),
        (1, "100%"),
        (0.9997, "99.97%"),
        (0.1 + 0.2 + 0.7 - 3e-16, "100%"),
        (0.0003, "0.03%"),
        (1.5, "150.0%"),
        (None, "–"),
    ],
)
def test_a_share(value: float | None, text: str) -> None:
    assert percent(value) == text


@given(st.floats(0, 1))
def test_only_nothing_reads_as_0_percent_and_only_all_as_100(share: float) -> None:
    text = percent(share)
    assert (plain(text) == 0) == (100 * share == 0)
    assert (plain(text) == 100) == (abs(100 * share - 100) < 1e-9)
    assert plain(text) == pytest.approx(100 * share, abs=0.0501)


@given(st.floats(0, 3), st.floats(0, 3))
def test_a_larger_share_never_reads_as_a_smaller_one(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert plain(percent(low)) <= plain(percent(high))


def test_a_share_that_a_person_chose() -> None:
    shares = (0.95, 0.025, 0.8, 1, 0.999)
    assert [chosen_percent(one) for one in shares] == ["95%", "2.5%", "80%", "100%", "99.9%"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.21, "+21.0%"), (-0.021, "-2.1%"), (0, "0%"), (-0.0, "0%"), (0.0004, "+0.04%")],
)
def test_a_relative_change_has_a_sign(value: float, text: str) -> None:
    assert signed_percent(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.13, "+13.0 pp"), (-0.13, "-13.0 pp"), (-0.0001, "0.0 pp"), (0, "0.0 pp"), (None, "–")],
)
def test_a_difference_of_shares_is_in_percentage_points(value: float | None, text: str) -> None:
    assert points(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1234.5, "$1,234.50"),
        (0.0, "$0.00"),
        (0.5, "$0.50"),
        (0.999, "$1.00"),
        (-5, "-$5.00"),
        (-0.063, "-$0.063"),
        (0.00001234, "$0.000012"),
        (6.14e-07, "$0.00000061"),
        (None, "–"),
    ],
)
def test_money(value: float | None, text: str) -> None:
    assert money(value) == text


@given(st.floats(1e-8, 1e6), st.floats(1e-8, 1e6))
def test_more_money_never_reads_as_less(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert plain(money(low)) <= plain(money(high))


@given(st.floats(1e-8, 1e6))
def test_money_is_exact_to_a_cent_or_to_two_digits(usd: float) -> None:
    assert plain(money(usd)) == pytest.approx(usd, rel=0.0501, abs=0)
    assert usd < 1 or plain(money(usd)) == pytest.approx(usd, abs=0.00501)


@pytest.mark.parametrize(
    ("value", "text"),
    [(512, "512 MB"), (1200, "1.20 GB"), (0.5, "500 kB"), (143_771, "144 GB"), (2.5e6, "2.50 TB")],
)
def test_memory(value: float, text: str) -> None:
    assert size(value) == text


@given(st.floats(1e-6, 1e9))
def test_memory_keeps_three_significant_digits(megabytes: float) -> None:
    assert float(read(size(megabytes), BYTES)) == pytest.approx(megabytes * 1e6, rel=0.00501)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2_000_000, "2,000,000"),
        (12.3456, "12.3"),
        (0.00002, "0.00002"),
        (999.6, "1,000"),
        (-1234.5, "-1,234"),
        (0, "0"),
        (None, "–"),
    ],
)
def test_amounts_have_three_digits_or_are_whole(value: float | None, text: str) -> None:
    assert amount(value) == text
    assert per_second(value) == ("–" if value is None else f"{text}/s")


@given(POSITIVE)
def test_an_amount_keeps_three_significant_digits(value: float) -> None:
    assert plain(amount(value)) == pytest.approx(value, rel=0.00501)


def test_counts_and_decimals() -> None:
    assert [count(value) for value in (0, 1234, -0.0, None)] == ["0", "1,234", "0", "–"]
    assert score(0.8576) == "0.858"
    assert decimals(2)(-0.001) == "0.00"


def test_scores_that_are_shares_are_percentages() -> None:
    assert [of_dimension(name)(0.858) for name in ("accuracy", "reliability")] == ["85.8%"] * 2
    assert [of_dimension(name)(0.858) for name in ("speed", "overall")] == ["0.858"] * 2


def test_ratios_and_p_values() -> None:
    assert [ratio(value) for value in (1.4, 0.5, 12.34, None)] == ["1.40×", "0.500×", "12.3×", "–"]
    assert [p_value(value) for value in (0.0172, 0.0009, None)] == ["0.017", "<0.001", "–"]
    assert [p_relation(value) for value in (0.0412, 0.0001)] == ["= 0.041", "< 0.001"]


@pytest.mark.parametrize(
    ("unit", "value", "text"),
    [
        ("share", 0.5, "50.0%"),
        ("score", 0.5, "0.500"),
        ("ms", 1500, "1.50 s"),
        ("USD", 0.5, "$0.50"),
        ("MB", 2000, "2.00 GB"),
        ("1/s", 12.34, "12.3/s"),
        ("tokens", 1234, "1,234 tokens"),
        ("", 1.5, "1.5"),
    ],
)
def test_a_value_of_a_metric_is_written_by_its_unit(unit: str, value: float, text: str) -> None:
    assert measured(value, unit) == text
    assert measured(None, unit) == "–"


def test_the_ends_of_an_interval_drop_the_unit_that_they_share_with_the_value() -> None:
    assert with_interval(0.812, 0.7, 0.9) == "0.812 [0.700, 0.900]"
    assert with_interval(0.972, 0.931, 0.99, percent) == "97.2% [93.1, 99.0]"
    assert with_interval(212, 198, 231, duration) == "212 ms [198, 231]"
    assert with_interval(1200, 980, 1400, duration) == "1.20 s [980 ms, 1.40 s]"
    assert with_interval(1.4, 1.1, float("inf"), ratio) == "1.40× [1.10, ∞]"
    assert with_interval(0.5, None, 0.9) == "0.500"
    assert with_interval(None, 0.1, 0.9) == "–"
    assert bracketed("$0.50", "$0.40", "$0.60") == "[$0.40, $0.60]"


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(9999, "", "9,999"), (12_345, "", "12.3k"), (1.5e6, "tokens", "1.5M tokens"), (5, "/s", "5/s"),
     (12_345, "$", "$12.3k"), (42, "%", "42%")],
)  # fmt: skip
def test_where_there_is_little_room_large_numbers_are_abbreviated(
    value: float, unit: str, text: str
) -> None:
    assert quantity(value, unit) == text


def test_prices_in_sentences() -> None:
    assert price_words(0.063, "answers") == "$0.063 each"
    assert price_words(1.1e-7, "answers") == "$0.11 per million answers"
