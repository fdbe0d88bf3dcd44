"""Escapes control, escape and bidirectional characters, so that no terminal interprets them."""

from __future__ import annotations

import re

_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
)
"""Control characters but newline and tab, halves of surrogate pairs, and what steers the direction
of text or parts lines. Every character of the categories Cc and Cs is one."""


def visible(text: str, limit: int | None = None) -> str:
    """Return `text` with control, escape and bidirectional characters escaped.

    Newline and tab stay. `limit` is the maximum length in characters; a cut is marked.
    """
    if limit is not None and len(text) > limit:
        text = f"{text[:limit]}… (+{len(text) - limit} characters)"
    return _UNSAFE.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
