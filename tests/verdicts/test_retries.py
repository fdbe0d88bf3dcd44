"""Tries of one case: which counts, what they take together, and what is said."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agentbench_tui.model.errors import UsageError
from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
from agentbench_tui.verdicts.files.sample_file import SampleFile, read_sample_file

RETRIED = """case,attempt,accuracy,cost_usd
a,1,0,1
a,2,1,2
b,1,1,4
c,1,0,8
c,2,0,16
c,3,0,32
d,2,1,128
d,1,0,64
"""


@pytest.fixture
def read(tmp_path: Path) -> object:
    def read(attempt: str = "", text: str = RETRIED) -> SampleFile:
        path = tmp_path / "tries.csv"
        path.write_text(text)
        with closing(sqlite3.connect(":memory:")) as connection:
            return read_sample_file(path, CaseNumbers(connection), attempt=attempt)

    return read


@pytest.mark.parametrize(
    ("attempt", "right", "cost"),
    [
        ("", [0, 1, 0, 0], [1, 4, 8, 64]),
        ("first", [0, 1, 0, 0], [1, 4, 8, 64]),
        ("last", [1, 1, 0, 1], [3, 4, 56, 192]),
        ("pass@2", [1, 1, 0, 1], [3, 4, 24, 192]),
        ("all", [0, 1, 1, 0, 0, 0, 1, 0], [1, 2, 4, 8, 16, 32, 128, 64]),
    ],
)
def test_the_try_that_was_chosen_counts(read, attempt, right, cost) -> None:  # type: ignore[no-untyped-def]
    evidence = read(attempt).benchmarks[""]
    by_case = sorted(
        zip(evidence.case, evidence.values["accuracy"], strict=True), key=lambda x: x[0]
    )
    assert [value for _, value in by_case] == right
    assert sorted(evidence.values["cost_usd_per_task"]) == sorted(cost)


def test_what_was_chosen_is_said_with_both_shares(read) -> None:  # type: ignore[no-untyped-def]
    note = read().notes[-1]
    assert "8 tries of 4 cases: the first try counts" in note
    assert "right at the first 0.250, at the last 0.750, within 3 0.750" in note


def test_tries_that_go_on_after_a_right_one_are_independent_and_all_count(read) -> None:  # type: ignore[no-untyped-def]
    text = "case,attempt,accuracy\na,1,1\na,2,0\nb,1,0\nb,2,1\n"
    found = read(text=text)
    assert found.benchmarks[""].values["accuracy"].mean() == 0.5
    assert "4 tries of 2 cases: all count" in found.notes[-1]


def test_one_try_a_case_needs_no_choice(read) -> None:  # type: ignore[no-untyped-def]
    assert read(text="case,attempt,accuracy\na,1,1\nb,1,0\n").notes == ()


def test_tries_without_scores_are_retries_where_they_end_with_an_answer(read) -> None:  # type: ignore[no-untyped-def]
    text = "case,attempt,error,latency_ms\na,1,timeout,\na,2,,10\nb,1,,20\n"
    found = read("last", text).benchmarks[""]
    assert found.values["reliability"].tolist() == [1, 1]
    assert read(text=text).benchmarks[""].values["reliability"].tolist() == [0, 1]


def test_more_tries_than_there_were_are_refused_unless_all_are_right(read) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UsageError, match=r"tries\.csv: --attempt pass@4: no case has more than 3"):
        read("pass@4")
    solved = "case,attempt,accuracy\na,1,0\na,2,1\nb,1,1\n"
    assert read("pass@4", solved).benchmarks[""].values["accuracy"].tolist() == [1, 1]


def test_one_try_a_case_does_not_say_how_many_are_right_within_two(read) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UsageError, match=r"more than 1 try, .* pass@1 is the largest"):
        read("pass@2", "case,attempt,accuracy\na,1,1\nb,1,0\n")


def test_a_choice_without_a_column_of_tries_is_said_to_have_no_effect(read) -> None:  # type: ignore[no-untyped-def]
    found = read("last", "case,accuracy\na,1\nb,0\n")
    assert found.notes[-1].endswith(
        "--attempt last has no effect: no column says which try a row is"
        " (attempt, attempt_number, try)"
    )
