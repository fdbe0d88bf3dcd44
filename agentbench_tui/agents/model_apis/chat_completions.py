"""The chat completions API, as OpenAI, vLLM, SGLang, llama.cpp and Ollama serve it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from agentbench_tui.agents.model_apis.error_text import error_message
from agentbench_tui.agents.model_apis.model_api import ErrorObject, wire_tool_name
from agentbench_tui.agents.model_apis.token_counts import usage_of
from agentbench_tui.agents.model_apis.transcript import CallDraft, Transcript, ident_of, place_of
from agentbench_tui.http.sse import SseEvent
from agentbench_tui.model.answer import Message, ToolCall, Usage
from agentbench_tui.model.text.not_json import NOT_JSON

_NULL = msgspec.Raw(b"null")


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: str | dict[str, Any] | None = None


class _Call(msgspec.Struct):
    index: int | float | str | None = None
    id: str | int | None = None
    function: _Function | None = None

    @property
    def name(self) -> str:
        """Return the tool's name, if this part contains it."""
        return "" if self.function is None else self.function.name or ""

    @property
    def arguments(self) -> str | dict[str, Any]:
        """Return the arguments, or the piece of them in this part."""
        arguments = None if self.function is None else self.function.arguments
        return "" if arguments is None else arguments


class _Delta(msgspec.Struct):
    """A delta of a stream, or the message of a whole answer."""

    content: str | list[Any] | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    """Another name of the same in newer vLLM and in OpenRouter."""
    refusal: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(msgspec.Struct):
    index: int | float | str | None = None
    delta: _Delta | None = None
    message: _Delta | None = None
    finish_reason: str | None = None


class _Completion(msgspec.Struct):
    """A chunk of a stream, or a whole answer."""

    model: str | None = None
    choices: list[_Choice] | None = None
    usage: msgspec.Raw = _NULL
    """See `token_counts`."""
    error: Any = None
    object: str | None = None
    message: str | None = None
    """For servers that put the error at the top level, with `object: error`."""


_decode = msgspec.json.Decoder(_Completion).decode


_LONGEST_KEPT = 512
"""Bytes of usage that is cached: the cache holds 1,024, and a server may write any length."""


def _usage_of(written: bytes) -> Usage | None:
    """Return usage as a server writes it."""
    return _cached_usage(written) if len(written) <= _LONGEST_KEPT else _read_usage(written)


@lru_cache(maxsize=1024)
def _cached_usage(written: bytes) -> Usage | None:
    """Return the usage, cached, since most answers to one question have the same."""
    return _read_usage(written)


def _read_usage(written: bytes) -> Usage | None:
    return usage_of(msgspec.Raw(written), "prompt_tokens", "completion_tokens")


class ChatCompletions:
    """`model_api.Dialect` of chat completions."""

    def __init__(self, model: str, fields: dict[str, Any], *, stream: bool) -> None:
        """`fields` are added unchanged to every request."""
        # Said either way: servers differ in what they do when nothing is said.
        self._fixed = {"model": model, **fields, "stream": stream}
        if stream:
            self._fixed["stream_options"] = {"include_usage": True}

    def body(self, turns: Sequence[Message], tools: list[dict[str, Any]]) -> dict[str, Any]:
        """See `Dialect.body`."""
        body = {**self._fixed, "messages": [_message(turn) for turn in turns]}
        if tools:
            body["tools"] = [{"type": "function", "function": tool} for tool in tools]
        return body

    def read_event(self, event: SseEvent, received_ns: int, transcript: Transcript) -> None:
        """See `Dialect.read_event`."""
        if event.data == b"[DONE]":
            transcript.ended = True
            return
        self._read(_decode(event.data), received_ns, transcript)

    def read_whole(self, body: bytes, transcript: Transcript) -> None:
        """See `Dialect.read_whole`."""
        completion = _decode(body)
        self._read(completion, 0, transcript)
        if _answer_of(completion, transcript) is None:
            raise msgspec.ValidationError("no choices")
        transcript.ended = True

    def plain_usage(self, body: bytes) -> Usage | None:
        """See `Dialect.plain_usage`."""
        try:
            completion = _decode(body)
        except NOT_JSON:
            return None
        choices = completion.choices
        if not choices or completion.error is not None or completion.object == "error":
            return None
        choice = choices[0]
        message = choice.message
        if len(choices) > 1 or choice.index or choice.delta is not None or message is None:
            return None
        content = message.content
        if not content or message.tool_calls or not isinstance(content, str):
            return None
        usage = _usage_of(bytes(completion.usage))
        made = None if usage is None else usage.output_tokens
        return usage if made and made <= len(body) else None

    def _read(self, completion: _Completion, received_ns: int, transcript: Transcript) -> None:
        if completion.error is not None or completion.object == "error":
            raise ErrorObject(error_message(completion.error) or completion.message or "no text")
        if transcript.model is None:
            transcript.model = completion.model
        choice = _answer_of(completion, transcript)
        if choice is not None:
            if choice.finish_reason:
                transcript.finish_reason = choice.finish_reason
            if choice.delta is not None:
                _read_delta(choice.delta, received_ns, transcript)
            elif choice.message is not None:
                _read_delta(choice.message, received_ns, transcript, whole=True)
        if completion.usage != _NULL:
            transcript.usage = _usage_of(bytes(completion.usage)) or transcript.usage


