"""The HTTP interface of everything that measures: request, response, timeouts, limits.

A transport implements `HttpClient`; agents depend only on it. Every transport error becomes an
`AgentFailure` with its kind, decided once, in the transport. Times are `time.perf_counter_ns` of
this process, taken before the bytes are parsed.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import SplitResult, urlsplit

from agentbench_tui.model.answer import AgentFailure, FailureKind
from agentbench_tui.model.errors import UsageError

MAX_BODY_BYTES = 8 * 1024 * 1024
KEEP_ALIVE_S = 4.0
"""Idle connections are dropped before common servers drop them (5 s): a request must not go out
on a connection that the server is just closing."""
DRAIN_S = 0.01
"""Maximum wait for the end of an unneeded body, so that its connection can be reused.

Most servers send it immediately; one that does not costs this much per request.
"""
_LONGEST_HOST = 254
"""Octets of a host's name, the dot at its end included (RFC 1035 §2.3.4)."""
_NOT_IN_HOSTS = re.compile(r'[\x00-\x20%\\<>"{}|^`\x7f]|^\.*$')


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Time limits of an exchange in seconds; None means no limit."""

    connect: float | None = 10.0
    """Finding the host, connecting and the TLS handshake."""
    first_byte: float | None = 300.0
    """From sending to the first byte of the answer."""
    idle: float | None = 120.0
    """Between two reads of the body."""
    total: float | None = None
    """From sending to the last byte."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """Request to send. Headers and body never appear in a repr, since they may hold a key."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)
    timeouts: Timeouts = field(default_factory=Timeouts)
    max_body_bytes: int = MAX_BODY_BYTES
    """A longer answer is a failure of kind `limit`."""


class HttpResponse(Protocol):
    """An answer whose head has arrived; iterating yields the body once, as it arrives.

    Iteration raises `AgentFailure`: `timeout` (idle or total), `truncated` when the connection
    ends before the body does, `limit` when the body is longer than was allowed.
    """

    @property
    def status(self) -> int:
        """HTTP status; redirects are not followed, so it may be 3xx."""

    @property
    def headers(self) -> Mapping[str, str]:
        """Fields of the head, case-insensitive."""

    @property
    def sent_ns(self) -> int:
        """When sending began. A new connection is opened after it, a pooled one existed before."""

    @property
    def first_byte_ns(self) -> int:
        """When the head of the answer arrived."""

    def __aiter__(self) -> AsyncIterator[tuple[int, bytes]]:
        """Yield nonempty parts of the body with the time when each was received."""


class HttpClient(Protocol):
    """Sends requests over pooled connections. Never resends a POST; retries are up to the
    runner.

    The one exception, in our own client: a reused connection that is lost (closed or reset) within
    a second of sending, before any byte of the answer. Most likely the server had closed it while
    it was idle, and so never saw the request; one that dies while it works on it sees it twice.
    """

    def send(self, request: HttpRequest) -> AbstractAsyncContextManager[HttpResponse]:
        """Send and wait for the head. Raises `AgentFailure` (`connection`, `timeout`, `parse`).

        Leaving the context before the end of the body, cancellation included, closes the
        connection unless the rest is already on its way.
        """

    async def close(self) -> None:
        """Close every connection. Idempotent."""


async def read_body(response: HttpResponse) -> tuple[int, bytes]:
    """Return the time of the last part and the whole body."""
    last_ns = response.first_byte_ns
    parts = []
    async for last_ns, part in response:  # noqa: B007, the last time is part of the result
        parts.append(part)
    return last_ns, parts[0] if len(parts) == 1 else b"".join(parts)


def checked_url(url: str) -> str:
    """Return `url` if it is an absolute http(s) URL without user name or password.

    Raises `UsageError`; its text never repeats what may be a password.
    """
    try:
        parts = urlsplit(url)
        port_is_number = parts.port is None or parts.port > 0
    except ValueError:
        raise UsageError("not a URL: its host or port cannot be read") from None
    if parts.username is not None or parts.password is not None:
        raise UsageError(
            f"the URL of {_place(parts)} holds a user name or password, which would be stored: "
            "leave it out, put the key into an environment variable and name that variable"
        )
    if parts.scheme not in {"http", "https"} or not parts.hostname or not port_is_number:
        raise UsageError(f"not an http:// or https:// URL: {url[:200]!r}")
    if not _is_host(parts.hostname):
        raise UsageError(f"{parts.hostname[:100]!r} cannot be the name of a host")
    if not url.isprintable() or " " in url:
        raise UsageError(f"the URL of {_place(parts)} holds a space or control character")
    return url


def place_of(url: str) -> str:
    """Return `host:port` of a URL, for messages; `?` if it is invalid."""
    try:
        return _place(urlsplit(url))
    except ValueError:
        return "?"


def _is_host(name: str) -> bool:
    """Return whether it can be looked up: an address, or labels of 1 to 63 characters, 253 in
    all.
    """
    if ":" in name:
        return True
    try:
        return len(name.encode("idna")) <= _LONGEST_HOST and not _NOT_IN_HOSTS.search(name)
    except UnicodeError:
        return False


def _place(parts: SplitResult) -> str:
    host = parts.hostname or "?"
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def timed_out(which: str, seconds: float | None, url: str) -> AgentFailure:
    """Return the failure of a time limit; `which` is connect, first byte, idle or total."""
    limit = "" if seconds is None else f" of {seconds:g} s"
    return AgentFailure(FailureKind.TIMEOUT, f"{which} time limit{limit} passed ({place_of(url)})")


def too_long(limit: int, url: str) -> AgentFailure:
    """Return the failure of a body over its limit."""
    return AgentFailure(
        FailureKind.LIMIT, f"the answer of {place_of(url)} is longer than {limit} bytes"
    )
