"""A dataset record, before it becomes a case."""

from __future__ import annotations

from typing import Any

import msgspec


class RecordFault(Exception):
    """Raised with the reason for a record that cannot become a case."""


class Record(msgspec.Struct, frozen=True):
    """One record as the source provides it."""

    data: Any
    """A map when the source is sound."""
    number: int
    """Its line in a file, else its place in the source; 1-based."""
    fault: str = ""
    """Why there is no data."""


class TooLarge(Exception):
    """Raised for a packed file that unpacks to more than the limit."""
