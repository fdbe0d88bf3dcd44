"""Both transports against servers that misbehave: each fault has its failure kind."""

import asyncio
import socket
import ssl
import time
from collections.abc import Callable

import pytest
from openai_process import RunningServer
from raw_server import raw_server, saying, sized

from agentbench_tui.http.client import (
    HttpClient,
    HttpRequest,
    Timeouts,
    checked_url,
    place_of,
    read_body,
)
from agentbench_tui.model.answer import AgentFailure, FailureKind
from agentbench_tui.model.errors import UsageError

ClientOf = Callable[[ssl.SSLContext], HttpClient]


def request(url: str, behavior: str = "ok", **fields: object) -> HttpRequest:
    headers = {"x-behavior": behavior, "content-type": "application/json"}
    return HttpRequest("POST", url, headers, b'{"input": "one two"}', **fields)  # type: ignore[arg-type]


async def failure(client: HttpClient, asked: HttpRequest) -> AgentFailure:
    with pytest.raises(AgentFailure) as caught:
        async with client.send(asked) as response:
            await read_body(response)
    return caught.value


async def test_an_answer_has_its_status_headers_body_and_times(
    client: HttpClient, model_server: RunningServer
) -> None:
    before = time.perf_counter_ns()
    async with client.send(request(model_server.url, "slow:30")) as response:
        last_ns, body = await read_body(response)
    after = time.perf_counter_ns()
    assert response.status == 200
    assert response.headers["Content-Type"] == "application/json"
    assert b'"output": "one two"' in body
    assert before <= response.sent_ns < response.first_byte_ns <= last_ns <= after
    assert response.first_byte_ns - response.sent_ns >= 30e6


async def test_connections_are_used_again(client: HttpClient) -> None:
    with raw_server(saying(sized(b"ok"))) as server:
        async with asyncio.timeout(60):
            for _ in range(3):
                async with client.send(request(server.url)) as response:
                    await read_body(response)
        assert server.connections == 1
        await client.close()


@pytest.mark.parametrize(
    ("behavior", "kind"),
    [
        ("reset", FailureKind.CONNECTION),
        ("truncated", FailureKind.TRUNCATED),
        ("reset-middle", FailureKind.TRUNCATED),
        ("not-http", FailureKind.PARSE),
        ("gzip", FailureKind.PARSE),
    ],
)
async def test_each_fault_has_its_kind(
    client: HttpClient, model_server: RunningServer, behavior: str, kind: FailureKind
) -> None:
    caught = await failure(client, request(model_server.url, behavior))
    assert caught.kind is kind
    assert place_of(model_server.url) in caught.detail


@pytest.mark.parametrize(
    ("behavior", "timeouts", "which"),
    [
        ("silent", Timeouts(first_byte=0.05), "first byte time limit of 0.05 s"),
        ("silent", Timeouts(total=0.05), "total time limit of 0.05 s"),
        ("stall", Timeouts(idle=0.05), "idle time limit of 0.05 s"),
        ("stall", Timeouts(total=0.05), "total time limit of 0.05 s"),
    ],
)
async def test_each_time_limit_says_which_it_was(
    client: HttpClient,
    model_server: RunningServer,
    behavior: str,
    timeouts: Timeouts,
    which: str,
) -> None:
    caught = await failure(client, request(model_server.url, behavior, timeouts=timeouts))
    assert caught.kind is FailureKind.TIMEOUT
    assert caught.detail.startswith(which)


async def test_connecting_has_a_limit_of_its_own(client: HttpClient) -> None:
    with socket.socket() as listener:
        # A queue that is full: the kernel lets further connections wait.
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        address = listener.getsockname()
        filling = [socket.socket() for _ in range(4)]
        for held in filling:
            held.setblocking(False)
            held.connect_ex(address)
        url = f"http://127.0.0.1:{address[1]}/"
        caught = await failure(client, request(url, timeouts=Timeouts(connect=0.1)))
        for held in filling:
            held.close()
    assert caught.kind is FailureKind.TIMEOUT
    assert caught.detail.startswith("connect time limit of 0.1 s")


async def test_a_port_that_nobody_listens_on(client: HttpClient) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/"
        caught = await failure(client, request(url))
    assert caught.kind is FailureKind.CONNECTION
    assert "cannot connect to 127.0.0.1" in caught.detail


