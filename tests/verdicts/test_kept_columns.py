"""What is said of many answers from kept columns and hashes is what their rows say."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from run_history import Answer, Measured, RunHistory

from agentbench_tui.engine.task import observation_columns
from agentbench_tui.engine.task.observation_columns import COLUMNS, kept_columns, packed_columns
from agentbench_tui.engine.task.observations import Observations
from agentbench_tui.model.errors import StoreError
from agentbench_tui.store import case_hashes
from agentbench_tui.store.answer_columns import keep_columns
from agentbench_tui.store.case_hashes import has_hashes, keep_hashes, made_hashes
from agentbench_tui.verdicts.clusters import cluster_screening
from agentbench_tui.verdicts.comparison.compare import compare
from agentbench_tui.verdicts.comparison.comparison import Asked
from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
from agentbench_tui.verdicts.ranking.scoreboard import BoardAsked, boards
from agentbench_tui.verdicts.selection.contenders import Wanted
from agentbench_tui.verdicts.selection.side import load_sides

CASES = 60
EVER = BoardAsked(wanted=Wanted(days=None))
EXECUTIONS = "SELECT key, dataset_key FROM benchmark_executions"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunHistory]:
    """Two agents, asked 60 cases twice each, in another order than they are stored in."""
    draw = np.random.default_rng(3)
    inputs = [f"passage {number // 5} of the book, question {number}" for number in range(CASES)]
    with closing(RunHistory(tmp_path / "x.db", [*inputs[:-1], inputs[0]])) as history:
        history.run({f"{name}@1": {"b": _measured(draw, share)} for name, share in
                     (("a", 0.5), ("b", 0.8))})  # fmt: skip
        yield history


def _measured(draw: np.random.Generator, share: float) -> Measured:
    answers = [
        Answer(
            int(case),
            repeat,
            e2e_ms=None if failed else float(draw.lognormal(3)),
            credit=float(draw.random() < share),
            failure="timeout" if failed else None,
        )
        for repeat in range(2)
        for case in draw.permutation(CASES)
        for failed in [draw.random() < 0.05]
    ]
    return Measured({"accuracy": share}, answers)


def keep(connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep columns and hashes of what is stored, as if it were large."""
    monkeypatch.setattr(observation_columns, "KEPT_FROM", 1)
    monkeypatch.setattr(case_hashes, "KEPT_FROM", 1)
    for key, dataset in connection.execute(EXECUTIONS).fetchall():
        columns = packed_columns(connection, key, Observations(connection, key))
        keep_columns(connection, key, columns)
        keep_hashes(connection, dataset, made_hashes(connection, dataset))
        assert kept_columns(connection, key) is not None
        assert has_hashes(connection, dataset)


def documents(connection: sqlite3.Connection) -> str:
    """A board and a comparison, as JSON."""
    board = boards(connection, EVER)
    numbers = CaseNumbers(connection)
    sides = load_sides(connection, ["a", "b"], None, None, numbers)
    compared = compare(connection, sides, numbers, Asked())
    return json.dumps(board, default=str) + repr(compared.pairs[0].metrics)


def test_kept_columns_are_those_of_the_rows(
    store: RunHistory, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = store.connection
    keys = [key for key, _ in connection.execute(EXECUTIONS).fetchall()]
    before = {key: Observations(connection, key) for key in keys}
    keep(connection, monkeypatch)
    for key in keys:
        kept = kept_columns(connection, key)
        assert kept is not None
        assert len(kept) == len(before[key]) == 2 * CASES
        for name in COLUMNS:
            values = getattr(before[key], name)
            np.testing.assert_array_equal(kept.column(name), values)
            if values.dtype == np.float64:
                assert before[key].known(name) == kept.facts(name).known
                assert before[key].known_answered(name) == kept.facts(name).known_answered


def test_boards_and_comparisons_are_the_same(
    store: RunHistory, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = documents(store.connection)
    keep(store.connection, monkeypatch)
    assert documents(store.connection) == before


REPEATED = (
    "INSERT INTO answers (run_key, execution_key, case_key, repeat, iteration, attempt, sent_ms,"
    " waiting_ms, api_calls) SELECT run_key, execution_key, case_key, 9, 0, 0, 0, 0, 1"
    " FROM answers WHERE seq=(SELECT MIN(seq) FROM answers)"
)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE answers SET credit=0.25 WHERE seq=(SELECT MIN(seq) FROM answers)",
        "DELETE FROM answers WHERE seq=(SELECT MIN(seq) FROM answers)",
        REPEATED,
    ],
)
def test_a_changed_answer_is_read_from_the_rows(
    store: RunHistory, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    connection = store.connection
    (key, _), (other, _) = connection.execute(EXECUTIONS).fetchall()
    keep(connection, monkeypatch)
    connection.execute(change)
    assert kept_columns(connection, key) is None
    assert kept_columns(connection, other) is not None
    count = connection.execute("SELECT COUNT(*) FROM answers WHERE execution_key=?", (key,))
    assert len(Observations(connection, key)) == count.fetchone()[0]


def test_a_damaged_column_says_how_to_make_it_again(
    store: RunHistory, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = store.connection
    keep(connection, monkeypatch)
    connection.execute("UPDATE answer_columns SET content=X'00'")
    with pytest.raises(StoreError, match="agentbench rescore RUN"):
        documents(connection)


def test_a_changed_case_is_hashed_again(store: RunHistory, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = store.connection
    keep(connection, monkeypatch)
    numbers = CaseNumbers(connection)
    every = numbers.of(1, np.arange(CASES))
    assert numbers.copies(every) == (2, 1)
    connection.execute("UPDATE cases SET body=json_set(body, '$.input', 'else') WHERE key=0")
    assert not has_hashes(connection, 1)
    numbers = CaseNumbers(connection)
    assert numbers.copies(numbers.of(1, np.arange(CASES))) == (0, 0)


def test_clusters_that_a_sample_shows_are_those_of_all_cases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten questions on each of 60 passages, of which one agent knows some whole and no other."""
    draw = np.random.default_rng(5)
    passages = [f"The {word} of passage number {word * 7} is long. " * 3 for word in range(60)]
    inputs = [f"{passages[case // 10]} Question {case}?" for case in range(600)]
    knows = draw.random(60) < 0.5
    with closing(RunHistory(tmp_path / "x.db", inputs)) as history:
        history.run({
            "a@1": {"b": _of(np.repeat(knows, 10))},
            "b@1": {"b": _of(draw.random(600) < 0.5)},
        })  # fmt: skip
        (whole,) = boards(history.connection, EVER)
        monkeypatch.setattr(cluster_screening, "MOST_CASES", 200)
        (sampled,) = boards(history.connection, EVER)
    assert any("60 " in note or "cluster" in note for note in whole["notes"])
    assert [one["low"] for one in sampled["standings"]] == [
        one["low"] for one in whole["standings"]
    ]
    assert [one["shared_rank"] for one in sampled["standings"]] == [
        one["shared_rank"] for one in whole["standings"]
    ]


def _of(right: np.ndarray) -> Measured:
    answers = [Answer(case, credit=float(one)) for case, one in enumerate(right.tolist())]
    return Measured({"accuracy": float(right.mean())}, answers)
