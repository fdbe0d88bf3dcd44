"""Messages between the proxy and its parent: JSON, one per line.

The parent sends `Schedule`, `Start`, `Clear` and `Tell`, any number of times. The proxy sends
`Listening` at its start, its `Counts` after each message, once that is in force, and its `Counts`
when its input ends.
"""

from __future__ import annotations

import msgspec

from agentbench_tui.stress.faults.fault import Fault

MOST_LINE_BYTES = 8 << 20
MOST_FAULTS = 1000
"""Maximum for one proxy, over all its scripts."""


class Schedule(msgspec.Struct, frozen=True, tag="schedule"):
    """Faults of the script that begins with the next `Start`, numbered from 0 across all
    scripts.
    """

    faults: tuple[Fault, ...]


class Start(msgspec.Struct, frozen=True, tag="start"):
    """Begin the scheduled script."""

    at_ns: int
    """On `time.perf_counter_ns`, which is one clock for all processes of a machine (Linux)."""


class Clear(msgspec.Struct, frozen=True, tag="clear"):
    """End faults now and discard pending ones."""

    numbers: tuple[int, ...] | None = None
    """None: all."""


class Tell(msgspec.Struct, frozen=True, tag="tell"):
    """Request the counts without a change."""


class Listening(msgspec.Struct, frozen=True, tag="listening"):
    """The proxy accepts clients."""

    port: int
    """On 127.0.0.1."""
    pid: int


class FaultCount(msgspec.Struct, frozen=True):
    """How often one fault was applied."""

    name: str
    applied: int
    """Connections (latency, jitter, bandwidth, stall, black hole: those it was put on; cut, reset:
    those it ended), requests, or times that the port was closed (refuse)."""
    began_ns: int | None = None
    """On `time.perf_counter_ns`; None: not yet, or never."""
    ended_ns: int | None = None


class Counts(msgspec.Struct, frozen=True, tag="counts"):
    """Everything that has passed so far."""

    at_ns: int
    connections: int
    """Accepted connections, including those that a fault ended immediately."""
    open: int
    unreachable: int
    """Connections that were reset because the target took none."""
    turned_away: int
    """Connections that were reset because too many were open."""
    requests: int
    """Request heads, regardless of what answered them; 0 if the target is not plain HTTP."""
    to_target_bytes: int
    to_client_bytes: int
    """Passed on, or answered by the proxy."""
    held_bytes: int
    """Bytes read and not yet passed on."""
    faults: tuple[FaultCount, ...] = ()
    """By number."""

    @property
    def applied(self) -> dict[str, int]:
        """Return the number of applications by kind of fault."""
        applied: dict[str, int] = {}
        for fault in self.faults:
            applied[fault.name] = applied.get(fault.name, 0) + fault.applied
        return applied


ToProxy = Schedule | Start | Clear | Tell
FromProxy = Listening | Counts

_encode = msgspec.json.Encoder().encode
decode_to_proxy = msgspec.json.Decoder(ToProxy).decode
decode_from_proxy = msgspec.json.Decoder(FromProxy).decode


def line(message: ToProxy | FromProxy) -> bytes:
    """Encode the message for the pipe."""
    return _encode(message) + b"\n"
