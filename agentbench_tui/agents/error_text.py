"""What the body of an error says."""

from __future__ import annotations

from typing import Any

import msgspec

from agentbench_tui.model.not_json import NOT_JSON


def error_text(body: bytes) -> str:
    """What an error body says: `error.message` and its common kin, else the body itself."""
    try:
        value = msgspec.json.decode(body)
    except NOT_JSON:
        return body[:4096].decode("utf-8", "replace")
    return error_message(value) or body[:4096].decode("utf-8", "replace")


def error_message(value: Any) -> str:
    """The message inside a decoded error object; empty when there is none."""
    while isinstance(value, dict):
        value = next((value[k] for k in ("error", "message", "detail", "type") if value.get(k)), "")
    return value if isinstance(value, str) else ""
