"""Where a worker keeps its samples until they are sent: one preallocated buffer, no objects."""

from __future__ import annotations

import struct
from array import array
from collections import Counter

from agentbench_tui.analysis.histogram import Histogram
from agentbench_tui.load.protocol import Chunk, Spent
from agentbench_tui.load.sample import (
    CANCELLED,
    FIELDS,
    NONE,
    ROW,
    STATUS_CODE,
    pack_gaps,
    pack_rows,
    within,
)

FULL_ROWS = 1024
"""Rows at which a chunk is sent before its quarter of a second: packing one then takes about a
millisecond of the sender's time."""
DETAILS_KEPT = 3
"""Failures of each kind whose details are told."""

_ROW_BYTES = ROW.size
_PLACE = {name: place for place, (name, _) in enumerate(FIELDS)}
_LAG, _TTFT, _E2E = _PLACE["lag_us"], _PLACE["ttft_us"], _PLACE["e2e_us"]
_TOKENS, _STATUS = _PLACE["output_tokens"], _PLACE["status"]
_INPUT, _CACHED = _PLACE["input_tokens"], _PLACE["cached_tokens"]
_WRITTEN, _WRITTEN_1H = _PLACE["cache_write_tokens"], _PLACE["cache_write_1h_tokens"]
_CANCELLED = STATUS_CODE[CANCELLED]


class SampleRecorder:
    """Rows since the last chunk, and the counts that go with them."""

    def __init__(self, *, from_due: bool) -> None:
        """`from_due`: latencies on screens count from the due time (open loop)."""
        self._from_due = from_due
        self._buffer = bytearray(_ROW_BYTES * 2 * FULL_ROWS)
        self._end = 0
        self._gaps = array("I")
        self._pack = ROW.pack_into
        self.failed = 0
        """So far; what the plan broke off did not fail."""
        self._details: list[tuple[str, str]] = []
        self._told: Counter[str] = Counter()

    @property
    def rows(self) -> int:
        """Samples since the last chunk."""
        return self._end // _ROW_BYTES

    def record(
        self,
        due_us: int,
        lag_us: int,
        first_byte_us: int,
        ttft_us: int,
        ttfo_us: int,
        e2e_us: int,
        chunks: int,
        output_tokens: int,
        input_tokens: int,
        cached_tokens: int,
        received_bytes: int,
        status: int,
        request_type: int,
        flags: int,
        turn: int,
        cache_write_tokens: int,
        cache_write_1h_tokens: int,
    ) -> None:
        """One sample, its fields in the order of `sample.FIELDS`.

        What is beyond its field's range (of times: 71 minutes) is kept as the most it holds.
        """
        end = self._end
        try:
            self._pack(
                self._buffer, end, due_us, lag_us, first_byte_us, ttft_us, ttfo_us, e2e_us, chunks,
                output_tokens, input_tokens, cached_tokens, received_bytes, status, request_type,
                flags, turn, cache_write_tokens, cache_write_1h_tokens,
            )  # fmt: skip
        except struct.error:  # the buffer is full, or a value is out of its range
            if end == len(self._buffer):
                self._buffer.extend(bytes(end))
            self._pack(
                self._buffer, end,
                *within(
                    due_us, lag_us, first_byte_us, ttft_us, ttfo_us, e2e_us, chunks, output_tokens,
                    input_tokens, cached_tokens, received_bytes, status, request_type, flags, turn,
                    cache_write_tokens, cache_write_1h_tokens,
                ),
            )  # fmt: skip
        self._end = end + _ROW_BYTES
        if status and status != _CANCELLED:
            self.failed += 1

    def gaps(self, gaps: array[int]) -> None:
        """The gaps of the sample just recorded, in µs."""
        self._gaps.extend(gaps)

    def detail(self, kind: str, detail: str) -> None:
        """Why one failed, in words; the first few of each kind are told."""
        if self._told[kind] < DETAILS_KEPT:
            self._told[kind] += 1
            self._details.append((kind, detail))

    def take(
        self, *, sent: int, in_flight: int, waiting: int, oldest_s: float | None, at_s: float
    ) -> Chunk:
        """Everything since the last chunk, which begins anew."""
        rows = bytes(memoryview(self._buffer)[: self._end])
        e2e, ttft, answered, tokens = Histogram(), Histogram(), 0, 0
        known = given = cached = written = written_1h = made = 0
        for row in ROW.iter_unpack(rows):
            if row[_INPUT] != NONE or row[_TOKENS] != NONE:
                known += 1
                given += row[_INPUT] if row[_INPUT] != NONE else 0
                cached += row[_CACHED] if row[_CACHED] != NONE else 0
                written += row[_WRITTEN] if row[_WRITTEN] != NONE else 0
                written_1h += row[_WRITTEN_1H] if row[_WRITTEN_1H] != NONE else 0
                made += row[_TOKENS] if row[_TOKENS] != NONE else 0
            if row[_STATUS]:
                continue
            answered += 1
            lag = row[_LAG] if self._from_due else 0
            e2e.record((lag + row[_E2E]) / 1000)
            if row[_TTFT] != NONE:
                ttft.record((lag + row[_TTFT]) / 1000)
            if row[_TOKENS] != NONE:
                tokens += row[_TOKENS]
        chunk = Chunk(
            rows=self.rows,
            samples=pack_rows(rows),
            gaps=pack_gaps(self._gaps),
            e2e_histogram=e2e.to_bytes(),
            ttft_histogram=ttft.to_bytes(),
            sent=sent,
            in_flight=in_flight,
            waiting=waiting,
            failed=self.failed,
            answered=answered,
            tokens=tokens,
            spent=Spent(known, given, cached, written, written_1h, made),
            oldest_s=oldest_s,
            at_s=at_s,
            failures=tuple(self._details),
        )
        self._end = 0
        self._gaps = array("I")
        self._details.clear()
        return chunk
