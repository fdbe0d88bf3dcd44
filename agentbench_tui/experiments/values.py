"""Values that experiments and instruments return, as JSON holds them, and the numbers in them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

_DEEPEST = 20
LONGEST_TEXT = 1000
LEAST_FOR = {0.50: 1, 0.95: 20, 0.99: 100}
"""Percentile → how many values it takes at least; with fewer it would be one of the ends."""


def plain_map(values: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the mapping as JSON holds it: numbers of libraries as Python's own, the rest
    as text.
    """
    return {str(key): plain(value) for key, value in values.items()}


def plain(value: Any, depth: int = 0) -> Any:
    """Return one value as JSON holds it; NaN and infinity as None."""
    if value is None or isinstance(value, bool | str):
        return value if not isinstance(value, str) else value[:LONGEST_TEXT]
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**63 else _as_float(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if depth > _DEEPEST:
        return "…"
    if isinstance(value, Mapping):
        return {str(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item, depth + 1) for item in value]
    if hasattr(value, "tolist"):  # numpy's arrays and numbers
        return plain(value.tolist(), depth + 1)
    return str(value)[:LONGEST_TEXT]


def _as_float(value: int) -> float | None:
    """Return an integer too large for the store as float; infinity beyond its range."""
    try:
        return float(value)
    except OverflowError:
        return None


def numbers(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    """Yield every number in a map of JSON values by its path, such as `read.p50`; true is 1, lists
    are skipped.
    """
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from numbers(value, f"{prefix}{key}.")
        elif isinstance(value, int | float):
            yield f"{prefix}{key}", float(value)
