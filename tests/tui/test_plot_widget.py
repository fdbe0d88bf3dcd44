"""The plot: lines, steps, bands, marks and limits where they belong, whatever the data."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from whole_rows import assert_whole

from agentbench_tui.analysis.histogram import Histogram
from agentbench_tui.tui.drawing.glyphs import ASCII, UNICODE
from agentbench_tui.tui.drawing.painting import text_of
from agentbench_tui.tui.theme import DARK, palette
from agentbench_tui.tui.widgets.plot import (
    Band,
    Limit,
    Line,
    Mark,
    PlotData,
    cdf_plot,
    cdf_plot_of_buckets,
    paint_plot,
)

_PALETTE = palette(DARK)
_numbers = st.floats(allow_nan=True, allow_infinity=True)
_names = st.text(st.sampled_from("ab日\x1b\n…"), max_size=6)
_columns = st.lists(_numbers, max_size=6)
_data = st.builds(
    PlotData,
    lines=st.lists(st.builds(Line, _names, _columns, _columns, st.booleans()), max_size=3),
    bands=st.lists(st.builds(Band, _columns, _columns, _columns), max_size=1),
    marks=st.lists(st.builds(Mark, _numbers, _names), max_size=2),
    limits=st.lists(st.builds(Limit, _numbers, _names), max_size=2),
    title=_names,
    x_label=_names,
    x_unit=st.sampled_from(["", "s"]),
    y_unit=st.sampled_from(["", "ms", "$"]),
    log_x=st.booleans(),
    log_y=st.booleans(),
    y_from_zero=st.booleans(),
    x_names=st.lists(_names, max_size=3),
)


def _painted(data: PlotData, width: int, height: int) -> list[str]:
    return text_of(paint_plot(data, width, height, _PALETTE, UNICODE))


@given(_data, st.integers(1, 90), st.integers(1, 24), st.sampled_from([ASCII, UNICODE]))
def test_any_data_make_a_whole_picture(
    data: PlotData, width: int, height: int, glyphs: object
) -> None:
    rows = paint_plot(data, width, height, _PALETTE, glyphs)  # type: ignore[arg-type]
    assert_whole(rows, width, height)
    if glyphs is ASCII:
        assert all(text.isascii() for text in text_of(rows))


def test_a_line_with_its_axes() -> None:
    line = Line("a", [0, 1, 2, 3], [0, 10, 20, 30])
    assert _painted(PlotData([line], title="t", x_unit="s", y_unit="ms"), 30, 10) == [
        "t                             ",
        "      │                    ⢀⡠●",
        "      │                 ⣀⠤⠊⠁  ",
        "20 ms ┤╌   ╌   ╌   ╌⢀⠤●⠉   ╌  ",
        "      │         ⢀⡠⠔⠊⠁         ",
        "      │      ⣀●⠊⠁             ",
        "      │  ⢀⠤⠒⠉                 ",
        "    0 ┤●⠊⠁ ╌   ╌   ╌   ╌   ╌  ",
        "      └┬──────────────┬───────",
        "       0             2 s      ",
    ]


def test_a_step_holds_its_value_until_the_next_point() -> None:
    straight = PlotData([Line("a", [0, 1], [0, 1])])
    step = PlotData([Line("a", [0, 1], [0, 1], step=True)])
    assert _painted(straight, 4, 2) == ["  ⡠⠊", "⡠⠊  "]
    assert _painted(step, 4, 2) == ["   ⠸", "⣀⣀⣀⣸"]


def test_what_is_not_finite_is_a_gap() -> None:
    line = Line("a", [0, 1, 2, 3], [1, math.nan, 1, 1])
    assert _painted(PlotData([line]), 7, 1)[0].replace(" ", ".").strip(".").count(".") >= 2
    whole = Line("a", [0, 1, 2, 3], [1, 1, 1, 1])
    assert " " not in _painted(PlotData([whole]), 7, 1)[0]


def test_nothing_to_draw_says_why() -> None:
    nothing = PlotData([Line("a", [math.nan], [1.0])], reason="no sweep yet")
    assert any("no sweep yet" in text for text in _painted(nothing, 40, 8))
    below = PlotData([Line("a", [1.0], [-1.0])], log_y=True, reason="nothing above 0")
    assert any("nothing above 0" in text for text in _painted(below, 40, 8))


def test_series_are_told_apart_by_marker_in_plot_and_legend() -> None:
    lines = [Line("atlas", [0, 1], [1, 1]), Line("swift", [0, 1], [2, 2])]
    rows = _painted(PlotData(lines), 50, 12)
    assert "● atlas" in rows[0]
    assert "▲ swift" in rows[0]
    body = "".join(rows[1:])
    assert "●" in body
    assert "▲" in body


def test_a_legend_without_room_says_how_many_there_are() -> None:
    lines = [Line(f"agent-{number}", [0, 1], [number, number]) for number in range(6)]
    assert "… 6 in all" in _painted(PlotData(lines), 36, 9)[0]


def test_the_name_of_a_limit_hides_no_point() -> None:
    line = Line("", (0, 1, 2, 3), (10.0, 10.0, 10.0, 10.0))
    text = "\n".join(_painted(PlotData([line], limits=[Limit(10.0, "the run before")]), 60, 12))
    assert "the run before 10" in text
    assert text.count("●") == 4


def test_a_limit_nearby_is_a_line_and_one_far_away_an_arrow() -> None:
    line = Line("", [0, 1], [100, 200])
    near = _painted(PlotData([line], limits=[Limit(220, "objective")], y_unit="ms"), 60, 12)
    assert sum("objective 220 ms" in text and "╌╌╌" in text for text in near) == 1
    far = _painted(PlotData([line], limits=[Limit(9000, "objective")], y_unit="ms"), 60, 12)
    assert "objective 9 s ▲" in far[0]
    assert not any("╌╌╌" in text for text in far)


def test_a_mark_is_an_upright_at_its_place_with_its_words() -> None:
    data = PlotData([Line("", [0, 10], [0, 1])], marks=[Mark(5, "here")])
    rows = _painted(data, 40, 10)
    column = rows[1].index("╎")
    assert rows[0][column + 1 :].startswith("here")
    left = rows[0].index("┤" if "┤" in rows[0] else "│") + 1
    assert abs((column - left) / (40 - left) - 0.5) < 0.05


def test_a_band_lies_behind_its_line_in_a_faint_color() -> None:
    data = PlotData(
        [Line("", [0, 1], [5, 5])], [Band([0, 1], [0, 0], [10, 10])], y_range=(0.0, 10.0)
    )
    rows = paint_plot(data, 8, 5, _PALETTE, UNICODE)
    styles = [{piece.style for piece in row} for row in rows]
    assert styles[0] == {_PALETTE.series[0].faint}
    assert _PALETTE.series[0].style in styles[2]


def test_a_band_without_an_end_leaves_the_picture() -> None:
    data = PlotData(
        [Line("", [0, 1], [5, 5])], [Band([0, 1], [4, 4], [math.inf, math.inf])],
        y_range=(0.0, 10.0),
    )  # fmt: skip
    faint = _PALETTE.series[0].faint
    rows = paint_plot(data, 8, 5, _PALETTE, UNICODE)
    assert faint in {piece.style for piece in rows[0]}
    assert faint not in {piece.style for piece in rows[4]}


@given(st.lists(st.floats(0.01, 1e6), min_size=1, max_size=300))
def test_a_distribution_s_curve_is_the_empirical_one(values: list[float]) -> None:
    """At each of its points: NumPy's rank of the value among all (`searchsorted`, right)."""
    (line,) = cdf_plot({"a": values}).lines
    assert line.step
    assert line.y[0] == 0
    ranks = np.searchsorted(np.sort(values), line.x[1:], side="right")
    shares = np.asarray(line.y[1:]) / 100
    assert (shares <= ranks / len(values) + 1e-12).all()
    assert line.y[-1] == 100
    assert line.x[-1] == max(values)


def test_a_long_distribution_has_few_steps() -> None:
    (line,) = cdf_plot({"a": [float(number) for number in range(10_000)]}).lines
    assert len(line.x) <= 402


def test_the_curve_of_a_histogram_is_that_of_its_values() -> None:
    values = [10.0, 20.0, 20.0, 40.0]
    (line,) = cdf_plot_of_buckets({"a": Histogram(values).buckets()}).lines
    assert line.y == [0, 25, 75, 100]
    assert np.allclose(line.x[1:], [10, 20, 40], rtol=0.01)


def test_a_legend_without_room_says_how_many_lines_there_are() -> None:
    lines = [Line(f"{'a very long name ' * 3}{n}", [0, 1], [0, n]) for n in range(4)]
    rows = text_of(paint_plot(PlotData(lines), 60, 14, palette(DARK), UNICODE))
    assert rows[1].rstrip().endswith("… 4 in all")
    assert "a very long name" in rows[1]
