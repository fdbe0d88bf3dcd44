"""The proxy as a process: told by lines, before real servers, and never left behind."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter_ns

import psutil
import pytest
from proxied import PATIENCE_S, come_true, connected

from agentbench_tui.agents.mock.options import MockOptions
from agentbench_tui.agents.mock.process import start_server
from agentbench_tui.http.client import HttpRequest
from agentbench_tui.http.httptools_client import HttptoolsClient
from agentbench_tui.model.answer import AgentFailure
from agentbench_tui.model.errors import UsageError
from agentbench_tui.stress.faults.fault import ErrorReply, Fault, Latency, TooManyRequests
from agentbench_tui.stress.faults.proxy_process import FaultProxy
from agentbench_tui.stress.faults.proxy_target import ProxyTarget
from agentbench_tui.stress.faults.script import Counts, Listening, decode_from_proxy

BODY = b'{"model":"mock","stream":true,"messages":[{"role":"user","content":"Six times seven?"}]}'


async def ask(client: HttptoolsClient, url: str) -> tuple[int, str | None, bytes]:
    request = HttpRequest("POST", url, {"content-type": "application/json"}, BODY)
    async with client.send(request) as response:
        body = b"".join([part async for _, part in response])
        return response.status, response.headers.get("retry-after"), body


async def test_before_the_practice_server() -> None:
    async with (
        await start_server(MockOptions()) as server,
        FaultProxy(server.url) as proxy,
    ):
        client = HttptoolsClient()
        url = proxy.through(f"{server.url}/chat/completions")
        status, _, plain = await ask(client, url)
        assert (status, plain.endswith(b"data: [DONE]\n\n")) == (200, True)
        await proxy.schedule([Fault(ErrorReply(500)), Fault(Latency(5))])
        at_ns = perf_counter_ns()
        counts = await proxy.start(at_ns)
        assert [fault.began_ns is not None for fault in counts.faults] == [True, True]
        assert (await ask(client, url))[0] == 500
        await proxy.clear([0])
        assert (await ask(client, url))[0] == 200
        await proxy.schedule([Fault(TooManyRequests(retry_after_s=3))])
        await proxy.start(perf_counter_ns())
        assert (await ask(client, url))[:2] == (429, "3")
        await proxy.clear()
        assert (await ask(client, url))[0] == 200
        await client.close()
        counts = await proxy.end()
        assert counts.requests == 5
        assert counts.applied == {"error_reply": 1, "latency": 1, "too_many_requests": 1}
        assert counts.faults[0].began_ns is not None
        assert at_ns <= counts.faults[0].began_ns
        assert counts.to_target_bytes > 3 * len(BODY)


DEAF = """
import socket
listening = socket.create_server(("127.0.0.1", 0))
print(listening.getsockname()[1], flush=True)
connection, _ = listening.accept()
connection.recv(1)
print("heard", flush=True)
connection.recv(1, socket.MSG_WAITALL | socket.MSG_PEEK)
input()
"""
"""Reads one byte of what it is sent, and then waits."""


@contextmanager
def running(*command: str) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        [sys.executable, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


async def test_a_target_that_is_killed_is_seen_as_a_reset() -> None:
    with running("-c", DEAF) as target:
        assert target.stdout is not None
        port = int(target.stdout.readline())
        async with FaultProxy(f"tcp://127.0.0.1:{port}") as proxy:
            client = connected(proxy.port)
            await client.send(b"hello")
            assert target.stdout.readline() == b"heard\n"
            target.kill()
            assert await client.read_until_reset() == b""
            client.close()
            target.wait(PATIENCE_S)
            late = connected(proxy.port)
            assert await late.read_until_reset() == b""
            late.close()
            counts = await proxy.end()
            assert (counts.connections, counts.unreachable) == (2, 1)


PARENT = """
import asyncio, sys
from agentbench_tui.stress.faults.proxy_process import FaultProxy

async def main():
    async with FaultProxy("tcp://127.0.0.1:1") as proxy:
        print(proxy.pid, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_it_dies_with_its_parent() -> None:
    with running("-c", PARENT) as parent:
        assert parent.stdout is not None
        proxy = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
        await come_true(lambda: not proxy.is_running() or proxy.status() == "zombie")


@pytest.mark.parametrize("ending", ["input", "signal"])
def test_it_ends_with_its_input_or_by_a_signal_and_says_its_counts(ending: str) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as target,
        running("-m", "agentbench_tui.stress.faults.proxy", f"tcp://127.0.0.1:{target.getsockname()[1]}")
        as process,
    ):  # fmt: skip
        assert process.stdout is not None
        listening = decode_from_proxy(process.stdout.readline())
        assert isinstance(listening, Listening)
        assert listening.pid == process.pid
        with socket.create_connection(("127.0.0.1", listening.port)) as client:
            client.sendall(b"four")
            server, _ = target.accept()
            with server:
                assert server.recv(4, socket.MSG_WAITALL) == b"four"
                if ending == "signal":
                    process.send_signal(signal.SIGTERM)
                    said = process.stdout.read()
                    assert process.wait(PATIENCE_S) == 0
                else:
                    said, _ = process.communicate(timeout=PATIENCE_S)
            with pytest.raises(ConnectionResetError):
                client.recv(1)
    counts = decode_from_proxy(said)
    assert isinstance(counts, Counts)
    assert (counts.connections, counts.to_target_bytes) == (1, 4)
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"what?\n", b"malformed"),
        (b'{"type":"schedule","faults":[{"kind":{"type":"latency","ms":-1}}]}\n', b"more than 0"),
        (b'{"type":"schedule","faults":[{"kind":{"type":"slow_headers"}}]}\n', b"plain http://"),
    ],
)
def test_a_line_that_makes_no_sense_ends_it_with_one_line(line: bytes, problem: bytes) -> None:
    with running("-m", "agentbench_tui.stress.faults.proxy", "tcp://127.0.0.1:1") as process:
        _, said = process.communicate(line, PATIENCE_S)
    assert process.returncode == 2
    assert problem in said
    assert said.count(b"\n") == 1


async def test_what_a_target_cannot_have_is_told_before_it_is_sent() -> None:
    async with FaultProxy("tcp://127.0.0.1:1") as proxy:
        with pytest.raises(UsageError, match="plain http://"):
            await proxy.schedule([Fault(ErrorReply())])
        assert (await proxy.counts()).faults == ()
        os.kill(proxy.pid, signal.SIGKILL)
        with pytest.raises(AgentFailure, match="ended by SIGKILL"):
            await proxy.counts()


@pytest.mark.parametrize("url", ["nowhere", "tcp://host", "ftp://host:1", "tcp://host:x"])
def test_a_target_that_is_no_place_is_told(url: str) -> None:
    with pytest.raises(UsageError):
        FaultProxy(url)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://localhost:8000/v1", ProxyTarget("localhost", 8000, http=True)),
        ("https://api.example.com/v1", ProxyTarget("api.example.com", 443, http=False)),
        ("tcp://[::1]:5", ProxyTarget("::1", 5, http=False)),
    ],
)
def test_a_target_is_read_from_a_url(url: str, expected: ProxyTarget) -> None:
    assert ProxyTarget.of(url) == expected
