"""A run of some of the cases never stands for a whole one without being named."""

import asyncio
import sys
from contextlib import closing
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))

from carried_out import run, suite

from agentbench_tui.store.database import connect_to_read
from agentbench_tui.store.queries.runs import find_run
from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
from agentbench_tui.verdicts.ranking.leaderboard import agent_matrix, leaderboard_document
from agentbench_tui.verdicts.ranking.scoreboard import BoardAsked, boards
from agentbench_tui.verdicts.regression.regression import RegressionAsked, judge_agent
from agentbench_tui.verdicts.regression.regression_gate import NoRegression
from agentbench_tui.verdicts.selection.contenders import Wanted
from agentbench_tui.verdicts.selection.selector import executions_of_selector, parse_selector
from agentbench_tui.verdicts.selection.side import load_sides

AGENTS = """
def echo(prompt):
    return prompt
def mute(prompt):
    return "?"
def even(prompt):
    return prompt if int(prompt[-1]) % 2 == 0 else "?"
"""
WHOLE, PART = 8, 3


def measured(folder: Path, *limits: int | None, agents: tuple[str, ...] = ("echo",)) -> list[str]:
    """Runs of the same suite, each of so many cases; their ids."""
    document = suite(WHOLE)
    return [
        asyncio.run(run(folder, document, AGENTS, *agents, limit=limit)).outcome.run_id
        for limit in limits
    ]


def chosen(folder: Path, selector: str) -> list[str]:
    with closing(connect_to_read(folder / "store.db")) as connection:
        rows = executions_of_selector(connection, parse_selector(selector))
        return [row["run_id"] for row in rows]


def test_the_whole_run_counts_although_a_partial_one_is_newer(tmp_path: Path) -> None:
    whole, part = measured(tmp_path, None, PART)
    assert chosen(tmp_path, "echo") == [whole]
    assert chosen(tmp_path, f"run:{part}") == [part]


def test_a_newer_whole_run_counts_and_so_does_a_partial_one_alone(tmp_path: Path) -> None:
    _, whole = measured(tmp_path, PART, None)
    assert chosen(tmp_path, "echo") == [whole]
    only = tmp_path / "only"
    only.mkdir()
    first, second = measured(only, PART, PART)
    assert first != second
    assert chosen(only, "echo") == [second]


def test_comparisons_and_boards_name_the_partial_run_and_how_to_choose_it(tmp_path: Path) -> None:
    _, part = measured(tmp_path, None, PART, agents=("echo", "mute"))
    short = part[:13]
    with closing(connect_to_read(tmp_path / "store.db")) as connection:
        sides = load_sides(connection, ("echo", "mute"), None, None, CaseNumbers(connection))
        (board,) = boards(connection, BoardAsked())
    for side in sides:
        asked = f"run {short} of {side.label} asked 3 of 8 cases of echo"
        told = f"run:{short}/{side.label} selects the partial one"
        assert side.notes == (f"{asked}, so the whole run before it counts; {told}",)
    assert board["shared"] == WHOLE
    told = [note for note in board["notes"] if "asked 3 of 8 cases" in note]
    assert len(told) == 2
    assert told[0].endswith(f"`agentbench leaderboard --run {short}` shows the partial one")


def test_the_views_of_the_leaderboard_rank_by_the_whole_run(tmp_path: Path) -> None:
    """`even` is right in half of all cases, and in 2 of the 3 of the partial run."""
    _, part = measured(tmp_path, None, PART, agents=("even",))
    measured(tmp_path, None, agents=("mute",))
    with closing(connect_to_read(tmp_path / "store.db")) as connection:
        views = leaderboard_document(connection, BoardAsked())
        matrix = agent_matrix(connection, ["even", "mute"], None)
        key = find_run(connection, part)["key"]
        alone = leaderboard_document(connection, BoardAsked(wanted=Wanted(run_key=key)))
    (entries,) = views["categories"].values()
    scores = {one["agent_id"]: one["accuracy"] for one in entries}
    assert scores == {"even": 0.5, "mute": 0.0}
    assert {one["agent_id"]: one["accuracy"] for one in views["agents"]} == scores
    assert {one.agent_id: one.accuracy for one in matrix.agents} == scores
    assert [one["agent_id"] for (one,) in alone["categories"].values()] == ["even"]
    assert alone["agents"][0]["accuracy"] == pytest.approx(2 / 3)


def test_a_partial_run_is_no_version_that_became_worse_or_stayed_as_good(tmp_path: Path) -> None:
    _, whole, part = measured(tmp_path, None, None, PART)
    with closing(connect_to_read(tmp_path / "store.db")) as connection:
        found = judge_agent(connection, RegressionAsked("echo", metrics=("accuracy",)))
        (finding,) = found.findings
        assert finding.new[-1].run_id == whole
        assert finding.verdict == "no change seen"
        assert any("asked 3 of 8 cases" in note for note in finding.notes)
        # The gate of the partial run does not pass by the verdict on the whole one.
        (row,) = executions_of_selector(connection, parse_selector(f"run:{part}/echo"))
        passed, why = NoRegression(connection, part)(row)
    assert passed is None
    assert "only some of the cases" in why


def test_partial_runs_of_the_same_cases_are_compared_with_each_other(tmp_path: Path) -> None:
    *_, last = measured(tmp_path, None, PART, PART)
    with closing(connect_to_read(tmp_path / "store.db")) as connection:
        found = judge_agent(connection, RegressionAsked("echo", metrics=("accuracy",)))
    (finding,) = found.findings
    assert finding.new[-1].run_id == last
    assert not any("asked 3 of 8" in note for note in finding.notes)


@pytest.mark.parametrize("weights", [{"accuracy": 1}, None])
def test_agents_are_ranked_by_accuracy_if_it_alone_has_a_weight_or_nothing_a_score(
    tmp_path: Path, weights: dict[str, float] | None
) -> None:
    from agentbench_tui.store.queries.runs import find_run
    from agentbench_tui.verdicts.run_leaderboard import run_leaderboard

    document = suite(WHOLE)
    del document["weights"]
    if weights is not None:
        document["weights"] = weights
    asyncio.run(run(tmp_path, document, AGENTS, "mute", "echo"))
    with closing(connect_to_read(tmp_path / "store.db")) as connection:
        entries = run_leaderboard(connection, find_run(connection, "latest")["key"])
    assert [(one["agent_id"], one["rank"], one["rank_shown"]) for one in entries] == [
        ("echo", 1, "1"),
        ("mute", 2, "2"),
    ]
    by = "overall" if weights else "accuracy"
    assert [one["rank_metric"] for one in entries] == [by, by]
    assert [one["overall"] for one in entries] == ([1, 0] if weights else [None, None])
