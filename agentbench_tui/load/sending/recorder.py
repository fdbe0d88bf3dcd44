"""A worker's buffer of samples until they are sent: preallocated, without objects."""

from __future__ import annotations

import struct
import sys
from array import array
from collections import Counter
from itertools import compress
from typing import TYPE_CHECKING

from agentbench_tui.analysis.histogram import Histogram
from agentbench_tui.load.sending.protocol import Chunk, Spent
from agentbench_tui.load.sending.sample import (
    CANCELLED,
    FIELDS,
    FOLLOW_UP,
    NONE,
    ROW,
    STATUS_CODE,
    pack_gaps,
    pack_rows,
    within,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentbench_tui.load.sending.sender import Call, Reply

FULL_ROWS = 1024
"""Rows at which a chunk is sent before its quarter of a second: packing one then takes about a
millisecond of the sender's time."""
DETAILS_KEPT = 3
"""Number of failures of each kind whose details are kept."""

_ROW_BYTES = ROW.size
_FULL_BYTES = _ROW_BYTES * FULL_ROWS
_WORD_BYTES = 4
_WORDS = _ROW_BYTES // _WORD_BYTES
_OFFSETS = {
    name: struct.calcsize("<" + "".join(code for _, code in FIELDS[:place]))
    for place, (name, _) in enumerate(FIELDS)
}
_CANCELLED = STATUS_CODE[CANCELLED]


class SampleRecorder:
    """Rows since the last chunk, with their counts."""

    def __init__(self, *, from_due: bool) -> None:
        """`from_due`: latencies on screens count from the due time (open loop)."""
        self._from_due = from_due
        self.is_full: Callable[[], None] = lambda: None
        """Called at every `FULL_ROWS` samples that were not taken."""
        self._buffer = bytearray(_ROW_BYTES * 2 * FULL_ROWS)
        self._end = 0
        self._gaps = array("I")
        self._pack = ROW.pack_into
        self.failed = 0
        """Total so far, without canceled requests."""
        self._details: list[tuple[str, str]] = []
        self._told: Counter[str] = Counter()

    @property
    def rows(self) -> int:
        """Return the number of samples since the last chunk."""
        return self._end // _ROW_BYTES

    def record(self, call: Call, reply: Reply, start_ns: int) -> None:
        """Record the sample of a request; the window began at `start_ns`."""
        due, sent = call.due_ns, call.sent_ns
        first_byte, first_token, first_output = (
            reply.first_byte_ns,
            reply.first_token_ns,
            reply.first_output_ns,
        )
        status = reply.status
        if status and status != _CANCELLED:
            self.failed += 1
        if reply.gaps is not None:
            self._gaps.extend(reply.gaps)
        self.append((
            (due - start_ns) // 1000 if due > start_ns else 0,
            (sent - due) // 1000 if sent > due else 0,
            (first_byte - sent) // 1000 if first_byte else NONE,
            (first_token - sent) // 1000 if first_token else NONE,
            (first_output - sent) // 1000 if first_output else NONE,
            (reply.ended_ns - sent) // 1000,
            reply.chunks,
            reply.output_tokens,
            reply.input_tokens,
            reply.cached_tokens,
            reply.received_bytes,
            status,
            call.kind,
            reply.flags | FOLLOW_UP if call.is_follow_up else reply.flags,
            call.turn,
            reply.cache_write_tokens,
            reply.cache_write_1h_tokens,
        ))  # fmt: skip

    def append(self, fields: Sequence[int]) -> None:
        """Add a row of `sample.FIELDS`.

        A value beyond its field's range (71 minutes for times) is stored as the maximum.
        """
        end = self._end
        try:
            self._pack(self._buffer, end, *fields)
        except struct.error:  # the buffer is full, or a value is out of its range
            if end == len(self._buffer):
                self._buffer.extend(bytes(end))
            self._pack(self._buffer, end, *within(*fields))
        self._end = end + _ROW_BYTES
        if not self._end % _FULL_BYTES:
            self.is_full()

    def detail(self, kind: str, detail: str) -> None:
        """Keep the reason of a failure, for the first few of each kind."""
        if self._told[kind] < DETAILS_KEPT:
            self._told[kind] += 1
            self._details.append((kind, detail))

    def take(
        self, *, sent: int, in_flight: int, waiting: int, oldest_s: float | None, at_s: float
    ) -> Chunk:
        """Return everything since the last chunk, and reset."""
        rows = _Rows(bytes(memoryview(self._buffer)[: self._end]))
        answered = rows.where_not(rows.statuses)
        lags = answered.of("lag_us") if self._from_due else None
        chunk = Chunk(
            rows=self.rows,
            samples=pack_rows(rows.plain),
            gaps=pack_gaps(self._gaps),
            e2e_histogram=_histogram_ms(answered.of("e2e_us"), lags).to_bytes(),
            ttft_histogram=_histogram_ms(answered.of("ttft_us"), lags).to_bytes(),
            sent=sent,
            in_flight=in_flight,
            waiting=waiting,
            failed=self.failed,
            answered=len(answered),
            tokens=answered.total("output_tokens"),
            spent=rows.spent(),
            oldest_s=oldest_s,
            at_s=at_s,
            failures=tuple(self._details),
        )
        self._end = 0
        self._gaps = array("I")
        self._details.clear()
        return chunk


class _Rows:
    """Rows as columns, which are summed without visiting each row."""

    def __init__(self, plain: bytes) -> None:
        self.plain = plain
        self._words = array("I", plain)
        if sys.byteorder == "big":
            self._words.byteswap()
        self._kept: list[bool] | None = None
        """Which rows count; None: all."""

    def __len__(self) -> int:
        return len(self.plain) // _ROW_BYTES if self._kept is None else sum(self._kept)

    @property
    def statuses(self) -> bytes:
        """Return one byte per row."""
        return self.plain[_OFFSETS["status"] :: _ROW_BYTES]

    def where_not(self, flags: Sequence[int]) -> _Rows:
        """Return the rows whose flag is 0."""
        if not any(flags):
            return self
        rows = _Rows(self.plain)
        rows._kept = [not flag for flag in flags]
        return rows

    def of(self, name: str) -> Sequence[int]:
        """Return a column of 4-byte numbers."""
        column = self._words[_OFFSETS[name] // _WORD_BYTES :: _WORDS]
        # Most columns hold one value, and comparing bytes says so at once.
        values = column.tobytes()
        if values == values[:_WORD_BYTES] * len(column):
            return list(column[:1]) * len(self)
        whole = column.tolist()
        return whole if self._kept is None else list(compress(whole, self._kept))

    def total(self, name: str) -> int:
        """Return the sum of the known values."""
        column = self.of(name)
        if not column or column[0] == NONE == min(column):
            return 0
        return sum(column) - NONE * column.count(NONE)

    def spent(self) -> Spent:
        """Return the token usage of these requests."""
        given, made = self.of("input_tokens"), self.of("output_tokens")
        known = self
        if NONE in given and NONE in made:
            pairs = zip(given, made, strict=True)
            known = self.where_not([one == other == NONE for one, other in pairs])
        return Spent(
            len(known),
            *map(
                known.total,
                (
                    "input_tokens", "cached_tokens", "cache_write_tokens",
                    "cache_write_1h_tokens", "output_tokens",
                ),
            ),
        )  # fmt: skip


def _histogram_ms(us: Sequence[int], more_us: Sequence[int] | None) -> Histogram:
    """Return the histogram of the known values, each increased by its value of `more_us`."""
    histogram = Histogram()
    if not us or min(us) == NONE:
        return histogram
    if more_us is not None:
        pairs = zip(us, more_us, strict=True)
        counts = Counter([value + more for value, more in pairs if value != NONE])
    else:
        counts = Counter(us)
        del counts[NONE]
    for value, count in counts.items():
        histogram.record(value / 1000, count)
    return histogram
