"""One reply in the shapes of chat completions, responses and messages, whole and as events.

Written from the public descriptions of the three APIs, for the test server beside this file.
"""

import json
from dataclasses import dataclass, field
from typing import Any

Event = tuple[str | None, Any]
"""Event type (None for none) and the object of its data line; a string is sent as it is."""


@dataclass
class Reply:
    """What the server answers, before it is put into a dialect."""

    pieces: list[str]
    reasoning: list[str] = field(default_factory=list)
    tool_calls: list[tuple[str, str]] = field(default_factory=list)
    """Name and arguments as JSON text."""
    prompt_tokens: Any = 0
    cached_tokens: Any = 0
    completion_tokens: Any = None
    usage: bool = True
    counts: dict[str, Any] | None = None
    """The usage object, in place of that of the dialect."""
    finish: str | None = "stop"

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    @property
    def output_tokens(self) -> Any:
        if self.completion_tokens is not None:
            return self.completion_tokens
        return len(self.pieces) + len(self.reasoning) + len(self.tool_calls)


def chat(model: str, reply: Reply) -> dict[str, Any]:
    """A chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if reply.reasoning:
        message["reasoning_content"] = "".join(reply.reasoning)
    if reply.tool_calls:
        message["tool_calls"] = [_chat_call(i, *call) for i, call in enumerate(reply.tool_calls)]
    answer = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": reply.finish}],
    }
    if reply.usage:
        answer["usage"] = _chat_usage(reply)
    return answer


def chat_events(model: str, reply: Reply, *, include_usage: bool) -> list[Event]:
    """The same as chunks: a role-only and an empty delta first, as real servers send them."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}, {}]
    deltas += [{"reasoning_content": piece} for piece in reply.reasoning]
    deltas += [{"content": piece} for piece in reply.pieces]
    for index, (name, arguments) in enumerate(reply.tool_calls):
        half = len(arguments) // 2
        begun = _chat_call(index, name, arguments[:half])
        deltas.append({"tool_calls": [{"index": index, **begun}]})
        rest = {"index": index, "function": {"arguments": arguments[half:]}}
        deltas.append({"tool_calls": [rest]})
    events: list[Event] = [(None, _chat_chunk(model, delta, None)) for delta in deltas]
    if reply.finish:
        events.append((None, _chat_chunk(model, {}, reply.finish)))
    if reply.usage and include_usage:
        usage = {**_chat_chunk(model, {}, None), "choices": [], "usage": _chat_usage(reply)}
        events.append((None, usage))
    events.append((None, "[DONE]"))
    return events


def _chat_chunk(model: str, delta: dict[str, Any], finish: str | None) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "model": model,
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


def _chat_call(index: int, name: str, arguments: str) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"id": f"call_{index}", "type": "function", "function": function}