@pytest.mark.asyncio(loop_factories=["asyncio"])  # uvloop would ask the network's name server
async def test_a_host_that_does_not_exist(client: HttpClient) -> None:
    caught = await failure(client, request("http://nowhere.invalid/"))
    assert caught.kind is FailureKind.CONNECTION
    assert "nowhere.invalid:80" in caught.detail


async def test_tls_with_a_server_that_has_none(
    client: HttpClient, model_server: RunningServer
) -> None:
    caught = await failure(client, request(model_server.url.replace("http:", "https:")))
    assert caught.kind is FailureKind.CONNECTION
    assert "TLS" in caught.detail


async def test_a_certificate_that_nobody_vouches_for(
    client: HttpClient, server_tls: ssl.SSLContext
) -> None:
    with raw_server(saying(sized(b"ok")), tls=server_tls) as server:
        caught = await failure(client, request(server.url))
    assert caught.kind is FailureKind.CONNECTION
    assert caught.detail.startswith(f"TLS with {place_of(server.url)} failed")
    assert "self-signed certificate" in caught.detail


async def test_a_certificate_that_the_given_authority_vouches_for(
    client_of: ClientOf,
    server_tls: ssl.SSLContext,
    client_tls: ssl.SSLContext,
) -> None:
    client = client_of(client_tls)
    with raw_server(
        saying(
            sized(b"ok"),
        ),
        tls=server_tls,
    ) as server:
        for _ in range(2):
            async with client.send(request(server.url)) as response:
                assert (await read_body(response))[1] == b"ok"
        assert server.connections == 1
        await client.close()


async def test_a_certificate_for_another_host(
    client_of: ClientOf,
    server_tls: ssl.SSLContext,
    client_tls: ssl.SSLContext,
) -> None:
    client = client_of(client_tls)
    with raw_server(saying(sized(b"ok")), tls=server_tls) as server:
        caught = await failure(client, request(server.url.replace("127.0.0.1", "localhost")))
    await client.close()
    assert caught.kind is FailureKind.CONNECTION
    assert "certificate" in caught.detail


@pytest.mark.parametrize("behavior", ["huge:1000000", "say:" + "long " * 2000])
async def test_a_body_over_the_bound_is_a_limit(
    client: HttpClient, model_server: RunningServer, behavior: str
) -> None:
    caught = await failure(client, request(model_server.url, behavior, max_body_bytes=5000))
    assert caught.kind is FailureKind.LIMIT
    assert "longer than 5000 bytes" in caught.detail


async def test_redirects_are_not_followed(client: HttpClient, model_server: RunningServer) -> None:
    async with client.send(request(model_server.url, "redirect")) as response:
        assert response.status == 307
    assert model_server.last_request()["path"] == "/"


async def test_compression_is_not_asked_for(
    client: HttpClient, model_server: RunningServer
) -> None:
    async with client.send(request(model_server.url)) as response:
        await read_body(response)
    assert model_server.last_request()["headers"]["accept-encoding"] == "identity"


async def test_no_error_holds_the_request_that_carried_a_key(
    client: HttpClient, model_server: RunningServer
) -> None:
    for behavior in ("reset", "not-http", "truncated", "gzip"):
        asked = request(model_server.url, behavior)
        asked.headers["authorization"] = "Bearer canary-key"  # type: ignore[index]
        caught: BaseException | None = await failure(client, asked)
        assert "canary" not in repr(asked)
        while caught is not None:
            assert "canary" not in repr(caught)
            caught = caught.__cause__ or caught.__context__


async def test_canceling_ends_the_request(client: HttpClient, model_server: RunningServer) -> None:
    task = asyncio.create_task(failure(client, request(model_server.url, "silent")))
    await asyncio.to_thread(model_server.wait_for, "silent")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_a_url_with_a_password_is_refused_without_repeating_it() -> None:
    with pytest.raises(UsageError, match="environment variable") as caught:
        checked_url("https://someone:canary-word@example.org/v1")
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    ["ftp://host/", "file:///etc/passwd", "http://", "http://h:x/", "http://h/a b", "host:80"],
)
def test_what_is_not_an_http_url_is_refused(url: str) -> None:
    with pytest.raises(UsageError):
        checked_url(url)
