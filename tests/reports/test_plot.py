"""Plots show what they were given: where a curve runs, in characters and in files."""

import math
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from agentbench_tui.model.errors import MissingExtra, UsageError
from agentbench_tui.reports.figures.canvas import Canvas
from agentbench_tui.reports.figures.drawing import tick_label, ticks
from agentbench_tui.reports.figures.plot import Plot, beside, histogram_plot, line_plot

BLANK = "\u2800"


def dots(row: str) -> int:
    return sum((ord(character) - ord(BLANK)).bit_count() for character in row if character > BLANK)


def test_dots_of_a_cell_are_those_of_the_unicode_chart() -> None:
    canvas = Canvas(2, 1)
    for x, y in [(0, 0), (1, 3), (2, 2)]:
        canvas.dot(x, y)
    canvas.dot(9, 9)
    assert canvas.rows() == ["\u2881\u2804"]  # dots 1 and 8; dot 3


def test_a_cell_takes_the_color_of_its_last_dot_and_neighbors_share_one_escape() -> None:
    canvas = Canvas(3, 1)
    canvas.line((0, 0), (5, 0), 36)
    canvas.dot(5, 3, 31)
    assert canvas.rows(colored=True) == ["\x1b[36m\u2809\u2809\x1b[0m\x1b[31m\u2889\x1b[0m"]


def test_a_rising_line_goes_from_the_lower_left_to_the_upper_right() -> None:
    text = line_plot({"": ([0, 1, 2, 3], [0, 1, 2, 3])}, x_label="n").text(60, 12, colored=False)
    rows = [row for row in text.splitlines() if "│" in row or "┤" in row]
    starts = [
        min((place for place, mark in enumerate(row) if mark > BLANK), default=None) for row in rows
    ]
    known = [start for start in starts if start is not None]
    assert len(known) >= len(rows) - 1
    assert known == sorted(known, reverse=True)
    assert all(len(row) <= 60 for row in text.splitlines())
    assert text.rstrip().endswith("n")


def test_without_colors_there_is_no_escape_and_names_are_told_by_their_dashes() -> None:
    plot = line_plot(
        {"CV": ([1, 2], [3, 4]), "half-width": ([1, 2], [4, 3])}, lines={"threshold": 3.5}
    )
    text = plot.text(60, 12, colored=False)
    assert "\x1b" not in text
    assert "── CV   ╌╌ half-width   -- threshold: 3.5" in text
    assert "\x1b[36m" in plot.text(60, 12, colored=True)


