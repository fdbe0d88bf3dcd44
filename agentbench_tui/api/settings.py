"""Settings of the service, and the token that every request has to carry."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import os
import secrets
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentbench_tui.model.errors import UsageError, write_error

if TYPE_CHECKING:
    from pathlib import Path

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8321
TOKEN_VARIABLE = "AGENTBENCH_TOKEN"  # noqa: S105  # its name, not its value
LEAST_TOKEN = 16
"""Characters of a token."""
_MOST_TOKEN = 4096
_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what clients may send and keep open."""

    query_bytes: int = 4096
    body_bytes: int = MIB
    """Of JSON."""
    import_bytes: int = 1024 * MIB
    """Of an imported file."""
    body_wait_s: float = 30.0
    """Longest pause between two parts of a body."""
    requests: int = 64
    """Requests in progress, without event streams."""
    readers: int = 4
    """Answers that are computed at the same time."""
    listeners: int = 200
    """Open event streams."""
    runs: int = 1
    """Running runs that the service started: more than one would disturb each other's times."""


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """Options of `agentbench serve`."""

    database: Path
    token: str
    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT
    """0 for any free port."""
    hosts: frozenset[str] = frozenset()
    """Further host names under which clients reach the service."""
    origins: frozenset[str] = frozenset()
    """Origins of web pages that may read answers, such as `https://bench.example`."""
    suite_folders: tuple[Path, ...] = ()
    """Folders of suites that may be run, in addition to the shipped suites."""
    agents: tuple[str, ...] = ()
    """Agents that may be run by their id, as `ID[@VERSION]=TARGET`."""
    schemes: frozenset[str] = frozenset()
    """Schemes of targets that a request may name itself, such as `openai`."""
    limits: Limits = Limits()

    @property
    def known_hosts(self) -> frozenset[str]:
        """Host names, in lower case, that a request may be addressed to."""
        own = () if is_wildcard(self.host) else (self.host.lower().strip("[]"),)
        return frozenset((*_LOOPBACK_NAMES, *own, *(name.lower() for name in self.hosts)))


def is_wildcard(host: str) -> bool:
    """Return whether the service listens on every address of the machine."""
    return host in {"", "0.0.0.0", "::", "[::]", "*"}  # noqa: S104  # compared, not bound


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches the address."""
    name = host.lower().strip("[]")
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


class TokenCheck:
    """Compares tokens in constant time, whatever their length."""

    def __init__(self, token: str) -> None:
        self._digest = _digest(token.encode())

    def __call__(self, given: bytes) -> bool:
        return hmac.compare_digest(_digest(given), self._digest)


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()


@dataclass(frozen=True, slots=True)
class ServiceToken:
    """The token of the service."""

    value: str
    is_new: bool
    """Whether it was generated just now, so that no client knows it yet."""


def token_of_service(file: Path | None) -> ServiceToken:
    """Return the token from a file, else from `AGENTBENCH_TOKEN`, else a new one.

    A file that does not exist is created with a new token, readable by its owner alone. Raises
    UsageError for a token that is too short and for a file that others may read.
    """
    if file is not None:
        return _token_of_file(file)
    given = os.environ.get(TOKEN_VARIABLE, "").strip()
    if given:
        return ServiceToken(_checked(given, TOKEN_VARIABLE), is_new=False)
    return ServiceToken(secrets.token_urlsafe(32), is_new=True)


def token_of_client(file: Path | None) -> str:
    """Return the token from a file, else from `AGENTBENCH_TOKEN`. Raises UsageError."""
    if file is not None:
        return _read(file)
    given = os.environ.get(TOKEN_VARIABLE, "").strip()
    if not given:
        raise UsageError(
            f"no token: set {TOKEN_VARIABLE}, or name a file with --token-file; `agentbench serve`"
            " prints the token when it starts"
        )
    return given


def _token_of_file(file: Path) -> ServiceToken:
    token = secrets.token_urlsafe(32)
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return ServiceToken(_read(file), is_new=False)
    except OSError as error:
        raise write_error(file, error) from None
    with os.fdopen(descriptor, "w", encoding="ascii") as stream:
        stream.write(f"{token}\n")
    return ServiceToken(token, is_new=False)


def _read(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            mode = os.fstat(stream.fileno()).st_mode
            text = stream.read(_MOST_TOKEN + 1)
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from None
    if stat.S_ISREG(mode) and mode & 0o007:
        raise UsageError(f"{file}: every user of this machine may read it; `chmod 600 {file}`")
    return _checked(text.decode("ascii", errors="replace").strip(), str(file))


def _checked(token: str, place: str) -> str:
    if not LEAST_TOKEN <= len(token) <= _MOST_TOKEN:
        raise UsageError(
            f"{place}: a token has {LEAST_TOKEN} to {_MOST_TOKEN} characters, this one {len(token)}"
        )
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise UsageError(f"{place}: a token has visible ASCII characters without spaces")
    return token
