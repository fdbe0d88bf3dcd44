"""A minimal Redis: a client of its protocol, a private server, and an embedded replacement for the
same commands without a server.

Protocol: RESP2, https://redis.io/docs/latest/develop/reference/protocol-spec/
"""

from __future__ import annotations

import bisect
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from agentbench_tui.model.clock import monotonic

SERVER = "redis-server"
START_LIMIT_S = 10.0

_GUARDED = """exec 3<&0
(read _ <&3; rm -rf "$0"; kill $$) &
exec "$@" </dev/null"""
"""For `sh -c`, with a folder and a command: runs the command until standard input ends, which it
does with whoever started it, however that ended; then the folder is gone too."""

Command = Sequence[str | bytes | int | float]


class RedisError(Exception):
    """An error reply of the server, or a lost connection."""


class Commands(Protocol):
    """Executes commands."""

    def execute(self, *commands: Command) -> list[Any]:
        """Execute all commands in one round trip; return their answers in order.

        Raises RedisError.
        """
        ...

    def close(self) -> None: ...


class RedisConnection:
    """A connection to a server at a Unix socket."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(30)
        try:
            self._socket.connect(str(path))
        except OSError:
            self._socket.close()
            raise
        self._replies = self._socket.makefile("rb")

    def execute(self, *commands: Command) -> list[Any]:
        self._socket.sendall(b"".join(_encoded(one) for one in commands))
        answers = [self._reply() for _ in commands]
        for one in answers:
            if isinstance(one, RedisError):
                raise one
        return answers

    def close(self) -> None:
        self._replies.close()
        self._socket.close()

    def _reply(self) -> Any:
        line = self._replies.readline()
        if not line.endswith(b"\r\n"):
            raise RedisError("the server has closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return rest
        if kind == b"-":
            return RedisError(rest.decode(errors="replace"))
        if kind == b":":
            return int(rest)
        length = int(rest)
        if length < 0:
            return None
        if kind == b"$":
            return self._replies.read(length + 2)[:-2]
        return [self._reply() for _ in range(length)]


def _encoded(command: Command) -> bytes:
    parts = [one if isinstance(one, bytes) else str(one).encode() for one in command]
    head = b"*%d\r\n" % len(parts)
    return head + b"".join(b"$%d\r\n%b\r\n" % (len(one), one) for one in parts)


class RedisServer:
    """A server for this experiment alone: at a Unix socket, without persistence, ended with it."""

    def __init__(self) -> None:
        """Raises FileNotFoundError without redis-server, RedisError if it fails to start."""
        found = shutil.which(SERVER)
        if found is None:
            raise FileNotFoundError(f"no {SERVER} on PATH")
        # Of its own and short: the path of a Unix socket holds about a hundred bytes.
        self.folder = Path(tempfile.mkdtemp(prefix="redis-"))
        self._path = self.folder / "s"
        self._process = subprocess.Popen(
            ["sh", "-c", _GUARDED, str(self.folder), found, "--port", "0",
             "--unixsocket", str(self._path), "--save", "", "--appendonly", "no",
             "--dir", str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            self.version = self._wait()
        except BaseException:
            self.stop()
            raise

    def connect(self) -> RedisConnection:
        return RedisConnection(self._path)

    def stop(self) -> None:
        """End the server and discard its data."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def pid(self) -> int:
        return self._process.pid

    def _wait(self) -> str:
        """Wait until the server answers; return its version."""
        until = monotonic() + START_LIMIT_S
        while True:
            try:
                connection = self.connect()
            except OSError as error:
                if self._process.poll() is not None or monotonic() > until:
                    raise RedisError(f"{SERVER} does not start: {error}") from error
                time.sleep(0.01)
                continue
            info = connection.execute(("INFO", "server"))[0].decode()
            connection.close()
            return str(info.partition("redis_version:")[2].split()[0])


class EmbeddedTable:
    """The commands that the experiment needs, implemented on dictionaries in this process.

    There is no server, no network and no copy between processes, so its times say nothing about
    Redis.
    """

    def __init__(self) -> None:
        self._values: dict[str, bytes] = {}
        self._expires: dict[str, float] = {}
        self._sorted: dict[str, list[tuple[float, str]]] = {}

    def execute(self, *commands: Command) -> list[Any]:
        return [getattr(self, f"_{str(one[0]).lower()}")(*one[1:]) for one in commands]

    def close(self) -> None:
        self._values.clear()
        self._sorted.clear()
        self._expires.clear()

    def _set(self, key: str, value: bytes, _ex: str, seconds: int) -> bytes:
        self._values[key] = bytes(value)
        self._expires[key] = monotonic() + seconds
        return b"OK"

    def _get(self, key: str) -> bytes | None:
        if self._expires.get(key, 0.0) < monotonic():
            return None
        return self._values.get(key)

    def _mget(self, *keys: str) -> list[bytes | None]:
        return [self._get(key) for key in keys]

    def _zadd(self, key: str, score: float, member: str) -> int:
        known = self._sorted.setdefault(key, [])
        bisect.insort(known, (float(score), member))
        return 1

    def _zrange(self, key: str, first: int, last: int) -> list[bytes]:
        known = self._sorted.get(key, [])
        end = len(known) if last == -1 else last + 1
        return [member.encode() for _, member in known[first:end]]

    def _zcard(self, key: str) -> int:
        return len(self._sorted.get(key, []))

    def _zremrangebyrank(self, key: str, first: int, last: int) -> int:
        known = self._sorted.get(key, [])
        gone = known[first : last + 1]
        del known[first : last + 1]
        return len(gone)

    def _del(self, *keys: str) -> int:
        gone = 0
        for key in keys:
            gone += self._values.pop(key, None) is not None
            self._expires.pop(key, None)
        return gone

    def _flushdb(self) -> bytes:
        self.close()
        return b"OK"
