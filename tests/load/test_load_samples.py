"""Every stored request of a load as a row: what it says, and that it is read piece by piece."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from samples import Execution, Sample, done, window

from agentbench_tui.model.errors import AgentbenchError
from agentbench_tui.store.database import create_or_migrate
from agentbench_tui.store.queries.load import stored_requests
from agentbench_tui.verdicts.load.load_samples import FIELDS, samples_of

EXECUTION = {"key": 1, "agent_id": "a"}


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    create_or_migrate(tmp_path / "a.db")
    with closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as connection:
        yield connection


def rows_of(connection: sqlite3.Connection, *samples: Sample, **of_window: Any) -> list[Any]:
    repeats = {sample.repeat for sample in samples}
    windows = {repeat: window(done(), **of_window) for repeat in repeats}
    Execution(samples, windows).write(connection, 1, 1)
    return list(samples_of(connection, EXECUTION, ["chat"]))


def test_an_answer_of_an_open_loop_counts_from_due_with_its_sending_beside(
    connection: sqlite3.Connection,
) -> None:
    (row,) = rows_of(
        connection,
        Sample(1.5, 0.4, lag=0.1, ttft=0.1, gaps=[0.1, 0.1, 0.1], tokens=4, input_tokens=7),
    )
    assert tuple(row) == FIELDS
    assert (row["request_type"], row["status"], row["due_s"], row["sent_s"]) == (
        "chat", "ok", 1.5, 1.6,
    )  # fmt: skip
    assert (row["send_lag_ms"], row["ttft_ms"], row["ttft_from_send_ms"]) == (100, 200, 100)
    assert (row["e2e_ms"], row["e2e_from_send_ms"], row["tpot_ms"]) == (500, 400, 100)
    assert (row["chunks"], row["output_tokens"], row["input_tokens"]) == (4, 4, 7)
    assert (row["tokens_counted"], row["streamed"], row["follow_up"]) == (True, True, False)
    assert row["first_byte_ms"] is row["cached_tokens"] is None


def test_what_was_sent_twice_is_marked(connection: sqlite3.Connection) -> None:
    rows = rows_of(connection, Sample(0.0, 0.1, resent=True), Sample(0.1, 0.1))
    assert [row["resent"] for row in rows] == [True, False]


def test_an_answer_of_a_closed_loop_counts_from_sending(connection: sqlite3.Connection) -> None:
    (row,) = rows_of(connection, Sample(1.0, 0.4, lag=0.1), is_open=False)
    assert (row["e2e_ms"], row["send_lag_ms"]) == (400, 100)
    assert row["ttft_ms"] is row["tpot_ms"] is None


def test_what_failed_and_what_was_not_sent_is_there_too(connection: sqlite3.Connection) -> None:
    failed, waiting = rows_of(
        connection,
        Sample(0.0, 0.3, status="timeout"),
        Sample(0.1, None, lag=None, status="unfinished"),
    )
    assert (failed["status"], failed["e2e_ms"], failed["output_tokens"]) == ("timeout", 300, None)
    assert (waiting["status"], waiting["sent_s"], waiting["e2e_ms"]) == ("unfinished", None, None)


def test_repeats_that_were_cut_off_are_no_measurement(connection: sqlite3.Connection) -> None:
    every = [Sample(0.0, 0.1, repeat=repeat) for repeat in (0, 1, 2)]
    Execution(every, {0: window(done()), 2: window(done())}).write(connection, 1, 1)
    assert [row["repeat"] for row in samples_of(connection, EXECUTION)] == [0, 2]


def test_what_is_stored_of_a_repeat_that_was_cut_off_is_there_when_asked_for(
    connection: sqlite3.Connection,
) -> None:
    every = [Sample(0.0, 0.1, lag=0.2, repeat=repeat) for repeat in (0, 1)]
    Execution(every, {0: window(done())}).write(connection, 1, 1)
    rows = list(samples_of(connection, EXECUTION, ["chat"], window(stopped=True)))
    assert [(row["repeat"], row["cut_off"]) for row in rows] == [(0, False), (1, True)]
    assert [row["e2e_ms"] for row in rows] == [300, 300]  # from due, as in the whole one


def test_requests_of_whole_repeats_are_counted_apart(connection: sqlite3.Connection) -> None:
    Execution([], {0: window(done())}).write(connection, 1, 1)
    chunk = (
        "INSERT INTO sample_chunks (run_key, execution_key, repeat, worker, rows, samples, gaps)"
    )
    for repeat, rows in ((0, 100), (0, 50), (1, 57)):
        connection.execute(f"{chunk} VALUES (1, 1, ?, 0, ?, x'', x'')", (repeat, rows))
    assert stored_requests(connection, 1) == (150, 57)
    assert stored_requests(connection, 2) == (0, 0)


def test_a_damaged_chunk_is_told_after_all_that_is_whole(connection: sqlite3.Connection) -> None:
    # One chunk after the other: what comes first is there before the next is looked at.
    Execution([Sample(0.0, 0.1), Sample(0.0, 0.1, worker=1)], {0: window(done())}).write(
        connection, 1, 1
    )
    connection.execute("UPDATE sample_chunks SET samples=x'00' WHERE worker=1")
    rows = samples_of(connection, EXECUTION)
    assert next(rows)["worker"] == 0
    with pytest.raises(AgentbenchError, match="the stored requests of a are damaged: not a chunk"):
        next(rows)


def test_a_request_type_without_a_name_has_its_number(connection: sqlite3.Connection) -> None:
    Execution([Sample(0.0, 0.1)], {0: window(done())}).write(connection, 1, 1)
    (row,) = samples_of(connection, EXECUTION)
    assert row["request_type"] == "0"
