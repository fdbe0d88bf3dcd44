"""What success costs, against figures worked out by hand, and when a switch is said to save."""

import asyncio
import shutil
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))

from carried_out import run, suite
from priced_agents import MEAN_COST_OF_CHEAP, PRICED_AGENTS

from agentbench_tui.contracts.cost import CostDocument, CostGroup, CostLine
from agentbench_tui.model.errors import UsageError
from agentbench_tui.presentation.cost import sentences_of, some_names
from agentbench_tui.store.database import connect_to_read
from agentbench_tui.store.transaction import write_once
from agentbench_tui.verdicts.cost.cost import BY_THE_HOUR
from agentbench_tui.verdicts.cost.cost_board import CostAsked, about, cost_document
from agentbench_tui.verdicts.ranking.scoreboard import BoardAsked, boards
from agentbench_tui.verdicts.selection.contenders import Wanted

NAMES = ("dear", "cheap", "poor")


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cost")
    found = asyncio.run(run(folder, suite(60), PRICED_AGENTS, *NAMES, "free"))
    # every answer of dear took 1 s, of the others 2 s
    took = "CASE agent_id WHEN 'dear' THEN 1000 ELSE 2000 END"
    execution = f"SELECT {took} FROM benchmark_executions WHERE key=execution_key"
    write_once(
        found.database,
        [
            lambda c: c.execute(f"UPDATE answers SET e2e_ms=({execution})"),
            lambda c: c.execute(f"UPDATE iterations SET asking_s=observed*({execution})/1000"),
        ],
    )
    return found.database


def document(database: Path, *names: str, margin: float = 0.02, **wanted: Any) -> CostDocument:
    with closing(connect_to_read(database)) as connection:
        return cost_document(connection, CostAsked(names, margin, Wanted(**wanted)))


def only_group(database: Path, *names: str, **asked: Any) -> CostGroup:
    (group,) = document(database, *names, **asked).groups
    return group


def agents(group: CostGroup) -> dict[str, CostLine]:
    return {line.name: line for line in group.agents}


def test_costs_are_sums_over_what_was_asked_and_what_was_right(measured: Path) -> None:
    found = agents(only_group(measured))
    assert found["dear"].cost_usd == pytest.approx(0.24)
    assert found["dear"].cost_usd_per_task.value == pytest.approx(0.004)
    assert found["dear"].cost_usd_per_success.value == pytest.approx(0.24 / 57)
    assert found["dear"].successes_per_usd.value == pytest.approx(57 / 0.24)
    assert found["cheap"].cost_usd_per_task.value == pytest.approx(MEAN_COST_OF_CHEAP)
    assert found["dear"].spent_on_wrong == pytest.approx(3 / 60)
    assert found["poor"].spent_on_wrong == pytest.approx(45 / 60)
    for line in found.values():
        success = line.cost_usd_per_success
        assert success.low < success.value < success.high
    assert found["dear"].by_benchmark["small/echo"].cost_usd_per_task.value == (
        pytest.approx(0.004)
    )


def test_efficiency_is_the_share_of_the_best_value_by_the_formula(measured: Path) -> None:
    group = only_group(measured)
    assert "right answers x tasks per second / USD per task" in group.formula
    value = {
        "dear": 57 / 60 * 1 / 0.004,
        "cheap": 57 / 60 * 0.5 / MEAN_COST_OF_CHEAP,
        "poor": 15 / 60 * 0.5 / 0.0005,
    }
    for name, line in agents(group).items():
        assert line.value == pytest.approx(value[name])
        assert line.efficiency == pytest.approx(value[name] / value["cheap"])
        assert line.optimal == (line.efficiency > 0.8)
    assert [one.configuration for one in group.optimal_configurations] == ["cheap"]


def test_the_best_value_is_not_recommended_without_the_accuracy_that_it_costs(
    tmp_path: Path,
) -> None:
    found = asyncio.run(run(tmp_path, suite(40), PRICED_AGENTS, "often", "half"))
    alike = ("UPDATE answers SET e2e_ms=1000", "UPDATE iterations SET asking_s=observed")
    write_once(found.database, [lambda c, sql=sql: c.execute(sql) for sql in alike])
    group = only_group(found.database)
    # 20 of 40 right: 20 / (40 x $0.001) against 40 / (40 x $0.004) right answers for a dollar
    assert agents(group)["half"].cost_usd_per_success.value == pytest.approx(0.002)
    (traded,) = group.trade_offs
    assert (traded.configuration, traded.more_accurate) == ("half", "often")
    assert (traded.difference, traded.cost_ratio) == pytest.approx((0.5, 4))
    assert 0 < traded.low < 0.5 < traded.high
    said = sentences_of(group, 0.02)
    assert said[0] == "cheapest per right answer: half ($0.0020 each)"
    assert said[1] == "best value (eff. above 0.8): half"
    assert said[2].startswith("often is right more often than half (+50.0 pp [")
    assert said[2].endswith("4.00× its cost per task: choose by what a wrong answer costs you")


