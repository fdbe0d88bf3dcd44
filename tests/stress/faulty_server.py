"""Servers in the manner of chat completions, each built to have exactly one fault.

    python tests/stress/faulty_server.py KIND [field=value …] [port=N]

prints its port on the first line, serves on 127.0.0.1 and ends when its standard input closes, or,
with a port of its own, when it is told to.
`KINDS` names the faults, fields are those of `Behavior`. All but `cpu` leave the processor idle:
a request holds one of the slots for the time of its service, and nothing else.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import sys
import time
from collections import deque
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Literal

from agentbench_tui.agents.mock.connection import Connection, HttpRequest

_CHUNK = 1 << 10


@dataclass(frozen=True)
class Behavior:
    """What the server does; the defaults have no fault."""

    slots: int = 4
    """Requests served at once."""
    service_ms: float = 20.0
    queue: int = 4
    """Requests that may wait for a slot; what comes beyond them is shed."""
    shed: Literal["429", "reset"] = "429"
    retry_after_s: int | None = 1
    """Said with 429; None: nothing is said."""
    ban_s: float = 0.0
    """For so long after it has shed something, everything is refused, whatever was said."""
    serves_gone: bool = False
    """Works on requests whose client has gone."""
    thrash: float = 0.0
    """By which each that waits slows down service."""
    hurt: float = 1.0
    """Factor by which service is slower for good once something was shed."""
    leak_kb: int = 0
    """Memory that each request leaves behind."""
    most_leaked_mb: int = 256
    cpu: bool = False
    """Service is computing, one request at a time."""
    most_tokens: int | None = None
    """Of the input, by words; what is longer is answered as `long` says."""
    long: Literal["refuse", "hang", "reset"] = "refuse"
    rate: float | None = None
    """λ of the scalability law; instead of slots, service takes the longer the more are in it."""
    contention: float = 0.0
    coherency: float = 0.0


UNBOUNDED = 1_000_000
KINDS = {
    "perfect": Behavior(),
    "leaks": Behavior(leak_kb=16),
    "collapses": Behavior(queue=UNBOUNDED, serves_gone=True),
    "thrashes": Behavior(queue=UNBOUNDED, thrash=0.05),
    "never_recovers": Behavior(queue=30, hurt=20.0),
    "ignores_retry_after": Behavior(queue=30, ban_s=60.0),
    "says_no_retry_after": Behavior(retry_after_s=None),
    "resets": Behavior(shed="reset"),
    "queues": Behavior(queue=UNBOUNDED),
    "cpu": Behavior(cpu=True, slots=1, service_ms=5.0, queue=UNBOUNDED),
    "refuses_long": Behavior(most_tokens=4000),
    "hangs_on_long": Behavior(most_tokens=4000, long="hang"),
    "resets_on_long": Behavior(most_tokens=4000, long="reset"),
    "scales": Behavior(rate=100.0, contention=0.05, coherency=0.001),
}
"""Name of the fault → a server that has it and no other."""


class ResettableConnection(Connection):
    """Can also end in an RST."""

    def reset(self) -> None:
        if self._transport is not None:
            connection = self._transport.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._transport.abort()


@dataclass(eq=False)
class Job:
    """A request in the house."""

    connection: ResettableConnection
    streamed: bool
    tokens: int
    gone: bool = False


class FaultyServer:
    """The handler of all connections."""

    def __init__(self, behavior: Behavior) -> None:
        self._do = behavior
        self._loop = asyncio.get_running_loop()
        self._serving = 0
        self._waiting: deque[Job] = deque()
        self._jobs: dict[Connection, Job] = {}
        self._leaked: list[bytearray] = []
        self._hurt = 1.0
        self._banned_until = 0.0

    def connected(self, connection: Connection) -> None:
        """See `Handler`."""

    def lost(self, connection: Connection) -> None:
        """See `Handler`: what waits for nobody is dropped, unless that is the fault."""
        job = self._jobs.pop(connection, None)
        if job is not None:
            job.gone = True
            if not self._do.serves_gone and job in self._waiting:
                self._waiting.remove(job)

    def requested(self, connection: Connection, request: HttpRequest) -> None:
        """See `Handler`."""
        assert isinstance(connection, ResettableConnection)
        body = json.loads(request.body)
        words = sum(len(str(one.get("content", "")).split()) for one in body["messages"])
        job = Job(connection, bool(body.get("stream")), words)
        if self._do.most_tokens is not None and words > self._do.most_tokens:
            self._answer_long(job)
        elif self._loop.time() < self._banned_until:
            self._shed(job)
        elif self._do.rate is not None:
            self._jobs[connection] = job
            self._serving += 1
            self._loop.call_later(self._shared_s(), self._end, job)
        elif self._serving < self._do.slots and not self._do.cpu:
            self._jobs[connection] = job
            self._begin(job)
        elif len(self._waiting) < self._do.queue:
            self._jobs[connection] = job
            self._waiting.append(job)
            if self._do.cpu and not self._serving:
                self._serving = 1
                self._loop.call_soon(self._compute)
        else:
            self._shed(job)

    def _begin(self, job: Job) -> None:
        self._serving += 1
        slower = self._hurt * (1 + self._do.thrash * len(self._waiting))
        self._loop.call_later(self._do.service_ms / 1e3 * slower, self._end, job)

    def _end(self, job: Job) -> None:
        self._serving -= 1
        self._answer(job)
        if self._waiting and self._do.rate is None and self._serving < self._do.slots:
            self._begin(self._waiting.popleft())

    def _compute(self) -> None:
        until = time.perf_counter() + self._do.service_ms / 1e3
        while time.perf_counter() < until:
            pass
        if self._waiting:
            self._answer(self._waiting.popleft())
        self._serving = 0
        if self._waiting:
            self._serving = 1
            self._loop.call_soon(self._compute)

    def _shared_s(self) -> float:
        """Time in the house of one of N, of which X(N) = λN/(1 + σ(N-1) + κN(N-1)) follows."""
        assert self._do.rate is not None
        others = self._serving - 1
        lost = self._do.contention * others + self._do.coherency * self._serving * others
        return (1 + lost) / self._do.rate

    def _shed(self, job: Job) -> None:
        self._hurt = self._do.hurt
        if self._do.ban_s and self._loop.time() >= self._banned_until:
            self._banned_until = self._loop.time() + self._do.ban_s
        if self._do.shed == "reset":
            job.connection.reset()
            return
        said = self._do.retry_after_s
        header = b"" if said is None else b"retry-after: %d\r\n" % said
        body = b'{"error":{"message":"too many requests","type":"rate_limit_error"}}'
        job.connection.respond(429, body, headers=header)
        job.connection.finish(keep_alive=True)

    def _answer_long(self, job: Job) -> None:
        if self._do.long == "reset":
            job.connection.reset()
        elif self._do.long == "refuse":
            told = f"the input has {job.tokens} tokens, at most {self._do.most_tokens} are taken"
            error = {"message": told, "type": "invalid_request_error"}
            job.connection.respond(413, json.dumps({"error": error}).encode())
            job.connection.finish(keep_alive=True)

    def _answer(self, job: Job) -> None:
        self._leak()
        if job.gone:
            return
        self._jobs.pop(job.connection, None)
        usage = {"prompt_tokens": job.tokens, "completion_tokens": 1}
        if job.streamed:
            job.connection.send(_streamed(usage))
        else:
            message = {"role": "assistant", "content": "yes"}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            whole = {"model": "faulty", "choices": [choice], "usage": usage}
            job.connection.respond(200, json.dumps(whole).encode())
        job.connection.finish(keep_alive=True)

    def _leak(self) -> None:
        size = self._do.leak_kb * _CHUNK
        if size and len(self._leaked) * size < self._do.most_leaked_mb << 20:
            self._leaked.append(bytearray(b"\1") * size)


def _streamed(usage: dict[str, int]) -> bytes:
    delta = {"index": 0, "delta": {"content": "yes"}, "finish_reason": "stop"}
    events = [{"model": "faulty", "choices": [delta]}, {"choices": [], "usage": usage}]
    lines = [*map(json.dumps, events), "[DONE]"]
    body = "".join(f"data: {line}\n\n" for line in lines).encode()
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: %d\r\n\r\n"
    return head % len(body) + body


def behavior_of(kind: str, arguments: list[str]) -> Behavior:
    """A kind with some of its fields changed."""
    read = {"int": int, "float": float, "bool": lambda text: text == "true"}
    types = {one.name: str(one.type).partition(" |")[0] for one in fields(Behavior)}
    given = dict(argument.split("=", 1) for argument in arguments)
    values = {name: read.get(types[name], str)(text) for name, text in given.items()}
    return replace(KINDS[kind], **values)


async def serve(behavior: Behavior, port: int) -> None:
    """Until standard input ends; for ever on a port that was given."""
    loop = asyncio.get_running_loop()
    server = FaultyServer(behavior)
    listening = await loop.create_server(
        partial(ResettableConnection, server), "127.0.0.1", port, backlog=4096
    )
    sys.stdout.write(f"{listening.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    over = loop.create_future()
    if not port:
        loop.add_reader(0, lambda: over.done() or over.set_result(None))
    await over
    loop.remove_reader(0)
    listening.close()


def main() -> None:
    """What `python` runs."""
    ports = [given.removeprefix("port=") for given in sys.argv[2:] if given.startswith("port=")]
    fields_given = [given for given in sys.argv[2:] if not given.startswith("port=")]
    behavior = behavior_of(sys.argv[1], fields_given)
    asyncio.run(serve(behavior, int(ports[0]) if ports else 0))


if __name__ == "__main__":
    main()
