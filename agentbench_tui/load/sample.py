"""One measured request as a row of fixed size, and chunks of rows as they are stored and sent.

A row is `ROW.size` bytes in a preallocated buffer: nothing that Python's collector has to look
at is made for a sample. A chunk is its rows byte-shuffled (all first bytes, then all second
bytes, …), so that the bytes that hardly change lie together, and compressed with zlib.
"""

from __future__ import annotations

import struct
import zlib
from array import array
from typing import Final

from agentbench_tui.model.answer import FailureKind

FIELDS: Final = (
    ("due_us", "q"),
    ("lag_us", "I"),
    ("first_byte_us", "I"),
    ("ttft_us", "I"),
    ("ttfo_us", "I"),
    ("e2e_us", "I"),
    ("chunks", "I"),
    ("output_tokens", "I"),
    ("input_tokens", "I"),
    ("cached_tokens", "I"),
    ("received_bytes", "I"),
    ("status", "B"),
    ("request_type", "B"),
    ("flags", "B"),
    ("turn", "B"),
)
"""Name and struct code of each field, in order.

- `due_us`: when it was due, in µs since the window's start. In a closed loop when its user was
  ready to send it, which is when it was sent.
- `lag_us`: from due to sent. A request that waits for a place in flight waits here.
- `first_byte_us`, `ttft_us` (first content-bearing chunk, reasoning included), `ttfo_us` (first
  chunk that is no reasoning), `e2e_us` (last byte; of a failure, when it was known): since sent.
- `chunks`: content-bearing chunks.
- `received_bytes`: of the answer's body.
- `status`: 0 answered, 1 … failed (place in `STATUSES`).
- `request_type`: place in the plan's workload. `turn`: of a session, from 0.
- `flags`: the bits below.
"""

ROW: Final = struct.Struct("<" + "".join(code for _, code in FIELDS))
NONE: Final = 0xFFFFFFFF
"""An unsigned field that is not known."""

CANCELLED: Final = "cancelled"
"""Status of a request that its plan broke off (`cancel_after_tokens`)."""
UNFINISHED: Final = "unfinished"
"""Status of a request that was still in flight when the drain after the window ended."""
STATUSES: Final[tuple[str, ...]] = (
    "ok",
    *(
        kind.value
        for kind in (
            FailureKind.RATE_LIMITED,
            FailureKind.TIMEOUT,
            FailureKind.CONNECTION,
            FailureKind.SERVER,
            FailureKind.TRUNCATED,
            FailureKind.PARSE,
            FailureKind.LIMIT,
            FailureKind.AGENT,
            FailureKind.GRADER,
            FailureKind.HARNESS,
        )
    ),
    CANCELLED,
    UNFINISHED,
)
"""By the number that a row holds. Stored: new ones go to the end."""
STATUS_CODE: Final = {status: code for code, status in enumerate(STATUSES)}

FOLLOW_UP: Final = 1
"""Not the first of its session: an answer made it due, not the clock."""
TOKENS_COUNTED: Final = 2
"""The token counts are the server's; else `output_tokens` is the number of chunks."""
NEW_CONNECTION: Final = 4
"""A connection was opened for it."""
STREAMED: Final = 8
"""The answer came as an event stream."""

_RANGES = {"q": (-(1 << 63), (1 << 63) - 1), "I": (0, NONE - 1), "B": (0, 255)}
_GAP = 4
_LEVEL = 1
"""zlib's fastest: after shuffling the higher ones gain little and cost the sender time."""


def within(*fields: int) -> list[int]:
    """The fields of a row, each as near as its range allows; what is known is never `NONE`."""
    return [
        value if value == NONE and code == "I" else min(max(value, low), high)
        for value, (_, code) in zip(fields, FIELDS, strict=True)
        for low, high in (_RANGES[code],)
    ]


def pack_rows(rows: bytes | memoryview) -> bytes:
    """A chunk of whole rows, compressed."""
    return _pack(bytes(rows), ROW.size)


def unpack_rows(data: bytes) -> bytes:
    """The rows of a chunk. ValueError when it is none."""
    return _unpack(data, ROW.size)


def pack_gaps(gaps: array[int]) -> bytes:
    """Gaps between the content-bearing chunks of answers in µs, compressed.

    Those of one answer follow each other, `chunks` - 1 of them, in the order of the rows.
    """
    return _pack(gaps.tobytes(), _GAP)


def unpack_gaps(data: bytes) -> array[int]:
    """What `pack_gaps` packed. ValueError when it is none."""
    gaps = array("I")
    gaps.frombytes(_unpack(data, _GAP))
    return gaps


def _pack(plain: bytes, width: int) -> bytes:
    return zlib.compress(b"".join(plain[place::width] for place in range(width)), _LEVEL)


def _unpack(data: bytes, width: int) -> bytes:
    try:
        shuffled = zlib.decompress(data)
    except zlib.error as error:
        raise ValueError(f"not a chunk of samples: {error}") from error
    count, rest = divmod(len(shuffled), width)
    if rest:
        raise ValueError("not a chunk of samples: its length is no whole number of rows")
    plain = bytearray(len(shuffled))
    for place in range(width):
        plain[place::width] = shuffled[place * count : (place + 1) * count]
    return bytes(plain)
