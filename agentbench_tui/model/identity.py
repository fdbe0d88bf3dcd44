"""Names, ids, seeds and hashes."""

from __future__ import annotations

import hashlib
import os
import re
from typing import Any

import msgspec

from agentbench_tui.model.clock import unix_time_ns

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""Valid file names and keys. Always used with `fullmatch`."""


def is_name(text: str) -> bool:
    """Return whether the whole text matches `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`."""
    return NAME.fullmatch(text) is not None


def new_id() -> str:
    """Return a UUIDv7 (RFC 9562): sorted by time, random bits from the operating system.

    Never drawn from a seeded generator: two runs with one seed still get two ids.
    """
    milliseconds = unix_time_ns() // 1_000_000
    value = (milliseconds & (1 << 48) - 1) << 80 | int.from_bytes(os.urandom(10), "big")
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    text = f"{value:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def derive_seed(root: int, *key: str | int) -> int:
    """Return a seed of 63 bits for one observation key, independent of order and machine."""
    material = "\x1f".join((str(root), *map(str, key))).encode()
    digest = hashlib.blake2b(material, digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


def canonical_json(value: Any) -> bytes:
    """Return JSON with sorted keys, for hashing; NaN and infinities become null."""
    return msgspec.json.Encoder(order="deterministic").encode(value)


def content_hash(value: Any) -> str:
    """Return the sha256 of the canonical JSON, 64 hex digits."""
    return hashlib.sha256(canonical_json(value)).hexdigest()
