"""What is recorded is what is read back."""

from array import array
from collections.abc import Sequence

import pytest
from driving import rows_of, said
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.analysis.histogram import Histogram
from agentbench_tui.load.sending import recorder
from agentbench_tui.load.sending.protocol import Spent
from agentbench_tui.load.sending.recorder import SampleRecorder
from agentbench_tui.load.sending.sample import (
    CANCELLED,
    FIELDS,
    FOLLOW_UP,
    NONE,
    ROW,
    STATUS_CODE,
    unpack_gaps,
)
from agentbench_tui.load.sending.sender import Call, Reply

NAMES = [name for name, _ in FIELDS]


@pytest.mark.parametrize(("lag_us", "kept_us"), [(5, 5), (NONE, NONE), (NONE + 1, NONE - 1)])
def test_a_full_buffer_grows_whatever_the_next_row_holds(
    lag_us: int, kept_us: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "FULL_ROWS", 2)  # of which there is room for twice
    monkeypatch.setattr(recorder, "_FULL_BYTES", 2 * ROW.size)
    kept = SampleRecorder(from_due=False)
    for due_us in range(9):
        kept.append((due_us, lag_us, *range(15)))
    assert kept.rows == 9

    rows = rows_of(kept.take(sent=9, in_flight=0, waiting=0, oldest_s=None, at_s=0.0).samples)
    assert rows == [dict(zip(NAMES, (due, kept_us, *range(15)), strict=True)) for due in range(9)]
    assert kept.rows == 0


def test_a_request_and_its_reply_make_one_row() -> None:
    kept = SampleRecorder(from_due=True)
    conversation = said("Hello?")
    call = Call(3, conversation, None, due_ns=5_000_000, sent_ns=6_000_000, turn=2)
    call.is_follow_up = True
    reply = Reply(
        STATUS_CODE["timeout"], 16_000_000, 7_000_000, 8_000_000, 9_000_000, 3, array("I", [1, 2]),
        4, 5, 6, 7, 8, 9, flags=8,
    )  # fmt: skip
    kept.record(call, reply, 1_000_000)
    kept.record(Call(0, conversation, None, due_ns=0, sent_ns=0), Reply(0, 2_000), 1_000_000)
    chunk = kept.take(sent=2, in_flight=0, waiting=0, oldest_s=None, at_s=0.0)
    assert [tuple(row.values()) for row in rows_of(chunk.samples)] == [
        (4000, 1000, 1000, 2000, 3000, 10_000, 3, 4, 5, 6, 9, 2, 3, 8 | FOLLOW_UP, 2, 7, 8),
        (0, 0, NONE, NONE, NONE, 2, 0, NONE, NONE, NONE, 0, 0, 0, 0, 0, NONE, NONE),
    ]
    assert unpack_gaps([chunk.gaps]).tolist() == [1, 2]
    assert (chunk.failed, chunk.answered) == (1, 1)


def test_every_so_many_rows_somebody_is_told_that_it_is_full(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recorder, "_FULL_BYTES", 3 * ROW.size)
    kept = SampleRecorder(from_due=False)
    told: list[int] = []
    kept.is_full = lambda: told.append(kept.rows)
    for _ in range(7):
        kept.append((0,) * 17)
    assert told == [3, 6]


us = st.sampled_from([0, 1, 1_000, 1_000, 250_000, NONE - 1])
known = st.sampled_from([NONE, NONE, 0, 1, 7, 7, 100])
row = st.tuples(
    us, us, us, st.sampled_from([NONE, 5, 1_000]), known, us, known, known, known, known, us,
    st.sampled_from([0, 0, 0, STATUS_CODE["timeout"], STATUS_CODE[CANCELLED]]),
    st.just(0), st.just(0), st.just(0), known, known,
)  # fmt: skip


@given(st.lists(row, max_size=12), st.booleans())
def test_what_a_chunk_counts_is_what_its_rows_say(
    rows: list[tuple[int, ...]], from_due: bool
) -> None:
    kept = SampleRecorder(from_due=from_due)
    for fields in rows:
        kept.append(fields)
    chunk = kept.take(sent=0, in_flight=0, waiting=0, oldest_s=None, at_s=0.0)

    named = [dict(zip(NAMES, fields, strict=True)) for fields in rows]
    answered = [each for each in named if each["status"] == 0]
    counted = [each for each in named if {each["input_tokens"], each["output_tokens"]} != {NONE}]

    def total(of: Sequence[dict[str, int]], name: str) -> int:
        return sum(each[name] for each in of if each[name] != NONE)

    def histogram(name: str) -> Histogram:
        found = Histogram()
        for each in answered:
            if each[name] != NONE:
                found.record(((each["lag_us"] if from_due else 0) + each[name]) / 1000)
        return found

    assert (chunk.rows, chunk.answered) == (len(rows), len(answered))
    assert chunk.tokens == total(answered, "output_tokens")
    names = ("input_tokens", "cached_tokens", "cache_write_tokens", "cache_write_1h_tokens")
    assert chunk.spent == Spent(
        len(counted), *(total(counted, name) for name in (*names, "output_tokens"))
    )
    assert Histogram.from_bytes(chunk.e2e_histogram) == histogram("e2e_us")
    assert Histogram.from_bytes(chunk.ttft_histogram) == histogram("ttft_us")
