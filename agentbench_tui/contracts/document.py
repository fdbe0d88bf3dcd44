"""What all documents have in common: how they are declared, and how they become plain JSON."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import msgspec

Json: TypeAlias = Any
"""A value whose shape the user or the agent decides, such as a parameter or an answer."""


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A JSON object inside a document, or a document.

    A field whose default is `UNSET` is absent from JSON when it has no value. A field of None is
    null there: not measured, not known or not applicable.
    """


class Document(Part, frozen=True, kw_only=True, tag_field="schema"):
    """A whole JSON document; its class names it by `tag`, which is the field `schema` in JSON."""


def schema_of(document: Document | type[Document]) -> str:
    """Return the name in a document's `schema` field, such as `agentbench.run/1`."""
    return str(document.__struct_config__.tag)


def plain(document: Any) -> Json:
    """Return a document, or a container of parts, as dictionaries, tuples, lists and scalars."""
    return msgspec.to_builtins(document, enc_hook=_number)


def finite(value: float | None) -> float | None:
    """Return the value, or None if JSON cannot hold it."""
    return None if value is None or not math.isfinite(value) else float(value)


def _number(value: object) -> float:
    """A NumPy float is a float, but msgspec knows the exact type alone."""
    if isinstance(value, float):
        return float(value)
    raise NotImplementedError(f"{type(value).__name__} is not a JSON value")
