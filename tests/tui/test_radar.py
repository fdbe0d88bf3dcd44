"""The radar: where scores lie, names that are whole, gaps, and the bars that stand in for it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from whole_rows import assert_whole
from widget_examples.radar import demo

from agentbench_tui.tui.drawing.glyphs import ASCII, UNICODE, Glyphs
from agentbench_tui.tui.drawing.painting import text_of
from agentbench_tui.tui.theme import DARK, LIGHT, palette
from agentbench_tui.tui.widgets.radar import Radar, Shape, paint_radar

LOOK = palette(DARK), UNICODE
HOSTILE = "ab 日\x1b\n\u202e"
WINDS = ("n", "e", "s", "w")


def shown(radar: Radar, width: int, height: int) -> list[str]:
    rows = text_of(paint_radar(radar, width, height, *LOOK))
    assert [cell_len(row) for row in rows] == [width] * height
    return rows


def markers(radar: Radar, marker: str = "●") -> list[tuple[int, int]]:
    """Column and row of each in a radar with its legend below, which is left out."""
    rows = shown(radar, 50, 23)[:-1]
    return [(x, y) for y, row in enumerate(rows) for x, one in enumerate(row) if one == marker]


def test_the_first_axis_points_up_and_the_others_follow_clockwise() -> None:
    north, west, east, south = markers(Radar(WINDS, (Shape("a", (100.0,) * 4),)))
    assert abs(north[0] - south[0]) <= 1
    assert abs(west[1] - east[1]) <= 1
    assert west[0] < north[0] < east[0]
    # A cell is twice as high as wide: the net is as wide in dots as it is high.
    assert abs((east[0] - west[0]) - 2 * (south[1] - north[1])) <= 3


def test_half_the_score_is_half_the_way_from_the_center() -> None:
    north, _, _, south = markers(Radar(WINDS, (Shape("a", (100.0,) * 4),)))
    middle = (north[1] + south[1]) / 2
    half = markers(Radar(WINDS, (Shape("a", (50.0, 100.0, 100.0, 100.0)),)))[0]
    assert abs((middle - half[1]) - (middle - north[1]) / 2) <= 1


def test_who_has_a_marker_elsewhere_keeps_it_and_others_get_one_that_is_free() -> None:
    scores = (50.0,) * 4
    drawn = Radar(WINDS, (Shape("b", scores, series=1), Shape("x", scores), Shape("y", scores)))
    legend = "".join(shown(drawn, 50, 23)[-1:])
    assert legend.split() == ["▲", "B", "b", "●", "A", "x", "■", "C", "y"]


def test_scores_beyond_the_rim_are_drawn_on_it_and_told_as_they_are() -> None:
    beyond = Radar(WINDS, (Shape("a", (140.0, 100.0, 100.0, -5.0)),))
    within = Radar(WINDS, (Shape("a", (100.0, 100.0, 100.0, 0.0)),))
    assert markers(beyond) == markers(within)
    assert "140.0" in "".join(shown(beyond, 90, 20))


def test_a_missing_score_leaves_a_gap_and_a_dash() -> None:
    gaps = Radar(WINDS, (Shape("a", (50.0, None, 50.0, None)),))
    rows = paint_radar(gaps, 60, 20, *LOOK)
    line = palette(DARK).series[0].style
    drawn = "".join(piece.text for row in rows for piece in row if piece.style == line)
    assert not any("\u2800" < one <= "\u28ff" for one in drawn)
    whole = Radar(WINDS, (Shape("a", (50.0,) * 4),))
    rows_of_whole = paint_radar(whole, 60, 20, *LOOK)
    drawn = "".join(piece.text for row in rows_of_whole for piece in row if piece.style == line)
    assert any("\u2800" < one <= "\u28ff" for one in drawn)
    assert "– not measured" in "\n".join(shown(gaps, 90, 20))


def test_the_numbers_stand_beside_the_radar_where_there_is_room() -> None:
    two = Radar(
        ("speed", "accuracy", "cost"),
        (Shape("atlas", (61.2, 93.4, 38.0)), Shape("swift", (96.0, 58.3, None), simulated=True)),
    )
    rows = [row.rstrip() for row in shown(two, 90, 20)]
    table = [row[-22:] for row in rows if "61.2" in row or "93.4" in row or "38.0" in row]
    assert table == [
        "speed      61.2   96.0",
        "accuracy   93.4   58.3",
        "cost       38.0      –",
    ]
    assert any(row.endswith("● A atlas") for row in rows)
    assert any(row.endswith("△ B swift simulated") for row in rows)


def test_the_numbers_stand_below_the_names_where_there_is_none() -> None:
    one = Radar(("speed", "accuracy", "cost"), (Shape("atlas", (61.2, 93.4, None)),))
    text = "\n".join(shown(one, 40, 18))
    assert "61" in text
    assert "93" in text
    assert "– not measured" not in text
    assert "● A atlas" in text


@settings(max_examples=40)
@given(
    st.lists(st.text("abcdefgh", min_size=1, max_size=9), min_size=3, max_size=8),
    st.integers(46, 130),
    st.integers(16, 50),
)
def test_names_of_axes_are_not_clipped(names: list[str], width: int, height: int) -> None:
    radar = Radar(tuple(names), (Shape("Z", tuple(50.0 for _ in names)),))
    text = "\n".join(shown(radar, width, height))
    assert all(name in text for name in names)


def test_a_small_room_has_bars_for_each_axis() -> None:
    two = Radar(("speed", "cost"), (Shape("atlas", (50.0, 100.0)), Shape("swift", (25.0, None))))
    assert [row.rstrip() for row in shown(two, 22, 8)] == [
        "speed",
        " ● A █████─────   50.0",
        " ▲ B ██▌───────   25.0",
        "cost",
        " ● A ██████████  100.0",
        " ▲ B ──────────      –",
        "● A atlas  ▲ B swift",
        "",
    ]


def test_fewer_rows_have_a_line_for_each_axis_and_the_fewest_say_what_is_left_out() -> None:
    two = Radar(("speed", "cost"), (Shape("atlas", (50.0, 100.0)), Shape("swift", (25.0, None))))
    assert [row.rstrip() for row in shown(two, 25, 2)] == [
        "speed ──▲──●─────  50  25",
        "cost  ──────────● 100   –",
    ]
    assert shown(two, 25, 1) == [f"{'… 2 more':25}"]


def test_nothing_measured_is_said_with_the_reason() -> None:
    radar = Radar(WINDS, (Shape("a", (None, float("nan"))),), reason="not scored yet")
    assert "not scored yet" in "".join(shown(radar, 40, 20))
    assert "no scores" in "".join(shown(Radar((), ()), 40, 20))


SCORES = st.none() | st.floats() | st.floats(0, 100)


@settings(max_examples=60)
@given(
    st.lists(st.text(HOSTILE, max_size=14), max_size=9),
    st.lists(
        st.builds(
            Shape,
            st.text(HOSTILE, max_size=9),
            st.lists(SCORES, max_size=9).map(tuple),
            st.booleans(),
        ),
        max_size=9,
    ),
    st.integers(1, 100),
    st.integers(1, 30),
    st.sampled_from([UNICODE, ASCII]),
)
def test_any_radar_fits_any_room(
    axes: list[str], shapes: list[Shape], width: int, height: int, glyphs: Glyphs
) -> None:
    rows = paint_radar(Radar(tuple(axes), tuple(shapes)), width, height, palette(LIGHT), glyphs)
    assert_whole(rows, width, height)
    assert glyphs is UNICODE or "".join(text_of(rows)).isascii()


@pytest.mark.parametrize("no_color", [False, True])
def test_the_example_says_that_it_is_one(no_color: bool) -> None:
    rows = paint_radar(demo().radar, 100, 24, palette(DARK, no_color=no_color), UNICODE)
    assert sum("example" in row for row in text_of(rows)) == 3
