"""Faults of requests: who is answered by whom, in which order, and with which bytes."""

from random import Random
from time import perf_counter_ns

import pytest
from proxied import Proxied, Wire, proxied

from agentbench_tui.model.errors import UsageError
from agentbench_tui.stress.faults.fault import (
    ErrorReply,
    Fault,
    SlowHeaders,
    TooManyRequests,
    Truncation,
)

GET = b"GET /one HTTP/1.1\r\nhost: x\r\n\r\n"
POST = b'POST /two HTTP/1.1\r\nhost: x\r\ncontent-length: 11\r\n\r\n{"a": "\r\n"}'
CHUNKED = (
    b"POST /three HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"
    b"4;x=y\r\nGET \r\n2\r\n/ \r\n0\r\ntrailer: t\r\n\r\n"
)
HEAD = b"HEAD / HTTP/1.1\r\nhost: x\r\n\r\n"
OK_HEAD = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n"
OK = OK_HEAD + b"hello"
STREAM_HEAD = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
STREAM = STREAM_HEAD + b"".join(b"8\r\ndata: %d\n\r\n" % nth for nth in range(5)) + b"0\r\n\r\n"
ERROR = ErrorReply(503, body="down")
ERROR_ANSWER = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\n"
    b"content-length: 4\r\n\r\ndown"
)


async def answered(client: Wire, request: bytes) -> tuple[bytes, bytes]:
    """Head and body of an answer that says its length."""
    await client.send(request)
    return await read_answer(client)


async def read_answer(client: Wire) -> tuple[bytes, bytes]:
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += await client.read_exactly(1)
    length = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
    return head, await client.read_exactly(length)


async def passes(setup: Proxied, client: Wire, target: Wire, request: bytes = GET) -> None:
    await client.send(request)
    assert await target.read_exactly(len(request)) == request
    await target.send(OK)
    assert await client.read_exactly(len(OK)) == OK


@pytest.mark.parametrize("request_", [GET, POST, CHUNKED], ids=["get", "post", "chunked"])
async def test_an_error_reply_comes_from_the_proxy_and_the_connection_lives_on(
    request_: bytes,
) -> None:
    async with proxied(http=True) as setup:
        client, target = await setup.both()
        setup.begin(ERROR)
        for place in (1, 17, len(request_) - 1):
            await client.send(request_[:place])
            await setup.until(lambda counts: True)
            await client.send(request_[place:])
            assert await client.read_exactly(len(ERROR_ANSWER)) == ERROR_ANSWER
        assert setup.clear().applied == {"error_reply": 3}
        await passes(setup, client, target, request_)
        assert setup.counts().requests == 4
        assert setup.counts().to_target_bytes == len(request_)


async def test_an_answer_to_head_has_no_body_and_close_is_honored() -> None:
    async with proxied(http=True) as setup:
        client = await setup.client()
        setup.begin(ERROR)
        await client.send(HEAD)
        head = ERROR_ANSWER.removesuffix(b"down")
        assert await client.read_exactly(len(head)) == head
        await client.send(GET.replace(b"host: x", b"connection: close"))
        closing = head.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n")
        assert await client.read_all() == closing + b"down"
        assert (await setup.until(lambda counts: not counts.open)).requests == 2


async def test_an_answer_of_ours_waits_for_its_turn() -> None:
    async with proxied(http=True) as setup:
        client, target = await setup.both()
        await client.send(GET)
        assert await target.read_exactly(len(GET)) == GET
        setup.begin(ERROR)
        await client.send(POST + CHUNKED)
        await setup.until(lambda counts: counts.requests == 2)
        await target.send(OK[:-1])
        assert await client.read_exactly(len(OK) - 1) == OK[:-1]
        assert client.has_nothing()
        await target.send(OK[-1:])
        rest = OK[-1:] + ERROR_ANSWER + ERROR_ANSWER
        assert await client.read_exactly(len(rest)) == rest
        assert target.has_nothing()


async def test_a_request_that_outwaits_the_fault_reaches_the_target() -> None:
    async with proxied(http=True) as setup:
        client, target = await setup.both()
        await client.send(GET)
        await target.read_exactly(len(GET))
        setup.begin(ERROR)
        await client.send(POST)
        await setup.until(lambda counts: counts.requests == 2)
        client.end()
        setup.clear()
        await target.send(OK)
        assert await target.read_all() == POST
        assert await client.read_exactly(len(OK)) == OK


async def test_too_many_requests_says_when_to_come_again() -> None:
    async with proxied(http=True) as setup:
        client = await setup.client()
        setup.begin(TooManyRequests(retry_after_s=7))
        head, _ = await answered(client, POST)
        assert head.startswith(b"HTTP/1.1 429 Too Many Requests\r\n")
        assert b"\r\nretry-after: 7\r\n" in head
        setup.clear()
        setup.begin(TooManyRequests())
        head, body = await answered(client, POST)
        assert b"retry-after" not in head
        assert b"rate_limit_error" in body


