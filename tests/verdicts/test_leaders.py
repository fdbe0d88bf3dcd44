"""What pages show of leaders and comparisons, out of a store made by real runs."""

import asyncio
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))

sys.path.insert(0, str(Path(__file__).parents[1] / "load"))

from carried_out import run, suite
from loads import leave_calibration_out, practice

from agentbench_tui.model.answer import Message
from agentbench_tui.model.errors import UsageError
from agentbench_tui.store.database import connect_to_read
from agentbench_tui.verdicts.comparison.case_beside import answer_to_case, conversation
from agentbench_tui.verdicts.comparison.pictured import pictured
from agentbench_tui.verdicts.comparison.side_pictures import dimension_scores, spreads
from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
from agentbench_tui.verdicts.ranking.leaders import ALL, leaders
from agentbench_tui.verdicts.selection.selectable import selectable, spelled_out
from agentbench_tui.verdicts.selection.selector import executions_of_selector, parse_selector
from agentbench_tui.verdicts.selection.side import load_sides

AGENTS = """
from agentbench_tui.model.answer import Answer, Message, ToolCall, Usage
def even(prompt):
    return Answer(prompt if int(prompt) % 2 == 0 else "no", usage=Usage(3, 10 + int(prompt)))
def third(prompt):
    if int(prompt) == 5:
        raise RuntimeError("out of luck")
    call = Message("assistant", tool_calls=(ToolCall("look", {"at": prompt}),))
    text = prompt if int(prompt) % 3 == 0 else "no"
    return Answer(text, messages=(call, Message("tool", "seen"), Message("assistant", text)))
"""


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """12 cases, twice, by two agents; then 4 of them in a suite of another category."""
    folder = tmp_path_factory.mktemp("leaders")
    document = suite(12, suite={"category": "accuracy"})
    asyncio.run(run(folder, document, AGENTS, "even", "third", repeats=2, tags=("first",)))
    later = suite(4, suite={"category": "speed", "suite_id": "fast"})
    return asyncio.run(run(folder, later, AGENTS, "even")).database


@pytest.fixture
def connection(measured: Path) -> Iterator[sqlite3.Connection]:
    with closing(connect_to_read(measured)) as opened:
        yield opened


def test_the_category_with_most_executions_comes_first_and_others_can_be_had(
    connection: sqlite3.Connection,
) -> None:
    found = leaders(connection)
    assert (found.category, found.categories) == ("accuracy", ("accuracy", "speed", ALL))
    assert [line["name"] for line in found.boards[0]["standings"]] == ["even", "third"]
    assert found.metrics[:3] == ("accuracy", "overall", "e2e_ms")
    speed = leaders(connection, category="speed")
    assert [line["name"] for line in speed.boards[0]["standings"]] == ["even"]
    everything = leaders(connection, category=ALL)
    assert everything.boards[0]["category"] is None
    assert leaders(connection, category="cost").category == "accuracy"


def test_behind_a_leader_stand_its_runs_answers_and_scores(connection: sqlite3.Connection) -> None:
    details = leaders(connection).details["third", False]
    assert (details["runs"], details["answers"]) == (1, 24)
    (benchmark,) = details["benchmarks"]
    assert benchmark["benchmark"] == "echo"
    assert benchmark["accuracy"] == pytest.approx(4 / 12)  # 0, 3, 6, 9
    (execution,) = details["executions"]
    assert execution["answers"] == 24
    both = leaders(connection, category=ALL).details["even", False]
    assert (both["runs"], both["answers"]) == (2, 28)
    assert [row["suite_id"] for row in both["executions"]] == ["fast", "small"]


def test_nothing_measured_in_the_window_has_no_category(connection: sqlite3.Connection) -> None:
    assert leaders(connection, days=-1).category is None


def test_an_unknown_metric_is_refused(connection: sqlite3.Connection) -> None:
    with pytest.raises(UsageError, match="acuracy: unknown"):
        leaders(connection, metric="acuracy")


def test_everything_that_is_offered_can_be_selected(connection: sqlite3.Connection) -> None:
    found = selectable(connection)
    kinds = [one.kind for one in found]
    assert [kinds.count(kind) for kind in ("agent", "version", "run", "tag")] == [2, 0, 3, 2]
    assert [one.selector for one in found[:2]] == ["even", "third"]  # the newest first
    for one in found:
        rows = executions_of_selector(connection, parse_selector(one.selector))
        assert {row["agent_id"] for row in rows} == {one.agent_id}


