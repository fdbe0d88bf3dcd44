"""JSON-RPC 2.0 of the market: error codes, batches and notifications as the specification says."""

import json
from typing import Any

import pytest

from agentbench_tui.market.outside.rpc import RpcError, respond

CALLED: list[str] = []
MORE: list[bool] = []


async def handle(method: str, params: dict[str, Any], more: bool) -> Any:
    MORE.append(more)
    CALLED.append(method)
    if method == "subtract":
        return params["minuend"] - params["subtrahend"]
    if method == "note":
        return None
    raise RpcError(-32601, f"there is no method {method}", {"reason": "unknown_method"})


async def ask(message: Any) -> Any:
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    response = await respond(body, handle)
    return None if response is None else json.loads(response)


def request(method: str, number: Any = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


async def test_a_result_has_the_id_of_its_request() -> None:
    answer = await ask(request("subtract", 3, subtrahend=23, minuend=42))
    assert answer == {"jsonrpc": "2.0", "id": 3, "result": 19}


async def test_a_refused_method_keeps_its_code_and_data() -> None:
    answer = await ask(request("foobar", "1"))
    assert answer["id"] == "1"
    assert answer["error"]["code"] == -32601
    assert answer["error"]["data"] == {"reason": "unknown_method"}


async def test_a_notification_is_carried_out_and_not_answered() -> None:
    CALLED.clear()
    assert await ask({"jsonrpc": "2.0", "method": "note"}) is None
    assert await ask({"jsonrpc": "2.0", "method": "foobar"}) is None
    assert CALLED == ["note", "foobar"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b'{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]', -32700),
        (b"\xff", -32700),
        (b'{"jsonrpc": "2.0", "method": 1, "params": {}}', -32600),
        (b'{"method": "subtract", "id": 1}', -32600),
        (b'{"jsonrpc": "2.0", "method": "subtract", "params": [42, 23], "id": 1}', -32600),
        (b'{"jsonrpc": "2.0", "method": "subtract", "id": {}}', -32600),
        (b"[]", -32600),
        (b"7", -32600),
    ],
)
async def test_what_is_no_request_gets_the_code_of_the_specification(
    body: bytes, code: int
) -> None:
    answer = await ask(body)
    assert answer["error"]["code"] == code


async def test_a_batch_is_answered_in_order_without_its_notifications() -> None:
    answers = await ask(
        [
            request("subtract", 1, minuend=5, subtrahend=3),
            {"jsonrpc": "2.0", "method": "note"},
            {"foo": "boo"},
            request("get.data", 9),
        ]
    )
    assert [answer.get("id") for answer in answers] == [1, None, 9]
    assert [answer.get("error", {}).get("code") for answer in answers] == [None, -32600, -32601]
    assert await ask([{"jsonrpc": "2.0", "method": "note"}]) is None


async def test_a_method_is_told_whether_more_came_along_with_it() -> None:
    """The last one that is carried out ends what was sent, whatever stands behind it."""
    MORE.clear()
    await ask(request("note"))
    await ask([request("note"), request("foobar"), request("note"), {"foo": "boo"}])
    assert MORE == [False, True, True, False]