def test_calls_that_overlap_count_by_the_throughput_that_was_measured(
    measured: Path, tmp_path: Path
) -> None:
    assert only_group(measured).speed_from == "answer times"
    database = tmp_path / "store.db"
    shutil.copyfile(measured, database)
    # dear: 60 tasks of 1 s in 15 s, so 4 under way; the others one after another
    dear = "(SELECT key FROM benchmark_executions WHERE agent_id='dear')"
    of_dear = f"UPDATE iterations SET asking_s=observed*15.0/60 WHERE execution_key IN {dear}"
    write_once(database, [lambda c: c.execute(of_dear)])
    group = only_group(database)
    assert group.speed_from == "throughput"
    assert group.speed_words.startswith("tasks per second: the measured throughput")
    found = agents(group)
    assert found["dear"].tasks_per_s == pytest.approx(60 / 15)
    assert found["cheap"].tasks_per_s == pytest.approx(0.5)
    assert found["dear"].value == pytest.approx(57 / 60 * 4 / 0.004)
    assert found["dear"].efficiency == 1.0


def test_without_times_of_all_speed_is_left_out(measured: Path, tmp_path: Path) -> None:
    database = tmp_path / "store.db"
    shutil.copyfile(measured, database)
    write_once(database, [lambda c: c.execute("UPDATE answers SET e2e_ms=NULL")])
    group = only_group(database)
    assert "tasks per second" not in group.formula
    assert agents(group)["cheap"].value == pytest.approx(57 / 60 / MEAN_COST_OF_CHEAP)
    assert agents(group)["cheap"].tasks_per_s is None


def elsewhere(database: Path, key: int = 2) -> None:
    """That run was carried out on another machine."""
    write_once(database, [
        lambda c: c.execute("INSERT INTO environments (hash, fingerprint, document)"
                            " SELECT 'other', 'another machine', document FROM environments"
                            " LIMIT 1"),
        lambda c: c.execute(f"UPDATE runs SET environment_hash='other' WHERE key={key}"),
    ])  # fmt: skip


async def test_speeds_of_two_machines_are_not_compared(measured: Path, tmp_path: Path) -> None:
    shutil.copyfile(measured, tmp_path / "store.db")
    far = PRICED_AGENTS + "def far(prompt): return said(prompt, True, 0.001)\n"
    database = (await run(tmp_path, suite(60), far, "far")).database
    assert "tasks per second" in only_group(database).formula
    elsewhere(database)
    group = only_group(database)
    assert "far" in agents(group)  # what an answer costs does not depend on the machine
    assert "tasks per second" not in group.formula
    assert agents(group)["cheap"].value == pytest.approx(57 / 60 / MEAN_COST_OF_CHEAP)


async def test_hours_of_two_machines_are_not_compared(tmp_path: Path) -> None:
    code = "def here(prompt): return prompt\ndef there(prompt): return prompt\n"
    for name in ("here", "there"):
        found = await run(tmp_path, suite(10), code, name, hourly_price_usd=1.0)
    assert {*agents(only_group(found.database))} == {"here", "there"}
    elsewhere(found.database)
    groups = document(found.database).groups
    assert sorted([*agents(group)] for group in groups) == [["here"], ["there"]]
    with closing(connect_to_read(found.database)) as connection:
        asked = BoardAsked(metric="cost_usd_per_task")
        names = [[one["name"] for one in board["standings"]] for board in boards(connection, asked)]
    assert sorted(names) == [["here"], ["there"]]


def test_the_front_holds_who_nobody_beats_on_both(measured: Path) -> None:
    found = agents(only_group(measured))
    assert found["cheap"].front.standing == "on the front"
    assert found["poor"].front.on_front
    # as right as cheap by the mean, and dearer; with other cases it may be righter
    assert found["dear"].front.dominated_by == ("cheap",)


def test_a_switch_is_said_to_save_where_quality_surely_does_not_suffer(measured: Path) -> None:
    group = only_group(measured, "dear", margin=0.2)
    saving = agents(group)["cheap"].against_current
    assert saving.verdict == "equivalent"
    assert saving.difference == pytest.approx(0)
    assert saving.saving.value == pytest.approx(1 - MEAN_COST_OF_CHEAP / 0.004)
    assert 0 < saving.saving.low < saving.saving.value
    assert saving.usd_per_1000_tasks == pytest.approx(1000 * (0.004 - MEAN_COST_OF_CHEAP))
    (switch,) = group.cost_optimization_opportunities
    assert (switch.current, switch.switch_to) == ("dear", "cheap")
    assert group.optimal_configurations[0].estimated_savings == saving


