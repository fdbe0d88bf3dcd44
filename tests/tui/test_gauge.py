"""Gauges: bars, signs at thresholds, cores, and reasons where nothing could be measured."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App, ComposeResult
from textual.events import MouseScrollDown, MouseScrollUp
from whole_rows import assert_whole

from agentbench_tui.tui.drawing.glyphs import ASCII, UNICODE, Glyphs
from agentbench_tui.tui.drawing.painting import text_of
from agentbench_tui.tui.theme import DARK, palette
from agentbench_tui.tui.widgets.gauge import Cores, Gauge, Gauges, GaugesData, paint_gauges

_PALETTE = palette(DARK)
_numbers = st.floats(allow_nan=True, allow_infinity=True)
_words = st.text(st.sampled_from("ab日\x1b\n"), max_size=20)
_history = st.lists(st.none() | _numbers, max_size=12)
_gauges = st.builds(
    Gauge, _words, st.none() | _numbers, st.none() | _numbers,
    st.sampled_from(["%", "MB", "W", "°C", ""]), history=_history, note=_words, reason=_words,
)  # fmt: skip
_rows = st.lists(_gauges | st.builds(Cores, _words, st.lists(st.none() | _numbers, max_size=70)))


def _painted(rows: list[Gauge | Cores], width: int, height: int) -> list[str]:
    return text_of(paint_gauges(GaugesData(rows), width, height, _PALETTE, UNICODE))


@given(_rows, st.integers(1, 130), st.integers(1, 8), st.sampled_from([ASCII, UNICODE]))
def test_any_data_make_whole_rows(
    rows: list[Gauge | Cores], width: int, height: int, glyphs: Glyphs
) -> None:
    painted = paint_gauges(GaugesData(rows), width, height, _PALETTE, glyphs)
    assert_whole(painted, width, height)
    if glyphs is ASCII:
        assert all(text.isascii() for text in text_of(painted))


def test_rows_line_up() -> None:
    rows: list[Gauge | Cores] = [
        Gauge("CPU", 50.0, 100.0),
        Gauge("memory", 96_000.0, 100_000.0, "MB"),
        Gauge("GPU", None, reason="no NVML"),
        Cores("cores", [0, 50, 100]),
    ]
    assert _painted(rows, 40, 5) == [
        "CPU    ━━━━━━━━━━───────────         50%",
        "memory ━━━━━━━━━━━━━━━━━━━━─ ‼ 96/100 GB",
        "GPU    – no NVML                        ",
        "cores  ▁▄█ 3 cores, 50% busy            ",
        "                                        ",
    ]


@pytest.mark.parametrize(("value", "sign"), [(79.0, ""), (80.0, "!"), (95.0, "‼"), (120.0, "‼")])
def test_thresholds_have_signs(value: float, sign: str) -> None:
    row = _painted([Gauge("CPU", value, 100.0)], 40, 1)[0]
    assert ("!" in row, "‼" in row) == (sign == "!", sign == "‼")


def test_a_threshold_can_be_chosen() -> None:
    assert "!" in _painted([Gauge("heat", 74.0, 100.0, "°C", warn=0.7)], 40, 1)[0]


def test_what_has_no_limit_has_no_bar() -> None:
    row = _painted([Gauge("clock", 1410.0, None, "MHz")], 40, 1)[0]
    assert "━" not in row
    assert row.endswith("1,410 MHz")


def test_a_note_for_which_there_is_no_room_stands_in_the_place_of_a_bar() -> None:
    rows = [Gauge("clock", 1410.0, None, "MHz", note="power cap"), Gauge("heat", 45.0, 90.0, "°C")]
    assert _painted(rows, 32, 2) == [
        "clock power cap        1,410 MHz",
        "heat  ━━━━━━━───────    45/90 °C",
    ]
    assert _painted(rows[:1], 22, 1) == ["clock power… 1,410 MHz"]


def test_course_and_note_where_there_is_room() -> None:
    gauge = Gauge("GPU", 50.0, 100.0, history=[0, 50, None, 100], note="power cap")
    wide = _painted([gauge], 70, 1)[0]
    assert wide.endswith("▁▄ █ power cap")
    narrow = _painted([gauge], 22, 1)[0]
    assert "power cap" not in narrow
    assert narrow.endswith("50%")


def test_a_limit_next_to_nothing_is_no_trouble() -> None:
    row = _painted([Gauge("x", 1.0, 5e-324, history=[1e308])], 60, 1)[0]
    assert "‼" in row


def test_cores_go_on_in_the_next_row() -> None:
    rows = _painted([Cores("c", [100.0] * 30)], 22, 2)
    assert rows[0] == "c " + "█" * 20
    assert rows[1].startswith("  " + "█" * 10 + " ")


def test_rows_without_room_go_beside_or_are_counted() -> None:
    gauges: list[Gauge | Cores] = [Gauge(f"g{number}", 10.0, 100.0) for number in range(6)]
    wide = _painted(gauges, 100, 3)
    assert all(f"g{number}" in "".join(wide) for number in range(6))
    narrow = _painted(gauges, 40, 3)
    assert narrow[-1].endswith("▼ 4 more")
    both = _painted(gauges, 76, 2)
    assert both[0].startswith("g0")
    assert " g2 " in both[0]
    assert both[1].rstrip().endswith("▼ 3 more")


async def test_keys_and_the_wheel_scroll_rows_that_do_not_fit() -> None:
    """Ten rows in three lines: a page is two lines, the wheel three."""
    shown = Gauges(GaugesData([Gauge(f"g{number}", 10.0, 100.0) for number in range(10)]))

    class Shown(App[None]):
        def compose(self) -> ComposeResult:
            yield shown

    def first() -> str:
        return text_of(shown._rows)[0].split()[0]

    async with Shown().run_test(size=(40, 3)) as pilot:
        shown.focus()
        await pilot.pause()
        assert first() == "g0"
        for key, expected in (("pagedown", "g2"), ("end", "g7"), ("pageup", "g5"), ("home", "g0")):
            await pilot.press(key)
            await pilot.pause()
            assert (key, first()) == (key, expected)
        await pilot._post_mouse_events([MouseScrollDown], shown, button=0)
        await pilot.pause()
        assert first() == "g3"
        await pilot._post_mouse_events([MouseScrollUp], shown, button=0)
        await pilot.pause()
        assert first() == "g0"
