"""`agentbench leaderboard --by FIELD`: a board for each group of cases."""

import csv
import io
import json

import pytest
from store_of_halves import store_of_halves

from agentbench_tui.cli.main import _run


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The field `model` is named as a word of `--by`."""
    return store_of_halves(tmp_path_factory.mktemp("groups"), model="m")


def board(database: str, *arguments: str) -> int:
    return _run(["leaderboard", *arguments, "--db", database])


def test_each_group_has_a_board_by_the_rule_of_the_whole(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert board(database, "--by", "parity", "--format", "json") == 0
    even, odd = json.loads(capsys.readouterr().out)["boards"]
    assert [(one["field"], one["group"], one["shared"]) for one in (even, odd)] == [
        ("parity", "even", 40), ("parity", "odd", 40),
    ]  # fmt: skip
    ranks = {one["name"]: (one["rank_shown"], one["score"]) for one in even["standings"]}
    assert ranks == {"right": ("1", 1.0), "odd": ("2", 0.0)}
    assert [one["rank_shown"] for one in odd["standings"]] == ["1=", "1="]
    assert {one["overall"] for one in even["standings"]} == {None}


def test_the_words_of_before_still_say_what_is_ranked(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert board(database, "--by", "version", "--by", "parity") == 0
    shown = capsys.readouterr().out
    assert "comprehensive suites, parity even: by accuracy, case by case on 40 cases" in shown
    assert "right@" in shown
    assert "over all pairs and groups together" in shown
    assert board(database, "--by", "model", "--format", "json") == 0
    (whole,) = json.loads(capsys.readouterr().out)["boards"]
    assert (whole["field"], whole["group"]) == (None, None)
    assert board(database, "--by", "metadata.model", "--format", "csv") == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {row["group"] for row in rows} == {"m"}


def test_what_cannot_be_grouped_is_refused(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert board(database, "--by", "versoin") == 2
    assert '(did you mean "version"?); there are benchmark,' in capsys.readouterr().err
    assert board(database, "--by", "parity", "--metric", "speed_score") == 2
    assert "speed_score is a score of whole executions" in capsys.readouterr().err
    assert board(database, "--by", "agent", "--by", "model") == 2
    assert "give one of agent and model" in capsys.readouterr().err


def test_fewer_boards_can_be_shown(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert board(database, "--by", "parity", "--by-limit", "1") == 0
    shown = capsys.readouterr().out
    assert "1 more groups with fewer cases (--by-limit)" in shown
    assert "parity odd" not in shown
