"""Units of returned numbers, by the suffixes of their names."""

from __future__ import annotations

import re

_UNITS = {
    "_per_s": "1/s",
    "_per_sec": "1/s",
    "_ms": "ms",
    "_us": "µs",
    "_ns": "ns",
    "_s": "s",
    "_bytes": "bytes",
    "_mb": "MB",
    "_percent": "%",
    "_usd": "USD",
}
"""Suffix of a metric's name → its unit; the first match counts."""
_OF_WHAT = re.compile(r"(_per_[a-z]+|_total)$")


def unit_of(name: str) -> str:
    """Return the unit by the suffix, or by the part before `_per_NOUN` or `_total`, as in
    `bytes_per_row`; empty if there is none.
    """
    known = next((unit for end, unit in _UNITS.items() if name.endswith(end)), "")
    if known:
        return known
    amount = f"_{_OF_WHAT.sub('', name)}"
    return next((unit for end, unit in _UNITS.items() if amount.endswith(end)), "")
