"""The result of a run leads with the answer; figures of every execution come only when asked."""

from __future__ import annotations

from typing import Any

import pytest
from run_documents import entry, execution, metric, run

from agentbench_tui.contracts.run import CaseCounts, ExecutionResult, RunDocument
from agentbench_tui.presentation.report import Section, Table
from agentbench_tui.presentation.run import RunReport, run_report


def cases(correct: int, answered: int = 10, observed: int = 10) -> CaseCounts:
    return CaseCounts(total=observed, observed=observed, answered=answered, correct=correct)


def on(agent: str, benchmark: str, accuracy: float, **changes: Any) -> ExecutionResult:
    found = {"accuracy": metric(accuracy, accuracy - 0.1, min(1.0, accuracy + 0.1))}
    return execution(
        agent, benchmark, **{"metrics": found, "cases": cases(round(10 * accuracy)), **changes}
    )


def two_agents(**changes: Any) -> RunDocument:
    agents = (
        entry("good", overall=0.9, low=0.8, high=1.0, rank=1, rank_shown="1", ranked_by="cases",
              accuracy=0.9, cost_usd=0.00002, observed=20, answered=20, correct=18),
        entry("bad", overall=0.4, low=0.3, high=0.5, rank=2, rank_shown="2", ranked_by="cases",
              accuracy=0.4, cost_usd=0.00004, observed=20, answered=18, correct=8),
    )  # fmt: skip
    executions = (
        on("good", "easy", 0.9), on("bad", "easy", 0.9),
        on("good", "hard", 0.9),
        on("bad", "hard", 0.0, failures={"timeout": 2}, cases=cases(0, 8)),
    )  # fmt: skip
    return run(*executions, **{"leaderboard": agents} | changes)


def table(section: Section) -> Table:
    (only,) = section.tables
    return only


def cells(shown: Table) -> list[list[str]]:
    return [[one.show(row.get(one.key)) for one in shown.columns] for row in shown.rows]


def sentences(report: RunReport) -> list[str]:
    return [line for part in (*report.answer, *report.remarks) for line in part.sentences]


def test_the_first_words_say_who_is_best_and_how_surely() -> None:
    first, _ = run_report(two_agents()).answer
    assert first.is_answer
    assert first.title == (
        "good is the best of 2 agents: overall score 0.900 [0.800, 1.000], clearly ahead of bad"
        " at 0.400 [0.300, 0.500]."
    )
    leaderboard = table(first)
    assert [one.title for one in leaderboard.columns[:3]] == ["#", "agent", "overall [95%]"]
    assert [row[:3] for row in cells(leaderboard)] == [
        ["1", "good", "0.900 [0.800, 1.000]"],
        ["2", "bad", "0.400 [0.300, 0.500]"],
    ]


def test_columns_that_nobody_fills_are_left_out_and_small_money_is_per_million_tasks() -> None:
    leaderboard = table(run_report(two_agents()).answer[0])
    titles = [one.title for one in leaderboard.columns]
    assert "speed" not in titles
    assert "accuracy" in titles
    place = titles.index("USD/task")
    # 0.00002 USD for 20 answers: a millionth of a dollar each, one dollar for a million.
    assert [row[place] for row in cells(leaderboard)] == ["$1.00/1M", "$2.00/1M"]


def test_benchmarks_on_which_agents_differ_have_a_line_and_the_others_one_together() -> None:
    _, benchmarks = run_report(two_agents()).answer
    assert cells(table(benchmarks)) == [["hard", "90.0%", "0%"]]
    assert [*benchmarks.sentences] == ["All agents have the same accuracy on easy."]


def test_failures_are_told_in_words_with_what_to_do_next() -> None:
    lines = sentences(run_report(two_agents()))
    assert "bad has no answer to 2 of 20: 2 timed out (2 on hard)." in lines
    assert "Compare the first two: agentbench compare good bad" in lines
    assert "See what went wrong: agentbench runs show r1 --wrong" in lines
    assert lines[-1] == "run r1: complete"


