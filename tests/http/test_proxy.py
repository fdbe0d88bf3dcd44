"""Through a proxy: what aiohttp is kept for."""

import socket

import pytest
from raw_server import Talk, raw_server, read_request, sized

from agentbench_tui.agents.adapter import OpenContext
from agentbench_tui.agents.model_apis.endpoint import Endpoint, EndpointOptions
from agentbench_tui.http.aiohttp_client import AiohttpClient
from agentbench_tui.http.client import HttpRequest, read_body
from agentbench_tui.http.httptools_client import HttptoolsClient
from agentbench_tui.model.answer import AgentFailure, FailureKind


def noting(seen: list[bytes], answer: bytes) -> Talk:
    def talk(connection: socket.socket) -> None:
        while request := read_request(connection):
            seen.append(request)
            connection.sendall(answer)

    return talk


async def failure(proxy: str, url: str) -> AgentFailure:
    client = AiohttpClient(proxy=proxy)
    with pytest.raises(AgentFailure) as caught:
        async with client.send(HttpRequest("POST", url, {}, b"asked")):
            pass
    await client.close()
    return caught.value


async def test_requests_go_to_the_proxy_with_the_whole_url() -> None:
    seen: list[bytes] = []
    with raw_server(noting(seen, sized(b"ok"))) as proxy:
        client = AiohttpClient(proxy=proxy.url)
        asked = HttpRequest("POST", "http://far.invalid/v1", {}, b"asked")
        async with client.send(asked) as response:
            assert (await read_body(response))[1] == b"ok"
        await client.close()
    assert seen[0].startswith(b"POST http://far.invalid/v1 HTTP/1.1\r\n")


async def test_a_proxy_that_nobody_runs() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        proxy = f"http://127.0.0.1:{taken.getsockname()[1]}"
        caught = await failure(proxy, "http://far.invalid/")
    assert caught.kind is FailureKind.CONNECTION
    assert caught.detail.startswith("cannot connect to the proxy on the way to far.invalid:80")


async def test_a_proxy_that_does_not_lead_there() -> None:
    with raw_server(noting([], sized(b"", status=b"403 Forbidden"))) as proxy:
        caught = await failure(proxy.url, "https://far.invalid/")
    assert caught.kind is FailureKind.CONNECTION
    assert caught.detail == "the proxy does not lead to far.invalid:443: HTTP 403"


def endpoint(**options: str) -> Endpoint:
    key_header = ("authorization", "Bearer ")
    return Endpoint("http://far.invalid/v1", EndpointOptions(**options), key_header, None)  # type: ignore[arg-type]


async def test_an_endpoint_takes_its_proxy_from_the_environment_when_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[bytes] = []
    with raw_server(noting(seen, sized(b"ok"))) as proxy:
        monkeypatch.setenv("MY_WAY_OUT", proxy.url)
        behind = endpoint(proxy="$MY_WAY_OUT")
        behind.start({}, OpenContext())
        async with behind.send(b"{}") as response:
            assert response.status == 200
        await behind.close()
    assert seen[0].startswith(b"POST http://far.invalid/v1 ")


@pytest.mark.parametrize(
    ("proxy", "problem"),
    [
        ("$NOT_SET_ANYWHERE", "NOT_SET_ANYWHERE, which is not set"),
        ("socks5://127.0.0.1", "proxy: not an http:// or https:// URL"),
        ("http://me:canary@127.0.0.1", "user name or password"),
    ],
)
def test_what_is_wrong_with_a_proxy_is_told_before_the_run(proxy: str, problem: str) -> None:
    (told,) = endpoint(proxy=proxy).problems()
    assert problem in told
    assert "canary" not in told


@pytest.mark.parametrize(
    ("options", "client"),
    [({}, HttptoolsClient), ({"transport": "aiohttp"}, AiohttpClient)],
)
async def test_the_transport_is_chosen_by_option(options: dict[str, str], client: type) -> None:
    chosen = endpoint(**options)
    chosen.start({}, OpenContext())
    assert isinstance(chosen._client, client)
    await chosen.close()