def test_colors_keep_to_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    plot = line_plot({"a": ([1, 2], [3, 4])})
    monkeypatch.setenv("TERM", "xterm-256color")
    assert "\x1b[" in plot.text()
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in plot.text()
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b[" not in plot.text()


def test_names_cannot_steer_the_terminal() -> None:
    text = line_plot({"a\x1b[2Jb": ([1, 2], [3, 4])}, title="t\x1b]0;x\x07").text(colored=False)
    assert "\x1b" not in text
    assert "\x07" not in text


def test_a_boundless_band_does_not_flatten_the_line() -> None:
    panel = line_plot(
        {"a": ([1, 2, 3], [10, 8, 6])},
        bands={"b": ([1, 2, 3], [1, 1, math.nan], [math.inf, 1e9, 7])},
    ).panels[0]
    assert panel.y_range()[1] < 13
    assert dots(line_plot({"a": ([1, 2], [1, 2])}).text(colored=False)) > 20


def test_a_band_is_dotted_between_its_curves() -> None:
    bare = {"a": ([0.0, 10.0], [5.0, 5.0])}
    with_band = line_plot(bare, bands={"b": ([0, 10], [4, 4], [6, 6])}).text(60, 16, colored=False)
    assert dots(with_band) > 3 * dots(line_plot(bare).text(60, 16, colored=False))


def test_bars_are_as_high_as_their_counts() -> None:
    bars = histogram_plot([1, 1, 1, 1, 1, 1, 9, 9, math.nan], marks={"mean": 3}).panels[0].bars
    assert bars is not None
    assert (sum(bars.counts), bars.counts[0], bars.counts[-1]) == (8, 6, 2)
    assert (bars.edges[0], bars.edges[-1]) == (1, 9)


def test_a_histogram_has_at_most_sixty_bars() -> None:
    values = np.random.default_rng(1).standard_cauchy(2000)
    bars = histogram_plot(values).panels[0].bars
    assert bars is not None
    assert len(bars.counts) == 60
    assert sum(bars.counts) == 2000


def test_bars_are_as_many_as_by_the_rules_of_numpy() -> None:
    values = np.random.default_rng(1).normal(size=500)
    bars = histogram_plot(values).panels[0].bars
    assert bars is not None
    assert bars.edges == pytest.approx(np.histogram_bin_edges(values, bins="auto").tolist())


def test_a_spread_of_rounding_is_one_bar() -> None:
    values = 1.0 + np.random.default_rng(1).integers(0, 3, 100) * 2.0**-52
    bars = histogram_plot(values, marks={"mean": 1.0}).panels[0].bars
    assert bars is not None
    assert bars.counts == (100,)


@pytest.mark.parametrize(
    "plot",
    [
        line_plot({}),
        line_plot({"a": ([], [])}),
        line_plot({"a": ([1, 2], [math.nan, math.inf])}),
        histogram_plot([]),
    ],
)
def test_nothing_to_draw_is_said(plot: Plot) -> None:
    assert "(no values)" in plot.text(40, 10)


@pytest.mark.parametrize("value", [0.0, 5.0, -3e12, 1e-300])
def test_constants_and_single_points_are_drawn(value: float) -> None:
    for plot in (
        line_plot({"a": ([1, 2], [value, value])}),
        line_plot({"a": ([1], [value])}),
        histogram_plot([value, value]),
    ):
        assert dots(plot.text(40, 10, colored=False)) > 0


def test_columns_of_unequal_length_are_refused() -> None:
    with pytest.raises(ValueError, match="2 values of x for 1 of y"):
        line_plot({"a": ([1, 2], [1])})


@pytest.mark.parametrize(
    ("low", "high", "about", "expected"),
    [(0, 10, 5, [0, 2, 4, 6, 8, 10]), (0.031, 0.052, 2, [0.04]), (-7, 7, 3, [-5, 0, 5])],
)
def test_ticks_are_round(low: float, high: float, about: int, expected: list[float]) -> None:
    assert ticks(low, high, about) == pytest.approx(expected)


def test_tick_labels_have_the_digits_of_their_step() -> None:
    assert [tick_label(0.3, 0.1), tick_label(20, 10), tick_label(0.05, 0.05)] == [
        "0.3",
        "20",
        "0.05",
    ]
    assert tick_label(2.5e7, 5e6) == "2.5e+07"
    assert [tick_label(n, 2_000) for n in (1_250_000, 1_252_000)] == ["1.25e+06", "1.252e+06"]
    assert [tick_label(n, 1e-5) for n in (0.12345, 0.12346, 0)] == ["0.12345", "0.12346", "0"]


def test_a_long_label_at_the_left_end_keeps_within_the_picture() -> None:
    drawn = line_plot({"a": ([1_001_000, 1_026_000], [1, 2])}).text(60, 12, colored=False)
    assert max(map(len, drawn.splitlines())) <= 60
    (axis,) = [line for line in drawn.splitlines() if "1e+06" in line]
    assert axis.startswith(("1e+06 ", " 1e+06 "))


def test_panels_stand_below_each_other_in_text_and_beside_each_other_in_files(
    tmp_path: Path,
) -> None:
    plot = beside(line_plot({"a": ([1, 2], [3, 4])}, title="AUC of $x$"), histogram_plot([1, 2, 3]))
    assert len(plot.text(50, 20, colored=False).splitlines()) in range(18, 24)
    plot.write(tmp_path / "plot.svg")
    plot.write(tmp_path / "plot.PNG")
    root = ET.parse(tmp_path / "plot.svg").getroot()
    assert float(root.attrib["width"].removesuffix("pt")) > 2 * float(
        root.attrib["height"].removesuffix("pt")
    )
    assert (tmp_path / "plot.PNG").read_bytes().startswith(b"\x89PNG")
    first = (tmp_path / "plot.svg").read_bytes()
    plot.write(tmp_path / "plot.svg")
    assert (tmp_path / "plot.svg").read_bytes() == first


def test_other_suffixes_and_places_that_are_not_there_are_refused(tmp_path: Path) -> None:
    plot = histogram_plot([1, 2, 3])
    with pytest.raises(UsageError, match=r"\.png or \.svg"):
        plot.write(tmp_path / "plot.pdf")
    with pytest.raises(UsageError, match="cannot be written"):
        plot.write(tmp_path / "missing" / "plot.svg")


def test_without_matplotlib_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"agentbench-tui\[plot\]"):
        histogram_plot([1, 2, 3]).write(tmp_path / "plot.svg")


def test_making_a_plot_does_not_import_matplotlib() -> None:
    code = (
        "import sys; from agentbench_tui.reports.figures.plot import line_plot;"
        "line_plot({'a': ([1, 2], [3, 4])}).text(); print('matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
