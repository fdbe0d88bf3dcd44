"""Faults that the proxy puts between a client and its target: plain data.

Those of a connection work on any bytes, TLS too; those of a request need plain HTTP/1.1. All
times are of one clock, `time.perf_counter_ns` of the machine. Wrong values raise ValueError.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Direction = Literal["both", "to_target", "to_client"]
MOST_BODY_BYTES = 1 << 20
"""A proxy between clients and one target that injects faults.

`python -m agentbench_tui.stress.faults.proxy URL` listens on a free port of 127.0.0.1, exchanges
the messages of `stress.faults.script` over standard input and output, and ends when its input
closes.
"""


class Latency(msgspec.Struct, frozen=True, tag="latency"):
    """Delays all data that arrive during the fault, at most until its end."""

    ms: float
    direction: Direction = "to_client"

    def __post_init__(self) -> None:
        _check(self.ms > 0, f"latency: ms must be more than 0, not {self.ms:g}")


class Jitter(msgspec.Struct, frozen=True, tag="jitter"):
    """Delays each piece that arrives by a uniform draw from 0 to `most_ms`.

    Order is kept: a piece also waits for those before it.
    """

    most_ms: float
    direction: Direction = "to_client"

    def __post_init__(self) -> None:
        _check(self.most_ms > 0, f"jitter: most_ms must be more than 0, not {self.most_ms:g}")


class Bandwidth(msgspec.Struct, frozen=True, tag="bandwidth"):
    """All affected connections share this bandwidth in bytes per second, in each direction."""

    bytes_per_s: float
    direction: Direction = "to_client"

    def __post_init__(self) -> None:
        _check(
            self.bytes_per_s >= 1,
            f"bandwidth: bytes_per_s must be at least 1, not {self.bytes_per_s:g}",
        )


class Cut(msgspec.Struct, frozen=True, tag="cut"):
    """A connection ends after it has passed this many bytes during the fault."""

    after_bytes: int
    end: Literal["close", "reset"] = "close"
    direction: Literal["to_target", "to_client"] = "to_client"
    """In which the bytes are counted; the connection ends in both."""

    def __post_init__(self) -> None:
        _check(
            self.after_bytes >= 1,
            f"cut: after_bytes must be at least 1, not {self.after_bytes}; a reset cuts at once",
        )


class Reset(msgspec.Struct, frozen=True, tag="reset"):
    """Connections are reset (RST): open ones when it begins, new ones when they are accepted."""


class BlackHole(msgspec.Struct, frozen=True, tag="black_hole"):
    """Bytes vanish: connections are accepted and never answered, open ones fall silent.

    Lost bytes stay lost. A connection that lost a byte, or that began during the fault, is silent
    to its end; an idle one continues after it.
    """


class Refuse(msgspec.Struct, frozen=True, tag="refuse"):
    """New connections are refused; open ones continue."""


class Stall(msgspec.Struct, frozen=True, tag="stall"):
    """All data stop but none are lost: they continue when the fault ends."""

    direction: Direction = "both"


class ErrorReply(msgspec.Struct, frozen=True, tag="error_reply"):
    """Requests are answered by the proxy; the target does not see them."""

    status: int = 503
    body: str = '{"error":{"message":"injected by agentbench","type":"server_error"}}'
    content_type: str = "application/json"

    def __post_init__(self) -> None:
        _check(
            400 <= self.status <= 599,
            f"error_reply: status must be from 400 to 599, not {self.status}",
        )
        _check_reply(self.body, self.content_type)


class TooManyRequests(msgspec.Struct, frozen=True, tag="too_many_requests"):
    """Requests are answered with 429; the target does not see them."""

    retry_after_s: int | None = None
    """Whole seconds, as in the Retry-After field (RFC 9110, 10.2.3); None: no such field."""
    above_per_s: float | None = None
    """Only requests beyond this rate (token bucket); None: all."""
    burst: int = 10
    """Requests that may come at once under `above_per_s`."""
    body: str = '{"error":{"message":"injected by agentbench","type":"rate_limit_error"}}'
    content_type: str = "application/json"

    def __post_init__(self) -> None:
        wait, rate = self.retry_after_s, self.above_per_s
        _check(
            wait is None or wait >= 0,
            f"too_many_requests: retry_after_s must not be negative, but is {wait}",
        )
        _check(
            rate is None or rate > 0,
            f"too_many_requests: above_per_s must be more than 0, not {rate}",
        )
        _check(self.burst >= 1, f"too_many_requests: burst must be at least 1, not {self.burst}")
        _check_reply(self.body, self.content_type)


class SlowHeaders(msgspec.Struct, frozen=True, tag="slow_headers"):
    """The head of the target's answer passes byte by byte; the body follows normally."""

    byte_every_ms: float = 10.0

    def __post_init__(self) -> None:
        _check(
            self.byte_every_ms > 0,
            f"slow_headers: byte_every_ms must be more than 0, not {self.byte_every_ms:g}",
        )


class Truncation(msgspec.Struct, frozen=True, tag="truncation"):
    """The target's answer ends after this many bytes of its body, with an orderly close.

    Bytes are counted on the wire, including chunk framing. Shorter answers pass unchanged.
    """

    after_body_bytes: int = 0

    def __post_init__(self) -> None:
        _check(
            self.after_body_bytes >= 0,
            f"truncation: after_body_bytes must not be negative, but is {self.after_body_bytes}",
        )


ConnectionKind = Latency | Jitter | Bandwidth | Cut | Reset | BlackHole | Stall
"""Hit a share of the connections."""
RequestKind = ErrorReply | TooManyRequests | SlowHeaders | Truncation
"""Hit a share of the requests; plain HTTP only."""
Kind = ConnectionKind | RequestKind | Refuse


class Fault(msgspec.Struct, frozen=True):
    """A fault with its time and the share of connections or requests that it affects."""

    kind: Kind
    start_s: float = 0.0
    """After the beginning of the script, see `script.Start`."""
    end_s: float | None = None
    """The same; None: until it is cleared."""
    share: float = 1.0
    """Share of connections or requests, each drawn independently from `seed`, in order of
    arrival.
    """
    seed: int = 0

    def __post_init__(self) -> None:
        _check(self.start_s >= 0, f"a fault cannot start {-self.start_s:g} s before its script")
        _check(
            self.end_s is None or self.end_s > self.start_s,
            f"a fault that starts at {self.start_s:g} s cannot end at {self.end_s} s",
        )
        _check(0 < self.share <= 1, f"share must be over 0 and at most 1, not {self.share:g}")
        _check(
            self.share == 1 or not isinstance(self.kind, Refuse),
            "refuse: share must be 1, since the port is closed",
        )

    @property
    def name(self) -> str:
        """Return the name of its kind, such as `black_hole`."""
        return str(self.kind.__struct_config__.tag)


def _check(holds: bool, problem: str) -> None:
    if not holds:
        raise ValueError(problem)


def _check_reply(body: str, content_type: str) -> None:
    _check(
        len(body.encode()) <= MOST_BODY_BYTES, f"a body may have at most {MOST_BODY_BYTES} bytes"
    )
    _check(
        content_type.isascii() and content_type.isprintable(),
        f"not a content type: {content_type!r}",
    )
