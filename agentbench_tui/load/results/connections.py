"""Effect of opening connections on the latencies of a load, if it can be determined."""

from __future__ import annotations

import numpy as np

from agentbench_tui.load.calibration.verdict import OVERHEAD_SHARE
from agentbench_tui.load.results.columns import Flags
from agentbench_tui.load.results.rates import growth
from agentbench_tui.load.results.requests import Requests

CONNECTING_SHARE = 0.01
"""Share of answered requests that opened a connection, below which not even p99 changes."""
SLOW = 2.0
"""Factor on the usual time to first byte from which on the target counts as overloaded."""


def told_of_connections(requests: Requests) -> list[str]:
    """Report that latencies include opening connections, if that matters; with the amount if most
    were opened while the target was not overloaded.

    A connection is opened when all others are in use, which is the case when the target is slow:
    comparing such requests with the usual ones would attribute a stall to the connection.
    """
    columns = requests.columns
    new = requests.answered & columns.new_connection
    used = requests.answered & ~new
    count, whole = int(np.count_nonzero(new)), requests.answered.sum()
    if not count or count < CONNECTING_SHARE * whole:
        return []
    told = f"{count:,} of {whole:,} answered requests opened a connection"
    included = [f"{told}: their latencies include it"]
    if count == whole:
        return included
    first_byte_ms = columns.first_byte_from_send_ms
    usual_ms = float(np.median(first_byte_ms[used]))
    if not float(np.median(first_byte_ms[new])) >= (1 + OVERHEAD_SHARE) * usual_ms:
        return []
    alike = new & ~_behind(requests, SLOW * usual_ms)
    if _falls_behind(requests) or 2 * np.count_nonzero(alike) < count:
        return included
    later_ms = float(np.median(first_byte_ms[alike])) - usual_ms
    if later_ms < OVERHEAD_SHARE * usual_ms:
        return []
    return [f"{told}, and their first byte came {later_ms:,.1f} ms later (median)"]


def _falls_behind(requests: Requests) -> bool:
    """Return whether latencies grew in some repeat, so that later requests have longer ones."""
    return any(
        growth(requests, requests.begun & (requests.columns.repeat == repeat)) is not None
        for repeat in requests.windows
    )


def _behind(requests: Requests, slow_ms: float) -> Flags:
    """Return the requests sent while one on a used connection waited longer than that for a first
    byte.
    """
    columns = requests.columns
    until_s = columns.sent_s + columns.first_byte_from_send_ms / 1e3
    until_s = np.where(np.isnan(until_s), columns.end_s, until_s)
    slow = ~columns.new_connection & (until_s - columns.sent_s > slow_ms / 1e3)
    behind = np.zeros(len(requests), np.bool_)
    for repeat in requests.windows:
        own = columns.repeat == repeat
        begun = np.sort(columns.sent_s[own & slow])
        over = np.sort(until_s[own & slow])
        at_s = columns.sent_s[own]
        behind[own] = np.searchsorted(begun, at_s, "right") > np.searchsorted(over, at_s, "right")
    return behind
