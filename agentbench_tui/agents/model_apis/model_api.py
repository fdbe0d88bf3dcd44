"""One request to a model API, streamed or not: the part that every dialect shares.

A dialect knows how the request is written and how the answer is read; this module knows when an
answer is complete, what was lost when it is not, and when it arrived.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from agentbench_tui.agents.model_apis.transcript import Transcript
from agentbench_tui.http.client import HttpResponse
from agentbench_tui.http.sse import SseEvent, SseParser
from agentbench_tui.model.answer import (
    AgentFailure,
    Answer,
    FailureKind,
    Message,
    Request,
    Usage,
)
from agentbench_tui.model.text.not_json import NOT_JSON

if TYPE_CHECKING:
    from agentbench_tui.agents.model_apis.endpoint import Endpoint

_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class ErrorObject(Exception):
    """Raised by a dialect that reads an error instead of an answer. Caught in this module."""


class Dialect(Protocol):
    """Request and answer format of an API."""

    def body(self, turns: Sequence[Message], tools: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the request's JSON; `tools` have names that the API accepts."""

    def read_event(self, event: SseEvent, received_ns: int, transcript: Transcript) -> None:
        """Add one event of the stream. Raises ErrorObject, msgspec.DecodeError."""

    def read_whole(self, body: bytes, transcript: Transcript) -> None:
        """Add an unstreamed answer. Raises ErrorObject, msgspec.DecodeError."""

    def plain_usage(self, body: bytes) -> Usage | None:
        """Return the usage of an unstreamed text answer, if `read_whole` and
        `Transcript.counted` would certainly find the same; None otherwise.
        """


async def ask(
    endpoint: Endpoint, dialect: Dialect, request: Request, *, seeded: bool = False
) -> Answer:
    """Send the request to the API and read its answer. Raises AgentFailure.

    `seeded` also sends the seed of the observation, cut to 31 bits, which every server accepts.
    """
    tools, names = wire_tools(request.case.tools)
    fields = dialect.body(request.conversation(), tools)
    if seeded:
        fields["seed"] = request.seed & 0x7FFFFFFF
    body = msgspec.json.encode(fields)
    transcript = Transcript(names)
    sent_ns = 0
    try:
        async with endpoint.send(body) as response:
            sent_ns = response.sent_ns
            if not 200 <= response.status < 300:
                raise await endpoint.refusal(response)
            streamed = is_event_stream(response)
            read = _read_stream if streamed else _read_whole
            await read(endpoint, dialect, response, transcript)
            if transcript.is_empty:
                kind = FailureKind.TRUNCATED if streamed else FailureKind.PARSE
                raise AgentFailure(
                    kind, f"{endpoint.place}: the answer is empty: no content and no finish_reason"
                )
    except AgentFailure as failure:
        if transcript.began:
            failure.partial = endpoint.without_secrets(transcript.answer(sent_ns))
        raise
    return endpoint.without_secrets(transcript.answer(sent_ns))


async def _read_stream(
    endpoint: Endpoint, dialect: Dialect, response: HttpResponse, transcript: Transcript
) -> None:
    parser = SseParser()
    received_ns = response.first_byte_ns
    try:
        async for received_ns, part in response:
            transcript.received_bytes += len(part)
            _take(endpoint, dialect, parser.feed(part), received_ns, transcript)
            if transcript.ended:
                return
    except AgentFailure as failure:
        # Some servers break off after the last event instead of ending the body.
        if not (failure.kind is FailureKind.TRUNCATED and transcript.complete):
            raise
    _take(endpoint, dialect, parser.finish(), received_ns, transcript)
    if not transcript.complete:
        raise AgentFailure(
            FailureKind.TRUNCATED, f"{endpoint.place} ended its stream before the answer's end"
        )


def _take(
    endpoint: Endpoint,
    dialect: Dialect,
    events: Iterable[SseEvent],
    received_ns: int,
    transcript: Transcript,
) -> None:
    for event in events:
        try:
            dialect.read_event(event, received_ns, transcript)
        except ErrorObject as error:
            said = endpoint.clean(str(error))
            detail = f"{endpoint.place} broke off with an error: {said}"
        except NOT_JSON as error:
            start = endpoint.clean(event.data[:8192].decode("utf-8", "replace"))[:120]
            reason = endpoint.clean(str(error))
            raise AgentFailure(
                FailureKind.PARSE, f"{endpoint.place}: an event cannot be read, {reason}: {start}"
            ) from None
        else:
            continue
        raise AgentFailure(FailureKind.SERVER, detail)


async def _read_whole(
    endpoint: Endpoint, dialect: Dialect, response: HttpResponse, transcript: Transcript
) -> None:
    parts: list[bytes] = []
    cut: AgentFailure | None = None
    try:
        async for _, part in response:
            parts.append(part)
    except AgentFailure as failure:
        # Some servers break off after the last byte of the answer instead of ending the body.
        if failure.kind is not FailureKind.TRUNCATED:
            raise
        cut = failure
    body = b"".join(parts)
    transcript.received_bytes = len(body)
    try:
        dialect.read_whole(body, transcript)
    except ErrorObject as error:
        said = endpoint.clean(str(error))
        detail = f"{endpoint.place} answered HTTP {response.status} with an error: {said}"
        raised = AgentFailure(FailureKind.SERVER, detail)
    except NOT_JSON as error:
        reason = endpoint.clean(str(error))
        unread = endpoint.unreadable(f"the answer cannot be read, {reason}", body, response)
        raised = cut or unread
    else:
        return
    raise raised


def is_event_stream(response: HttpResponse) -> bool:
    """Return whether the body is a stream of server-sent events; servers may ignore the request
    to stream.
    """
    return response.headers.get("content-type", "").lower().startswith("text/event-stream")


def wire_tools(tools: Iterable[Mapping[str, Any]]) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Return the tools under names that the APIs accept, and a map from these to the
    suite's names.

    The APIs take letters, digits, `_` and `-`, at most 64; suites also have names with dots.
    """
    renamed: dict[str, str] = {}
    wired = []
    for tool in tools:
        name = str(tool.get("name", ""))
        if _TOOL_NAME.fullmatch(name):
            wired.append(dict(tool))
            continue
        wire_name = wire_tool_name(name)
        renamed[wire_name] = name
        wired.append({**tool, "name": wire_name})
    return wired, renamed


def wire_tool_name(name: str) -> str:
    """Return `name` with every character that the APIs refuse replaced by `_`."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64] or "_"


def split_system(messages: Iterable[Message]) -> tuple[str, list[Message]]:
    """Return the joined system turns, and the other turns, for APIs that separate them."""
    system: list[str] = []
    others: list[Message] = []
    for message in messages:
        if message.role == "system":
            system.append(message.content)
        else:
            others.append(message)
    return "\n\n".join(system), others
