"""Encodes requests: origin and head of HTTP/1.1 messages (RFC 9112), for agentbench's own
client.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import SplitResult, quote, urlsplit

from agentbench_tui.http.client import checked_url
from agentbench_tui.model.errors import UsageError

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_NOT_IN_VALUES = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_KEPT_IN_TARGETS = "%/:=&?~#+!$,;'@()*[]-._"
_OURS = frozenset({"content-length", "transfer-encoding", "connection"})
"""Fields that describe the framing: a caller's value would contradict the data."""
_DEFAULTS = {"accept": "*/*", "accept-encoding": "identity", "user-agent": "agentbench"}
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Origin:
    """Target of connections: scheme, host (no brackets around IPv6, IDNA-encoded) and port."""

    scheme: str
    host: str
    port: int

    @classmethod
    def of(cls, url: str) -> Origin:
        """Return the origin of an absolute http(s) URL. Raises `UsageError`."""
        return _read(url)[0]

    @property
    def place(self) -> str:
        """Return `host:port`, for messages."""
        return f"{self._bracketed}:{self.port}"

    @property
    def url(self) -> str:
        """Return the origin as a URL without a path."""
        return f"{self.scheme}://{self.place}"

    @property
    def authority(self) -> str:
        """Return the value of the `host` field: without the port that the scheme implies."""
        return self._bracketed if self.port == _PORTS[self.scheme] else self.place

    @property
    def _bracketed(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host


def request_bytes(method: str, url: str, headers: Mapping[str, str], body: bytes) -> bytes:
    """Return a whole request. Raises `UsageError` for content that HTTP cannot carry."""
    return head_bytes(method, url, headers, len(body)) + body


def head_bytes(method: str, url: str, headers: Mapping[str, str], body_length: int) -> bytes:
    """Return the head of a request for a body of that many bytes, including the blank line.

    `headers` override the defaults (`accept: */*`, `accept-encoding: identity`, `user-agent`,
    `host`), except for `content-length`, `transfer-encoding` and `connection`. Raises `UsageError`
    for line breaks and the like in a name or value, without repeating the value, which may be a
    key.
    """
    if not _TOKEN.fullmatch(method):
        raise UsageError(f"not an HTTP method: {method[:40]!r}")
    origin, target = _read(url)
    fields = {"host": origin.authority, **_DEFAULTS}
    for name, value in headers.items():
        lowered = name.lower()
        if not _TOKEN.fullmatch(name):
            raise UsageError(f"not a header name: {name[:60]!r}")
        if _NOT_IN_VALUES.search(value):
            raise UsageError(f"header {name}: its value holds a line break or control character")
        if lowered not in _OURS:
            fields[lowered] = value.strip(" \t")
    if body_length or method not in {"GET", "HEAD", "DELETE", "OPTIONS", "TRACE"}:
        fields["content-length"] = str(body_length)
    lines = [f"{method} {target} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in fields.items()]
    try:
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
    except UnicodeEncodeError:
        raise UsageError("a header holds a character that no header can carry") from None


@lru_cache(maxsize=256)
def _read(url: str) -> tuple[Origin, str]:
    """Return origin and request target, cached: agents have few URLs, and parsing costs as much as
    sending.
    """
    parts = urlsplit(checked_url(url))
    origin = Origin(parts.scheme, _host(parts), parts.port or _PORTS[parts.scheme])
    return origin, _target(parts)


def _target(parts: SplitResult) -> str:
    """Return path and query; invalid characters are percent-encoded, encoded ones stay."""
    path = quote(parts.path or "/", safe=_KEPT_IN_TARGETS)
    return f"{path}?{quote(parts.query, safe=_KEPT_IN_TARGETS)}" if parts.query else path


def _host(parts: SplitResult) -> str:
    host = parts.hostname or ""
    return host if ":" in host or host.isascii() else host.encode("idna").decode("ascii")