async def test_only_requests_above_the_rate_are_too_many() -> None:
    async with proxied(http=True) as setup:
        client, target = await setup.both()
        setup.begin(TooManyRequests(above_per_s=0.001, burst=3))
        for _ in range(3):
            await passes(setup, client, target)
        for _ in range(2):
            head, _ = await answered(client, GET)
            assert b" 429 " in head
        assert setup.clear().applied == {"too_many_requests": 2}


async def test_a_share_of_the_requests_is_drawn_from_the_seed() -> None:
    random = Random(3)
    expected = [random.random() < 0.3 for _ in range(40)]
    async with proxied(http=True) as setup:
        client, target = await setup.both()
        setup.begin(Fault(ERROR, share=0.3, seed=3))
        for hit in expected:
            if hit:
                await client.send(GET)
                assert await client.read_exactly(len(ERROR_ANSWER)) == ERROR_ANSWER
            else:
                await passes(setup, client, target)
        assert setup.counts().applied == {"error_reply": sum(expected)}


async def test_a_slow_head_comes_byte_by_byte() -> None:
    async with proxied(http=True) as setup:
        client, target = await setup.both()
        setup.begin(SlowHeaders(1e7))
        await client.send(GET)
        await target.read_exactly(len(GET))
        await target.send(OK)
        assert await client.read() == OK[:1]
        assert setup.counts().held_bytes == len(OK) - 1
        setup.clear()
        assert await client.read_exactly(len(OK) - 1) == OK[1:]
        setup.begin(SlowHeaders(0.2))
        began_ns = perf_counter_ns()
        await passes(setup, client, target)
        assert perf_counter_ns() - began_ns >= (len(OK_HEAD) - 1) * 200_000
        assert setup.counts().applied == {"slow_headers": 2}


@pytest.mark.parametrize("size", [0, 1, 30])
async def test_a_stream_breaks_off_after_so_many_bytes_of_its_body(size: int) -> None:
    async with proxied(http=True) as setup:
        client, target = await setup.both()
        setup.begin(Truncation(size))
        await client.send(GET)
        await target.read_exactly(len(GET))
        for place in range(0, len(STREAM), 7):
            try:
                await target.send(STREAM[place : place + 7])
            except (ConnectionResetError, BrokenPipeError):
                break
            await setup.settle()
        assert await client.read_all() == STREAM[: len(STREAM_HEAD) + size]
        assert setup.counts().applied == {"truncation": 1}


async def test_an_answer_that_is_not_longer_is_not_truncated() -> None:
    async with proxied(http=True) as setup:
        client, target = await setup.both()
        setup.begin(Truncation(5))
        await passes(setup, client, target)
        await passes(setup, client, target, POST)
        assert setup.counts().applied == {"truncation": 0}


async def test_an_interim_answer_is_not_the_answer() -> None:
    async with proxied(http=True) as setup:
        client, target = await setup.both()
        interim = b"HTTP/1.1 100 Continue\r\n\r\n"
        await client.send(POST)
        await target.read_exactly(len(POST))
        await target.send(interim)
        assert await client.read_exactly(len(interim)) == interim
        setup.begin(ERROR)
        await client.send(GET)
        await setup.until(lambda counts: counts.requests == 2)
        assert client.has_nothing()
        await target.send(OK)
        both = OK + ERROR_ANSWER
        assert await client.read_exactly(len(both)) == both


async def test_a_connection_ends_where_the_next_request_cannot_be_found() -> None:
    """The body of a request that the proxy has answered makes no sense."""
    async with proxied(http=True) as setup:
        client = await setup.client()
        setup.begin(ERROR)
        await client.send(CHUNKED.replace(b"4;x=y", b"what?"))
        assert await client.read_all() == ERROR_ANSWER
        assert setup.counts().to_target_bytes == 0


async def test_behind_an_answer_that_ends_with_the_connection_nothing_is_put() -> None:
    async with proxied(http=True) as setup:
        client, target = await setup.both()
        await client.send(GET)
        assert await target.read_exactly(len(GET)) == GET
        setup.begin(ERROR)
        await client.send(POST)
        await setup.until(lambda counts: counts.requests == 2)
        endless = b"HTTP/1.1 200 OK\r\n\r\nto the end"
        await target.send(endless)
        assert await target.read_exactly(len(POST)) == POST
        target.end()
        assert await client.read_all() == endless
        assert setup.counts().applied == {"error_reply": 0}


async def test_before_a_target_that_is_not_plain_http_they_are_refused() -> None:
    async with proxied() as setup:
        with pytest.raises(UsageError, match="error_reply: needs a target of plain http://"):
            setup.begin(ERROR)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ErrorReply(200), "from 400 to 599"),
        (lambda: ErrorReply(content_type="a\r\nb"), "not a content type"),
        (lambda: TooManyRequests(above_per_s=0), "more than 0"),
        (lambda: TooManyRequests(retry_after_s=-1), "negative"),
        (lambda: SlowHeaders(0), "more than 0"),
        (lambda: Truncation(-1), "negative"),
    ],
)
def test_faults_of_requests_that_make_no_sense_are_told(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(ValueError, match=message):
        make()
