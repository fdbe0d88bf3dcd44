"""Charts of reports: their numbers come from outside, their SVG leaves out what is missing."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from agentbench_tui.contracts.run import RunLeaderboardEntry
from agentbench_tui.contracts.stress import StressScaling
from agentbench_tui.presentation.chart_tables import chart_table
from agentbench_tui.presentation.charts import (
    Axis,
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
from agentbench_tui.presentation.full_report.cost_chapter import cost_quality_chart
from agentbench_tui.presentation.full_report.run_charts import (
    in_order_of,
    latency_charts,
    over_time_charts,
    score_charts,
)
from agentbench_tui.presentation.full_report.stress_charts import _scaling
from agentbench_tui.reports.html.charts.svg import legend, svg
from agentbench_tui.reports.palette import Palette
from agentbench_tui.verdicts.runs.run_times import Latencies, RunTimes, TimeCourse

SVG = "{http://www.w3.org/2000/svg}"


def drawn(chart: object) -> ET.Element:
    """The SVG as a tree; it has to be well-formed."""
    return ET.fromstring(svg(chart))  # type: ignore[arg-type]  # any chart; our own text


def classes(tree: ET.Element, name: str) -> list[ET.Element]:
    return [one for one in tree.iter() if name in (one.get("class") or "").split()]


def entry(name: str, accuracy: float | None, cost_usd: float | None) -> RunLeaderboardEntry:
    return RunLeaderboardEntry(
        rank=1, agent_id=name, agent_version="1", simulated=False, overall=accuracy, low=None,
        high=None, reason="", accuracy=accuracy, speed=0.5, efficiency=0.5, cost=0.5,
        reliability=1.0, benchmarks=1, cost_usd=cost_usd, observed=100, answered=100, correct=50,
        failures=0, rank_metric="overall", rank_shown="1", rank_low=None,
        rank_high=None, ranked_by=None,
    )  # fmt: skip


def test_the_pareto_front_has_whom_nobody_beats_in_both() -> None:
    entries = [entry("cheap", 0.5, 1.0), entry("good", 0.9, 3.0), entry("beaten", 0.8, 4.0),
               entry("unpriced", 0.99, None)]  # fmt: skip
    chart = cost_quality_chart(entries)
    assert chart is not None
    assert {dot.name: dot.on_front for dot in chart.dots} == {
        "cheap": True, "good": True, "beaten": False,
    }  # fmt: skip
    assert [dot.x for dot in chart.dots] == [0.01, 0.03, 0.04]
    assert len(classes(drawn(chart), "front")) == 1
    assert cost_quality_chart(entries[:1]) is None


def test_a_histogram_holds_every_answer_once() -> None:
    times = np.random.default_rng(1).lognormal(3, 1, 500)
    histogram, _ = latency_charts([Latencies("b", "a", times)])
    assert isinstance(histogram, Histogram)
    assert sum(histogram.counts[0][1]) == 500
    assert histogram.edges[0] == times.min()
    assert histogram.edges[-1] == times.max()


def test_percentiles_are_drawn_only_where_answers_support_them() -> None:
    # 58 values bound the 94th percentile, not the 95th: 1 - 0.95^58 < 0.95.
    _, few = latency_charts([Latencies("b", "a", np.arange(1.0, 59.0))])
    _, many = latency_charts([Latencies("b", "a", np.arange(1.0, 1001.0))])
    assert isinstance(few, LineChart)
    assert isinstance(many, LineChart)
    assert max(few.lines[0].x) < 95
    found = dict(zip(many.lines[0].x, many.lines[0].y, strict=True))
    assert found[50.0] == pytest.approx(500.5)
    assert found[99.0] == pytest.approx(990.01)
    assert max(found) < 99.9


def test_a_missing_score_is_no_zero() -> None:
    whole, lacking = [0.1, 0.2, 0.3], [0.4, None, 0.6]
    tree = drawn(Radar("r", "", ("a", "b", "c"), [("one", whole), ("two", lacking)]))
    assert [one.get("class") for one in classes(tree, "shape")] == ["shape s0"]
    assert len(classes(tree, "dot")) == 5
    assert svg(Radar("r", "", ("a", "b", "c"), [("none", [None] * 3)])) == ""


def test_a_gap_parts_a_line() -> None:
    line = Line("l", [0, 1, 2, 3, 4], [1.0, 2.0, None, 3.0, 4.0])
    tree = drawn(LineChart("t", "s", Axis("x"), Axis("y"), [line], [Mark(2, "here")]))
    assert len(classes(tree, "line")) == 2
    assert len(classes(tree, "mark")) == 1
    assert next(one.text for one in tree.iter("title")) == "t"


def test_points_are_in_order_and_inside_the_picture() -> None:
    line = Line("l", [0.001, 1.0, 1000.0], [5.0, 0.0, 2.0])
    tree = drawn(LineChart("t", "s", Axis("x", log=True), Axis("y"), [line]))
    (path,) = classes(tree, "line")
    points = [tuple(map(float, one.split(","))) for one in
              re.findall(r"[\d.]+,[\d.]+", path.get("d") or "")]  # fmt: skip
    xs = [x for x, _ in points]
    assert xs == sorted(xs)
    assert xs[1] - xs[0] == pytest.approx(xs[2] - xs[1], abs=0.2)  # equal ratios
    assert points[0][1] < points[2][1] < points[1][1]  # y grows downward
    assert all(0 <= x <= 640 and 0 <= y <= 300 for x, y in points)


def test_intervals_show_where_nothing_differs() -> None:
    rows = [Interval("accuracy", -0.1, -0.2, -0.05, "worse"), Interval("cost", None, None, None)]
    chart = IntervalChart("d", "", Axis("B - A"), rows, 0.0)
    tree = drawn(chart)
    (reference,) = classes(tree, "reference")
    (whisker,) = classes(tree, "whisker")
    assert float(whisker.get("x2") or 0) < float(reference.get("x1") or 0)
    assert len(classes(tree, "bad")) == 2  # the row and its word
    assert [row["0"] for row in chart_table(chart).rows] == ["accuracy", "cost"]


def test_the_law_without_contention_is_a_straight_line() -> None:
    scaling = StressScaling(
        model="linear", lambda_per_s=10.0, sigma=0.0, kappa=0.0, sigma_interval=None,
        kappa_interval=None, n_star=None, n_star_interval=None, largest=8.0, r2=1.0, words="",
        points=((1.0, 10.0), (8.0, 80.0)), peak=None,
    )  # fmt: skip
    _, law = _scaling(scaling, "bot").lines
    assert law.y == pytest.approx([10 * x for x in law.x])


def test_answers_and_gauges_over_time() -> None:
    course = TimeCourse("host", [0.0, 1.0, 2.0], [50.0, 100.0, 75.0])
    answers, cpu = over_time_charts(RunTimes([], [course], {"cpu_percent": [course]}))
    assert isinstance(cpu, LineChart)
    assert cpu.summary == "host: mean 75%, highest 100%"
    assert isinstance(answers, LineChart)
    assert [one.name for one in legend(answers)] == ["host"]


def test_an_agent_has_the_same_place_in_every_chart() -> None:
    courses = [TimeCourse(name, [0.0, 1.0], [1.0, 2.0]) for name in ("host", "b", "a")]
    latencies = [Latencies("x", name, np.arange(1.0, 9.0)) for name in ("b", "a")]
    times = in_order_of(RunTimes(latencies, courses, {"cpu_percent": courses}), ["a", "b"])
    assert [one.agent_id for one in times.latencies] == ["a", "b"]
    assert [one.name for one in times.answers_per_s] == ["a", "b", "host"]
    assert [one.name for one in times.gauges["cpu_percent"]] == ["a", "b", "host"]


def test_a_contender_has_one_color_in_all_charts_of_a_report() -> None:
    """Also where another one has no values, and where the line is named after what it shows."""
    palette = Palette(["a", "b"])
    axis = Axis("x")
    line = Line("b", [1.0, 2.0], [1.0, 2.0])
    p95 = Line("p95", [1.0, 2.0], [1.0, 2.0], style="points", contender="b")
    limit = Line("limit of p95", [1.0, 2.0], [3.0, 3.0], is_limit=True)
    other = Line("host", [1.0, 2.0], [1.0, 2.0])
    chart = LineChart("t", "s", axis, axis, [line, p95, limit, other])
    assert [(one.kind, one.is_points) for one in legend(chart, palette)] == [
        ("s1", False), ("s1", True), ("limit", False), ("s5", False),
    ]  # fmt: skip
    tree = ET.fromstring(svg(chart, palette))
    assert len(classes(tree, "s0")) == 0
    assert len(classes(tree, "limit")) > 0
    for alone in (
        Histogram("t", "s", axis, [0.0, 1.0], [("b", [3])]),
        Radar("t", "s", ["x", "y", "z"], [("b", [0.1, 0.2, 0.3])]),
        ScatterChart("t", "s", axis, axis, [Dot("b", 1.0, 1.0)]),
    ):
        tree = ET.fromstring(svg(alone, palette))
        assert classes(tree, "s1")
        assert not classes(tree, "s0")


@pytest.mark.parametrize("name", ["<script>x</script>", "a&b", "\"'", "\x1b[31m", "\u202egnp"])
def test_no_name_becomes_markup(name: str) -> None:
    charts = [
        *score_charts([entry(name, 0.5, 1.0)]),
        cost_quality_chart([entry(name, 0.5, 1.0), entry("b", 0.6, 2.0)]),
        *latency_charts([Latencies("b", name, np.arange(1.0, 100.0))]),
        IntervalChart(name, name, Axis(name), [Interval(name, 1, 0, 2, name)], 0),
    ]
    assert any(isinstance(one, ScatterChart) for one in charts)
    for chart in filter(None, charts):
        text = svg(chart)
        assert {one.tag for one in ET.fromstring(text).iter()} <= {  # our own text
            "svg", "title", "desc", "line", "path", "circle", "text", "rect", "g",
        }  # fmt: skip
        assert "\x1b" not in text
        assert "\u202e" not in text


def test_a_gauge_of_an_agent_has_the_color_of_the_agent_and_the_host_has_none_of_theirs() -> None:
    agents = ["planner", "rules", "keyword", "memory"]
    scopes = ["host", "agent:memory", "agent:keyword", "agent:rules", "agent:planner"]
    courses = [TimeCourse(scope, [0.0, 1.0], [1.0, 2.0]) for scope in scopes]
    times = in_order_of(RunTimes([], [], {"cpu_percent": courses}), agents)
    (cpu,) = over_time_charts(times)
    assert [(one.name, one.kind) for one in legend(cpu, Palette(agents))] == [
        ("agent:planner", "s0"), ("agent:rules", "s1"), ("agent:keyword", "s2"),
        ("agent:memory", "s3"), ("host", "s4"),
    ]  # fmt: skip