def test_no_difference_found_is_not_equal_quality(measured: Path) -> None:
    group = only_group(measured, "dear")  # 3 cases each that the other is right on, of 60
    saving = agents(group)["cheap"].against_current
    assert (saving.verdict, saving.saving) == ("inconclusive", None)
    assert group.cost_optimization_opportunities == ()


def test_cheaper_but_worse_saves_nothing(measured: Path) -> None:
    saving = agents(only_group(measured, "dear", margin=0.2))["poor"].against_current
    assert (saving.verdict, saving.saving, saving.surely) == ("worse", None, False)


def test_better_but_dearer_saves_nothing(measured: Path) -> None:
    group = only_group(measured, "poor", "dear")
    assert {*agents(group)} == {"dear", "poor"}
    saving = agents(group)["dear"].against_current
    assert saving.verdict == "better"
    assert saving.saving.value == pytest.approx(1 - 0.004 / 0.0005)  # seven times dearer
    assert not saving.surely


def test_who_has_no_known_cost_is_told_with_the_reason(measured: Path) -> None:
    (one,) = document(measured).unknown
    assert (one.name, one.benchmark) == ("free", "small/echo")
    assert one.reason == "the agent did not say how many tokens it used (60 answers)"


async def test_about_an_agent_only_its_groups_and_what_is_unknown_there_are_told(
    tmp_path: Path,
) -> None:
    found = await run(tmp_path, suite(6), PRICED_AGENTS, "dear", "free")
    other = suite(6, benchmark_id="other", suite={"suite_id": "other"})
    await run(tmp_path, other, PRICED_AGENTS, "poor", "mute")
    whole = document(found.database)
    assert sorted([*group.benchmarks] for group in whole.groups) == [
        ["other/other"], ["small/echo"],
    ]  # fmt: skip
    of_free = about(whole, "free")
    assert of_free.groups == ()
    assert [(one.name, one.benchmark) for one in of_free.unknown] == [("free", "small/echo")]
    of_dear = about(whole, "dear")
    assert [group.benchmarks for group in of_dear.groups] == [("small/echo",)]
    assert [one.name for one in of_dear.unknown] == ["free"]


async def test_better_and_cheaper_is_worth_a_switch(tmp_path: Path) -> None:
    code = PRICED_AGENTS.replace("0.0005", "0.05")
    found = await run(tmp_path, suite(60), code, "poor", "dear")
    (switch,) = only_group(found.database, "poor").cost_optimization_opportunities
    assert (switch.switch_to, switch.verdict) == ("dear", "better")
    assert switch.saving.value == pytest.approx(1 - 0.004 / 0.05)


async def test_agents_that_never_answer_do_not_break_it(tmp_path: Path) -> None:
    found = await run(tmp_path, suite(6), PRICED_AGENTS, "mute", "poor")
    group = only_group(found.database)
    assert [*agents(group)] == ["poor"]
    assert group.cost_optimization_opportunities == ()


async def test_what_is_paid_by_the_hour_is_compared_by_whole_repeats(tmp_path: Path) -> None:
    code = "def here(prompt): return prompt\ndef there(prompt): return prompt\n"
    found = await run(
        tmp_path, suite(60), code, "here", "there", repeats=3, hourly_price_usd=3600.0
    )
    # a second of asking costs a dollar: here 60, 66, 60 USD for 60 cases a repeat, there 30, 30, 33
    seconds = "(SELECT CASE agent_id WHEN 'here' THEN 60.0 ELSE 30.0 END"
    seconds += " FROM benchmark_executions WHERE key=execution_key)"
    write_once(found.database, [lambda c: c.execute(
        f"UPDATE iterations SET asking_s={seconds} * (CASE repeat WHEN 1 THEN 1.1 ELSE 1 END)"
    )])  # fmt: skip
    group = only_group(found.database, "here", margin=0.1)
    line = agents(group)["here"]
    assert line.by_the_hour
    assert line.cost_usd_per_task.value == pytest.approx(186 / 180)
    for figure in ("cost_usd_per_task", "cost_usd_per_success", "successes_per_usd"):
        assert getattr(line, figure).value is not None
        assert (getattr(line, figure).low, getattr(line, figure).high) == (None, None)
        assert getattr(line, figure).reason == BY_THE_HOUR
    saving = agents(group)["there"].against_current.saving
    assert saving.value == pytest.approx(0.5)  # geometric means of like repeats
    assert saving.low < 0.5 < saving.high


def test_a_name_that_nobody_has_is_told(measured: Path) -> None:
    with pytest.raises(UsageError) as slip:
        document(measured, "cheep")
    assert 'did you mean "cheap"' in str(slip.value)


def test_an_empty_window_has_no_groups(measured: Path) -> None:
    assert document(measured, category="speed").groups == ()


def test_names_are_told_once_each() -> None:
    assert (
        some_names(["a", "b", "a", "c", "a", "d", "e", "f", "b", "g"]) == "a, b, c, d, e and 2 more"
    )
