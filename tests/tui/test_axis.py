"""Axes: places of values, round ticks, and numbers in words."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from whole_rows import assert_whole

from agentbench_tui.presentation.numbers import quantity
from agentbench_tui.tui.drawing.axis import Axis, axis_of, row_of, scale_rows, upright_rows
from agentbench_tui.tui.drawing.glyphs import ASCII, UNICODE
from agentbench_tui.tui.drawing.painting import text_of
from agentbench_tui.tui.theme import DARK, palette

_PALETTE = palette(DARK)
_numbers = st.floats(allow_nan=True, allow_infinity=True)


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (200.0, "ms", "200 ms"),
        (1234.0, "ms", "1.23 s"),
        (0.25, "ms", "250 µs"),
        (90_000.0, "ms", "90 s"),
        (720_000.0, "ms", "12 min"),
        (2.5, "s", "2.5 s"),
        (16_000.0, "MB", "16 GB"),
        (1410.0, "MHz", "1,410 MHz"),
        (12_345.0, "", "12.3k"),
        (3_400_000.0, "req/s", "3.4M req/s"),
        (-2.4, "req/s", "-2.4 req/s"),
        (43.0, "%", "43%"),
        (43.0, "/s", "43/s"),
        (2.4, "$", "$2.40"),
        (12_345.0, "$", "$12.3k"),
        (0.0, "ms", "0 ms"),
        (999.96, "ms", "1 s"),
        (None, "ms", "–"),
        (math.nan, "ms", "–"),
        (math.inf, "", "–"),
    ],
)
def test_a_quantity_has_three_digits_and_the_unit_that_suits_it(
    value: float | None, unit: str, expected: str
) -> None:
    assert quantity(value, unit) == expected


@given(st.lists(_numbers, max_size=8), st.booleans(), st.booleans())
def test_an_axis_holds_all_that_has_a_place_on_it(
    values: list[float], log: bool, from_zero: bool
) -> None:
    axis = axis_of(values, log=log, from_zero=from_zero, room=0.05)
    known = [value for value in values if math.isfinite(value) and (value > 0 or not log)]
    assert (axis is None) == (not known)
    if axis is not None:
        assert axis.low < axis.high
        for value in known:
            if abs(value) <= 1e300 and (not log or value >= 1e-290):
                assert -1e-9 <= axis.share(value) <= 1 + 1e-9


def test_an_axis_of_one_value_has_room_on_both_sides() -> None:
    axis = axis_of([5.0])
    assert axis is not None
    assert axis.share(5.0) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("axis", "about", "expected"),
    [
        (Axis(0, 100), 5, [0, 20, 40, 60, 80, 100]),
        (Axis(0, 1.5), 3, [0, 0.5, 1.0, 1.5]),
        (Axis(60, 2500, True), 8, [100, 200, 500, 1000, 2000]),
        (Axis(1, 1e6, True), 3, [1, 100, 10_000, 1_000_000]),
        (Axis(120, 180, True), 3, [120, 140, 160, 180]),
        (Axis(0, 1), 0, []),
    ],
)
def test_ticks_are_round(axis: Axis, about: int, expected: list[float]) -> None:
    assert axis.ticks(about) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("axis", "rows", "expected"),
    [
        (Axis(0, 40), 7, [0, 20, 40]),
        (Axis(-0.06, 0.99), 17, [0, 0.2, 0.4, 0.6, 0.8]),
        (Axis(0, 100), 17, [0, 20, 40, 60, 80, 100]),
        (Axis(0, 90), 3, [0, 50]),
    ],
)
def test_ticks_of_an_upright_axis_are_as_many_as_have_room(
    axis: Axis, rows: int, expected: list[float]
) -> None:
    assert axis.ticks_upright(rows) == pytest.approx(expected)


def test_labels_of_a_linear_axis_have_one_unit_and_as_many_digits() -> None:
    assert Axis(0, 1500).labels([0, 500, 1000, 1500], "ms") == ["0", "0.5 s", "1.0 s", "1.5 s"]
    assert Axis(0, 20_000).labels([0, 10_000, 20_000], "req/s") == ["0", "10k req/s", "20k req/s"]


def test_labels_of_a_logarithmic_axis_have_each_their_own_unit() -> None:
    assert Axis(50, 5000, True).labels([100, 1000], "ms") == ["100 ms", "1 s"]


@given(
    st.floats(-1e300, 1e300), st.floats(-1e300, 1e300), st.booleans(), st.integers(0, 90),
    st.sampled_from(["", "ms", "$", "req/s"]), st.sampled_from([ASCII, UNICODE]),
)  # fmt: skip
def test_scales_never_leave_their_room(
    one: float, other: float, log: bool, columns: int, unit: str, glyphs: object
) -> None:
    axis = axis_of([one, other], log=log)
    if axis is not None:
        rows = scale_rows(axis, 5, columns, unit, _PALETTE, glyphs, label="what")  # type: ignore[arg-type]
        assert_whole(rows, 5 + columns, 2)
        edge, ticks = upright_rows(axis, 7, unit, _PALETTE, glyphs)  # type: ignore[arg-type]
        assert len({len(text) for text in text_of(edge)}) == 1
        assert all(0 <= row < 7 for row in ticks)


def test_a_scale_with_its_label() -> None:
    rows = scale_rows(Axis(0, 100), 3, 40, "", _PALETTE, UNICODE, label="rate")
    assert text_of(rows) == [
        "  └┬───────────────────┬──────────────────┬",
        "   0                   50         rate  100",
    ]


def test_names_stand_in_place_of_numbers_where_they_have_room() -> None:
    rows = scale_rows(Axis(0, 2), 0, 20, "", _PALETTE, UNICODE, names=["v1", "v2", "v3"])
    assert text_of(rows) == ["┬─────────┬────────┬", "v1        v2      v3"]


def test_the_rows_of_an_upright_axis_run_from_the_top() -> None:
    axis = Axis(0, 10)
    assert [row_of(axis, value, 5) for value in (10, 5, 0, 99, -99)] == [0, 2, 4, 0, 4]
