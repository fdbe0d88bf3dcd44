"""Fields of a case by which results can be grouped: `cluster`, `expected` and the content of
`metadata`.

A field has one value or, where the case has a list of them (tags), several. Values are text, as
they are shown: `true`, `3`, `hard`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

OF_METADATA = "metadata."
"""Optional prefix of the name of a `metadata` field."""
LONGEST_VALUE = 80
"""Maximum characters of a value; a longer text cannot name a group."""
_MOST_VALUES = 32
"""Items of a list that count as tags; a longer list is data."""

Fields = Mapping[str, tuple[str, ...]]
"""Name of a field → its values; fields without a usable value are missing."""


def fields_of(cluster: Any, expected: Any, metadata: Mapping[str, Any]) -> Fields:
    """Return the fields of one case, those of `metadata` as `metadata.NAME`.

    Parts of a map inside `metadata` have dotted names (`metadata.source.year`).
    """
    found = dict(_flat(OF_METADATA, metadata))
    for name, value in (("cluster", cluster), ("expected", expected)):
        if values := _values(value):
            found[name] = values
    return found


def _flat(prefix: str, metadata: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for name, value in metadata.items():
        if isinstance(value, dict):
            yield from _flat(f"{prefix}{name}.", value)
        elif values := _values(value):
            yield f"{prefix}{name}", values


def _values(value: Any) -> tuple[str, ...]:
    items = value if isinstance(value, list | tuple) else (value,)
    if len(items) > _MOST_VALUES:
        return ()
    texts = [_text(item) for item in items]
    return tuple(dict.fromkeys(filter(None, texts))) if None not in texts else ()


def _text(value: Any) -> str | None:
    """Return a value as displayed; empty for a missing one, None if it cannot name a group."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    if not isinstance(value, str | int | float):
        return None
    text = " ".join(str(value).split())
    return text if len(text) <= LONGEST_VALUE else None
