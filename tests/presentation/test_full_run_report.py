"""The chapters of a run's report: what its tables leave out, and what they say about it."""

from __future__ import annotations

from typing import Any

from run_documents import entry, execution, metric

from agentbench_tui.contracts.leaderboard import Board
from agentbench_tui.contracts.run import CaseCounts
from agentbench_tui.presentation.full_report.leaderboard_chapter import (
    answer_terms,
    priced_table,
    ranking_note,
)
from agentbench_tui.presentation.full_report.run_chapters import profile_chapter
from agentbench_tui.presentation.profile import _FIGURES, _PHASES, _measured
from agentbench_tui.presentation.report import Column, Report, Section, Table
from agentbench_tui.presentation.run_remarks import untimed_lines

TIMED = {"e2e_ms.p50": metric(2.0, unit="ms")}


def test_failed_answers_are_counted_where_latencies_exclude_them() -> None:
    lacking = CaseCounts(total=68, observed=68, answered=60, correct=16)
    executions = [
        execution("planner", "extraction", metrics=TIMED),
        execution("memory", "extraction", metrics=TIMED, cases=lacking),
    ]
    assert untimed_lines(executions) == [
        "Latencies exclude failed answers: memory failed 8 of 68 on extraction."
    ]


def test_no_line_is_about_failed_answers_if_none_failed_or_nothing_was_timed() -> None:
    lacking = CaseCounts(total=3, observed=3, answered=1, correct=1)
    assert untimed_lines([execution(metrics=TIMED)]) == []
    assert untimed_lines([execution(cases=lacking)]) == []


def test_what_was_not_measured_is_in_no_table_of_the_profile() -> None:
    unknown = {"source": "harness", "share": None, "n": 0, "p50_ms": None, "p95_ms": None,
               "usage": "", "reason": "not streamed"}  # fmt: skip
    rows: list[dict[str, Any]] = [
        {**unknown, "name": "first token", "mean_ms": None},
        {**unknown, "name": "answer, whole", "mean_ms": 2.0, "n": 3, "share": 1.0, "reason": None},
    ]
    found = _measured(Table(_PHASES, rows), "mean_ms")
    assert [row["name"] for row in found.rows] == ["answer, whole"]
    assert [one.title for one in found.columns] == ["phase", "source", "share", "n", "mean"]
    assert _measured(Table(_FIGURES, [{"name": "x", "value": None}]), "value").rows == []
    assert all(one.title for one in (*_PHASES, *_FIGURES))


def test_the_profile_says_what_it_excludes_and_that_it_includes_failed_answers() -> None:
    found = Report(Table((), []), [Section("a")])
    whole, failed = profile_chapter(found), profile_chapter(found, failed=14)
    assert whole.is_long
    assert "not measured are excluded" in whole.sections[0].sentences[0]
    assert len(whole.sections[0].sentences) == 1
    assert failed.sections[0].sentences[1] == "Times in this chapter include failed answers."
    assert not profile_chapter(None).sections


def priced_cells(key: str, usd: list[float | None]) -> tuple[str, list[str]]:
    table = priced_table(Table([Column("agent", "agent"), Column(key, "USD/right")],
                          [{"agent": "a", key: one} for one in usd]))  # fmt: skip
    column = table.columns[1]
    return column.title, [column.show(row[key]) for row in table.rows]


def test_a_column_of_prices_has_its_unit_in_the_heading() -> None:
    assert priced_cells("per_correct", [1.2e-7, 3.64e-6, None]) == (
        "USD per million right answers", ["$0.12", "$3.64", "–"],
    )  # fmt: skip
    assert priced_cells("usd_per_success", [0.063, 2.0]) == (
        "USD per right answer", ["$0.063", "$2.00"],
    )  # fmt: skip


def board(**changes: Any) -> Board:
    return Board(
        **{"category": None, "simulated": False, "metric": "accuracy", "field": None,
           "group": None, "ranked_by": "cases", "method": None, "benchmarks": ("s/b",),
           "shared": 137, "left_out": 0, "standings": (), "more": 0, "unranked": (), "notes": (),
           "apart": False, **changes}
    )  # fmt: skip


def test_answers_are_cases_times_how_often_each_was_asked() -> None:
    entries = [entry("a", observed=274), entry("b", observed=274)]
    _, asked = answer_terms(entries, [board()], judged=True)
    assert asked == (
        "asked: 274 answers of each agent are 137 cases, each asked 2 times "
        "(repeats × iterations)."
    )  # fmt: skip
    once = [entry("a", observed=137), entry("b", observed=137)]
    assert len(answer_terms(once, [board()], judged=True)) == 1
    assert len(answer_terms(entries, [board(left_out=1)], judged=True)) == 1
    assert answer_terms(entries, [board()], judged=False) == []


def test_a_board_that_ranks_by_another_score_than_the_first_table_says_so() -> None:
    (note,) = ranking_note(board())
    assert note.startswith("This table ranks by accuracy, the mean over all cases; the first one")
    assert ranking_note(board(metric="overall", ranked_by="scores")) == []
