"""What our own client does beyond the contract that it shares with the other transport."""

import asyncio
import socket
import threading

import pytest
from raw_server import raw_server, read_request, saying, sized

from agentbench_tui.http.client import HttpRequest, read_body
from agentbench_tui.http.httptools_client import Fields, HttptoolsClient
from agentbench_tui.model.answer import AgentFailure, FailureKind


def test_fields_are_found_without_regard_to_case_and_the_first_wins() -> None:
    fields = Fields([(b"Retry-After", b"3"), (b"retry-after", b"9"), (b"X-Name", b"\xc3\xa4")])
    assert fields["RETRY-AFTER"] == "3"
    assert fields["x-name"] == "ä"
    assert "x-other" not in fields
    assert len(fields) == 2


async def test_closing_fails_what_is_under_way() -> None:
    client = HttptoolsClient()
    begun = asyncio.Event()

    async def ask(url: str) -> None:
        async with client.send(HttpRequest("POST", url, {}, b"asked")) as response:
            begun.set()
            await read_body(response)

    with raw_server(saying(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\npart")) as server:
        task = asyncio.create_task(ask(server.url))
        async with asyncio.timeout(60):
            await begun.wait()
            await client.close()
            with pytest.raises(AgentFailure, match="closed by us"):
                await task
        await client.close()


async def test_a_dead_idle_connection_costs_no_request() -> None:
    def answer_once_and_leave_on_the_next(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(sized(b"ok"))
        read_request(connection)

    client = HttptoolsClient()
    with raw_server(answer_once_and_leave_on_the_next) as server:
        asked = HttpRequest("POST", server.url, {}, b"asked")
        for _ in range(2):
            async with client.send(asked) as response:
                assert (await read_body(response))[1] == b"ok"
        assert (client.opened, client.resent) == (2, 1)
        await client.close()


async def test_what_came_before_a_connection_broke_is_still_given() -> None:
    client = HttptoolsClient()
    parts = []
    with raw_server(saying(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\npart")) as server:
        async with client.send(HttpRequest("POST", server.url, {}, b"asked")) as response:
            iterator = aiter(response)
            parts.append((await anext(iterator))[1])
            server.hang_up()
            with pytest.raises(AgentFailure) as caught:
                await anext(iterator)
        await client.close()
    assert parts == [b"part"]
    assert caught.value.kind is FailureKind.TRUNCATED


async def test_leaving_in_the_middle_gives_the_connection_up() -> None:
    gone = threading.Event()

    def talk(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\npart")
        try:
            connection.recv(1)
        finally:
            gone.set()

    client = HttptoolsClient()
    with raw_server(talk) as server:
        async with client.send(HttpRequest("POST", server.url, {}, b"asked")) as response:
            async for _, part in response:
                assert part == b"part"
                break
        assert await asyncio.to_thread(gone.wait, 5)
        await client.close()


async def test_what_no_message_can_carry_is_not_sent() -> None:
    client = HttptoolsClient()
    asked = HttpRequest("POST", "http://127.0.0.1:9/", {"x-a": "1\r\nx-b: canary"}, b"")
    with pytest.raises(AgentFailure) as caught:
        async with client.send(asked):
            pass
    assert caught.value.kind is FailureKind.AGENT
    assert "canary" not in caught.value.detail
    assert client.opened == 0
