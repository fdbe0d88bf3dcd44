"""Cases of a dataset, kept in memory while there are few, then in an unnamed temporary file, where
each needs some 30 bytes of memory.
"""

from __future__ import annotations

import hashlib
import math
import os
import tempfile
from array import array
from itertools import pairwise
from typing import BinaryIO

import msgspec

from agentbench_tui.engine.cases.record import RecordFault
from agentbench_tui.model.answer import Case

MOST_IN_MEMORY = 1 << 14
"""Bytes of a dataset's cases beyond which they go into a file: each point of a sweep may have a
dataset of its own, and a file takes longer to make than a few cases."""
EMPTY_BYTES = 1500
_encode = msgspec.json.Encoder(order="deterministic").encode
_decode = msgspec.json.Decoder(Case).decode


class CaseSpool:
    """Cases by number."""

    def __init__(self) -> None:
        self._memory = bytearray()
        self._file: BinaryIO | None = None
        self._ends = array("Q", [0])
        self.digests = array("Q")
        """Digest of each case's id."""
        self.numbers = array("Q")
        """Line, or place in the source, of each case's record."""
        self.made = bytearray()
        """1 for each case whose id is made of its content."""
        self._suffixes: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self.digests)

    def add(self, case: Case, number: int, *, made: bool) -> None:
        """Add a case. Raises RecordFault for content that JSON cannot hold."""
        try:
            encoded = _encode(case)
        except (ValueError, TypeError, RecursionError, OverflowError) as error:
            raise RecordFault(f"holds what JSON cannot: {error}") from None
        if b"null" in encoded and _holds_no_number(msgspec.structs.asdict(case)):
            raise RecordFault("holds what JSON cannot: NaN or infinity")
        if self._file is None and len(self._memory) + len(encoded) > MOST_IN_MEMORY:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115  # closed by close()
            self._file.write(self._memory)
            self._memory.clear()
        if self._file is None:
            self._memory += encoded
        else:
            self._file.write(encoded)
        self._ends.append(self._ends[-1] + len(encoded))
        self.digests.append(digest_of(case.id))
        self.numbers.append(number)
        self.made.append(made)

    def finish(self) -> None:
        """Make everything readable; number cases of equal content."""
        if self._file is not None:
            self._file.flush()
        seen: dict[int, int] = {}
        for index in self.of_digests(self.doubled()):
            count = seen[self.digests[index]] = seen.get(self.digests[index], 0) + 1
            if self.made[index] and count > 1:
                self._suffixes[index] = f"-{count}"
                self.digests[index] = digest_of(self.case(index).id)

    def doubled(self) -> set[int]:
        """Return digests that more than one case has."""
        ordered = sorted(self.digests)
        return {one for one, next_one in pairwise(ordered) if one == next_one}

    def of_digests(self, digests: set[int]) -> list[int]:
        """Return the cases whose ids have one of these digests."""
        if not digests:
            return []
        return [index for index, digest in enumerate(self.digests) if digest in digests]

    def case(self, index: int) -> Case:
        case = _decode(self._stored(index))
        if suffix := self._suffixes.get(index):
            case = msgspec.structs.replace(case, id=case.id + suffix)
        return case

    def encoded(self, index: int) -> bytes:
        """Return the canonical JSON of a case."""
        if index in self._suffixes:
            return _encode(self.case(index))
        return self._stored(index)

    def _stored(self, index: int) -> bytes:
        start, end = self._ends[index], self._ends[index + 1]
        if self._file is None:
            return bytes(self._memory[start:end])
        return os.pread(self._file.fileno(), end - start, start)

    @property
    def memory_bytes(self) -> int | None:
        """Return the approximate memory use while there is no file; None once there is one."""
        return None if self._file is not None else EMPTY_BYTES + len(self._memory)

    def close(self) -> None:
        """Discard the cases."""
        self._memory.clear()
        if self._file is not None:
            self._file.close()

    def __del__(self) -> None:
        if getattr(self, "_file", None) is not None:
            self.close()  # so that a source that nobody closed is no leak


def _holds_no_number(value: object) -> bool:
    """Return whether it contains a float without a JSON representation; msgspec writes null for
    it.
    """
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, dict):
        return any(map(_holds_no_number, value.values()))
    return isinstance(value, list | tuple) and any(map(_holds_no_number, value))


def digest_of(text: str) -> int:
    """Return 64 bits of a hash of an id."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
