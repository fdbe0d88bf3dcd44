"""Closes the network, all but this machine, for a Python process: an audit hook nothing can undo.

Installed by `tests/conftest.py` in the test process, and by `sitecustomize` (beside this file, on
PYTHONPATH) in every Python a test starts. Out of its reach: programs that are not Python, a Python
started with -I or with an emptied environment, and C code that opens sockets by itself (uvloop).
`.ci/run` therefore runs the tests without any outside network where the system allows it.
"""

import contextlib
import ipaddress
import os
import socket
import sys

LOG_VARIABLE = "TEST_NETWORK_GUARD_LOG"
"""Names the file that gets a line for each refused attempt, whatever the code made of it."""

_WITH_ADDRESS = {"socket.connect", "socket.sendto", "socket.sendmsg"}
_WITH_NAME = {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"}


class NetworkClosedError(RuntimeError):
    """A test reached for something that is not on this machine.

    Not an OSError, so that code which survives a broken connection does not survive this.
    """


def install() -> None:
    """Refuse, from now on in this process, every address but loopback and local sockets."""
    sys.addaudithook(_audit)


def _audit(event: str, args: tuple[object, ...]) -> None:
    if event in _WITH_ADDRESS:
        sock, address = args[0], args[1]
        family = getattr(sock, "family", None)
        if family in (socket.AF_INET, socket.AF_INET6) and isinstance(address, tuple):
            _allow_only_here(event, address[0])
    elif event in _WITH_NAME:
        _allow_only_here(event, args[0])


def _allow_only_here(event: str, host: object) -> None:
    if isinstance(host, (bytes, bytearray)):
        host = host.decode("ascii", "replace")
    if host is None or host == "" or host == "localhost":
        return
    name = str(host)
    if name.endswith(
        ".invalid"
    ):  # RFC 6761: must not resolve; tests of that failure need no network
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
    with contextlib.suppress(ValueError):
        if ipaddress.ip_address(name.partition("%")[0]).is_loopback:
            return
    _record(f"{event} {name}")
    raise NetworkClosedError(
        f"{event} to {name!r}: tests may reach only 127.0.0.0/8, ::1 and localhost"
    )


def _record(attempt: str) -> None:
    path = os.environ.get(LOG_VARIABLE)
    if path:
        with open(path, "a", encoding="utf-8") as log:  # noqa: PTH123 - pathlib is slow to import here
            log.write(f"{os.getpid()} {attempt}\n")
