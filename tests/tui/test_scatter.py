"""The scatter plot: where points lie, whiskers, names, the front, and what is said of the rest."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from whole_rows import assert_whole
from widget_examples.scatter import demo

from agentbench_tui.tui.drawing.glyphs import ASCII, UNICODE, Glyphs
from agentbench_tui.tui.drawing.painting import Row, text_of
from agentbench_tui.tui.theme import DARK, palette
from agentbench_tui.tui.widgets.scatter import Point, Scatter, paint_scatter

LOOK = palette(DARK), UNICODE
HOSTILE = "ab 日\x1b\n\u202e"


def painted(scatter: Scatter, width: int = 60, height: int = 20) -> list[Row]:
    rows = paint_scatter(scatter, width, height, *LOOK)
    assert [cell_len(row) for row in text_of(rows)] == [width] * height
    return rows


def shown(scatter: Scatter, width: int = 60, height: int = 20) -> list[str]:
    return [row.rstrip() for row in text_of(painted(scatter, width, height))]


def cells(rows: list[str], marker: str) -> list[tuple[int, int]]:
    """Column and row of each, from left to right; heading and foot left out."""
    return sorted((row.index(marker), y) for y, row in enumerate(rows[1:-1]) if marker in row)


def dots(rows: list[Row], style: object) -> int:
    text = "".join(piece.text for row in rows for piece in row if piece.style == style)
    return sum((ord(one) - 0x2800).bit_count() for one in text if "\u2800" < one <= "\u28ff")


def scatter(*points: Point, **options: object) -> Scatter:
    return Scatter(points, "cost", "quality", **options)  # type: ignore[arg-type]


def test_points_lie_in_proportion() -> None:
    rows = shown(scatter(Point("", 0, 0), Point("", 50, 25), Point("", 100, 100)))
    (left, low), (middle, between), (right, top) = cells(rows, "●")
    assert abs((middle - left) - (right - left) / 2) <= 1
    assert abs((low - between) - (low - top) / 4) <= 1


def test_a_logarithmic_axis_gives_factors_the_same_room() -> None:
    rows = shown(scatter(Point("", 1, 0), Point("", 10, 1), Point("", 100, 2), log_x=True))
    (left, _), (middle, _), (right, _) = cells(rows, "●")
    assert abs((middle - left) - (right - middle)) <= 1


def test_axes_have_labels_units_and_round_ticks() -> None:
    rows = shown(scatter(Point("", 0, 0), Point("", 2, 100), x_unit="$", y_unit="%"))
    assert rows[0] == "quality"
    assert [row[:5] for row in rows if "┤" in row] == ["100%┤", " 50%┤", "   0┤"]
    assert rows[-2].split() == ["0", "$0.5", "$1.0", "$1.5", "$2.0"]
    assert rows[-1].endswith("cost")


def test_intervals_are_drawn_in_both_directions() -> None:
    style = palette(DARK).series[0].style
    bare = dots(painted(scatter(Point("", 5, 5), Point("", 0, 0), Point("", 10, 10))), style)
    both = Point("", 5, 5, 2, 8, 2, 8)
    wide = painted(scatter(both, Point("", 0, 0), Point("", 10, 10)))
    assert bare == 0
    # Six tenths of about 110 dots across and of 64 dots up, as far as no marker hides them.
    assert dots(wide, style) > 80


def test_the_front_is_drawn_as_steps_that_go_on_to_the_edge() -> None:
    front = (Point("", 1, 1, on_front=True), Point("", 5, 5, on_front=True), Point("", 9, 2))
    rows = painted(scatter(*front))
    accent = palette(DARK).accent
    line = [
        (at, y)
        for y, row in enumerate(rows[1:-3])
        for at, piece in enumerate(
            [piece for piece in row for _ in piece.text]
        )
        if piece.style == accent and piece.text.strip()
    ]  # fmt: skip
    assert {y for _, y in line} >= set(range(2, 14))
    assert max(at for at, _ in line) == 59
    assert "╌╌ front" in text_of(rows)[0]
    assert dots(painted(scatter(*(Point("", one.x, one.y) for one in front))), accent) == 0


def test_names_stand_beside_their_points_and_never_over_another() -> None:
    near = [Point(f"agent-{letter}", 5 + at / 9, 5) for at, letter in enumerate("abcde")]
    text = "\n".join(shown(scatter(*near, Point("far", 0, 0), Point("", 10, 10))))
    assert all(f"agent-{letter}" in text for letter in "abcde")
    assert "● far" in text


def test_names_without_room_are_counted() -> None:
    crowd = [Point(f"a-rather-long-name-{at}", 5, 5) for at in range(30)]
    rows = shown(scatter(*crowd, Point("x", 0, 0), Point("y", 10, 10)), 60, 12)
    written = sum(row.count("a-rather") for row in rows)
    assert rows[-1].startswith(f"{30 - written} unnamed for want of room")


def test_simulated_points_are_hollow_and_said_to_be() -> None:
    rows = shown(scatter(Point("mock", 1, 1, simulated=True), Point("real", 2, 2)))
    assert "○ hollow: simulated" in rows[0]
    assert "○ mock" in "\n".join(rows)
    assert "simulated" not in shown(scatter(Point("real", 2, 2)))[0]


def test_what_cannot_be_drawn_is_counted() -> None:
    rows = shown(
        scatter(Point("a", 1, 1), Point("b", 0, 1), Point("c", math.nan, 1), log_x=True), 70
    )
    assert rows[-1].startswith("1 without a value, 1 at 0 or below, not on a logarithmic axis")
    assert "nothing was measured" in "".join(shown(scatter()))
    assert "nothing was measured" in "".join(shown(scatter(Point("b", 0, 1), log_x=True)))


@pytest.mark.parametrize("x", [(1.0, 5e290), (5e-324, 5e-324), (1e-300, 1e300), (3.0, 3.0)])
def test_any_range_has_a_logarithmic_axis(x: tuple[float, float]) -> None:
    rows = shown(scatter(Point("", x[0], 0), Point("", x[1], 1), log_x=True))
    assert len(cells(rows, "●")) == 2


def test_a_small_room_has_a_list_with_the_front_first() -> None:
    some = scatter(
        Point("dear", 4.1, 88), Point("good", 2.4, 93.4, on_front=True), x_unit="$", y_unit="%"
    )
    assert shown(some, 30, 3) == [
        "● good          93.4%    $2.40",
        "● dear            88%    $4.10",
        "",
    ]
    three = scatter(*(Point(str(at), at, at) for at in range(3)))
    assert shown(three, 30, 2)[-1] == "… 2 more"


NUMBERS = st.floats() | st.floats(-100, 100)
ENDS = st.none() | NUMBERS


@settings(max_examples=60)
@given(
    st.lists(
        st.builds(
            Point,
            st.text(HOSTILE, max_size=9),
            NUMBERS,
            NUMBERS,
            ENDS,
            ENDS,
            ENDS,
            ENDS,
            st.integers(0, 9),
            st.booleans(),
            st.booleans(),
        ),
        max_size=6,
    ),
    st.booleans(),
    st.integers(1, 90),
    st.integers(1, 24),
    st.sampled_from([UNICODE, ASCII]),
)
def test_any_points_fit_any_room(
    points: list[Point], log: bool, width: int, height: int, glyphs: Glyphs
) -> None:
    data = Scatter(tuple(points), "x é", "y", "ms", "%", log, groups=("a", "b"))
    rows = paint_scatter(data, width, height, palette(DARK), glyphs)
    assert_whole(rows, width, height)
    assert glyphs is UNICODE or "".join(text_of(rows)).isascii()


def test_the_example_says_that_it_is_one() -> None:
    assert all("example" in one.name for one in demo().scatter.points)
