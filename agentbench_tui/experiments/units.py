"""Units of what iterations return, by the ends of the names."""

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
"""How a metric's name ends → its unit; the first that fits counts."""
_OF_WHAT = re.compile(r"(_per_[a-z]+|_total)$")


def unit_of(name: str) -> str:
    """By the end of the name, or by what stands before `_per_NOUN` or `_total`, as in
    `bytes_per_row`; empty where it says none."""
    known = next((unit for end, unit in _UNITS.items() if name.endswith(end)), "")
    if known:
        return known
    amount = f"_{_OF_WHAT.sub('', name)}"
    return next((unit for end, unit in _UNITS.items() if amount.endswith(end)), "")