def _answer_of(completion: _Completion, transcript: Transcript) -> _Choice | None:
    """Return the choice that is the answer: number 0. A request with `n` above 1 gets others too,
    which a stream sends in any order.
    """
    answer = None
    for choice in completion.choices or ():
        if not place_of(choice.index):
            answer = answer or choice
        elif choice.delta is not None and (choice.delta.content or choice.delta.tool_calls):
            transcript.other_chunks += 1
    return answer


def _read_delta(
    said: _Delta, received_ns: int, transcript: Transcript, *, whole: bool = False
) -> None:
    """Add a delta, with one time stamp for all kinds of its content.

    A `whole` message lists each call once.
    """
    text = _text(said.content) if said.content else ""
    if said.refusal:
        transcript.refused = True
        text += said.refusal
    begun: set[int] = set()
    for position, call in enumerate(said.tool_calls or ()):
        draft = None if whole else _draft_of(call, position, transcript, begun)
        if draft is None:
            draft = _begin_call(call, position, transcript, whole=whole)
            begun.add(id(draft))
        _read_call(call, draft, transcript)
    if text:
        transcript.add_text(text, received_ns)
    elif said.tool_calls:
        transcript.mark(received_ns)
    elif said.reasoning_content or said.reasoning:
        transcript.mark(received_ns, output=False)


def _text(content: str | list[Any]) -> str:
    if isinstance(content, str):
        return content
    parts = (part.get("text") for part in content if isinstance(part, dict))
    return "".join(part for part in parts if isinstance(part, str))


def _begin_call(call: _Call, position: int, transcript: Transcript, *, whole: bool) -> CallDraft:
    index = None if whole else place_of(call.index)
    place = position if index is None else index
    order = len(transcript.calls) if index is None else place
    latest = transcript.latest_at(place)
    # Of a call whose name came before its arguments, see `_begins`.
    name = latest.name if latest is not None and not whole else ""
    return transcript.begin_call(place, name, order=order)


def _draft_of(
    call: _Call, position: int, transcript: Transcript, begun: set[int]
) -> CallDraft | None:
    """Return the call that this part of a stream continues; None if it begins one.

    `begun` has the `id` of each draft of a call that began in the same chunk.
    """
    index = place_of(call.index)
    place = position if index is None else index
    ident = ident_of(call.id)
    if ident is not None and (known := transcript.call_with_id(index, ident)) is not None:
        return known
    latest = transcript.latest_at(place)
    if latest is None or _begins(call, latest, id(latest) in begun):
        return None
    return latest


def _begins(call: _Call, latest: CallDraft, is_beside: bool) -> bool:
    """Return whether a part with an unknown or missing id begins a call, rather than continuing the
    latest at its index. `is_beside` is true if that call began in the same chunk.

    Some servers give every call index 0, and others give no index, no id or neither. Some repeat
    id and name in every part, and older vLLM gives each part an id of its own. So an id alone
    begins nothing, and a name begins a call if the id differs, if the name differs, or if the
    arguments so far are complete.
    """
    arguments = call.arguments
    starts_object = isinstance(arguments, dict) or arguments.lstrip().startswith("{")
    if not call.name:
        return latest.renamed and starts_object and latest.is_complete()
    if not latest.name:
        return False
    if call.name != latest.name or None not in (ident_of(call.id), latest.id):
        return True
    if not latest.has_arguments:
        return is_beside
    if not arguments:
        latest.renamed = True
        return False
    return starts_object and latest.is_complete()


def _read_call(call: _Call, draft: CallDraft, transcript: Transcript) -> None:
    if draft.id is None and (ident := ident_of(call.id)) is not None:
        transcript.give_id(draft, ident)
    draft.name = call.name or draft.name
    arguments = call.arguments
    if isinstance(arguments, dict):
        draft.parsed = arguments
    elif arguments:
        draft.arguments.append(arguments)


def _message(turn: Message) -> dict[str, Any]:
    message: dict[str, Any] = {"role": turn.role, "content": turn.content}
    if turn.tool_calls:
        message["tool_calls"] = list(_calls(turn.tool_calls))
    if turn.tool_call_id is not None:
        message["tool_call_id"] = turn.tool_call_id
    return message


def _calls(calls: Iterable[ToolCall]) -> Iterable[dict[str, Any]]:
    for position, call in enumerate(calls):
        arguments = msgspec.json.encode(call.arguments).decode()
        function = {"name": wire_tool_name(call.name), "arguments": arguments}
        yield {"id": call.id or f"call_{position}", "type": "function", "function": function}