def test_a_run_of_several_agents_is_spelled_out(connection: sqlite3.Connection) -> None:
    runs = [one.selector for one in selectable(connection) if one.kind == "run"]
    alone, *of_two = (selector.rpartition("/")[0] for selector in sorted(runs, reverse=True))
    assert of_two[0] == of_two[1]
    assert spelled_out(connection, [of_two[0], alone, "even"]) == [
        f"{of_two[0]}/even", f"{of_two[0]}/third", alone, "even",
    ]  # fmt: skip
    assert spelled_out(connection, ["tag:first", "tag:first/even"]) == [
        "tag:first/even", "tag:first/third",
    ]  # fmt: skip
    with pytest.raises(UsageError, match="nothing"):
        spelled_out(connection, ["run:nothing"])


def test_several_versions_are_offered_each(measured: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    with closing(sqlite3.connect(measured)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
        with target:
            target.execute(
                "UPDATE benchmark_executions SET agent_version='2' WHERE suite_id='fast'"
            )
    with closing(connect_to_read(copy)) as opened:
        found = [one.selector for one in selectable(opened) if one.kind == "version"]
    assert len(found) == 2
    assert found[0] == "even@2"


def test_scores_and_values_of_sides(connection: sqlite3.Connection) -> None:
    sides = load_sides(connection, ["even", "third"], None, None, CaseNumbers(connection))
    scores = dimension_scores(sides[1])
    assert scores["accuracy"] == pytest.approx(4 / 12)
    assert scores["reliability"] == pytest.approx(11 / 12)
    (place,) = sides[0].evidence
    values = spreads(connection, sides, place)
    assert sorted(values["output_tokens"][0]) == sorted([*range(10, 22)] * 2)
    assert len(values["output_tokens"][1]) == 0  # third told none
    assert [len(one) for one in values["e2e_ms"]] == [24, 22]
    assert all(np.isfinite(one).all() for one in values["e2e_ms"])


async def test_values_of_a_load_are_those_of_its_requests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_calibration_out(monkeypatch)
    block = {"rate": 100, "requests": 40}
    _, truth = await practice(tmp_path, block, ttft="2ms", itl="1ms", tokens=5)
    assert len(truth.answered) == 40
    with closing(connect_to_read(tmp_path / "store.db")) as opened:
        sides = load_sides(opened, ["target", "target"], None, None, CaseNumbers(opened))
        (place,) = sides[0].evidence
        values = spreads(opened, sides, place)
    assert [len(one) for one in values["e2e_ms"]] == [40, 40]
    assert (values["output_tokens"][0] == 5).all()
    assert (values["ttft_ms"][0] <= values["e2e_ms"][0]).all()
    assert "waiting_ms" not in values


def test_a_comparison_with_what_is_drawn_of_it(connection: sqlite3.Connection) -> None:
    found = pictured(connection, ["third", "even"], 200)
    assert found.selectors == ("third", "even")
    assert [pair.b for pair in found.pairs] == ["even"]
    assert [str(place) for place in found.places] == ["small/echo"]
    apart = found.pairs[0].benchmarks[0].disagreements
    assert apart is not None
    assert (apart.only_a, apart.only_b) == (2, 4)  # 3, 9; 2, 4, 8, 10


def test_a_case_is_told_from_the_question_to_the_answer_or_failure(
    connection: sqlite3.Connection,
) -> None:
    found = pictured(connection, ["third", "even"], 200)
    of = found.pairs[0].benchmarks[0]

    def said(side: str, case: str, *, right: bool) -> tuple[Message, ...]:
        answer = answer_to_case(connection, getattr(of, side).execution_ids, case, right=right)
        return () if answer is None else conversation(answer)

    assert said("b", "c4", right=True) == (Message("user", "4"), Message("assistant", "4"))
    wrong = said("a", "c4", right=False)
    assert [one.role for one in wrong] == ["user", "assistant", "tool", "assistant"]
    assert wrong[1].tool_calls[0].arguments == {"at": "4"}
    assert wrong[-1].content == "no"
    failed = said("a", "c5", right=False)
    assert failed[0] == Message("user", "5")
    assert failed[-1].role == "failure"
    assert "out of luck" in failed[-1].content
    assert said("a", "c99", right=True) == ()
