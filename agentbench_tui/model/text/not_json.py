"""Explains msgspec's errors for bytes that are not JSON, or not the expected JSON."""

from __future__ import annotations

import msgspec

NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""Invalid JSON by grammar or type; text that is not UTF-8; nested too deeply."""


def why_not_json(error: Exception) -> str:
    """Say why text is not valid JSON, from the error of `json` or `msgspec`."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    # Python reads no longer ones, and its own message advises a function of Python's.
    if type(error) is ValueError:
        return "it holds a whole number of more than 4,300 digits"
    return str(error)
