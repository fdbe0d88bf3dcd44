"""Reports that the load workers of a load have been silent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_SILENT_S = 2.0
"""Seconds without a report of a sender, which normally reports four times a second."""


def silence(state: Mapping[str, Any], *, nothing_yet: bool) -> str:
    """Report that workers have been silent for a long time, so that all figures are that old; empty
    otherwise. `state`: the live row. `nothing_yet`: neither an answer nor a failure so far.
    """
    silent_s = state.get("silent_s")
    if silent_s is None or silent_s < _SILENT_S:
        return ""
    told = f"no word for {silent_s:.0f} s from the senders"
    if state["in_flight"] and nothing_yet:
        told += f": they are opening {state['in_flight']:,} requests, and the connections they need"
    return told
