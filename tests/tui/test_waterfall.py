"""The waterfall of one answer: bars on one axis, figures beside them, nested phases inside."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App, ComposeResult
from whole_rows import assert_whole
from widget_examples.waterfall import demo

from agentbench_tui.tui.drawing.glyphs import ASCII, UNICODE, Glyphs
from agentbench_tui.tui.drawing.painting import text_of
from agentbench_tui.tui.theme import DARK, palette
from agentbench_tui.tui.widgets.waterfall import (
    Phase,
    Waterfall,
    WaterfallView,
    flattened,
    paint_waterfall,
)

LOOK = palette(DARK), UNICODE
HOSTILE = "ab 日\x1b\n\u202e"
INSIDE = (Phase("search", 50, 75), Phase("mark", 75, 75))
ONE = Waterfall((Phase("wait", 0, 25), Phase("work", 25, 100, INSIDE)), 100)


def shown(
    waterfall: Waterfall = ONE, width: int = 60, height: int = 6, first: int = 0, glyphs=UNICODE
) -> list[str]:
    rows = text_of(paint_waterfall(waterfall, first, width, height, palette(DARK), glyphs))
    assert [cell_len(row) for row in rows] == [width] * height
    return [row.rstrip() for row in rows]


def test_phases_are_listed_depth_first() -> None:
    found = [(depth, phase.name) for depth, phase in flattened(ONE.phases)]
    assert found == [(0, "wait"), (0, "work"), (1, "search"), (1, "mark")]


def test_bars_lie_on_one_axis_with_their_figures_beside_them() -> None:
    # Name 8 and a space, three times of 9 cells and a share of 8: 17 cells are left for bars.
    assert shown(width=61) == [
        "phase       start      end     took  share │0       │50 ms",
        "wait         0 ms    25 ms    25 ms  25.0% ████▌",
        "work        25 ms   100 ms    75 ms  75.0%     ██████████████",
        "  search    50 ms    75 ms    25 ms  25.0%          ████▌",
        "  mark      75 ms    75 ms     0 ms     0%              ◆",
        "total 100 ms",
    ]


def test_the_share_of_the_whole_is_not_cut() -> None:
    assert "100%" in shown(Waterfall((Phase("all", 0, 100),), 100))[1]


def test_a_bar_shorter_than_a_cell_is_seen() -> None:
    brief = Waterfall((Phase("a", 0, 1), Phase("b", 1, 1000)), 1000)
    assert shown(brief, 30)[1].endswith("▏")
    assert shown(brief, 30, glyphs=ASCII)[1].endswith("-")


def test_columns_give_way_to_the_bars() -> None:
    assert shown(width=52)[0].split()[:4] == ["phase", "start", "took", "share"]
    assert shown(width=42)[0].split()[:3] == ["phase", "took", "share"]
    assert shown(width=34)[0].split()[:2] == ["phase", "took"]
    assert shown(width=20)[0].split()[0] == "phase"


def test_a_phase_that_goes_on_has_an_arrow_and_no_share() -> None:
    live = Waterfall((Phase("wait", 0, 50), Phase("work", 50)), None)
    rows = shown(live, 60, 5)
    assert "running" in rows[2]
    assert rows[2].endswith("▸")
    assert "%" not in rows[2]
    assert rows[-1] == "running"


def test_a_phase_that_was_not_measured_says_why() -> None:
    one = Waterfall((Phase("name", None, reason="address known"), Phase("a", 0, 9)), 9)
    assert shown(one, 60)[1].split(maxsplit=2) == ["name", "–", "address known"]
    assert shown(one, 26)[1].split(maxsplit=1) == ["name", "– address known"]
    assert "no timing" in "".join(shown(Waterfall(()), 40))
    assert "no timing" in "".join(shown(Waterfall((Phase("a", None),)), 40))


def test_scrolled_rows_are_told() -> None:
    rows = shown(height=4, first=2)
    assert rows[1].startswith("  search")
    assert rows[-1] == "total 100 ms  phases 3–4 of 4"


TIMES = st.none() | st.floats()
PHASES = st.recursive(
    st.builds(Phase, st.text(HOSTILE, max_size=9), TIMES, TIMES),
    lambda inner: st.builds(
        Phase, st.text(HOSTILE, max_size=9), TIMES, TIMES, st.lists(inner, max_size=3).map(tuple)
    ),
    max_leaves=8,
)


@settings(max_examples=60)
@example(Waterfall((Phase("", 5e-324, None),), None), 1, 3, 0, UNICODE)
@example(Waterfall((Phase("", 0.0, None),), 0.5), 11, 2, 0, ASCII)
@example(Waterfall((Phase("", 0.0, None),), -1.0), 40, 3, 0, UNICODE)
@given(
    st.builds(Waterfall, st.lists(PHASES, max_size=4).map(tuple), TIMES),
    st.integers(1, 110),
    st.integers(1, 8),
    st.integers(0, 9),
    st.sampled_from([UNICODE, ASCII]),
)
def test_any_waterfall_fits_any_room(
    waterfall: Waterfall, width: int, height: int, first: int, glyphs: Glyphs
) -> None:
    rows = paint_waterfall(waterfall, first, width, height, palette(DARK), glyphs)
    assert_whole(rows, width, height)
    assert glyphs is UNICODE or "".join(text_of(rows)).isascii()


class OneWidget(App[None]):
    def compose(self) -> ComposeResult:
        yield demo()


async def test_keys_scroll_and_stop_at_the_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    # Without colors Textual filters what is painted, and fails on a piece without a style.
    monkeypatch.setenv("NO_COLOR", "1")
    app = OneWidget()
    async with app.run_test(size=(80, 6)) as pilot:
        view = app.query_one(WaterfallView)
        view.focus()
        await pilot.press("down", "down", "up")
        assert view.first == 1
        await pilot.press("end")
        assert view.first == len([*flattened(view.waterfall.phases)]) - 4
        assert "calculator" in view.render_line(4).text
        await pilot.press("home", "pageup")
        assert view.first == 0