def test_failures_lead_to_a_rerun_and_the_fields_of_cases_to_groups() -> None:
    grouped = on("a", "x", 0.5, metadata_fields=("level of school", "topic"))
    lines = sentences(run_report(run(grouped, leaderboard=(entry("a", accuracy=0.5),))))
    assert "See it by level of school: agentbench runs show r1 --by 'level of school'" in lines
    assert not [line for line in lines if "rerun" in line]
    assert "Ask only what failed again: agentbench rerun r1 --failed" in sentences(
        run_report(two_agents())
    )


def test_answers_that_no_scorer_could_judge_lead_to_rescoring_and_not_to_a_rerun() -> None:
    ungraded = on("a", "x", 0.5, failures={"grader": 3}, cases=cases(5, 7))
    board = (entry("a", accuracy=0.5, observed=10, answered=7, correct=5),)
    lines = sentences(run_report(run(ungraded, leaderboard=board)))
    assert (
        "a: 3 of 10 answers could not be graded, and count neither as right nor as wrong (3 on x)."
        in lines
    )
    assert "Once the scorer is repaired, grade again: agentbench rescore r1" in lines
    # `rerun --failed` would have nothing to ask: the answers are there.
    assert not [line for line in lines if "rerun" in line or "has no answer" in line]


@pytest.mark.parametrize("full", [False, True])
def test_the_figures_of_one_agent_are_shown_once(full: bool) -> None:
    metrics = {"accuracy": metric(0.5, 0.4, 0.6), "tone": metric(0.7, 0.6, 0.8)}
    document = run(
        on("a", "x", 0.5, own_metrics=("tone",), metrics=metrics),
        leaderboard=(entry("a", accuracy=0.5),),
    )
    report = run_report(document, full=full)
    shown = [one for part in (*report.answer, *report.remarks) for one in part.tables]
    heads = [[column.title for column in one.columns] for one in shown]
    assert len([head for head in heads if "benchmark" in head and "accuracy" in head]) == 1
    assert len([head for head in heads if "metric" in head]) == 1


def test_a_run_without_a_wrong_answer_sends_nobody_to_look_for_one() -> None:
    report = run_report(run(on("a", "b", 1.0), leaderboard=(entry(accuracy=1.0),)))
    assert not [line for line in sentences(report) if "--wrong" in line or "compare" in line]


@pytest.mark.parametrize("full", [False, True])
def test_a_row_for_every_execution_comes_only_when_asked(full: bool) -> None:
    report = run_report(two_agents(), full=full)
    rows = [len(one.rows) for part in report.remarks for one in part.tables]
    assert rows == ([4] if full else [])
    assert any("See every figure" in line for line in sentences(report)) is not full


def test_one_agent_has_its_benchmarks_the_least_accurate_first() -> None:
    document = run(on("a", "x", 0.9), on("a", "y", 0.2), leaderboard=(entry(accuracy=0.55),))
    (_, benchmarks) = run_report(document).answer
    assert [row[:2] for row in cells(table(benchmarks))] == [["y", "20.0%"], ["x", "90.0%"]]


def test_agents_without_overall_scores_are_shown_by_accuracy() -> None:
    agents = (entry("a", accuracy=0.9), entry("b", accuracy=0.5))
    document = run(on("a", "x", 0.9), on("b", "x", 0.5), leaderboard=agents)
    leaderboard = table(run_report(document).answer[0])
    assert [one.title for one in leaderboard.columns[:2]] == ["agent", "accuracy [95%]"]
    assert [row[:2] for row in cells(leaderboard)] == [
        ["a", "90.0% [80.0, 100]"],
        ["b", "50.0% [40.0, 60.0]"],
    ]


def test_versions_of_one_agent_are_told_apart() -> None:
    agents = (
        entry("bot", agent_version="1", accuracy=0.9), entry("bot", agent_version="2", accuracy=0.5)
    )  # fmt: skip
    executions = (on("bot", "x", 0.9), on("bot", "x", 0.5, agent_version="2"))
    lines = sentences(run_report(run(*executions, leaderboard=agents)))
    assert "Compare the first two: agentbench compare bot@1 bot@2" in lines
