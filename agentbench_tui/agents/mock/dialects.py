"""Writes the practice server's answers as chat completions and completions.

A dialect is made for one answer and writes bytes of events or of a whole body; it knows nothing
of when they are sent. The text of token k is word k of a fixed list, so an answer's length is all
that differs.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar, Protocol

import msgspec

from agentbench_tui.model.clock import unix_time

WORDS = (
    b"one", b"two", b"three", b"four", b"five", b"six", b"seven", b"eight",
    b"nine", b"ten", b"eleven", b"twelve", b"thirteen", b"fourteen", b"fifteen", b"sixteen",
)  # fmt: skip
"""Token k of every answer is ` ` + `WORDS[k % 16]`."""
DONE = b"data: [DONE]\n\n"
CREATED = int(unix_time())
encode = msgspec.json.encode


class Usage(msgspec.Struct, frozen=True):
    """Token counts of one answer."""

    prompt: int
    cached: int
    output: int
    reasoning: int


class Facts(msgspec.Struct, frozen=True):
    """Data from which an answer is written."""

    number: int
    model: str
    usage: Usage
    finish: str
    """`stop`, or `length` if the request specified the length."""
    include_usage: bool
    tool: str | None = None
    """The tool to call instead of saying something."""


class Dialect(Protocol):
    """Writes one answer."""

    limit_only: ClassVar[bool]
    """Whether the tokens of a request are a limit, rather than the wanted length."""
    reasons: ClassVar[bool]
    """Whether it has a field for reasoning."""

    def __init__(self, facts: Facts) -> None: ...

    def opening(self) -> bytes:
        """Return the events before the first token."""

    def chunk(self, first: int, tokens: int) -> bytes:
        """Return the event of tokens `first` … `first + tokens - 1`, all reasoning or none."""

    def closing(self) -> bytes:
        """Return the events after the last token."""

    def whole(self) -> bytes:
        """Return the answer in one piece."""


@lru_cache(maxsize=4096)
def _piece(place: int, tokens: int) -> bytes:
    return b"".join(b" " + WORDS[(place + i) % len(WORDS)] for i in range(tokens))


def piece(first: int, tokens: int) -> bytes:
    """Return the text of these tokens: plain letters and spaces, which need no JSON escapes."""
    if tokens > len(WORDS):
        return b"".join(piece(start, min(len(WORDS), first + tokens - start))
                        for start in range(first, first + tokens, len(WORDS)))  # fmt: skip
    return _piece(first % len(WORDS), tokens)


class Chat:
    """Chat completions."""

    limit_only: ClassVar[bool] = False
    reasons: ClassVar[bool] = True

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._head = b'data: {"id":"chatcmpl-%d","object":"chat.completion.chunk","created":%d,' % (
            facts.number, CREATED,
        ) + b'"model":%b,"choices":[' % encode(facts.model)  # fmt: skip

    def opening(self) -> bytes:
        """Return the role, without content."""
        return self._delta(b'{"role":"assistant","content":""}')

    def chunk(self, first: int, tokens: int) -> bytes:
        """See `Dialect.chunk`."""
        facts = self._facts
        if facts.tool is not None:
            call = {"index": 0, **_call(facts)}
            return self._delta(encode({"tool_calls": [call]}))
        reasoning = first < facts.usage.reasoning
        name = b"reasoning_content" if reasoning else b"content"
        return self._delta(b'{"%b":"%b"}' % (name, piece(first, tokens)))

    def closing(self) -> bytes:
        """Return the finish reason, usage if requested, and the end mark."""
        facts = self._facts
        end = self._delta(b"{}", encode(facts.finish))
        if facts.include_usage:
            end += self._head + b'],"usage":%b}\n\n' % encode(_usage(facts.usage))
        return end + DONE

    def whole(self) -> bytes:
        """See `Dialect.whole`."""
        facts, usage = self._facts, self._facts.usage
        message: dict[str, Any] = {"role": "assistant", "content": None}
        if facts.tool is not None:
            message["tool_calls"] = [_call(facts)]
        else:
            spoken = usage.output - usage.reasoning
            message["content"] = piece(usage.reasoning, spoken).decode()
            if usage.reasoning:
                message["reasoning_content"] = piece(0, usage.reasoning).decode()
        return encode(
            {
                "id": f"chatcmpl-{facts.number}",
                "object": "chat.completion",
                "created": CREATED,
                "model": facts.model,
                "choices": [{"index": 0, "message": message, "finish_reason": facts.finish}],
                "usage": _usage(usage),
            }
        )

    def _delta(self, delta: bytes, finish: bytes = b"null") -> bytes:
        return b'%b{"index":0,"delta":%b,"finish_reason":%b}]}\n\n' % (self._head, delta, finish)


class Completions:
    """The older completions API."""

    limit_only: ClassVar[bool] = False
    reasons: ClassVar[bool] = False

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._head = b'{"id":"cmpl-%d","object":"text_completion","created":%d,"model":%b' % (
            facts.number, CREATED, encode(facts.model),
        )  # fmt: skip

    def opening(self) -> bytes:
        """Return nothing: the text comes first."""
        return b""

    def chunk(self, first: int, tokens: int) -> bytes:
        """See `Dialect.chunk`."""
        return b"data: " + self._text(piece(first, tokens), b"null") + b"}\n\n"

    def closing(self) -> bytes:
        """Return the finish reason, usage if requested, and the end mark."""
        facts = self._facts
        end = b"data: " + self._text(b"", encode(facts.finish)) + b"}\n\n"
        if facts.include_usage:
            usage = encode(_usage(facts.usage))
            end += b'data: %b,"choices":[],"usage":%b}\n\n' % (self._head, usage)
        return end + DONE

    def whole(self) -> bytes:
        """See `Dialect.whole`."""
        facts = self._facts
        text = self._text(piece(0, facts.usage.output), encode(facts.finish))
        return b'%b,"usage":%b}' % (text, encode(_usage(facts.usage)))

    def _text(self, text: bytes, finish: bytes) -> bytes:
        choice = b'{"index":0,"text":"%b","logprobs":null,"finish_reason":%b}' % (text, finish)
        return b'%b,"choices":[%b]' % (self._head, choice)


def _call(facts: Facts) -> dict[str, Any]:
    function = {"name": facts.tool, "arguments": "{}"}
    return {"id": f"call_{facts.number}", "type": "function", "function": function}


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.output,
        "total_tokens": usage.prompt + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }
