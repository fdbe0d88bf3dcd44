"""Failures between agentbench and a server, with one wording and kind for every transport.

The failures of limits, `timed_out` and `too_long`, are defined with the limits in `http.client`.
"""

from __future__ import annotations

import errno
import os

from agentbench_tui.model.answer import AgentFailure, FailureKind
from agentbench_tui.model.text.secrets import redact
from agentbench_tui.model.text.untrusted import one_line

_FILES = "too many files are open here (raise `ulimit -n`)"
_MEMORY = "this machine has no memory left for one (open fewer connections)"
_OURS: dict[int | None, str] = {
    errno.EMFILE: _FILES,
    errno.ENFILE: _FILES,
    errno.ENOBUFS: _MEMORY,
    errno.ENOMEM: _MEMORY,
    errno.EADDRNOTAVAIL: (
        "this machine has no free port or no address for one (have fewer connections open at once"
        " and let them live on, or widen net.ipv4.ip_local_port_range)"
    ),
}
"""System error number → what this machine lacks, and what to do."""


def no_such_host(place: str) -> AgentFailure:
    """The host name has no address."""
    return AgentFailure(FailureKind.CONNECTION, f"no host of that name: {place}")


def cannot_connect(place: str, error: Exception | None) -> AgentFailure:
    """Connection refused, no route, or a resource of this machine exhausted."""
    number = error.errno if isinstance(error, OSError) else None
    if number in _OURS:
        detail = f"no connection to {place}: {_OURS[number]}"
        return AgentFailure(FailureKind.HARNESS, detail)
    # What loops write around a number repeats the address.
    reason = os.strerror(number) if number is not None and number > 0 else _reason(error)
    return AgentFailure(FailureKind.CONNECTION, f"cannot connect to {place}: {reason}")


def tls_failed(place: str, error: Exception | None) -> AgentFailure:
    """The handshake failed: no TLS on the other side, or a certificate that is not trusted."""
    return AgentFailure(FailureKind.CONNECTION, f"TLS with {place} failed: {_reason(error)}")


def proxy_refused(place: str, status: int) -> AgentFailure:
    """The proxy does not connect to the server."""
    detail = f"the proxy does not lead to {place}: HTTP {status}"
    return AgentFailure(FailureKind.CONNECTION, detail)


def closed_early(place: str) -> AgentFailure:
    """The connection ended before there was an answer."""
    detail = f"{place} closed the connection before the first byte of its answer"
    return AgentFailure(FailureKind.CONNECTION, detail)


def closed_in_head(place: str) -> AgentFailure:
    """The connection ended inside the head of the answer."""
    detail = f"{place} closed the connection before the head of its answer was complete"
    return AgentFailure(FailureKind.CONNECTION, detail)


def closed_in_body(place: str) -> AgentFailure:
    """The connection ended inside the body, or the body's framing is invalid."""
    detail = f"{place} closed the connection in the middle of its answer"
    return AgentFailure(FailureKind.TRUNCATED, detail)


def closed_by_us(place: str) -> AgentFailure:
    """The client was closed during the exchange."""
    return AgentFailure(FailureKind.CONNECTION, f"the connection to {place} was closed by us")


def not_http(place: str) -> AgentFailure:
    """The data are not the head of an HTTP/1 answer."""
    return AgentFailure(FailureKind.PARSE, f"{place} does not answer in HTTP")


def broken_body(place: str) -> AgentFailure:
    """The head was valid, but the body's framing is not."""
    return AgentFailure(FailureKind.PARSE, f"{place} broke HTTP in the middle of its answer")


def head_too_long(place: str) -> AgentFailure:
    """Status line and headers exceed the transport's limit."""
    return AgentFailure(FailureKind.LIMIT, f"the head of the answer of {place} is too long")


def compressed(place: str, encoding: str) -> AgentFailure:
    """The answer is compressed, although the request excluded it."""
    return AgentFailure(
        FailureKind.PARSE,
        f"{place} compressed its answer ({one_line(encoding, 40)}), "
        "although the request excluded it: disable compression in the server or proxy",
    )


def _reason(error: Exception | None) -> str:
    # An OSError's text repeats address and errno; its strerror is what a person needs.
    text = getattr(error, "strerror", None) or str(error or "") or "no reason given"
    return one_line(redact(text), 200)
