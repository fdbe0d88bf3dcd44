"""Rows and gaps survive packing, whatever they hold, and stay small."""

import random
import zlib
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.load.sending.sample import (
    FIELDS,
    NONE,
    ROW,
    STATUSES,
    gaps_of,
    lags_of,
    pack_gaps,
    pack_rows,
    unpack_gaps,
    unpack_rows,
    within,
)
from agentbench_tui.model.answer import FailureKind

numbers = st.integers(0, NONE)


@given(st.lists(st.lists(st.binary(min_size=ROW.size, max_size=ROW.size), max_size=9), max_size=9))
def test_rows_of_chunks_come_back_one_after_the_other(chunks: list[list[bytes]]) -> None:
    found = unpack_rows([pack_rows(b"".join(rows)) for rows in chunks])
    assert found.rows.tobytes() == b"".join(row for rows in chunks for row in rows)
    assert found.counts == [len(rows) for rows in chunks]


@given(numbers, st.lists(numbers, max_size=200))
def test_gaps_come_back(first: int, gaps: list[int]) -> None:
    packed = [pack_gaps(array("I", [first] * 9)), pack_gaps(array("I", gaps))]
    assert unpack_gaps(packed).tolist() == [first] * 9 + gaps
    assert [*gaps_of(packed[0]), *gaps_of(packed[1])] == [first] * 9 + gaps


@given(st.lists(st.binary(min_size=ROW.size, max_size=ROW.size), max_size=9))
def test_lags_come_back(rows: list[bytes]) -> None:
    place = [name for name, _ in FIELDS].index("lag_us")
    assert [*lags_of(pack_rows(b"".join(rows)))] == [ROW.unpack(row)[place] for row in rows]


@given(st.binary(min_size=1, max_size=300))
def test_what_was_never_packed_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="not a chunk of samples"):
        unpack_rows([data])


@pytest.mark.parametrize("cut", [1, 7])
def test_a_chunk_that_is_cut_off_is_refused(cut: int) -> None:
    packed = pack_rows(bytes(10 * ROW.size))
    with pytest.raises(ValueError, match="not a chunk of samples"):
        unpack_rows([packed[:-cut]])


@given(st.lists(st.binary(min_size=52, max_size=52), min_size=1, max_size=9))
def test_rows_before_cache_writes_were_counted_are_read(rows: list[bytes]) -> None:
    """A chunk as schema 6 stored it: rows of 52 bytes, here none of whose places are left out."""
    planes = [bytes(row[place] for row in rows) for place in range(52)]
    plain = b"".join((bytes((52, *[1] * 52)), rows[0], *planes))
    chunk = zlib.compress(plain)
    assert unpack_rows([chunk]).rows.tobytes() == b"".join(row + b"\xff" * 8 for row in rows)
    lag = [name for name, _ in FIELDS].index("lag_us")
    new = [ROW.unpack(row + b"\xff" * 8) for row in rows]
    assert [*lags_of(chunk)] == [fields[lag] for fields in new]
    assert {fields[-2:] for fields in new} == {(NONE, NONE)}


def test_gaps_are_no_rows() -> None:
    with pytest.raises(ValueError, match=f"its rows are not of {ROW.size} bytes"):
        unpack_rows([pack_gaps(array("I", range(52)))])


@pytest.mark.parametrize("plain", [b"", b"\4", b"\4" + b"\1" * 8, b"\4" + b"\0" * 40])
def test_a_chunk_of_another_form_is_refused(plain: bytes) -> None:
    with pytest.raises(ValueError, match="not a chunk of samples"):
        unpack_gaps([zlib.compress(plain)])


def test_a_chunk_has_the_form_that_is_written_down() -> None:
    """What is stored is read for ever."""
    plain = bytes([4, 1, 0, 1, 0]) + bytes([1, 7, 3, 0]) + bytes([1, 2, 3]) + bytes([3, 3, 9])
    gaps = [int.from_bytes(gap, "little") for gap in (b"\1\7\3\0", b"\2\7\3\0", b"\3\7\11\0")]
    assert unpack_gaps([zlib.compress(plain)]).tolist() == gaps
    assert zlib.decompress(pack_gaps(array("I", gaps))) == plain


def test_every_kind_of_failure_has_a_number_that_fits_a_byte() -> None:
    assert STATUSES[0] == "ok"
    assert {kind.value for kind in FailureKind} <= set(STATUSES)
    assert len(STATUSES) == len(set(STATUSES)) < 256


def test_the_stored_order_of_statuses_and_fields_stays() -> None:
    """Both are in every database: what is new goes to the end."""
    assert STATUSES[:13] == (
        "ok", "rate_limited", "timeout", "connection", "server", "truncated", "parse", "limit",
        "agent", "grader", "harness", "cancelled", "unfinished",
    )  # fmt: skip
    assert [name for name, _ in FIELDS] == [
        "due_us", "lag_us", "first_byte_us", "ttft_us", "ttfo_us", "e2e_us", "chunks",
        "output_tokens", "input_tokens", "cached_tokens", "received_bytes", "status",
        "request_type", "flags", "turn", "cache_write_tokens", "cache_write_1h_tokens",
    ]  # fmt: skip


def test_a_streamed_request_takes_less_than_a_hundred_bytes() -> None:
    """A quarter of a second at 200 a second, 32 tokens 10 ms apart, as they scatter in practice."""
    draw = random.Random(3)
    rows, gaps = b"", array("I")
    for number in range(50):
        own = [round(draw.gauss(10_000, 150)) for _ in range(31)]
        first = round(draw.gauss(50_300, 200))
        rows += ROW.pack(
            5000 * number, round(draw.expovariate(1 / 90)), first - 40, first, first,
            first + sum(own), 32, 32, 128, NONE, 5210, 0, 0, 10, 0, NONE, NONE,
        )  # fmt: skip
        gaps.extend(own)
    assert (len(pack_rows(rows)) + len(pack_gaps(gaps))) / 50 < 100


@given(st.lists(st.integers(-(1 << 70), 1 << 70), min_size=len(FIELDS), max_size=len(FIELDS)))
def test_any_numbers_fit_a_row_and_those_that_fit_stay(fields: list[int]) -> None:
    kept = within(*fields)
    assert list(ROW.unpack(ROW.pack(*kept))) == kept
    assert within(*kept) == kept


def test_what_is_too_long_for_its_field_is_still_known() -> None:
    kept = within(-5, NONE, NONE + 1, -1, *[7] * 13)
    assert kept[:5] == [-5, NONE, NONE - 1, 0, 7]
