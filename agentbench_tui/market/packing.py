"""Packs long parts of an episode for its stored answer: JSON without secrets, deflated, in
base64.

The store cuts an answer that is too long to nothing but its text, and masks keys in what it can
read; so a long part is packed, and masked before.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from typing import Any

import msgspec

from agentbench_tui.model.errors import StoreError
from agentbench_tui.model.text.secrets import Redactor

MOST_PLAIN = 200_000
"""Bytes of JSON up to which a document is stored unpacked."""
PACKED = "packed"
"""The field of a document that holds the others."""
_FAULTS = (TypeError, ValueError, OverflowError, RecursionError)


def shortened(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields, or only `packed` if they are long; `whole` reverses it."""
    text = _encoded(fields)
    return dict(fields) if len(text) <= MOST_PLAIN else {PACKED: _packed(text)}


def whole(document: Mapping[str, Any]) -> dict[str, Any]:
    """A document with all its fields. Raises StoreError for what cannot be unpacked."""
    rest = {name: value for name, value in document.items() if name != PACKED}
    return {**rest, **unpack(document[PACKED])} if PACKED in document else rest


def pack(value: Any) -> str:
    """Return a JSON value as ASCII text with secrets masked."""
    return _packed(_encoded(value))


def unpack(packed: str) -> Any:
    """Return the value of packed text. Raises StoreError for invalid data."""
    try:
        text = zlib.decompress(base64.b64decode(packed))
        return json.loads(text, parse_constant=lambda _: None)
    except (*_FAULTS, zlib.error) as error:
        raise StoreError(f"this episode cannot be read: its record is damaged ({error})") from None


def _packed(text: bytes) -> str:
    masked = Redactor().of_json(text.decode()).encode()
    return base64.b64encode(zlib.compress(masked, 6)).decode()


def _encoded(value: Any) -> bytes:
    """Encode as UTF-8; what msgspec refuses, such as half a surrogate pair, becomes `?` or text."""
    try:
        return msgspec.json.encode(value)
    except _FAULTS:
        text = json.dumps(value, ensure_ascii=False, default=repr)
        return text.encode("utf-8", "replace")
