"""A server that says exactly the bytes it is told to, for tests of what HTTP clients make of them.

It runs on a thread of its own, so that a client may be driven by any event loop.
"""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

Talk = Callable[[socket.socket], None]
"""What happens on one connection; it is closed when this returns."""


class RawServer:
    """Listens on 127.0.0.1; the n-th connection gets the n-th talk, later ones the last."""

    def __init__(self, talks: tuple[Talk, ...], tls: ssl.SSLContext | None) -> None:
        self._talks = talks
        self._tls = tls
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self.port}/"
        self.connections = 0
        self._open: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def close(self) -> None:
        """Stop listening, close what is open, wait for the threads."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._threads[0].join()
        self.hang_up()
        for thread in self._threads[1:]:
            thread.join()

    def hang_up(self) -> None:
        """End every connection, in an orderly way."""
        for connection in self._open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            talk = self._talks[min(self.connections, len(self._talks) - 1)]
            self.connections += 1
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._tls is not None:
                # The handshake waits for the thread: what is hung up is this socket, not the bare.
                connection = self._tls.wrap_socket(
                    connection, server_side=True, do_handshake_on_connect=False
                )
            self._open.append(connection)
            thread = threading.Thread(target=self._talk, args=(talk, connection))
            self._threads.append(thread)
            thread.start()

    def _talk(self, talk: Talk, connection: socket.socket) -> None:
        try:
            if isinstance(connection, ssl.SSLSocket):
                connection.do_handshake()
            talk(connection)
        except OSError:
            return
        finally:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()


@contextmanager
def raw_server(*talks: Talk, tls: ssl.SSLContext | None = None) -> Iterator[RawServer]:
    server = RawServer(talks, tls)
    try:
        yield server
    finally:
        server.close()


def read_request(connection: socket.socket) -> bytes:
    """One whole request; empty when the client closed instead. `content-length` bodies only."""
    got = b""
    while b"\r\n\r\n" not in got:
        part = connection.recv(65536)
        if not part:
            return b""
        got += part
    head, _, body = got.partition(b"\r\n\r\n")
    length = 0
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    while len(body) < length:
        part = connection.recv(65536)
        if not part:
            return b""
        body += part
    return head + b"\r\n\r\n" + body


def saying(*parts: bytes) -> Talk:
    """After each request the same bytes, part by part, until the client closes."""

    def talk(connection: socket.socket) -> None:
        while read_request(connection):
            for part in parts:
                connection.sendall(part)

    return talk


def saying_once(*parts: bytes) -> Talk:
    """After the first request these bytes, then the end of the connection."""

    def talk(connection: socket.socket) -> None:
        if read_request(connection):
            for part in parts:
                connection.sendall(part)

    return talk


def sized(body: bytes, *fields: bytes, status: bytes = b"200 OK") -> bytes:
    """An answer with `content-length`."""
    lines = [b"HTTP/1.1 " + status, b"content-length: %d" % len(body), *fields]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body
