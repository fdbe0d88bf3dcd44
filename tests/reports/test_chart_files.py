"""Charts as files: each chart of a report, readable, with the agent's color of the page."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from importlib.resources import files
from pathlib import Path

import pytest

from agentbench_tui.cli.main import _run
from agentbench_tui.presentation.charts import (
    Axis,
    Chart,
    Dot,
    Histogram,
    Interval,
    IntervalChart,
    Line,
    LineChart,
    Mark,
    Radar,
    ScatterChart,
)
from agentbench_tui.presentation.full_report.parts import Chapter, FullReport, Verdict
from agentbench_tui.presentation.report import Section
from agentbench_tui.reports.figures.chart_figures import figure_of
from agentbench_tui.reports.figures.chart_files import FORMATS, write_charts
from agentbench_tui.reports.palette import COLORS, Palette

pytest.importorskip("matplotlib", reason="matplotlib is not installed")
X, Y = Axis("users"), Axis("latency, $", log=True)
CHARTS: list[Chart] = [
    LineChart(
        "Latency", "s", X, Y,
        [
            Line("b", [1.0, 2.0, 3.0], [10.0, None, 30.0], [9.0, None, 20.0], [11.0, None, 40.0]),
            Line("p95", [1.0, 2.0], [5.0, 6.0], style="points", contender="a"),
            Line("limit", [1.0, 3.0], [50.0, 50.0], is_limit=True),
        ],
        [Mark(2.0, "breaks at 2", "bad")],
    ),
    Histogram("Times", "s", Axis("ms"), [0.0, 1.0, 2.0], [("a", [3, 1]), ("b", [0, 4])]),
    IntervalChart(
        "Ratios", "s", Axis("ratio", log=True),
        [Interval("e2e_ms", 0.5, 0.25, 1.0, "better"), Interval("unknown", None, None, None)], 1.0,
    ),
    ScatterChart(
        "Cost", "s", X, X,
        [Dot("a", 1, 2, on_front=True), Dot("b", 2, 3, 1, 3, 2, 4, on_front=True)],
    ),
    Radar("Scores", "s", ["x", "y", "z"], [("a", [0.1, 0.5, 1.0]), ("b", [0.2, None, 0.4])]),
]  # fmt: skip


def report_of(*charts: Chart) -> FullReport:
    chapter = Chapter("stress", "Stress", [Section("Title", charts=charts)])
    return FullReport("t", [], Verdict("w", "plain"), [chapter], {}, contenders=["a", "b"])


def test_a_legend_hides_no_value_and_many_long_names_leave_the_axes_their_size() -> None:
    names = [f"agent {number} {'x' * 100}" for number in range(20)]
    chart = LineChart("t", "s", X, Y, [Line(name, [1.0, 2.0], [1.0, 9.0]) for name in names])
    long, short = (
        figure_of(one, Palette(names))
        for one in (chart, LineChart("t", "s", X, Y, [Line("b", [1.0, 2.0], [1.0, 9.0])]))
    )
    assert long
    assert short
    for figure in (long, short):
        figure.draw_without_rendering()
        (axes,), (legend,) = figure.axes, figure.legends
        assert legend.get_window_extent().y1 < axes.get_window_extent().y0
        assert legend.get_window_extent().x1 < figure.bbox.x1
    ratio = long.axes[0].bbox.height / short.axes[0].bbox.height
    assert 0.9 < ratio < 1.2


def test_every_kind_of_chart_has_the_values_that_it_was_given() -> None:
    line, times, ratios, cost, scores = (figure_of(one, Palette(["a", "b"])) for one in CHARTS)
    assert line
    (axes,) = line.axes
    assert axes.get_yscale() == "log"
    assert [(one.get_label(), one.get_color()) for one in axes.lines] == [
        ("b", COLORS[1]), ("p95", COLORS[0]), ("limit", "#57606a"), ("breaks at 2", "#b42318"),
    ]  # fmt: skip
    (_, drawn) = axes.lines[0].get_data()
    assert [float(drawn[0]), float(drawn[2])] == [10.0, 30.0]
    assert drawn[1] != drawn[1]  # a gap
    assert times
    assert [list(one.get_data().values) for one in times.axes[0].patches][::2] == [[3, 1], [0, 4]]
    assert ratios
    names = [one.get_text() for one in ratios.axes[0].get_yticklabels()]
    assert names == ["e2e_ms", "unknown"]
    assert len(ratios.axes[0].collections) == 1  # the interval of the one that is known
    assert cost
    assert {one.get_text() for one in cost.axes[0].texts} == {"a", "b"}
    assert scores
    assert len(scores.axes[0].lines[0].get_xdata()) == 4  # closed
    assert len(scores.axes[0].lines[1].get_xdata()) == 3  # a score is missing: no outline


@pytest.mark.parametrize("chart", [
    LineChart("t", "s", X, X, [Line("a", [1.0], [None])]),
    Histogram("t", "s", X, [0.0, 1.0], [("a", [0])]),
    IntervalChart("t", "s", X, [Interval("a", None, None, None)]),
    ScatterChart("t", "s", X, X, []),
    Radar("t", "s", ["x", "y", "z"], [("a", [None, None, None])]),
])  # fmt: skip
def test_a_chart_without_values_is_not_drawn(chart: Chart) -> None:
    assert figure_of(chart, Palette()) is None


@pytest.mark.parametrize("kind", FORMATS)
def test_files_are_of_their_kind_and_the_same_each_time(kind: str, tmp_path: Path) -> None:
    magic = {"png": b"\x89PNG\r\n", "svg": b"<?xml", "pdf": b"%PDF-"}[kind]
    paths = write_charts(report_of(*CHARTS), tmp_path / "a", kind)
    assert [path.name for path in paths][:2] == [
        f"01-stress-latency.{kind}", f"02-stress-times.{kind}",
    ]  # fmt: skip
    assert len(paths) == len(CHARTS)
    again = write_charts(report_of(*CHARTS), tmp_path / "b", kind)
    for path, second in zip(paths, again, strict=True):
        assert path.read_bytes().startswith(magic)
        assert path.read_bytes() == second.read_bytes()


@pytest.mark.parametrize(
    "name",
    ["<script>x</script>", "a&b", "$\\frac{1}{0}$", "_hidden", "\x1b[31m", "\u202egnp", "文"],
)
def test_names_are_text_whatever_they_hold(
    name: str, tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    lines = [Line(name, [1.0, 2.0], [1.0, 2.0]), Line("b", [1.0, 2.0], [2.0, 3.0])]
    chart = LineChart(name, name, Axis(name), Axis(name), lines, [Mark(1.0, name)])
    (path,) = write_charts(report_of(chart), tmp_path, "svg")
    text = path.read_text()
    assert "\x1b" not in text
    assert "\u202e" not in text
    found = {one.text for one in ET.fromstring(text).iter() if one.tag.endswith("}text")}
    shown = name.replace("\x1b", r"\x1b").replace("\u202e", r"\u202e").lstrip("_")
    assert shown in found
    assert not any(one.tag.endswith("script") for one in ET.fromstring(text).iter())
    assert not recwarn.list


def test_colors_are_those_of_the_style_sheet() -> None:
    style = files("agentbench_tui.reports.html").joinpath("page", "report.css").read_text()
    light = style.partition("@media")[0]
    assert re.findall(r"--s\d: (#[0-9a-f]{6})", light) == [*COLORS]


def test_the_command_writes_the_charts_of_a_run_and_of_a_comparison(
    hostile_store: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("AGENTBENCH_DB", str(hostile_store))
    monkeypatch.chdir(tmp_path)
    assert _run(["report", "--charts", "run", "--chart-format", "svg"]) == 0
    names = sorted(path.name for path in Path("run").iterdir())
    assert names[0] == "01-latency-echo-latency-histogram.svg"
    assert f"written: {len(names)} charts in run" in capsys.readouterr().err
    assert _run(["report", "honest", "hostile", "--charts", "both"]) == 0
    assert all(path.suffix == ".png" for path in Path("both").iterdir())
    Path("file").write_text("")
    assert _run(["report", "--charts", "file/below"]) == 2
    assert "file/below cannot be written" in capsys.readouterr().err


def test_without_matplotlib_the_extra_is_named_before_anything_is_read(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from agentbench_tui.cli.main import _run\n"
        f"sys.exit(_run(['report', '--charts', {str(tmp_path / 'x')!r}, '--db', 'none.db']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pip install 'agentbench-tui[plot]'" in done.stderr
