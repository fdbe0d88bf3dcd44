"""Extracts the message of an error body, and advises on its status."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import msgspec

from agentbench_tui.model.text.not_json import NOT_JSON

_PASSING_STATUSES = frozenset({408, 425, 429})
"""Request Timeout, Too Early, Too Many Requests: the 4xx that a later attempt may not get."""


def error_text(body: bytes) -> str:
    """Return the message of an error body:

    `error.message` and common variants, else the body itself.
    """
    try:
        value = msgspec.json.decode(body)
    except NOT_JSON:
        return body[:4096].decode("utf-8", "replace")
    return error_message(value) or body[:4096].decode("utf-8", "replace")


def error_message(value: Any) -> str:
    """Return the message inside a decoded error object; empty if there is none."""
    while isinstance(value, dict):
        value = next((value[k] for k in ("error", "message", "detail", "type") if value.get(k)), "")
    return value if isinstance(value, str) else ""


def is_final(status: int, wait_s: float | None) -> bool:
    """Return whether the same request would be refused again with this status.

    A redirect or a refusal of the request (4xx) is final. 408, 425 and 429 ask for another attempt,
    and so does a `Retry-After` (`wait_s`) with any status of 400 and above.
    """
    if status < 400:
        return True
    return status < 500 and status not in _PASSING_STATUSES and wait_s is None


def advice(status: int, url: str, key_from: str) -> str:
    """Return advice for a refusal with this status, of a request to `url` with the key from
    those variables, if any; empty if there is none.
    """
    if status in {401, 403}:
        if key_from:
            return f" (the key was taken from {key_from})"
        return " (no key was sent: name the variable that holds it with key_env=NAME)"
    if status in {404, 405}:
        return f" (asked for {urlsplit(url).path or '/'})"
    return ""
