"""JSON-RPC 2.0 without a transport: bytes of a request or a batch in, bytes of the response out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from agentbench_tui.model.text.not_json import NOT_JSON

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
INVALID_PARAMS = -32602
MOST_OF_BATCH = 1_000

Handle = Callable[[str, dict[str, Any], bool], Awaitable[Any]]
"""Carries out one method with its parameters, knowing whether further requests came along with it;
raises RpcError."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode
_FIELDS = frozenset({"jsonrpc", "id", "method", "params"})


class RpcError(Exception):
    """Error response of a call."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    def document(self) -> dict[str, Any]:
        """Return the `error` object of a response."""
        more = {} if self.data is None else {"data": self.data}
        return {"code": self.code, "message": self.message, **more}


async def respond(body: bytes, handle: Handle) -> bytes | None:
    """Return the response, or the batch of them; None if there were only notifications.

    Requests of a batch are executed in order.
    """
    try:
        message = _decode(body)
    except NOT_JSON as error:
        return _encode(_refusal(None, RpcError(PARSE_ERROR, f"not JSON: {error}")))
    if not isinstance(message, list):
        answer = await _one(message, _fault(message), handle, more=False)
        return None if answer is None else _encode(answer)
    if not message or len(message) > MOST_OF_BATCH:
        fault = f"a batch has 1 to {MOST_OF_BATCH} requests, not {len(message)}"
        return _encode(_refusal(None, RpcError(INVALID_REQUEST, fault)))
    faults = [_fault(one) for one in message]
    last = max((nth for nth, fault in enumerate(faults) if fault is None), default=-1)
    answers = []
    for nth, one in enumerate(message):
        answer = await _one(one, faults[nth], handle, more=nth < last)
        if answer is not None:
            answers.append(answer)
    return _encode(answers) if answers else None


async def _one(
    message: Any, fault: str | None, handle: Handle, *, more: bool
) -> dict[str, Any] | None:
    """Return the response to one request; None for a notification, with any result."""
    if fault is not None:
        number = message.get("id") if isinstance(message, dict) else None
        known = number if isinstance(number, str | int | float) else None
        return _refusal(known, RpcError(INVALID_REQUEST, fault))
    answer: dict[str, Any]
    try:
        result = await handle(message["method"], message.get("params") or {}, more)
        answer = {"jsonrpc": "2.0", "id": message.get("id"), "result": result}
    except RpcError as error:
        answer = _refusal(message.get("id"), error)
    return answer if "id" in message else None


def _fault(message: Any) -> str | None:
    """Return why the message is not a valid request; None if it is."""
    if not isinstance(message, dict):
        return "a request is an object"
    if message.get("jsonrpc") != "2.0":
        return 'jsonrpc: a request says "2.0"'
    if not isinstance(message.get("method"), str):
        return "method: a request names its method"
    if not isinstance(message.get("params") or {}, dict):
        return "params: methods take their parameters by name, as an object"
    if not isinstance(message.get("id"), str | int | float | None):
        return "id: text, a number or null"
    unknown = [name for name in message if name not in _FIELDS]
    return f"{unknown[0]}: a request has no such field" if unknown else None


def _refusal(number: Any, error: RpcError) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "error": error.document()}
