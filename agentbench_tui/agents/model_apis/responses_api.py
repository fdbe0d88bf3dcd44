"""The responses API of OpenAI and compatible servers. Nothing is stored at the server."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from agentbench_tui.agents.model_apis.error_text import error_message
from agentbench_tui.agents.model_apis.model_api import ErrorObject, wire_tool_name
from agentbench_tui.agents.model_apis.token_counts import usage_of
from agentbench_tui.agents.model_apis.transcript import Transcript, ident_of
from agentbench_tui.http.sse import SseEvent
from agentbench_tui.model.answer import Message, Usage


class _Part(msgspec.Struct):
    type: str = ""
    text: str = ""
    refusal: str = ""


class _Item(msgspec.Struct):
    """One item of a response's output: a message, a function call, reasoning, …"""

    type: str = ""
    content: list[_Part] | None = None
    name: str = ""
    call_id: str | int | None = None
    arguments: str = ""


class _Response(msgspec.Struct):
    model: str | None = None
    status: str | None = None
    output: list[_Item] | None = None
    usage: msgspec.Raw = msgspec.Raw(b"null")
    error: Any = None
    incomplete_details: dict[str, Any] | None = None


class _StreamEvent(msgspec.Struct):
    type: str = ""
    delta: Any = None
    """A text, in the events that are read here."""
    response: msgspec.Raw = msgspec.Raw(b"null")
    error: Any = None
    message: str | None = None


_decode_event = msgspec.json.Decoder(_StreamEvent).decode
_decode_response = msgspec.json.Decoder(_Response).decode

_REASONING = {"response.reasoning_summary_text.delta", "response.reasoning_text.delta"}
_LAST = {"response.completed", "response.incomplete", "response.failed"}


class ResponsesApi:
    """`model_api.Dialect` of the responses API."""

    def __init__(self, model: str, fields: dict[str, Any], *, stream: bool) -> None:
        """`fields` are added unchanged to every request."""
        # Said either way: servers differ in what they do when nothing is said.
        self._fixed = {"model": model, "store": False, **fields, "stream": stream}

    def body(self, turns: Sequence[Message], tools: list[dict[str, Any]]) -> dict[str, Any]:
        """See `Dialect.body`."""
        body = {**self._fixed, "input": [item for turn in turns for item in _items(turn)]}
        if tools:
            body["tools"] = [{"type": "function", **tool} for tool in tools]
        return body

    def read_event(self, event: SseEvent, received_ns: int, transcript: Transcript) -> None:
        """See `Dialect.read_event`."""
        if event.data == b"[DONE]":
            return
        said = _decode_event(event.data)
        if said.type == "response.output_text.delta":
            transcript.add_text(_text(said.delta), received_ns)
        elif said.type == "response.refusal.delta":
            transcript.refused = True
            transcript.add_text(_text(said.delta), received_ns)
        elif said.type == "response.function_call_arguments.delta":
            transcript.mark(received_ns)
        elif said.type in _REASONING:
            transcript.mark(received_ns, output=False)
        elif said.type in _LAST:
            self._read_response(_decode_response(said.response), transcript)
        elif said.type == "error" or said.error is not None:
            raise ErrorObject(said.message or error_message(said.error) or "no text")

    def plain_usage(self, _body: bytes) -> Usage | None:
        """See `Dialect.plain_usage`."""
        return None

    def read_whole(self, body: bytes, transcript: Transcript) -> None:
        """See `Dialect.read_whole`."""
        self._read_response(_decode_response(body), transcript)

    def _read_response(self, response: _Response, transcript: Transcript) -> None:
        if response.error is not None or response.status == "failed":
            raise ErrorObject(error_message(response.error) or "the response failed")
        if response.output is None:
            raise msgspec.ValidationError("no output")
        transcript.model = response.model
        streamed = transcript.began
        for position, item in enumerate(response.output):
            if item.type == "function_call":
                draft = transcript.begin_call(position, item.name, ident_of(item.call_id))
                draft.arguments.append(item.arguments)
            elif not streamed:
                _read_parts(item.content or (), transcript)
        transcript.finish_reason = _finish_reason(response)
        transcript.usage = usage_of(response.usage, "input_tokens", "output_tokens")
        transcript.ended = True


def _read_parts(parts: Iterable[_Part], transcript: Transcript) -> None:
    for part in parts:
        if part.type == "output_text":
            transcript.add_text(part.text)
        elif part.type == "refusal":
            transcript.refused = True
            transcript.add_text(part.refusal)


def _text(delta: object) -> str:
    if not isinstance(delta, str):
        raise msgspec.ValidationError("delta is not a text")
    return delta


def _finish_reason(response: _Response) -> str | None:
    reason = (response.incomplete_details or {}).get("reason")
    return reason if isinstance(reason, str) else response.status


def _items(turn: Message) -> Iterable[dict[str, Any]]:
    if turn.role == "tool":
        yield {
            "type": "function_call_output",
            "call_id": turn.tool_call_id or "call_0",
            "output": turn.content,
        }
        return
    if turn.content or not turn.tool_calls:
        yield {"role": turn.role, "content": turn.content}
    for position, call in enumerate(turn.tool_calls):
        yield {
            "type": "function_call",
            "call_id": call.id or f"call_{position}",
            "name": wire_tool_name(call.name),
            "arguments": msgspec.json.encode(call.arguments).decode(),
        }
