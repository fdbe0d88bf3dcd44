"""That the senders of a load tell nothing, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_SILENT_S = 2.0
"""Seconds without a word from a sender, who otherwise tells four times a second."""


def silence(state: Mapping[str, Any], *, nothing_yet: bool) -> str:
    """That senders have told nothing for long, so that all figures are as old as that; empty where
    they have. `state`: of a live row. `nothing_yet`: neither an answer nor a failure."""
    silent_s = state.get("silent_s")
    if silent_s is None or silent_s < _SILENT_S:
        return ""
    told = f"no word for {silent_s:.0f} s from the senders"
    if state["in_flight"] and nothing_yet:
        told += f": they are opening {state['in_flight']:,} requests, and the connections they need"
    return told
