"""The messages API of Anthropic and compatible servers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from agentbench_tui.agents.model_apis.error_text import error_message
from agentbench_tui.agents.model_apis.model_api import ErrorObject, split_system, wire_tool_name
from agentbench_tui.agents.model_apis.token_counts import token_counts, usage_of_messages
from agentbench_tui.agents.model_apis.transcript import Transcript, ident_of, place_of
from agentbench_tui.http.sse import SseEvent
from agentbench_tui.model.answer import Message, Usage


class _Block(msgspec.Struct):
    """A content block, or the start of one."""

    type: str = ""
    text: str = ""
    id: str | int | None = None
    name: str = ""
    input: dict[str, Any] | None = None


class _Delta(msgspec.Struct):
    type: str = ""
    text: str = ""
    partial_json: str = ""
    stop_reason: str | None = None


class _Message(msgspec.Struct):
    type: str = ""
    model: str | None = None
    content: list[_Block] | None = None
    stop_reason: str | None = None
    usage: msgspec.Raw = msgspec.Raw(b"null")
    error: Any = None


class _StreamEvent(msgspec.Struct):
    type: str = ""
    index: int | float | str | None = None
    message: _Message | None = None
    content_block: _Block | None = None
    delta: _Delta | None = None
    usage: msgspec.Raw = msgspec.Raw(b"null")
    error: Any = None


_decode_event = msgspec.json.Decoder(_StreamEvent).decode
_decode_message = msgspec.json.Decoder(_Message).decode


class MessagesApi:
    """`model_api.Dialect` of the messages API."""

    def __init__(self, model: str, fields: dict[str, Any], *, stream: bool) -> None:
        """`fields` are added unchanged to every request; `max_tokens` must be among them."""
        # Said either way: servers differ in what they do when nothing is said.
        self._fixed = {"model": model, **fields, "stream": stream}

    def body(self, turns: Sequence[Message], tools: list[dict[str, Any]]) -> dict[str, Any]:
        """See `Dialect.body`."""
        system, others = split_system(turns)
        body = {**self._fixed, "messages": [_message(turn) for turn in others]}
        if system:
            body["system"] = system
        if tools:
            body["tools"] = [_tool(tool) for tool in tools]
        return body

    def read_event(self, event: SseEvent, received_ns: int, transcript: Transcript) -> None:
        """See `Dialect.read_event`."""
        said = _decode_event(event.data)
        if said.type == "content_block_delta":
            if said.delta is not None:
                _read_delta(said.delta, place_of(said.index) or 0, received_ns, transcript)
        elif said.type == "content_block_start":
            if said.content_block is not None:
                _read_start(said.content_block, place_of(said.index) or 0, received_ns, transcript)
        elif said.type == "message_start" and said.message is not None:
            transcript.model = said.message.model
            _read_usage(said.message.usage, transcript)
        elif said.type == "message_delta":
            if said.delta is not None:
                transcript.finish_reason = said.delta.stop_reason or transcript.finish_reason
            _read_usage(said.usage, transcript)
        elif said.type == "message_stop":
            transcript.ended = True
        elif said.type == "error" or said.error is not None:
            raise ErrorObject(error_message(said.error) or "no text")

    def plain_usage(self, _body: bytes) -> Usage | None:
        """See `Dialect.plain_usage`."""
        return None

    def read_whole(self, body: bytes, transcript: Transcript) -> None:
        """See `Dialect.read_whole`."""
        message = _decode_message(body)
        if message.type == "error" or message.error is not None:
            raise ErrorObject(error_message(message.error) or "no text")
        if message.content is None:
            raise msgspec.ValidationError("no content")
        transcript.model = message.model
        transcript.finish_reason = message.stop_reason
        for position, block in enumerate(message.content):
            _read_start(block, position, 0, transcript)
        _read_usage(message.usage, transcript)
        transcript.ended = True


def _read_start(block: _Block, position: int, received_ns: int, transcript: Transcript) -> None:
    """Read the start of a block: complete if the answer is not streamed, else mostly empty."""
    if block.type == "tool_use":
        draft = transcript.begin_call(position, block.name, ident_of(block.id))
        draft.parsed = block.input or None
        transcript.mark(received_ns)
    elif block.type == "text":
        transcript.add_text(block.text, received_ns)


def _read_delta(delta: _Delta, position: int, received_ns: int, transcript: Transcript) -> None:
    if delta.type == "text_delta":
        transcript.add_text(delta.text, received_ns)
    elif delta.type == "thinking_delta":
        transcript.mark(received_ns, output=False)
    elif delta.type == "input_json_delta" and delta.partial_json:
        transcript.call_at(position).arguments.append(delta.partial_json)
        transcript.mark(received_ns)


def _read_usage(raw: msgspec.Raw, transcript: Transcript) -> None:
    """Join the counts of `message_start` and of the cumulative `message_delta`.

    The later count stands, unless it is 0: some servers know their input only at the end, and
    others forget it there.
    """
    for name, count in token_counts(raw).items():
        transcript.counts[name] = count or transcript.counts.get(name, count)
    transcript.usage = usage_of_messages(transcript.counts) or transcript.usage


def _message(turn: Message) -> dict[str, Any]:
    if turn.role == "tool":
        result = {
            "type": "tool_result",
            "tool_use_id": turn.tool_call_id or "call_0",
            "content": turn.content,
        }
        return {"role": "user", "content": [result]}
    if not turn.tool_calls:
        return {"role": turn.role, "content": turn.content}
    return {"role": turn.role, "content": list(_blocks(turn))}


def _blocks(turn: Message) -> Iterable[dict[str, Any]]:
    if turn.content:
        yield {"type": "text", "text": turn.content}
    for position, call in enumerate(turn.tool_calls):
        yield {
            "type": "tool_use",
            "id": call.id or f"call_{position}",
            "name": wire_tool_name(call.name),
            "input": call.arguments,
        }


def _tool(tool: dict[str, Any]) -> dict[str, Any]:
    rest = {name: value for name, value in tool.items() if name in {"name", "description"}}
    return {**rest, "input_schema": tool.get("parameters") or {"type": "object", "properties": {}}}
