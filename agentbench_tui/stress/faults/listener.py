"""The port for clients, which can be closed temporarily and opened again."""

from __future__ import annotations

import asyncio
import errno
import socket
import sys
from collections.abc import Callable
from typing import Final

HOST: Final = "127.0.0.1"
_BACKLOG = 4096
_AT_ONCE = 64
"""Connections that are accepted before others get their turn."""
_RETRY_S = 0.01
_OUT_OF_FILES = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}


class Listener:
    """Hands over accepted sockets, non-blocking, while it listens."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, accepted: Callable[[socket.socket], None]
    ) -> None:
        """Listens on a free port. Raises OSError."""
        self._loop = loop
        self._accepted = accepted
        self._retry: asyncio.Handle | None = None
        self._socket: socket.socket | None = _bound(0)
        self.port: int = self._socket.getsockname()[1]
        # Bound and deaf: as long as it is open nobody else is given the port.
        self._keeper = _bound(self.port) if sys.platform == "linux" else None
        self._listen(self._socket)

    def open(self) -> None:
        """Start listening, unless it already does."""
        if self._socket is None:
            self._socket = _bound(self.port)
            self._listen(self._socket)

    def close(self) -> None:
        """Refuse connections; connections not yet accepted are reset."""
        if self._socket is not None:
            self._loop.remove_reader(self._socket)
            self._socket.close()
            self._socket = None
        if self._retry is not None:
            self._retry.cancel()

    def give_up(self) -> None:
        """Close for good."""
        self.close()
        if self._keeper is not None:
            self._keeper.close()

    def _listen(self, listening: socket.socket) -> None:
        listening.listen(_BACKLOG)
        self._loop.add_reader(listening, self._accept, listening)

    def _accept(self, listening: socket.socket) -> None:
        for _ in range(_AT_ONCE):
            if listening is not self._socket:
                return
            try:
                connection, _ = listening.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno not in _OUT_OF_FILES:
                    raise
                self._loop.remove_reader(listening)
                self._retry = self._loop.call_later(_RETRY_S, self._read_again, listening)
                return
            connection.setblocking(False)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # not all loops do
            self._accepted(connection)

    def _read_again(self, listening: socket.socket) -> None:
        if listening is self._socket:
            self._loop.add_reader(listening, self._accept, listening)


def _bound(port: int) -> socket.socket:
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        bound.setblocking(False)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((HOST, port))
    except BaseException:
        bound.close()
        raise
    return bound
