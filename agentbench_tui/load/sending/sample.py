"""One measured request as a row of fixed size, and chunks of rows for storing and sending.

A row is `ROW.size` bytes in a preallocated buffer: nothing that Python's collector has to look
at is made for a sample.

A chunk is its rows shuffled, so that the bytes that hardly change lie together, and compressed
with zlib. Inside are, one after the other:

- the size of a row, one byte (chunks of schema 6 and before have rows without the last two fields);
- for each place in a row one byte: 1 when its bytes follow, 0 when all rows have there what the
  first row has. The first place is always 1;
- the first row;
- of each place that is 1, in order, the bytes that all rows have there.
"""

from __future__ import annotations

import struct
import zlib
from array import array
from itertools import compress
from typing import TYPE_CHECKING, Final, NamedTuple

from agentbench_tui.model.answer import FailureKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

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
    ("cache_write_tokens", "I"),
    ("cache_write_1h_tokens", "I"),
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
- `cached_tokens`, `cache_write_tokens`: parts of `input_tokens` that were read from a cache and
  written to it; `cache_write_1h_tokens` is the part of the latter that is kept for an hour.
- `request_type`: place in the plan's workload. `turn`: of a session, from 0.
- `flags`: the bits below.
"""

ROW: Final = struct.Struct("<" + "".join(code for _, code in FIELDS))
NONE: Final = 0xFFFFFFFF
"""An unsigned field that is not known."""
_SHORT_ROW_BYTES: Final = ROW.size - struct.calcsize("<II")
"""Size of a row before `cache_write_tokens`."""

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
RESENT: Final = 16
"""It was sent twice: the server closed the used connection that it took, without an answer."""

_RANGES = {"q": (-(1 << 63), (1 << 63) - 1), "I": (0, NONE - 1), "B": (0, 255)}
_LAG_AT = struct.calcsize("<q")
"""Place of `lag_us` in a row."""
_GAP = 4
_LEVEL = 1
"""zlib's fastest: after shuffling the higher ones gain little and cost the sender time."""


def within(*fields: int) -> list[int]:
    """Return the fields of a row, clipped to their ranges; a known value never becomes `NONE`."""
    return [
        value if value == NONE and code == "I" else min(max(value, low), high)
        for value, (_, code) in zip(fields, FIELDS, strict=True)
        for low, high in (_RANGES[code],)
    ]


def pack_rows(rows: bytes | memoryview) -> bytes:
    """Return a chunk of whole rows; empty without rows."""
    # A code table for so few bytes saves 3% of the room and takes a third of the time to read.
    return _pack(bytes(rows), ROW.size, zlib.Z_FIXED)


def unpack_rows(chunks: Sequence[bytes]) -> Unpacked:
    """Return the rows of chunks. Raises ValueError if one is not a chunk of rows."""
    return _unpack(chunks, ROW.size)


def pack_gaps(gaps: array[int]) -> bytes:
    """Pack gaps between the content-bearing chunks of answers in µs, as rows of 4 bytes.

    Those of one answer follow each other, `chunks` - 1 of them, in the order of the rows.
    """
    return _pack(gaps.tobytes(), _GAP, zlib.Z_DEFAULT_STRATEGY)


def unpack_gaps(chunks: Sequence[bytes]) -> NDArray[np.uint32]:
    """Unpack and concatenate chunks of `pack_gaps`. Raises ValueError if one is invalid."""
    gaps: NDArray[np.uint32] = _unpack(chunks, _GAP).rows.reshape(-1).view("<u4")
    return gaps


def lags_of(chunk: bytes) -> array[int]:
    """Return `lag_us` of the rows of one chunk, without numpy.

    ValueError if it is not a chunk of rows.
    """
    return _column(chunk, ROW.size, _LAG_AT)


def gaps_of(chunk: bytes) -> array[int]:
    """Unpack the result of `pack_gaps` without numpy. Raises ValueError if it is invalid."""
    return _column(chunk, _GAP, 0)


def _column(chunk: bytes, width: int, at: int) -> array[int]:
    """Return the unsigned 4-byte numbers at offset `at` of each row."""
    plain, count, width = _open(chunk, width)
    column = array("I")
    if count:
        varies, first = plain[1 : 1 + width], plain[1 + width : 1 + 2 * width]
        content = bytearray(4 * count)
        for byte, place in enumerate(range(at, at + 4)):
            begin = 1 + 2 * width + count * varies.count(1, 0, place)
            own = (
                plain[begin : begin + count] if varies[place] else first[place : place + 1] * count
            )
            content[byte::4] = own
        column.frombytes(content)
    return column


class Unpacked(NamedTuple):
    """Concatenated rows of several chunks."""

    rows: NDArray[np.uint8]
    """A row of bytes each."""
    counts: list[int]
    """Rows of each chunk."""


def _pack(plain: bytes, width: int, strategy: int) -> bytes:
    if not plain:
        return b""
    planes = [plain[place::width] for place in range(width)]
    count = len(planes[0])
    varies = [True, *(plane != plane[:1] * count for plane in planes[1:])]
    kept = compress(planes, varies)
    content = b"".join((bytes((width, *varies)), plain[:width], *kept))
    packing = zlib.compressobj(_LEVEL, strategy=strategy)
    return packing.compress(content) + packing.flush()


def _unpack(chunks: Sequence[bytes], width: int) -> Unpacked:
    import numpy as np

    rows, counts = bytearray(), []  # grows where it lies: a soak has gigabytes of gaps
    for chunk in chunks:
        plain, count, stored = _open(chunk, width)
        counts.append(count)
        if count:
            content = np.frombuffer(plain, np.uint8)
            own = np.full((count, width), 0xFF, np.uint8)  # NONE, in fields that are not stored
            own[:, :stored] = content[1 + stored : 1 + 2 * stored]
            varies = np.flatnonzero(content[1 : 1 + stored])
            own[:, varies] = content[1 + 2 * stored :].reshape(-1, count).T
            rows += own.data
    return Unpacked(np.frombuffer(rows, np.uint8).reshape(-1, width), counts)


def _open(chunk: bytes, width: int) -> tuple[bytes, int, int]:
    """Return the content of a chunk of rows of `width` bytes, the number of its rows, and their
    stored size, which is smaller in an older chunk.
    """
    if not chunk:
        return b"", 0, width
    try:
        plain = zlib.decompress(chunk)
    except zlib.error as error:
        raise ValueError(f"not a chunk of samples: {error}") from error
    if width == ROW.size and plain[:1] == bytes((_SHORT_ROW_BYTES,)):
        width = _SHORT_ROW_BYTES
    if plain[:1] != bytes((width,)):
        raise ValueError(f"not a chunk of samples: its rows are not of {width} bytes")
    varies = plain[1 : 1 + width]
    planes, length = varies.count(1), len(plain) - 1 - 2 * width
    if planes + varies.count(0) != width or not planes or length <= 0 or length % planes:
        raise ValueError("not a chunk of samples: its length is not a whole number of rows")
    return plain, length // planes, width
