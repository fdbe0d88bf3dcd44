"""Cost and quality in the report of a run: the Pareto front with what resamples of cases say."""

import asyncio
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))

from carried_out import run, suite
from priced_agents import MEAN_COST_OF_CHEAP, PRICED_AGENTS

from agentbench_tui.presentation.chart_tables import chart_table
from agentbench_tui.presentation.charts import ScatterChart
from agentbench_tui.presentation.full_report.cost_chapter import cost_chapter
from agentbench_tui.presentation.full_report.parts import Chapter
from agentbench_tui.reports.html.charts.svg import svg
from agentbench_tui.reports.sources import read_run
from agentbench_tui.store.database import reading
from agentbench_tui.store.queries.runs import find_run

DEAR_ON_FRONT = 0.397
"""P(X > Y) for independent Poisson X, Y of mean 2, the cases on which only dear, or only cheap, is
right, in a resample: (1 - exp(-4) I0(4)) / 2, with the modified Bessel function I0(4) = 11.302."""


@pytest.fixture(scope="module")
def chapter(tmp_path_factory: pytest.TempPathFactory) -> Chapter:
    folder = tmp_path_factory.mktemp("cost")
    found = asyncio.run(run(folder, suite(60), PRICED_AGENTS, "dear", "cheap", "poor", "worst"))
    with reading(found.database) as connection:
        source = read_run(connection, found.database, find_run(connection, "latest"))
    (found_chapter,) = (one for one in source.report.chapters if one.anchor == "cost")
    return found_chapter


def test_standing_on_the_front_is_that_of_resampled_cases(chapter: Chapter) -> None:
    section = chapter.sections[0]
    rows = {row["name"]: row for row in section.tables[0].rows}
    assert {name: row["standing"] for name, row in rows.items()} == {
        "cheap": "yes", "poor": "yes", "dear": "maybe", "worst": "no",
    }  # fmt: skip
    assert rows["dear"]["share"] == pytest.approx(DEAR_ON_FRONT, abs=0.03)
    assert rows["worst"]["share"] == 0
    assert rows["poor"]["right"].startswith("25.0% [")
    assert rows["dear"]["per_task"].startswith("$0.0040")
    assert rows["poor"]["per_right"].startswith("$0.0020")  # $.0005 for a quarter of the answers


def test_the_chart_has_intervals_and_says_how_certain_the_front_is(chapter: Chapter) -> None:
    (chart,) = chapter.sections[0].charts
    assert isinstance(chart, ScatterChart)
    dots = {dot.name: dot for dot in chart.dots}
    assert {name for name, dot in dots.items() if dot.on_front} == {"cheap", "poor"}
    cheap = dots["cheap"]
    assert cheap.x == pytest.approx(MEAN_COST_OF_CHEAP)
    assert cheap.x_low is not None
    assert cheap.x_high is not None
    assert cheap.x_low < cheap.x < cheap.x_high
    table = {row["0"]: row["3"] for row in chart_table(chart).rows}
    assert table["worst"] == "no, on the front in 0% of resamples"
    assert "on the front in 0% of resamples</title>" in svg(chart)


def test_a_run_without_costs_has_no_such_chapter() -> None:
    assert not cost_chapter(None, []).sections
