"""Dialects whose stream events have types: the responses API and the messages API."""

from __future__ import annotations

from typing import Any, ClassVar

from agentbench_tui.agents.mock.dialects import CREATED, Facts, encode, piece


class Responses:
    """The responses API. Ends as `incomplete` if the request specified the length."""

    limit_only: ClassVar[bool] = False
    reasons: ClassVar[bool] = True

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._item = b'"item_id":"msg_%d","output_index":0,"content_index":0' % facts.number

    def opening(self) -> bytes:
        """Return the event that announces the response."""
        response = {**self._response("in_progress"), "output": [], "usage": None}
        return _event(b"response.created", b'"response":' + encode(response))

    def chunk(self, first: int, tokens: int) -> bytes:
        """See `Dialect.chunk`."""
        reasoning = first < self._facts.usage.reasoning
        kind = b"response.reasoning_text.delta" if reasoning else b"response.output_text.delta"
        return _event(kind, b'%b,"delta":"%b"' % (self._item, piece(first, tokens)))

    def closing(self) -> bytes:
        """Return the whole response, with its usage."""
        status = self._status()
        return _event(b"response." + status.encode(), b'"response":' + self.whole())

    def whole(self) -> bytes:
        """See `Dialect.whole`."""
        return encode(self._response(self._status()))

    def _status(self) -> str:
        return "completed" if self._facts.finish == "stop" else "incomplete"

    def _response(self, status: str) -> dict[str, Any]:
        facts, usage = self._facts, self._facts.usage
        spoken = piece(usage.reasoning, usage.output - usage.reasoning).decode()
        output: list[dict[str, Any]] = []
        if usage.reasoning:
            thought = {"type": "reasoning_text", "text": piece(0, usage.reasoning).decode()}
            output.append(
                {
                    "type": "reasoning",
                    "id": f"rs_{facts.number}",
                    "summary": [],
                    "content": [thought],
                }
            )
        text = {"type": "output_text", "text": spoken, "annotations": []}
        message = {"type": "message", "id": f"msg_{facts.number}", "role": "assistant"}
        output.append({**message, "status": status, "content": [text]})
        cut_off = status == "incomplete"
        return {
            "id": f"resp_{facts.number}",
            "object": "response",
            "created_at": CREATED,
            "status": status,
            "error": None,
            "incomplete_details": {"reason": "max_output_tokens"} if cut_off else None,
            "model": facts.model,
            "output": output,
            "usage": {
                "input_tokens": usage.prompt,
                "input_tokens_details": {"cached_tokens": usage.cached},
                "output_tokens": usage.output,
                "output_tokens_details": {"reasoning_tokens": usage.reasoning},
                "total_tokens": usage.prompt + usage.output,
            },
        }


class Messages:
    """Anthropic's messages API, in which every request states a token limit."""

    limit_only: ClassVar[bool] = True
    reasons: ClassVar[bool] = True

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._last_block = 1 if facts.usage.reasoning else 0

    def opening(self) -> bytes:
        """Return the message, still empty, and its first block."""
        message = self._message([], None, {**self._input_usage(), "output_tokens": 0})
        start = _event(b"message_start", b'"message":' + encode(message))
        return start + self._start_block(0)

    def chunk(self, first: int, tokens: int) -> bytes:
        """See `Dialect.chunk`."""
        reasoning = self._facts.usage.reasoning
        text = piece(first, tokens)
        if first < reasoning:
            return _delta(0, b'"type":"thinking_delta","thinking":"%b"' % text)
        data = _delta(self._last_block, b'"type":"text_delta","text":"%b"' % text)
        if 0 < reasoning == first:
            return _event(b"content_block_stop", b'"index":0') + self._start_block(1) + data
        return data

    def closing(self) -> bytes:
        """Return the end of the last block and of the message, with its token count."""
        usage = encode({"output_tokens": self._facts.usage.output})
        delta = encode({"stop_reason": self._stop_reason(), "stop_sequence": None})
        return (
            _event(b"content_block_stop", b'"index":%d' % self._last_block)
            + _event(b"message_delta", b'"delta":%b,"usage":%b' % (delta, usage))
            + b'event: message_stop\ndata: {"type":"message_stop"}\n\n'
        )

    def whole(self) -> bytes:
        """See `Dialect.whole`."""
        usage = self._facts.usage
        blocks: list[dict[str, Any]] = []
        if usage.reasoning:
            thought = piece(0, usage.reasoning).decode()
            blocks.append({"type": "thinking", "thinking": thought, "signature": ""})
        text = piece(usage.reasoning, usage.output - usage.reasoning).decode()
        blocks.append({"type": "text", "text": text})
        counts = {**self._input_usage(), "output_tokens": usage.output}
        return encode(self._message(blocks, self._stop_reason(), counts))

    def _start_block(self, index: int) -> bytes:
        empty: dict[str, str] = {"type": "text", "text": ""}
        if index < self._last_block:
            empty = {"type": "thinking", "thinking": "", "signature": ""}
        return _event(b"content_block_start", b'"index":%d,"content_block":%b' % (
            index, encode(empty),
        ))  # fmt: skip

    def _stop_reason(self) -> str:
        return "end_turn" if self._facts.finish == "stop" else "max_tokens"

    def _input_usage(self) -> dict[str, int]:
        """Return the input counts: only in this API, `input_tokens` exclude tokens from the
        cache.
        """
        usage = self._facts.usage
        fresh = usage.prompt - usage.cached
        return {"input_tokens": fresh, "cache_read_input_tokens": usage.cached}

    def _message(
        self, content: list[dict[str, Any]], stop_reason: str | None, usage: dict[str, int]
    ) -> dict[str, Any]:
        return {
            "id": f"msg_{self._facts.number}",
            "type": "message",
            "role": "assistant",
            "model": self._facts.model,
            "content": content,
            "stop_reason": stop_reason,
            "stop_sequence": None,
            "usage": usage,
        }


def _event(kind: bytes, fields: bytes) -> bytes:
    return b'event: %b\ndata: {"type":"%b",%b}\n\n' % (kind, kind, fields)


def _delta(index: int, delta: bytes) -> bytes:
    return _event(b"content_block_delta", b'"index":%d,"delta":{%b}' % (index, delta))
