"""Sparklines: the newest value at the right end, gaps, what leaves its band, failures."""

import math

from hypothesis import given
from hypothesis import strategies as st
from whole_rows import assert_whole

from agentbench_tui.tui.drawing.glyphs import ASCII, UNICODE, Glyphs
from agentbench_tui.tui.drawing.painting import text_of
from agentbench_tui.tui.theme import DARK, palette
from agentbench_tui.tui.widgets.sparkline import SparklineData, paint_sparkline

_PALETTE = palette(DARK)
_numbers = st.floats(allow_nan=True, allow_infinity=True)
_data = st.builds(
    SparklineData,
    label=st.text(st.sampled_from("ab日\x1b\n"), max_size=16),
    values=st.lists(st.none() | _numbers, max_size=30),
    unit=st.sampled_from(["", "ms", "req/s"]),
    band=st.none() | st.tuples(_numbers, _numbers),
    errors=st.booleans(),
    from_zero=st.booleans(),
)


def _painted(data: SparklineData, width: int, height: int) -> list[str]:
    return text_of(paint_sparkline(data, width, height, _PALETTE, UNICODE))


@given(_data, st.integers(1, 60), st.integers(1, 6), st.sampled_from([ASCII, UNICODE]))
def test_any_data_make_whole_rows(
    data: SparklineData, width: int, height: int, glyphs: Glyphs
) -> None:
    rows = paint_sparkline(data, width, height, _PALETTE, glyphs)
    assert_whole(rows, width, height)
    if glyphs is ASCII:
        assert all(text.isascii() for text in text_of(rows))


def test_label_line_and_value_in_one_row() -> None:
    data = SparklineData("x", [0, 1, 2, 4, 8], "req/s")
    assert _painted(data, 40, 1) == ["x                      ▁▁▂▄█     8 req/s"]


def test_rows_of_several_line_up() -> None:
    rows = [
        _painted(SparklineData(label, [1, 2, value], "req/s"), 50, 1)[0]
        for label, value in (("sent", 3), ("answered", 2000))
    ]
    assert len({row.index("█") for row in rows}) == 1


def test_more_rows_have_the_value_above_the_line() -> None:
    data = SparklineData("x", [0, 1, 2, 4, 8], "req/s")
    assert _painted(data, 12, 3) == ["x 8 req/s   ", "           █", "       ▁▂▄██"]


def test_the_newest_values_are_shown() -> None:
    data = SparklineData("", [9.0] * 50 + [1, 2, 4, 8])
    assert _painted(data, 4, 2)[1] == "▁▂▄█"


def test_a_missing_value_is_a_gap_and_no_number() -> None:
    data = SparklineData("x", [8, None, math.nan, 8, None])
    rows = _painted(data, 12, 2)
    assert rows == ["x –         ", "       █  █ "]


def test_what_leaves_its_band_has_a_sign() -> None:
    usual = SparklineData("x", [5, 5, 6], band=(4, 7))
    assert "!" not in "".join(_painted(usual, 40, 1))
    high = SparklineData("x", [5, 5, 9], "ms", band=(4, 7))
    rows = paint_sparkline(high, 40, 3, _PALETTE, UNICODE)
    assert "! 9 ms" in text_of(rows)[0]
    assert "usual 4 – 7 ms" in text_of(rows)[0]
    assert _PALETTE.warn in {piece.style for piece in rows[1]}


def test_failures_have_a_sign_each() -> None:
    data = SparklineData("failures", [0, 0, 2, 0, 1], errors=True)
    assert _painted(data, 12, 3) == ["failures ! 1", "         ! !", "         █ ▄"]


def test_values_next_to_nothing_are_no_trouble() -> None:
    assert len(_painted(SparklineData("x", [0.0, 5e-324]), 40, 1)[0]) == 40


def test_no_values_say_why() -> None:
    data = SparklineData("TTFT", [], reason="no stream")
    assert "no stream" in _painted(data, 40, 1)[0]
    assert "no stream" in _painted(data, 40, 3)[1]
