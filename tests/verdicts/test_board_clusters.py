"""Clusters that nobody declared, on leaderboards and in runs."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import numpy as np
import pytest

from agentbench_tui.model.errors import UsageError
from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence
from agentbench_tui.verdicts.ranking.board_clusters import (
    with_declared_clusters,
    with_found_clusters,
)
from agentbench_tui.verdicts.ranking.ranked import rank
from agentbench_tui.verdicts.ranking.scorecard import Scorecard
from agentbench_tui.verdicts.selection.contenders import Contender

GROUPS, SIZE = 12, 10


@pytest.fixture
def numbers() -> Iterator[CaseNumbers]:
    connection = sqlite3.connect(":memory:")
    found = CaseNumbers(connection)
    cases = found.of_ids([f"c{case}" for case in range(GROUPS * SIZE)])
    passages = [f"p{case // SIZE}" for case in range(GROUPS * SIZE)]
    for file in ("a", "b"):
        found.facts.add_column("passage", file, cases.tolist(), passages)
    yield found
    connection.close()


def card(name: str, right: np.ndarray) -> Scorecard:
    cases = np.arange(len(right))
    zeros = np.zeros(len(right), np.int64)
    evidence = TaskEvidence([], cases, cases, zeros, zeros, {"accuracy": right.astype(float)}, 1)
    return Scorecard(Contender(name, name, "1", False, ()), {0: evidence})


def by_passage(right: list[int]) -> np.ndarray:
    """Right on all cases of these passages."""
    return np.isin(np.arange(GROUPS * SIZE) // SIZE, right)


def ahead(cards: list[Scorecard]) -> list[list[int]]:
    ((ranked,), _) = rank(cards, "accuracy", 500)
    return [list(row.ahead_of) for row in ranked.standings.rows]


def test_agents_that_differ_by_whole_passages_are_told_apart_by_passages(
    numbers: CaseNumbers,
) -> None:
    """A alone is right on 8 passages and B on the other 4: as cases 80 against 40."""
    cards = [card("a", by_passage([*range(8)])), card("b", by_passage([*range(8, 12)]))]
    assert ahead(cards) == [[1], []]
    found, clusters = with_found_clusters(cards, "accuracy", numbers)
    assert clusters[0].grouping.name == "passage"
    assert clusters[0].found.effective_n == pytest.approx(12)
    assert ahead(found) == [[], []]
    assert ahead(with_declared_clusters(cards, numbers, "passage")) == [[], []]
    assert ahead(with_declared_clusters(cards, numbers, "case")) == [[1], []]


def test_independent_cases_stay_as_they_are(numbers: CaseNumbers) -> None:
    draw = np.random.default_rng(3)
    cards = [card(name, draw.random(GROUPS * SIZE) < 0.7) for name in "abc"]
    found, clusters = with_found_clusters(cards, "accuracy", numbers)
    assert clusters == {}
    assert found == cards


def test_boards_of_times_and_of_one_agent_look_for_nothing(numbers: CaseNumbers) -> None:
    one = [card("a", by_passage([1, 2, 3]))]
    assert with_found_clusters(one, "accuracy", numbers) == (one, {})
    assert with_found_clusters(one, "e2e_ms", numbers) == (one, {})


def test_a_field_that_no_case_has_is_refused(numbers: CaseNumbers) -> None:
    with pytest.raises(UsageError, match='did you mean "passage"'):
        with_declared_clusters([card("a", by_passage([1]))], numbers, "pasage")
