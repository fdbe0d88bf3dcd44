"""A proxy between clients and one target that injects faults.

`python -m agentbench_tui.stress.faults.proxy URL` listens on a free port of 127.0.0.1, exchanges
the messages of `stress.faults.script` over standard input and output, and ends when its input
closes.
"""

from __future__ import annotations

import asyncio
import gc
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.load.schedule.agenda import Agenda
from agentbench_tui.model.clock import perf_counter_ns
from agentbench_tui.model.errors import UsageError
from agentbench_tui.stress.faults.fault import Refuse
from agentbench_tui.stress.faults.listener import Listener
from agentbench_tui.stress.faults.pipe import HeldBytes
from agentbench_tui.stress.faults.proxy_target import ProxyTarget
from agentbench_tui.stress.faults.relay import Relay, set_reset
from agentbench_tui.stress.faults.script import (
    MOST_LINE_BYTES,
    Clear,
    Counts,
    FromProxy,
    Listening,
    Schedule,
    Start,
    ToProxy,
    decode_to_proxy,
    line,
)
from agentbench_tui.stress.faults.timetable import Timetable

if TYPE_CHECKING:
    from agentbench_tui.stress.faults.timetable import RunningFault

CONNECT_LIMIT_S = 30.0
"""Time limit for the target to accept a connection."""
CLOSE_LIMIT_S = 2.0
_READ_BYTES = 65536
_SPARE_FILES = 64


class Proxy:
    """Forwards connections to the target with the active faults."""

    def __init__(self, target: ProxyTarget) -> None:
        """Start listening immediately. Raises OSError."""
        raise_file_limit()
        self._target = target
        self.http = target.http
        self._loop = asyncio.get_running_loop()
        self.agenda = Agenda(self._loop)
        self.held_in_all = HeldBytes()
        self.timetable = Timetable(self.agenda, self._refresh)
        self._relays: set[Relay] = set()
        self._one_over = asyncio.Event()
        self._opening: set[asyncio.Task[None]] = set()
        self._refusing: list[RunningFault] = []
        self._connections = self._unreachable = self._turned_away = 0
        self._requests = self._to_target_bytes = self._to_client_bytes = 0
        self._most_connections = (resource.getrlimit(resource.RLIMIT_NOFILE)[0] - _SPARE_FILES) // 2
        self._listener = Listener(self._loop, self._accepted)
        self.port = self._listener.port

    def hear(self, message: ToProxy) -> Counts:
        """Apply a message; it is in force when this returns. Raises UsageError."""
        if isinstance(message, Schedule):
            self._target.check(message.faults)
            self.timetable.schedule(message.faults)
        elif isinstance(message, Start):
            self.timetable.start(message.at_ns)
        elif isinstance(message, Clear):
            self.timetable.clear(message.numbers)
        return self.counts()

    def counts(self) -> Counts:
        """Return the counts so far."""
        relays = self._relays
        return Counts(
            at_ns=perf_counter_ns(),
            connections=self._connections,
            open=len(relays),
            unreachable=self._unreachable,
            turned_away=self._turned_away,
            requests=self._requests + sum(relay.requests for relay in relays),
            to_target_bytes=self._to_target_bytes
            + sum(relay.to_target.passed_bytes for relay in relays),
            to_client_bytes=self._to_client_bytes
            + sum(relay.to_client.passed_bytes for relay in relays),
            held_bytes=self.held_in_all.bytes,
            faults=self.timetable.counts(),
        )

    async def close(self) -> None:
        """End every connection and release the port."""
        self._listener.give_up()
        for relay in tuple(self._relays):
            relay.reset()
        await asyncio.gather(*self._opening, return_exceptions=True)
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_LIMIT_S):
                while self._relays:
                    self._one_over.clear()
                    await self._one_over.wait()
        self.agenda.close()

    async def connect(self, target: asyncio.Protocol, /) -> None:
        """See `relay.Proxy`."""
        async with asyncio.timeout(CONNECT_LIMIT_S):
            await self._loop.create_connection(lambda: target, self._target.host, self._target.port)

    def over(self, relay: Relay, /) -> None:
        """See `relay.Proxy`."""
        if relay in self._relays:
            self._relays.discard(relay)
            self._one_over.set()
            self._requests += relay.requests
            self._to_target_bytes += relay.to_target.passed_bytes
            self._to_client_bytes += relay.to_client.passed_bytes

    def _accepted(self, connection: socket.socket) -> None:
        self._connections += 1
        relay = Relay(self)
        full = len(self._relays) >= self._most_connections
        if full or not relay.begin():
            self._turned_away += full
            set_reset(connection)
            connection.close()
            return
        self._relays.add(relay)
        task = self._loop.create_task(self._open(relay, connection))
        self._opening.add(task)
        task.add_done_callback(self._opening.discard)

    async def _open(self, relay: Relay, connection: socket.socket) -> None:
        if not await relay.open(connection):
            self._unreachable += 1

    def _refresh(self) -> None:
        """Apply a change of the active faults."""
        refusing = [fault for fault in self.timetable.on if isinstance(fault.kind, Refuse)]
        for fault in refusing:
            if fault not in self._refusing:
                fault.applied += 1
        self._refusing = refusing
        (self._listener.close if refusing else self._listener.open)()
        for relay in tuple(self._relays):
            relay.refresh()


def raise_file_limit() -> None:
    """Raise the limit of open files to the maximum: each connection needs two."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class Script:
    """Reads standard input line by line until it ends."""

    def __init__(self, hear: Callable[[ToProxy], Counts]) -> None:
        self._hear = hear
        self._line = bytearray()
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def read(self) -> None:
        """Process the available input."""
        data = os.read(0, _READ_BYTES)
        if not data:
            self.stop()
            return
        self._line += data
        try:
            while (end := self._line.find(b"\n")) >= 0:
                message = decode_to_proxy(self._line[:end])
                del self._line[: end + 1]
                say(self._hear(message))
            if len(self._line) > MOST_LINE_BYTES:
                raise UsageError(f"the control message exceeds {MOST_LINE_BYTES:,} bytes")
        except (UsageError, msgspec.MsgspecError) as error:
            if not self.over.done():
                self.over.set_exception(error)

    def stop(self) -> None:
        """Stop reading."""
        if not self.over.done():
            self.over.set_result(None)


def say(message: FromProxy) -> None:
    """Send a message to the parent process."""
    sys.stdout.buffer.write(line(message))
    sys.stdout.buffer.flush()


async def serve(target: ProxyTarget) -> None:
    """Forward until standard input ends. Raises UsageError for an invalid script."""
    loop = asyncio.get_running_loop()
    proxy = Proxy(target)
    script = Script(proxy.hear)
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, script.stop)
    gc.collect()
    gc.freeze()
    say(Listening(proxy.port, os.getpid()))
    loop.add_reader(0, script.read)
    try:
        await script.over
    finally:
        loop.remove_reader(0)
        counts = proxy.counts()
        await proxy.close()
    say(counts)


def main() -> int:
    """Entry point of `python -m`."""
    if len(sys.argv) != 2:
        sys.stderr.write("usage: python -m agentbench_tui.stress.faults.proxy URL\n")
        return 2
    try:
        target = ProxyTarget.of(sys.argv[1])
        try:
            import uvloop
        except ImportError:
            asyncio.run(serve(target))
        else:
            uvloop.run(serve(target))
    except (UsageError, msgspec.MsgspecError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except OSError as error:
        sys.stderr.write(f"cannot listen, or hear standard input: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
