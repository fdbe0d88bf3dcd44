"""The line of keys at the foot of every page."""

from pathlib import Path
from typing import ClassVar

from hypothesis import given, settings
from hypothesis import strategies as st
from stores import screen_text, session, settle
from textual.app import App, ComposeResult
from whole_rows import assert_whole

from agentbench_tui.tui.drawing.glyphs import ASCII, UNICODE
from agentbench_tui.tui.drawing.painting import text_of
from agentbench_tui.tui.theme import DARK, palette
from agentbench_tui.tui.widgets.key_bar import Key, KeyBar, paint_keys

LOOK = palette(DARK), UNICODE
KEYS = (Key("enter", "⏎", "Open"), Key("c", "c", "Compare", False), Key("q", "q", "Quit"))


def test_keys_stand_beside_what_they_do_and_those_that_do_nothing_now_are_faint() -> None:
    rows = paint_keys(KEYS, 32, 1, *LOOK)
    assert text_of(rows) == [" ⏎ Open  c Compare  q Quit      "]
    dim = LOOK[0].dim
    assert [piece.text for piece in rows[0] if piece.style == dim] == [" c Compare "]


def test_where_it_is_narrow_the_line_is_cut() -> None:
    assert text_of(paint_keys(KEYS, 12, 1, *LOOK)) == [" ⏎ Open  c C"]


def test_without_unicode_there_is_none() -> None:
    (row,) = text_of(paint_keys(KEYS, 30, 1, palette(DARK), ASCII))
    assert row.isascii()


@settings(max_examples=40)
@given(
    st.lists(st.builds(Key, st.just("x"), st.text("a日⏎", max_size=3), st.text("b é"))),
    st.integers(1, 60),
    st.integers(1, 3),
)
def test_any_keys_fit_any_room(keys: list[Key], width: int, height: int) -> None:
    assert_whole(paint_keys(keys, width, height, *LOOK), width, height)


class Pressed(App[None]):
    """Counts what its keys do."""

    BINDINGS: ClassVar = [("a", "add(1)", "One"), ("b", "add(10)", "Ten"), ("c", "off", "Off")]
    count = 0

    def compose(self) -> ComposeResult:
        yield KeyBar()

    def action_add(self, amount: int) -> None:
        self.count += amount

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return None if action == "off" else True


async def test_a_click_on_a_key_presses_it() -> None:
    app = Pressed()
    async with app.run_test(size=(60, 4)) as pilot:
        await settle(pilot, lambda: " a One  b Ten  c Off " in screen_text(app))
        await pilot.click(KeyBar, offset=(9, 0))
        await settle(pilot, lambda: app.count == 10)
        await pilot.click(KeyBar, offset=(2, 0))
        await settle(pilot, lambda: app.count == 11)
        await pilot.click(KeyBar, offset=(16, 0))  # disabled
        await pilot.click(KeyBar, offset=(40, 0))  # nothing there
        assert app.count == 11
        assert [key.enabled for key in app.screen.query_one(KeyBar).keys] == [True, True, False]


async def test_it_follows_the_page_in_front(tmp_path: Path) -> None:
    app = session(tmp_path / "none.db", "home")
    last = lambda: screen_text(app).splitlines()[-1]  # noqa: E731
    async with app.run_test(size=(120, 24)) as pilot:
        await settle(pilot, lambda: last().rstrip().endswith("? Help  q Quit"))
        home = last()
        await pilot.press("4")
        await settle(pilot, lambda: "Rank by" in last())
        await pilot.press("1")
        await settle(pilot, lambda: last() == home)
