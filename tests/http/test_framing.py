"""How heads and bodies are told apart, bounded and ended: RFC 9112, byte for byte."""

import asyncio
import socket

import pytest
from raw_server import raw_server, read_request, saying, saying_once, sized

from agentbench_tui.http.client import HttpClient, HttpRequest, Timeouts, place_of, read_body
from agentbench_tui.model.answer import AgentFailure, FailureKind

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"transfer-encoding: chunked\r\n\r\n"


def request(url: str, method: str = "POST", **fields: object) -> HttpRequest:
    return HttpRequest(method, url, {}, b"" if method == "HEAD" else b"asked", **fields)  # type: ignore[arg-type]


async def answer(client: HttpClient, asked: HttpRequest) -> tuple[int, bytes]:
    async with asyncio.timeout(60), client.send(asked) as response:
        return response.status, (await read_body(response))[1]


async def failure(client: HttpClient, asked: HttpRequest) -> AgentFailure:
    with pytest.raises(AgentFailure) as caught:
        await answer(client, asked)
    return caught.value


@pytest.mark.parametrize(
    ("said", "status", "body"),
    [
        (sized(b"five!"), 200, b"five!"),
        (sized(b""), 200, b""),
        (CHUNKED + b"5\r\nfive!\r\n0\r\n\r\n", 200, b"five!"),
        (CHUNKED + b"1;a=b\r\nx\r\n00A\r\n0123456789\r\n0\r\n\r\n", 200, b"x0123456789"),
        (CHUNKED + b"2 \r\nok\r\n1\t ;a=b\r\n!\r\n0  \r\n\r\n", 200, b"ok!"),
        (CHUNKED + b"2\r\nok\r\n0\r\nx-trailer: of no use\r\n\r\n", 200, b"ok"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", 204, b""),
        (b"HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n", 304, b""),
        (b"HTTP/1.1 304 Not Modified\r\ncontent-length: 99999999\r\n\r\n", 304, b""),
        (b"HTTP/1.1 304 Not Modified\r\ncontent-encoding: gzip\r\n\r\n", 304, b""),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + sized(b"after"), 200, b"after"),
        (b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n" * 2 + sized(b"after"), 200, b"after"),
        (sized(b"no", status=b"503 Busy"), 503, b"no"),
        (b"HTTP/1.1 200\r\ncontent-length: 2\r\n\r\nok", 200, b"ok"),
        (b"HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\nok", 200, b"ok"),
    ],
)
@pytest.mark.parametrize("bytewise", [False, True])
async def test_after_these_the_connection_is_used_again(
    client: HttpClient, said: bytes, status: int, body: bytes, bytewise: bool
) -> None:
    parts = [bytes([byte]) for byte in said] if bytewise else [said]
    with raw_server(saying(*parts)) as server:
        for _ in range(2):
            assert await answer(client, request(server.url)) == (status, body)
        assert server.connections == 1
        await client.close()


@pytest.mark.parametrize(
    ("said", "body"),
    [
        (OK + b"\r\nto the end", b"to the end"),
        (b"HTTP/1.0 200 OK\r\n\r\nto the end", b"to the end"),
        (OK + b"connection: close\r\n\r\n", b""),
        (sized(b"closed", b"connection: close"), b"closed"),
        (b"HTTP/1.0 200 OK\r\ncontent-length: 3\r\n\r\nold", b"old"),
    ],
)
async def test_after_these_the_connection_is_closed(
    client: HttpClient, said: bytes, body: bytes
) -> None:
    with raw_server(saying_once(said)) as server:
        for used in (1, 2):
            assert await answer(client, request(server.url)) == (200, body)
            assert server.connections == used


async def test_the_answer_to_head_has_no_body(client: HttpClient) -> None:
    with raw_server(saying(b"HTTP/1.1 200 OK\r\ncontent-length: 999999\r\n\r\n")) as server:
        for _ in range(2):
            asked = request(server.url, "HEAD", max_body_bytes=10)
            async with asyncio.timeout(60), client.send(asked) as response:
                assert response.headers["Content-Length"] == "999999"
                assert (await read_body(response))[1] == b""
        await client.close()


async def test_a_large_request_gets_there_whole(client: HttpClient) -> None:
    got: list[int] = []

    def talk(connection: socket.socket) -> None:
        got.append(len(read_request(connection).partition(b"\r\n\r\n")[2]))
        connection.sendall(sized(b"ok"))

    with raw_server(talk) as server:
        asked = HttpRequest("POST", server.url, {}, b"x" * 20_000_000)
        assert await answer(client, asked) == (200, b"ok")
    assert got == [20_000_000]


@pytest.mark.parametrize(
    "framed", [sized(b"x" * 5000, b"connection: close"), OK + b"\r\n" + b"x" * 5000]
)
async def test_a_body_may_be_as_long_as_its_bound_and_no_longer(
    client: HttpClient, framed: bytes
) -> None:
    with raw_server(saying_once(framed)) as server:
        allowed = await answer(client, request(server.url, max_body_bytes=5000))
        assert allowed == (200, b"x" * 5000)
        caught = await failure(client, request(server.url, max_body_bytes=4999))
    assert caught.kind is FailureKind.LIMIT
    assert caught.detail.endswith("is longer than 4999 bytes")


@pytest.mark.parametrize(
    "head",
    [
        OK + b"x-long: " + b"x" * 200_000 + b"\r\n\r\n",
        OK + b"x-many: a field of some length\r\n" * 4000 + b"\r\n",
        OK + b"x-endless: " + b"x" * 1_000_000,
        OK + b"x-endless: again\r\n" * 50_000,
    ],
)
async def test_a_head_is_bounded(client: HttpClient, head: bytes) -> None:
    with raw_server(saying(head)) as server:
        caught = await failure(client, request(server.url))
    assert caught.kind is FailureKind.LIMIT
    assert caught.detail == f"the head of the answer of {place_of(server.url)} is too long"


@pytest.mark.parametrize(
    "said",
    [
        b"SSH-2.0-OpenSSH_9.9\r\n\r\n",
        b"\x16\x03\x01\x02\x00" * 20,
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon here\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: five\r\n\r\nfive!",
        b"HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\nfive!",
    ],
)
async def test_what_is_not_http(client: HttpClient, said: bytes) -> None:
    with raw_server(saying_once(said)) as server:
        caught = await failure(client, request(server.url))
    assert caught.kind is FailureKind.PARSE
    assert caught.detail == f"{place_of(server.url)} does not answer in HTTP"


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (b"", FailureKind.CONNECTION),
        (b"HTTP/1.1 200 OK\r\ncontent-le", FailureKind.CONNECTION),
        (OK + b"content-length: 9\r\n\r\n", FailureKind.TRUNCATED),
        (OK + b"content-length: 9\r\n\r\n12345678", FailureKind.TRUNCATED),
        (CHUNKED + b"5\r\nfive!\r\n", FailureKind.TRUNCATED),
        (CHUNKED + b"5\r\nfive!\r\n0\r\n", FailureKind.TRUNCATED),
        (CHUNKED + b"5\r\nfi", FailureKind.TRUNCATED),
        (CHUNKED + b"zz\r\nfive!\r\n", FailureKind.PARSE),
        (OK + b"content-encoding: gzip\r\ncontent-length: 1\r\n\r\nx", FailureKind.PARSE),
    ],
)
async def test_an_answer_that_breaks_off_has_its_kind(
    client: HttpClient, said: bytes, kind: FailureKind
) -> None:
    with raw_server(saying_once(said)) as server:
        caught = await failure(client, request(server.url))
    assert caught.kind is kind
    assert place_of(server.url) in caught.detail


