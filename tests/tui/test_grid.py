"""The table: columns that give way, a cursor that stays with its row, keys and messages."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App, ComposeResult
from whole_rows import assert_whole

from agentbench_tui.tui.drawing.glyphs import ASCII, UNICODE, Glyphs
from agentbench_tui.tui.drawing.grid_data import fitting
from agentbench_tui.tui.drawing.painting import span, text_of
from agentbench_tui.tui.theme import DARK, palette
from agentbench_tui.tui.widgets.grid import (
    Cell,
    Column,
    Grid,
    GridData,
    GridRow,
    GridState,
    paint_grid,
)

_PALETTE = palette(DARK)
_words = st.text(st.sampled_from("ab 日\x1b\n"), max_size=10)
_numbers = st.floats(allow_nan=True, allow_infinity=True)
_column = st.builds(
    Column, _words, _words, st.integers(1, 20), st.sampled_from(["left", "right", "center"]),
    st.integers(0, 3), st.integers(0, 5),
)  # fmt: skip
_cell = st.one_of(
    _words,
    st.builds(
        Cell, _words, st.none() | st.sampled_from(["bad", "dim"]), st.none() | st.integers(0, 20),
        bar=st.none() | _numbers, trend=st.none() | st.lists(st.none() | _numbers, max_size=9),
        change=st.none() | st.integers(-3, 3),
    ),
)  # fmt: skip
_data = st.builds(
    GridData,
    st.lists(_column, max_size=5),
    st.lists(st.builds(GridRow, _words, st.lists(_cell, max_size=6)), max_size=9),
    st.none() | st.tuples(_words, st.booleans()),
)
_COLUMNS = (
    Column("rank", "#", 3, "right"),
    Column("agent", "agent", 8, flex=1),
    Column("p95", "p95", 7, "right", priority=2),
)


def _rows(*names: str) -> list[GridRow]:
    return [GridRow(name, (str(place), name, "9 ms")) for place, name in enumerate(names, 1)]


def _painted(data: GridData, state: GridState, width: int, height: int) -> list[str]:
    return text_of(paint_grid(data, state, width, height, _PALETTE, UNICODE))


@given(
    _data,
    st.builds(GridState, st.integers(0, 9), st.integers(0, 9)),
    st.integers(1, 60),
    st.integers(1, 12),
    st.sampled_from([ASCII, UNICODE]),
)
def test_any_data_make_whole_rows(
    data: GridData, state: GridState, width: int, height: int, glyphs: Glyphs
) -> None:
    rows = paint_grid(data, state, width, height, _PALETTE, glyphs)
    assert_whole(rows, width, height)
    if glyphs is ASCII:
        assert all(text.isascii() for text in text_of(rows))


@given(st.lists(_column, max_size=6), st.integers(1, 80), st.integers(0, 90))
def test_columns_never_need_more_room_than_there_is(
    columns: list[Column], width: int, wide: int
) -> None:
    layout = fitting(columns, width, [wide] * len(columns))
    assert [number for number, _ in layout] == sorted(number for number, _ in layout)
    assert bool(layout) == bool(columns)
    if layout:
        assert sum(cells for _, cells in layout) + 2 * (len(layout) - 1) <= width
    dropped = {column.priority for number, column in enumerate(columns)} - {
        columns[number].priority for number, _ in layout
    }
    assert all(columns[number].priority <= least for number, _ in layout for least in dropped)


def test_a_flexible_column_has_first_what_it_wants_and_then_its_share() -> None:
    columns = (Column("a", "a", 4, flex=1), Column("b", "b", 4), Column("c", "c", 4, flex=1))
    assert fitting(columns, 36) == [(0, 14), (1, 4), (2, 14)]
    assert fitting(columns, 36, [20, 9, 6]) == [(0, 21), (1, 4), (2, 7)]
    assert fitting(columns, 36, [40, 9, 6]) == [(0, 22), (1, 4), (2, 6)]
    assert fitting(columns, 36, [40, 9, 30]) == [(0, 14), (1, 4), (2, 14)]


def test_what_is_long_is_not_cut_while_another_column_has_more_than_it_needs() -> None:
    columns = (Column("a", "a", 4, flex=1), Column("b", "b", 4, flex=3))
    data = GridData(columns, [GridRow("1", ("infrastructure", "short"))])
    assert _painted(data, GridState(), 28, 2)[1] == "▸ infrastructure   short    "


def test_without_colors_what_is_bad_is_bold_and_no_block() -> None:
    data = GridData([Column("a", "a", 10)], [GridRow("1", (Cell("bad", role="bad"),))])
    row = paint_grid(data, GridState(focused=False), 12, 2, palette(DARK, no_color=True), UNICODE)
    styles = [piece.style for piece in row[1] if "bad" in piece.text]
    assert [(style.bold, bool(style.reverse)) for style in styles if style] == [(True, False)]


def test_titles_rows_and_cursor() -> None:
    data = GridData(_COLUMNS, _rows("atlas", "swift"), sort=("p95", False))
    assert _painted(data, GridState(cursor=1), 28, 4) == [
        "    #  agent           ▲ p95",
        "    1  atlas            9 ms",
        "▸   2  swift            9 ms",
        "                            ",
    ]


def test_a_narrow_table_drops_the_columns_of_least_weight() -> None:
    rows = _painted(GridData(_COLUMNS, _rows("atlas")), GridState(), 18, 2)
    assert rows == ["    #  agent      ", "▸   1  atlas      "]


def test_more_rows_than_room_have_a_bar_that_says_where_one_is() -> None:
    data = GridData(_COLUMNS, _rows(*"abcdefghij"))
    top = _painted(data, GridState(), 30, 6)
    assert [row[-1] for row in top[1:]] == ["█", "█", "│", "│", "│"]
    end = _painted(data, GridState(cursor=9, top=5), 30, 6)
    assert [row[-1] for row in end[1:]] == ["│", "│", "│", "█", "█"]
    assert end[1].split()[1] == "f"


def test_cells_have_markers_bars_courses_and_arrows() -> None:
    columns = (Column("a", "a", 6), Column("b", "b", 10), Column("c", "c", 4), Column("d", "d", 4))
    cells = (Cell("x", series=1), Cell("50%", bar=0.5), Cell(trend=[0, 1]), Cell("2", change=-1))
    rows = _painted(GridData(columns, [GridRow("k", cells)]), GridState(), 32, 2)
    assert rows[1] == "▸ ▲ x     ━━───  50%    ▁█  2  ▼"


def test_a_cell_that_paints_itself_is_kept_within_its_column() -> None:
    cell = Cell(drawn=lambda cells, palette, glyphs: [span("x" * (cells + 3), palette.dim)])
    columns = (Column("a", "a", 4), Column("b", "b", 4))
    rows = _painted(GridData(columns, [GridRow("k", (cell, "b"))]), GridState(), 12, 2)
    assert rows[1] == "▸ xxxx  b   "


def test_bars_of_one_column_are_equally_long_whatever_their_text() -> None:
    column = (Column("b", "b", 14),)
    rows = [GridRow(text, (Cell(text, bar=1.0),)) for text in ("100%", "7%")]
    painted = _painted(GridData(column, rows), GridState(), 20, 3)
    assert painted[1].count("━") == painted[2].count("━") == 7


def test_a_bar_gives_way_to_numbers_that_need_its_room() -> None:
    column = (Column("b", "b", 14),)
    rows = [GridRow("k", (Cell(text, bar=1.0),)) for text in ("9,368/9,368", "19,368/19,368")]
    painted = _painted(GridData(column, rows), GridState(), 20, 3)
    assert [row.split()[-1] for row in painted[1:]] == ["9,368/9,368", "19,368/19,368"]
    assert [row.count("━") for row in painted[1:]] == [2, 0]


def test_selected_rows_have_a_tick() -> None:
    state = GridState(cursor=0, selected=frozenset({"swift"}))
    rows = _painted(GridData(_COLUMNS, _rows("atlas", "swift")), state, 30, 3)
    assert [row[:2] for row in rows] == ["  ", "▸ ", " ✓"]


def test_control_characters_of_an_agent_s_name_are_written_out() -> None:
    evil = GridRow("k", ("1", "\x1b]52;c;x\x07", ""))
    text = "".join(_painted(GridData(_COLUMNS, [evil]), GridState(), 60, 2))
    assert "\x1b" not in text
    assert "\\x1b]52" in text


def test_no_rows_say_why() -> None:
    rows = _painted(GridData(_COLUMNS, reason="no agent yet"), GridState(), 40, 4)
    assert rows[0].strip().startswith("#")
    assert any("no agent yet" in row for row in rows)


class _App(App[None]):
    def __init__(self, *names: str, selectable: bool = False) -> None:
        super().__init__()
        self.glyphs = UNICODE
        self.grid = Grid(GridData(_COLUMNS, _rows(*names)), selectable=selectable)
        self.told: list[object] = []

    def compose(self) -> ComposeResult:
        yield self.grid

    def on_mount(self) -> None:
        self.grid.focus()

    def on_grid_moved(self, event: Grid.Moved) -> None:
        self.told.append(("moved", event.key))

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        self.told.append(("chosen", event.key))

    def on_grid_picked(self, event: Grid.Picked) -> None:
        self.told.append(("picked", sorted(event.keys)))

    def on_grid_title_clicked(self, event: Grid.TitleClicked) -> None:
        self.told.append(("title", event.column))


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (["down"], "b"), (["j", "j"], "c"), (["end"], "j"), (["end", "up"], "i"),
        (["end", "k"], "i"), (["pagedown"], "e"), (["pagedown", "pagedown", "pageup"], "e"),
        (["end", "home"], "a"), (["up"], "a"), (["end", "down"], "j"),
    ],
)  # fmt: skip
async def test_keys_move_the_cursor(keys: list[str], expected: str) -> None:
    app = _App(*"abcdefghij")
    async with app.run_test(size=(40, 6)) as pilot:
        await pilot.press(*keys)
        assert app.grid.cursor_key == expected
        shown = [app.grid.render_line(y).text for y in range(6)]
        assert sum(row.startswith("▸") and f"  {expected} " in row for row in shown) == 1


async def test_moving_and_choosing_are_told() -> None:
    app = _App("a", "b")
    async with app.run_test(size=(40, 6)) as pilot:
        await pilot.press("down", "down", "enter")
        await pilot.pause()
        assert app.told == [("moved", "b"), ("chosen", "b")]


async def test_the_cursor_stays_with_its_row() -> None:
    app = _App("a", "b", "c")
    async with app.run_test(size=(40, 6)) as pilot:
        await pilot.press("down")
        app.grid.show(GridData(_COLUMNS, _rows("b", "c", "a")))
        assert app.grid.cursor_key == "b"
        app.grid.show(GridData(_COLUMNS, _rows("c", "a", "b")))
        assert app.grid.cursor_key == "b"
        await pilot.pause()
        assert app.grid.render_line(3).text.startswith("▸")


async def test_a_cursor_that_nobody_moved_stays_at_the_top() -> None:
    app = _App("a", "b")
    async with app.run_test(size=(40, 6)) as pilot:
        app.grid.show(GridData(_COLUMNS, _rows("b", "a")))
        await pilot.pause()
        assert app.grid.cursor_key == "b"
        assert app.told == [("moved", "b")]


async def test_a_row_that_goes_leaves_the_cursor_at_its_place() -> None:
    app = _App("a", "b", "c")
    async with app.run_test(size=(40, 6)) as pilot:
        await pilot.press("down")
        app.grid.show(GridData(_COLUMNS, _rows("a", "c")))
        assert app.grid.cursor_key == "c"
        app.grid.show(GridData(_COLUMNS, []))
        assert app.grid.cursor_key is None
        await pilot.press("enter", "down")
        assert app.grid.cursor_key is None


async def test_a_longer_table_keeps_the_cursor_in_sight() -> None:
    app = _App("z", "y")
    async with app.run_test(size=(40, 6)) as pilot:
        await pilot.press("down")
        app.grid.show(GridData(_COLUMNS, _rows(*"abcdefghijklm", "y")))
        await pilot.pause()
        assert app.grid.cursor_key == "y"
        assert any(app.grid.render_line(y).text.startswith("▸") for y in range(6))


async def test_rows_are_selected_by_the_space_bar() -> None:
    app = _App("a", "b", "c", selectable=True)
    async with app.run_test(size=(40, 6)) as pilot:
        await pilot.press("space", "space")
        await pilot.pause()
        assert app.grid.selected == {"a", "b"}
        assert ("picked", ["a", "b"]) in app.told
        app.grid.show(GridData(_COLUMNS, _rows("b", "c")))
        assert app.grid.selected == {"b"}
        app.grid.select(frozenset({"c", "gone"}))
        assert app.grid.selected == {"c"}


async def test_the_space_bar_is_the_screen_s_where_nothing_is_selected() -> None:
    class Frozen(_App):
        BINDINGS = [("space", "freeze", "Freeze")]  # noqa: RUF012

        def action_freeze(self) -> None:
            self.told.append("frozen")

    app = Frozen("a", "b")
    async with app.run_test(size=(40, 6)) as pilot:
        await pilot.press("space")
        assert app.told == ["frozen"]
        assert app.grid.selected == frozenset()


async def test_clicks_go_to_a_row_open_it_and_ask_for_sorting() -> None:
    app = _App("a", "b", "c")
    async with app.run_test(size=(40, 6)) as pilot:
        await pilot.click(Grid, offset=(8, 2))
        await pilot.pause()
        assert app.grid.cursor_key == "b"
        await pilot.click(Grid, offset=(8, 2), times=2)
        await pilot.pause()
        assert app.told[-1] == ("chosen", "b")
        await pilot.click(Grid, offset=(38, 0))
        await pilot.pause()
        assert app.told[-1] == ("title", "p95")


async def test_a_place_can_be_gone_to_by_its_key() -> None:
    app = _App("a", "b", "c")
    async with app.run_test(size=(40, 6)):
        app.grid.move_to("c")
        app.grid.move_to("gone")
        assert app.grid.cursor_key == "c"


async def test_a_changed_cell_refreshes_its_row_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    app = _App("a", "b", "c")
    async with app.run_test(size=(40, 6)) as pilot:
        await pilot.pause()
        refreshed: list[int] = []
        monkeypatch.setattr(
            app.grid, "refresh", lambda *regions: refreshed.extend(one.y for one in regions)
        )
        rows = _rows("a", "b", "c")
        rows[1] = replace(rows[1], cells=("2", "b", "8 ms"))
        app.grid.show(GridData(_COLUMNS, rows))
        assert refreshed == [2]


def test_names_get_the_room_that_they_need_before_bars_grow() -> None:
    """48 cells: the gutter takes 2, the gap 2, the name 24 as it needs, the bar the other 20."""
    columns = (Column("name", "name", 8, flex=1, has_names=True), Column("done", "", 10, flex=9))
    rows = [GridRow(name, (name, Cell("", bar=1.0))) for name in ("model-name-of-24-cells-x", "b")]
    state = GridState(focused=False)
    painted = paint_grid(GridData(columns, rows), state, 48, 3, _PALETTE, UNICODE)
    assert text_of(painted)[1] == "▸ model-name-of-24-cells-x  " + "━" * 20


def test_names_that_begin_alike_differ_where_they_are_cut() -> None:
    columns = (Column("name", "name", 12, has_names=True),)
    rows = [GridRow(size, (f"a-very-long-model-name-{size}",)) for size in ("7b", "14b")]
    painted = paint_grid(GridData(columns, rows), GridState(), 14, 3, _PALETTE, UNICODE)
    assert text_of(painted)[1:] == ["▸ a-ver…ame-7b", "  a-ver…me-14b"]
