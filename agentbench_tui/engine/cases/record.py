"""A record of a dataset: what becomes a case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


class RecordFault(Exception):
    """A record that cannot become a case, and why."""


@dataclass(frozen=True, slots=True)
class Record:
    """One record as the source gives it."""

    data: Any
    """A map when the source is sound."""
    number: int
    """Its line in a file, else its place in the source; 1-based."""
    fault: str = ""
    """Why there is no data."""


class TooLarge(Exception):
    """A packed file that unpacks to more than is allowed."""
