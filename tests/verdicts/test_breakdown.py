"""A run by groups of cases: figures as the whole has them, and which groups stand out."""

import asyncio
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))

from carried_out import run, suite

from agentbench_tui.analysis.intervals.interval import wilson
from agentbench_tui.model.errors import UsageError
from agentbench_tui.presentation.breakdown import breakdown_rows, breakdown_sentences
from agentbench_tui.store.database import reading
from agentbench_tui.store.queries.runs import executions_of, find_run
from agentbench_tui.verdicts.groups.breakdown import AgentBreakdown, Breakdown, breakdown
from agentbench_tui.verdicts.groups.breakdown_document import breakdown_document

AGENTS = """
def right(prompt):
    return prompt
def weak(prompt):
    number = int(prompt)
    if number == 7:
        raise ValueError("seven")
    return prompt if number % 4 and not (number % 5 == 0 and number % 2) else "?"
def times(prompt):
    return prompt
"""
TOPICS = ("bread", "cheese", "jam", "tea", "salt")


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """200 cases of five topics; `weak` is right on a quarter of `bread`, three of others."""
    cases = [
        {
            "id": f"c{n}", "input": str(n), "expected": str(n),
            "metadata": {"topic": TOPICS[n % 5]} if n < 200 else {},
        }
        for n in range(203)
    ]  # fmt: skip
    document = suite(dataset={"cases": cases})
    folder = tmp_path_factory.mktemp("groups")
    return asyncio.run(run(folder, document, AGENTS, "right", "weak")).database


def of_run(database: Path, field: str) -> Breakdown:
    with reading(database) as connection:
        rows = executions_of(connection, find_run(connection, "latest")["key"])
        return breakdown(connection, rows, field)


def agent(found: Breakdown, name: str) -> AgentBreakdown:
    return next(one for one in found.agents if one.agent_id == name)


def test_each_group_has_the_figures_that_its_cases_have_alone(database: Path) -> None:
    weak = agent(of_run(database, "topic"), "weak")
    assert [one.group for one in weak.groups] == [*sorted(TOPICS), "–"]
    by_name = {one.group: one for one in weak.groups}
    for name, place in (("bread", 0), ("jam", 2), ("salt", 4)):
        numbers = [n for n in range(200) if n % 5 == place]
        right = sum(n % 4 != 0 and not (n % 5 == 0 and n % 2) and n != 7 for n in numbers)
        expected = wilson(right, 40)
        assert expected is not None
        one = by_name[name]
        assert (one.cases, one.answers, one.correct) == (40, 40, right)
        assert one.main.value == right / 40
        assert (one.main.low, one.main.high) == (expected.low, expected.high)
    assert by_name["jam"].failures == {"agent": 1}
    assert (by_name["jam"].answered, by_name["–"].cases) == (39, 3)


def test_groups_add_up_to_the_whole(database: Path) -> None:
    for one in of_run(database, "topic").agents:
        assert sum(group.cases for group in one.groups) == one.whole.cases == 203
        assert sum(group.correct or 0 for group in one.groups) == one.whole.correct


def test_the_group_that_is_worse_is_marked_and_the_others_are_not(database: Path) -> None:
    weak = agent(of_run(database, "topic"), "weak")
    marked = {one.group: one.differs for one in weak.groups if one.differs}
    assert marked == {"bread": "lower"}
    assert weak.p_varies is not None
    assert weak.p_varies < 0.001
    said = breakdown_sentences(of_run(database, "topic"))[1]
    assert said.startswith("weak: accuracy varies by topic more than by chance (p < 0.001);")
    assert said.endswith("lower than the rest: bread.")


def test_pooling_draws_a_group_that_stands_out_towards_the_others(database: Path) -> None:
    weak = agent(of_run(database, "topic"), "weak")
    bread = next(one for one in weak.groups if one.group == "bread")
    assert bread.main.value == 0.25
    assert bread.pooled is not None
    assert 0.25 < bread.pooled < 0.35


def test_who_is_right_everywhere_is_not_tested(database: Path) -> None:
    right = agent(of_run(database, "topic"), "right")
    assert right.p_varies is None
    assert {one.differs for one in right.groups} == {None}
    assert all(one.pooled is not None and one.pooled > 0.98 for one in right.groups)


def test_the_document_is_bounded_and_says_what_is_missing(database: Path) -> None:
    found = of_run(database, "topic")
    document = breakdown_document(found, limit=2)
    (first, _) = document["agents"]
    assert document["schema"] == "agentbench.breakdown/1"
    assert len(first["groups"]) == 2
    assert first["more"] == 4
    assert len(breakdown_rows(found, limit=2)) == 2 * 3
    assert breakdown_sentences(found, limit=2)[-1].startswith("… 4 more groups")


def test_by_benchmark_there_is_one_group_and_no_test(database: Path) -> None:
    found = of_run(database, "benchmark")
    assert [one.group for one in found.agents[0].groups] == ["echo"]
    assert found.agents[0].p_varies is None


def test_a_run_that_asks_no_cases_has_no_fields(database: Path) -> None:
    with reading(database) as connection, pytest.raises(UsageError, match="there are none"):
        breakdown(connection, [], "topic")
