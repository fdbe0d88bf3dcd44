"""One line for each GPU: what it shows in how much room."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from whole_rows import assert_whole

from agentbench_tui.tui.drawing.glyphs import ASCII, UNICODE, Glyphs
from agentbench_tui.tui.drawing.painting import text_of
from agentbench_tui.tui.theme import DARK, palette
from agentbench_tui.tui.widgets.gauge import Cores, Gauge, GaugesData, paint_gauges
from agentbench_tui.tui.widgets.gpu_line import GpuLine, GpuProcessLine, gpu_rows

_PALETTE = palette(DARK)
BUSY = GpuLine("0", 87.0, 69_000.0, 80_000.0, 698.0, 700.0, 74.0, 1410.0, ("power cap",))
_numbers = st.none() | st.floats(allow_nan=False, allow_infinity=False)
_words = st.text("ab日\x1b\n", max_size=20)
_lines = st.builds(
    GpuLine, st.sampled_from(["0", "12", "3.1"]), _numbers, _numbers, _numbers, _numbers, _numbers,
    _numbers, _numbers, st.lists(_words, max_size=2).map(tuple),
    st.lists(st.builds(GpuProcessLine, st.integers(1, 10**7), _numbers), max_size=2).map(tuple),
)  # fmt: skip


def line(gpu: GpuLine, width: int) -> str:
    return text_of(gpu_rows([gpu], width, _PALETTE, UNICODE))[0].rstrip()


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (74, "GPU 0 ! ━━━━━━━━━━─  87%  69/80 GB  698/700 W  74 °C  1,410 MHz  power cap"),
        (52, "GPU 0 !  87%  69/80 GB  698/700 W  74 °C  1,410 MHz"),
        (40, "GPU 0 !  87%  69/80 GB  698/700 W  74 °C"),
        (22, "GPU 0 !  87%  69/80 GB"),
    ],
)
def test_the_bar_goes_first_and_the_sign_of_a_throttled_one_stays(width: int, shown: str) -> None:
    assert line(BUSY, width) == shown


def test_what_is_not_reported_is_a_dash_and_never_0() -> None:
    assert line(GpuLine("1", None, 5_000.0, 24_000.0), 60).split() == [
        "GPU", "1", "─" * 30, "–", "5/24", "GB", "–", "–", "–",
    ]  # fmt: skip


def test_of_a_slice_only_the_memory_is_known() -> None:
    assert line(GpuLine("1.0", None, 4_500.0, 6_000.0), 60).split() == ["1.0", "4.5/6", "GB"]


def test_processes_follow_their_gpu() -> None:
    gpu = GpuLine("0", 1.0, processes=(GpuProcessLine(41, 512.0), GpuProcessLine(42, None)))
    assert [row.split() for row in text_of(gpu_rows([gpu], 60, _PALETTE, UNICODE))[1:]] == [
        ["process", "41", "512", "MB"], ["process", "42", "–"],
    ]  # fmt: skip


def test_eight_gpus_and_the_host_fit_in_the_panel_of_a_screen_of_80_by_24() -> None:
    """Its view Machine has 17 lines of 74 cells beside the frame, the status and the keys."""
    host = [Gauge("CPU", 40.0, 100.0), Cores("cores", [10.0] * 64), Gauge("memory", 1.0, 4.0, "GB"),
            Gauge("waited", 1.0, 1000.0, "ms"), Gauge("bot", 10.0)]  # fmt: skip
    gpus = [GpuLine(str(number), 50.0, 1.0, 2.0, 3.0, 4.0, 50.0, 1400.0) for number in range(8)]
    shown = text_of(paint_gauges(GaugesData([*host, *gpus]), 74, 17, _PALETTE, UNICODE))
    assert [row[:5] for row in shown if row.startswith("GPU")] == [f"GPU {n}" for n in range(8)]
    assert not any("more" in row for row in shown)


@given(
    st.lists(_lines, min_size=1, max_size=4),
    st.integers(1, 130),
    st.sampled_from([ASCII, UNICODE]),
)
def test_any_gpus_are_whole_rows(gpus: list[GpuLine], width: int, glyphs: Glyphs) -> None:
    rows = gpu_rows(gpus, width, _PALETTE, glyphs)
    assert_whole(rows, width, len(gpus) + sum(len(one.processes) for one in gpus))
    if glyphs is ASCII:
        assert all(text.isascii() for text in text_of(rows))