def _chat_usage(reply: Reply) -> dict[str, Any]:
    return reply.counts or {
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.output_tokens,
        "prompt_tokens_details": {"cached_tokens": reply.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": len(reply.reasoning)},
    }


def responses(model: str, reply: Reply) -> dict[str, Any]:
    """A response object of the responses API."""
    output: list[dict[str, Any]] = []
    if reply.reasoning:
        summary = [{"type": "summary_text", "text": "".join(reply.reasoning)}]
        output.append({"type": "reasoning", "id": "rs_1", "summary": summary})
    if reply.pieces:
        content = [{"type": "output_text", "text": reply.text, "annotations": []}]
        output.append({"type": "message", "id": "msg_1", "role": "assistant", "content": content})
    for index, (name, arguments) in enumerate(reply.tool_calls):
        call = {"type": "function_call", "id": f"fc_{index}", "call_id": f"call_{index}"}
        output.append({**call, "name": name, "arguments": arguments})
    answer: dict[str, Any] = {
        "id": "resp_1",
        "object": "response",
        "model": model,
        "status": "completed",
        "output": output,
    }
    if reply.usage:
        answer["usage"] = reply.counts or {
            "input_tokens": reply.prompt_tokens,
            "output_tokens": reply.output_tokens,
            "input_tokens_details": {"cached_tokens": reply.cached_tokens},
            "output_tokens_details": {"reasoning_tokens": len(reply.reasoning)},
        }
    return answer


def responses_events(model: str, reply: Reply) -> list[Event]:
    """The same as the events of a stream."""
    whole = responses(model, reply)
    begun = {**whole, "status": "in_progress", "output": []}
    begun.pop("usage", None)
    events: list[Event] = [_typed("response.created", response=begun)]
    events += [
        _typed("response.reasoning_summary_text.delta", item_id="rs_1", delta=piece)
        for piece in reply.reasoning
    ]
    events += [
        _typed("response.output_text.delta", item_id="msg_1", delta=piece) for piece in reply.pieces
    ]
    for index, (_, arguments) in enumerate(reply.tool_calls):
        item = {"item_id": f"fc_{index}", "output_index": index}
        events.append(_typed("response.function_call_arguments.delta", delta=arguments, **item))
    events.append(_typed("response.completed", response=whole))
    return events


def messages(model: str, reply: Reply) -> dict[str, Any]:
    """A message of the messages API."""
    content: list[dict[str, Any]] = []
    if reply.reasoning:
        content.append({"type": "thinking", "thinking": "".join(reply.reasoning)})
    if reply.pieces:
        content.append({"type": "text", "text": reply.text})
    for index, (name, arguments) in enumerate(reply.tool_calls):
        given = json.loads(arguments)
        content.append({"type": "tool_use", "id": f"toolu_{index}", "name": name, "input": given})
    answer: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": "tool_use" if reply.tool_calls else "end_turn",
    }
    if reply.usage:
        counts = {**_messages_usage(reply), "output_tokens": reply.output_tokens}
        answer["usage"] = reply.counts or counts
    return answer


def messages_events(model: str, reply: Reply) -> list[Event]:
    """The same as the events of a stream."""
    whole = messages(model, reply)
    usage = {**whole["usage"], "output_tokens": 1} if reply.usage else {}
    begun = {**whole, "content": [], "stop_reason": None, "usage": usage}
    events = [_typed("message_start", message=begun), _typed("ping")]
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    if reply.reasoning:
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in reply.reasoning]
        blocks.append(({"type": "thinking", "thinking": ""}, deltas))
    if reply.pieces:
        deltas = [{"type": "text_delta", "text": piece} for piece in reply.pieces]
        blocks.append(({"type": "text", "text": ""}, deltas))
    for index, (name, arguments) in enumerate(reply.tool_calls):
        half = len(arguments) // 2
        parts = ("", arguments[:half], arguments[half:])
        deltas = [{"type": "input_json_delta", "partial_json": part} for part in parts]
        start = {"type": "tool_use", "id": f"toolu_{index}", "name": name, "input": {}}
        blocks.append((start, deltas))
    for index, (start, deltas) in enumerate(blocks):
        events.append(_typed("content_block_start", index=index, content_block=start))
        events += [_typed("content_block_delta", index=index, delta=delta) for delta in deltas]
        events.append(_typed("content_block_stop", index=index))
    if reply.finish:
        end: dict[str, Any] = {"delta": {"stop_reason": whole["stop_reason"]}}
        if reply.usage:
            end["usage"] = {"output_tokens": whole["usage"]["output_tokens"]}
        events.append(_typed("message_delta", **end))
        events.append(_typed("message_stop"))
    return events


def _messages_usage(reply: Reply) -> dict[str, Any]:
    """Of this API alone, `input_tokens` leaves out what came from the cache."""
    if not isinstance(reply.prompt_tokens, int):
        return {"input_tokens": reply.prompt_tokens}
    return {
        "input_tokens": reply.prompt_tokens - reply.cached_tokens,
        "cache_read_input_tokens": reply.cached_tokens,
        "cache_creation_input_tokens": 0,
    }


def _typed(kind: str, **rest: Any) -> Event:
    return kind, {"type": kind, **rest}
