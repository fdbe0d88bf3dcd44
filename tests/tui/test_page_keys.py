"""The keys of the pages, on what is left of the line that says where one is."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from stores import screen_text, session, settle

from agentbench_tui.tui.drawing.glyphs import UNICODE
from agentbench_tui.tui.drawing.painting import text_of
from agentbench_tui.tui.page_keys import page_keys
from agentbench_tui.tui.page_list import PAGES
from agentbench_tui.tui.theme import DARK, palette
from agentbench_tui.tui.widgets.crumbs import CrumbBar, paint_crumbs

ALL = (
    "1 Home  2 New  3 Live  4 Leaders  5 Compare  6 History  7 Stress  8 Cost  9 Cases  0 Profile"
    "  m Market  l Training"
)
SHORT = "1-9 0 m l pages  ? help"


def written(here: str, room: int) -> str:
    return "".join(" " * key.before + key.text for key in page_keys(here, room))


def test_every_page_is_named_where_there_is_room() -> None:
    assert written("home", len(ALL)) == ALL


def test_names_give_way_from_the_last_on_but_for_that_of_the_page_in_front() -> None:
    assert written("home", 60) == "1 Home  2 New  3 Live  4 Leaders  5 Compare  6 7 8 9 0 m l"
    assert written("cases", 60) == "1 Home  2 New  3 Live  4 Leaders  5 6 7 8  9 Cases  0 m l"


def test_where_few_names_fit_only_the_keys_are_told_and_then_nothing() -> None:
    assert written("home", 40) == written("home", len(SHORT)) == SHORT
    assert written("home", len(SHORT) - 1) == written("home", 15) == "1-9 0 m l pages"
    assert written("home", 14) == ""


@given(st.sampled_from([page.name for page in PAGES]), st.integers(-5, 130))
def test_it_never_takes_more_room_than_there_is(here: str, room: int) -> None:
    keys = page_keys(here, room)
    assert sum(key.width for key in keys) == cell_len(written(here, room)) <= max(0, room)
    assert len(keys) in {0, 1, 2, len(PAGES)}
    assert [key.name for key in keys if key.here] == (
        [here.capitalize()] if len(keys) == len(PAGES) else []
    )


def test_they_stand_at_the_right_end_and_leave_the_way_whole() -> None:
    way = ("agentbench", "Home")
    for width, keys in ((140, ALL), (60, SHORT), (40, "1-9 0 m l pages"), (30, "")):
        (row,) = text_of(paint_crumbs(way, width, 1, palette(DARK), UNICODE, "home"))
        assert row == "agentbench ▸ Home" + keys.rjust(width - 17)


async def test_a_click_on_a_key_leads_to_its_page(tmp_path: Path) -> None:
    app = session(tmp_path / "none.db", "home")
    async with app.run_test(size=(140, 24)) as pilot:
        await settle(pilot, lambda: ALL in screen_text(app))
        at = 140 - len(ALL) + ALL.index("4 Leaders")
        await pilot.click(CrumbBar, offset=(at - 1, 0))  # between two keys
        await pilot.click(CrumbBar, offset=(at + 8, 0))
        await settle(pilot, lambda: app.current_mode == "leaders")


async def test_help_tells_the_pages_first(tmp_path: Path) -> None:
    app = session(tmp_path / "none.db", "home")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot, lambda: "5 Compare" in screen_text(app))
        await pilot.press("question_mark")
        await settle(pilot, lambda: "Training: learning curves" in screen_text(app))
        assert "Home: recent runs" in screen_text(app)
