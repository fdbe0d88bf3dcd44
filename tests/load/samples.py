"""Rows of samples as a load worker would record them, for tests that know what follows of them."""

import sqlite3
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from agentbench_tui.load.results.columns import Columns, columns_of
from agentbench_tui.load.results.window import Window
from agentbench_tui.load.sending.protocol import Done
from agentbench_tui.load.sending.sample import (
    FIELDS,
    FOLLOW_UP,
    NEW_CONNECTION,
    NONE,
    RESENT,
    ROW,
    STATUS_CODE,
    STREAMED,
    TOKENS_COUNTED,
    pack_gaps,
    pack_rows,
)


def us(seconds: float | None) -> int:
    return NONE if seconds is None else round(seconds * 1e6)


@dataclass
class Sample:
    """One request; times in seconds, as `load.sending.sample` counts them. Answered unless it says
    more."""

    due: float
    e2e: float | None = None
    lag: float | None = 0.0
    first_byte: float | None = None
    ttft: float | None = None
    ttfo: float | None = None
    gaps: Sequence[float] = ()
    tokens: int | None = None
    counted: bool = True
    input_tokens: int | None = None
    cache_write: int | None = None
    cache_write_1h: int | None = None
    status: str = "ok"
    follow_up: bool = False
    streamed: bool | None = None
    """As soon as it has a first token, unless given."""
    new_connection: bool = False
    resent: bool = False
    received_bytes: int = 0
    worker: int = 0
    repeat: int = 0

    def row(self) -> bytes:
        streamed = self.ttft is not None if self.streamed is None else self.streamed
        chunks = NONE if self.ttft is None else len(self.gaps) + 1
        known = {
            "due_us": round(self.due * 1e6),
            "lag_us": us(self.lag),
            "first_byte_us": us(self.first_byte),
            "ttft_us": us(self.ttft),
            "ttfo_us": us(self.ttft if self.ttfo is None else self.ttfo),
            "e2e_us": us(self.e2e),
            "chunks": chunks,
            "output_tokens": NONE if self.tokens is None else self.tokens,
            "input_tokens": NONE if self.input_tokens is None else self.input_tokens,
            "cache_write_tokens": NONE if self.cache_write is None else self.cache_write,
            "cache_write_1h_tokens": NONE if self.cache_write_1h is None else self.cache_write_1h,
            "received_bytes": self.received_bytes,
            "status": STATUS_CODE[self.status],
            "request_type": 0,
            "flags": FOLLOW_UP * self.follow_up
            + NEW_CONNECTION * self.new_connection
            + RESENT * self.resent
            + TOKENS_COUNTED * self.counted
            + STREAMED * streamed,
            "turn": 0,
        }
        return ROW.pack(*(known.get(name, NONE) for name, _ in FIELDS))


def packed(samples: Sequence[Sample]) -> tuple[bytes, bytes]:
    """A chunk: rows and gaps."""
    gaps = array("I", [us(gap) for sample in samples for gap in sample.gaps])
    return pack_rows(b"".join(sample.row() for sample in samples)), pack_gaps(gaps)


def chunks(samples: Sequence[Sample], size: int = 100) -> list[tuple[int, int, bytes, bytes]]:
    """Chunks as stored, of one repeat and worker each, in the order of the samples."""
    found = []
    for place in sorted({(sample.repeat, sample.worker) for sample in samples}):
        own = [sample for sample in samples if (sample.repeat, sample.worker) == place]
        found += [
            (*place, *packed(own[start : start + size])) for start in range(0, len(own), size)
        ]
    return found


def columns(samples: Sequence[Sample]) -> Columns:
    return columns_of(chunks(samples))


def done(**known: Any) -> Done:
    """What a worker says at its end: nothing happened, unless given."""
    defaults: dict[str, Any] = dict.fromkeys(Done.__struct_fields__, 0)
    defaults |= {"window_s": 1.0, "lateness": None, "run_queue_wait_ms": None}
    defaults |= {"stopped": False, "realtime": False}
    return Done(**(defaults | known))


def window(*workers: Done, **known: Any) -> Window:
    """One repeat of an open loop, unless told otherwise."""
    defaults: dict[str, Any] = {
        "is_open": True,
        "asked_per_s": None,
        "asked": None,
        "started_at": "2026-01-31T12:00:00.000Z",
        "ramp_s": 0.0,
        "slo": {},
        "max_in_flight": None,
        "on_this_machine": True,
    }
    return Window(**(defaults | known), workers=workers)


@dataclass
class Execution:
    """What a load execution leaves in the store."""

    samples: Sequence[Sample]
    windows: dict[int, Window] = field(default_factory=dict)

    def write(self, connection: sqlite3.Connection, execution_key: int, run_key: int) -> None:
        for repeat, worker, rows, gaps in chunks(self.samples):
            connection.execute(
                "INSERT INTO sample_chunks (run_key, execution_key, repeat, worker, rows, samples,"
                " gaps) VALUES (?,?,?,?,?,?,?)",
                (run_key, execution_key, repeat, worker, 0, rows, gaps),
            )
        for repeat, one in self.windows.items():
            connection.execute(
                "INSERT INTO load_windows (execution_key, repeat, run_key, document)"
                " VALUES (?,?,?,?)",
                (execution_key, repeat, run_key, msgspec.json.encode(one).decode()),
            )
