"""Answers of the endpoints: encoded documents, and request bodies as their types."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from fastapi import Request, Response

from agentbench_tui.api.problems import UNPROCESSABLE, ServiceError
from agentbench_tui.contracts.document import plain

if TYPE_CHECKING:
    from agentbench_tui.api.service import Service

Body = TypeVar("Body")


def encode(document: Any) -> bytes:
    """Encode a document, typed or of plain values, as JSON."""
    try:
        return msgspec.json.encode(document)
    except (TypeError, ValueError, NotImplementedError):  # NumPy's numbers
        return json.dumps(plain(document), allow_nan=False, ensure_ascii=False).encode()


def json_answer(body: bytes, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return an answer whose body is JSON already."""
    return Response(body, status, headers, "application/json")


def document_answer(
    document: Any, status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    """Encode a document and return it."""
    return json_answer(encode(document), status, headers)


def service_of(request: Request) -> Service:
    """Return the service that an endpoint belongs to."""
    service: Service = request.app.state.service
    return service


async def body_as(request: Request, of: type[Body], *, default: Body | None = None) -> Body:
    """Read the JSON body as its type; an empty one is `default`, if there is one.

    Raises ServiceError, which says where the body is wrong. The guard bounds its size.
    """
    parts = [part async for part in request.stream()]
    body = b"".join(parts)
    if not body.strip() and default is not None:
        return default
    media = request.headers.get("content-type", "application/json").partition(";")[0].strip()
    if media.lower() != "application/json":
        raise ServiceError(
            UNPROCESSABLE, "body", f"the body is {media[:80]!r}; send application/json"
        )
    try:
        return msgspec.json.decode(body, type=of)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ServiceError(UNPROCESSABLE, "body", f"the body does not fit: {error}") from None
