"""Chunks come back as the columns they were recorded as."""

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import Execution, Sample, columns, packed, window

from agentbench_tui.load.results.columns import SAMPLE, Columns, columns_of, read_columns
from agentbench_tui.load.sending.sample import ROW
from agentbench_tui.store.database import create_or_migrate

SOME = [
    Sample(0.0, 0.3, ttft=0.1, gaps=[0.05, 0.06], tokens=3, input_tokens=7),
    Sample(0.5, 0.2, 0.25, status="timeout"),
    Sample(1.0, None, None, status="unfinished"),
    Sample(1.5, 0.4, ttft=0.2, ttfo=0.3, gaps=[0.1], tokens=2, counted=False),
    Sample(2.0, 9.0, follow_up=True, ttft=1.0, gaps=[7.0]),
]
nan = float("nan")


def test_a_numpy_row_is_a_row_as_it_is_packed() -> None:
    assert SAMPLE.itemsize == ROW.size


def test_columns_are_what_was_recorded() -> None:
    found = columns(SOME)
    np.testing.assert_array_equal(found.due_s, [0, 0.5, 1, 1.5, 2])
    np.testing.assert_array_equal(found.lag_ms, [0, 250, nan, 0, 0])
    np.testing.assert_array_equal(found.sent_s, [0, 0.75, nan, 1.5, 2])
    np.testing.assert_array_equal(found.end_s, [0.3, 0.95, nan, 1.9, 11])
    np.testing.assert_array_equal(found.e2e_from_send_ms, [300, 200, nan, 400, 9000])
    np.testing.assert_array_equal(found.ttft_from_send_ms, [100, nan, nan, 200, 1000])
    np.testing.assert_array_equal(found.ttfo_from_send_ms, [100, nan, nan, 300, 1000])
    np.testing.assert_array_equal(found.output_tokens, [3, nan, nan, 2, nan])
    np.testing.assert_array_equal(found.input_tokens, [7, nan, nan, nan, nan])
    assert found.ok.tolist() == [True, False, False, True, True]
    assert found.follow_up.tolist() == [False, False, False, False, True]
    assert found.counted.tolist() == [True, True, True, False, True]
    assert found.has_status("timeout").tolist() == [False, True, False, False, False]


def gaps_of(found: Columns, rows: list[bool]) -> list[tuple[int, int]]:
    parts = found.gaps_of(np.array(rows, bool))
    return [pair for us, row in parts for pair in zip(us.tolist(), row.tolist(), strict=True)]


@pytest.mark.parametrize("rows_a_part", [1, 2, 100])
def test_gaps_know_their_answers(rows_a_part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentbench_tui.load.results.columns.ROWS_A_PART", rows_a_part)
    every = [(50_000, 0), (60_000, 0), (100_000, 3), (7_000_000, 4)]
    assert gaps_of(columns(SOME), [True] * 5) == every
    assert gaps_of(columns(SOME), [False, True, False, True, True]) == every[2:]
    assert gaps_of(columns(SOME), [False] * 5) == []


def test_gaps_that_fit_no_answer_are_refused() -> None:
    rows, _ = packed(SOME)
    with pytest.raises(ValueError, match="0 gaps are stored, but the samples have 4"):
        gaps_of(columns_of([(0, 0, rows, b"")]), [True] * 5)


def test_nothing_is_no_rows() -> None:
    found = columns_of([])
    assert len(found) == 0
    assert found.ok.tolist() == []
    assert gaps_of(found, []) == []


counts = st.integers(0, 2**32 - 2)
moments = st.integers(0, 2**31).map(lambda value: value / 1e6)


@given(
    st.lists(
        st.builds(
            Sample,
            due=moments,
            e2e=moments,
            lag=moments,
            ttft=st.one_of(st.none(), moments),
            tokens=st.one_of(st.none(), counts),
            worker=st.integers(0, 3),
            repeat=st.integers(0, 2),
        ),
        max_size=30,
    )
)
def test_any_samples_come_back(samples: list[Sample]) -> None:
    found = columns(samples)
    stored = sorted(samples, key=lambda sample: (sample.repeat, sample.worker))
    assert found.repeat.tolist() == [sample.repeat for sample in stored]
    assert found.worker.tolist() == [sample.worker for sample in stored]
    assert (found.table["due_us"] / 1e6).tolist() == [sample.due for sample in stored]
    expected = [nan if sample.tokens is None else sample.tokens for sample in stored]
    np.testing.assert_array_equal(found.output_tokens, expected)
    assert found.lag_ms.tolist() == pytest.approx([(sample.lag or 0) * 1e3 for sample in stored])


def test_only_finished_repeats_are_read(tmp_path: Path) -> None:
    create_or_migrate(tmp_path / "a.db")
    execution = Execution(
        [Sample(number / 200, 0.1, repeat=number // 200) for number in range(800)],
        {0: window(), 1: window(), 2: window()},
    )
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        execution.write(connection, 1, 1)
        Execution([Sample(9, 0.1)], {0: window()}).write(connection, 2, 1)
        every = [number / 200 for number in range(600)]
        assert read_columns(connection, 1).due_s.tolist() == every
        assert read_columns(connection, 1, repeats={1, 3}).due_s.tolist() == every[200:400]
        assert read_columns(connection, 2).due_s.tolist() == [9]
        assert len(read_columns(connection, 3)) == 0
