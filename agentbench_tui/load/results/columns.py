"""The stored samples of a load execution as numpy columns.

Read after the window to compute metrics; workers and the coordinator never import this.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from agentbench_tui.load.sending.sample import (
    FIELDS,
    FOLLOW_UP,
    NEW_CONNECTION,
    NONE,
    RESENT,
    STATUS_CODE,
    STREAMED,
    TOKENS_COUNTED,
    unpack_gaps,
    unpack_rows,
)
from agentbench_tui.store.queries.load import finished_chunks

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable, Iterator

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

_NUMPY_CODE = {"q": "<i8", "I": "<u4", "B": "u1"}
SAMPLE = np.dtype([(name, _NUMPY_CODE[code]) for name, code in FIELDS])
"""A row of `load.sending.sample` as numpy sees it."""


ROWS_A_PART = 1 << 14
"""Rows whose gaps are looked at together."""


@dataclass(frozen=True)
class Columns:
    """Samples of finished repeats, in the order in which they were stored.

    Times are float64, NaN where they are not known: `*_s` in seconds since the window's start,
    `*_ms` in ms.
    """

    table: NDArray[np.void]
    """Structured array of `SAMPLE`."""
    repeat: NDArray[np.int32]
    """Repeat of each row."""
    worker: NDArray[np.int32]
    """Which load worker sent it, of its repeat."""
    gaps_us: NDArray[np.uint32]
    """Gaps between the content-bearing chunks of all answers, one answer after the other."""

    def __len__(self) -> int:
        return len(self.table)

    @cached_property
    def ok(self) -> Flags:
        """Return the requests that were answered."""
        return self.has_status("ok")

    @cached_property
    def follow_up(self) -> Flags:
        """Return the requests after the first of a session: due when the previous answer ended, not
        by the clock.
        """
        return self._flag(FOLLOW_UP)

    @cached_property
    def counted(self) -> Flags:
        """Return whether the server reported the tokens of the answer."""
        return self._flag(TOKENS_COUNTED)

    @property
    def new_connection(self) -> Flags:
        """Return the requests that opened a new connection."""
        return self._flag(NEW_CONNECTION)

    @property
    def streamed(self) -> Flags:
        """Return the requests whose answer was an event stream."""
        return self._flag(STREAMED)

    @property
    def resent(self) -> Flags:
        """Return the requests that were sent twice because their connection was lost."""
        return self._flag(RESENT)

    def has_status(self, status: str) -> Flags:
        """Return the rows with that status (a name of `sample.STATUSES`)."""
        found: Flags = self.table["status"] == STATUS_CODE[status]
        return found

    @property
    def due_s(self) -> Floats:
        return self.table["due_us"] / 1e6

    @cached_property
    def sent_s(self) -> Floats:
        """Return the send times in seconds; NaN for requests that were never sent."""
        return self.due_s + self.lag_ms / 1e3

    @cached_property
    def end_s(self) -> Floats:
        """Return the time of the last byte, or when the request was known to have failed."""
        return self.sent_s + self.e2e_from_send_ms / 1e3

    @cached_property
    def lag_ms(self) -> Floats:
        """Return the time from due to sent."""
        return self._ms("lag_us")

    @cached_property
    def e2e_from_send_ms(self) -> Floats:
        return self._ms("e2e_us")

    @property
    def first_byte_from_send_ms(self) -> Floats:
        return self._ms("first_byte_us")

    @property
    def ttft_from_send_ms(self) -> Floats:
        return self._ms("ttft_us")

    @property
    def ttfo_from_send_ms(self) -> Floats:
        return self._ms("ttfo_us")

    @cached_property
    def output_tokens(self) -> Floats:
        return self._numbers("output_tokens")

    @cached_property
    def input_tokens(self) -> Floats:
        return self._numbers("input_tokens")

    def gaps_of(self, rows: Flags) -> Iterator[tuple[NDArray[np.uint32], NDArray[np.int64]]]:
        """Yield the gaps of those rows in µs with the row of each, in parts, because all together
        need much memory.

        ValueError when more or fewer gaps are stored than the samples have.
        """
        chunks = self.table["chunks"]
        each = np.where((chunks == NONE) | (chunks == 0), 1, chunks) - 1
        told = int(each.sum(dtype=np.int64))
        if told != len(self.gaps_us):
            raise ValueError(f"{len(self.gaps_us)} gaps are stored, but the samples have {told}")
        end = 0
        for start in range(0, len(self), ROWS_A_PART):
            part = each[start : start + ROWS_A_PART]
            row = np.repeat(np.arange(start, start + len(part)), part)
            begin, end = end, end + len(row)
            us = self.gaps_us[begin:end]
            wanted = rows[start : start + ROWS_A_PART]
            if not wanted.all():
                of_wanted = np.repeat(wanted, part)
                us, row = us[of_wanted], row[of_wanted]
            if len(us):
                yield us, row

    def _flag(self, bit: int) -> Flags:
        found: Flags = (self.table["flags"] & bit) != 0
        return found

    def _ms(self, name: str) -> Floats:
        return self._numbers(name) / 1e3

    def _numbers(self, name: str) -> Floats:
        field = self.table[name]
        values = field.astype(np.float64)
        values[field == NONE] = np.nan
        return values


def read_columns(
    connection: sqlite3.Connection, execution_key: int, *, repeats: Collection[int] | None = None
) -> Columns:
    """Read every sample of the finished repeats of an execution, or of some of them.

    A repeat is finished when it has a row in `load_windows`. ValueError for a damaged chunk.
    """
    chunks = finished_chunks(connection, execution_key)
    return columns_of([chunk[:4] for chunk in chunks if repeats is None or chunk.repeat in repeats])


def columns_of(chunks: Iterable[tuple[int, int, bytes, bytes]]) -> Columns:
    """Return columns of chunks: repeat, worker, packed rows, packed gaps."""
    repeats, workers, samples, gaps = tuple(zip(*chunks, strict=True)) or ((), (), (), ())
    rows, counts = unpack_rows(samples)
    return Columns(
        rows.reshape(-1).view(SAMPLE),
        np.repeat(np.array(repeats, np.int32), counts),
        np.repeat(np.array(workers, np.int32), counts),
        unpack_gaps(gaps),
    )