async def test_bytes_after_the_answer_are_not_taken_for_the_next_one(client: HttpClient) -> None:
    with raw_server(saying(sized(b"asked") + sized(b"smuggled")), saying(sized(b"new"))) as server:
        assert await answer(client, request(server.url)) == (200, b"asked")
        assert await answer(client, request(server.url)) == (200, b"new")
        assert server.connections == 2
        await client.close()


@pytest.mark.parametrize(
    ("begun", "timeouts", "which"),
    [
        (b"", Timeouts(first_byte=0.05), "first byte time limit of 0.05 s"),
        (b"HTTP/1.1 200 OK\r\n", Timeouts(first_byte=0.05), "first byte time limit of 0.05 s"),
        (b"HTTP/1.1 100 Continue\r\n\r\n", Timeouts(first_byte=0.05), "first byte time limit"),
        (OK + b"content-length: 9\r\n\r\nabc", Timeouts(idle=0.05), "idle time limit of 0.05 s"),
        (OK + b"content-length: 9\r\n\r\nabc", Timeouts(total=0.05), "total time limit of 0.05 s"),
        (b"", Timeouts(first_byte=9, total=0.05), "total time limit of 0.05 s"),
        (b"", Timeouts(first_byte=0.05, total=9), "first byte time limit of 0.05 s"),
    ],
)
async def test_a_server_that_goes_silent(
    client: HttpClient, begun: bytes, timeouts: Timeouts, which: str
) -> None:
    with raw_server(saying(begun)) as server:
        caught = await failure(client, request(server.url, timeouts=timeouts))
    assert caught.kind is FailureKind.TIMEOUT
    assert caught.detail.startswith(which)


async def test_a_server_that_drips_is_bounded_in_total(client: HttpClient) -> None:
    def drip(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(OK + b"\r\n")
        connection.settimeout(0.01)
        while True:
            connection.sendall(b".")
            try:
                connection.recv(1)
                return
            except TimeoutError:
                continue

    with raw_server(drip) as server:
        limits = Timeouts(idle=2, total=0.1)
        caught = await failure(client, request(server.url, timeouts=limits))
    assert caught.detail.startswith("total time limit of 0.1 s")


async def test_a_head_that_drips_is_bounded_by_the_first_byte_limit(client: HttpClient) -> None:
    def drip(connection: socket.socket) -> None:
        read_request(connection)
        connection.settimeout(0.01)
        for byte in OK + b"x-slow: " + b"." * 1000:
            connection.sendall(bytes([byte]))
            try:
                connection.recv(1)
                return
            except TimeoutError:
                continue

    with raw_server(drip) as server:
        limits = Timeouts(first_byte=0.1, idle=2)
        caught = await failure(client, request(server.url, timeouts=limits))
    assert caught.detail.startswith("first byte time limit of 0.1 s")
