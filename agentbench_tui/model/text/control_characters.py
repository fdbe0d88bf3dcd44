"""Escapes control, escape and bidirectional characters, so that no terminal interprets them."""

from __future__ import annotations

import unicodedata

_BIDI = frozenset("\u200e\u200f\u2028\u2029\u061c") | {
    chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
}


def visible(text: str, limit: int | None = None) -> str:
    """Return `text` with control, escape and bidirectional characters escaped.

    Newline and tab stay. `limit` is the maximum length in characters; a cut is marked.
    """
    if limit is not None and len(text) > limit:
        text = f"{text[:limit]}… (+{len(text) - limit} characters)"
    if text.isascii() and text.isprintable():
        return text
    return "".join(_visible_character(character) for character in text)


def _visible_character(character: str) -> str:
    if character in "\n\t":
        return character
    category = unicodedata.category(character)
    if category in {"Cc", "Cs"} or character in _BIDI:
        code = ord(character)
        return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
    return character
