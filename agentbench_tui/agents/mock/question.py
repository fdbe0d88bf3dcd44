"""Content of a request to the practice server, independent of the API."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import msgspec

from agentbench_tui.agents.mock.options import MOST_TOKENS, MockOptions
from agentbench_tui.model.text.not_json import NOT_JSON

PREFIX_WORDS = 64
"""Prefixes of whole multiples of this many words are cached."""
_MOST_PREFIXES = 1_000_000


class _StreamOptions(msgspec.Struct):
    include_usage: bool = False


class Body(msgspec.Struct):
    """The fields of all APIs that the server uses."""

    model: str = ""
    messages: list[dict[str, Any]] | None = None
    prompt: Any = None
    input: Any = None
    system: Any = None
    instructions: Any = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    max_output_tokens: int | None = None
    stream: bool | None = None
    stream_options: _StreamOptions | None = None
    tools: list[dict[str, Any]] | None = None


_decode = msgspec.json.Decoder(Body).decode


class Question:
    """One parsed request."""

    __slots__ = ("asked_tokens", "include_usage", "model", "streamed", "tool", "words")

    def __init__(self, body: bytes) -> None:
        """Raises ValueError with the fault of the body."""
        try:
            fields = _decode(body)
            self.words = [word for text in _texts(fields) for word in text.split()]
            """All words of the prompt: what this server counts as its tokens."""
        except NOT_JSON as error:
            raise ValueError(f"the request cannot be read: {error}") from None
        limits = (fields.max_completion_tokens, fields.max_tokens, fields.max_output_tokens)
        asked = next((limit for limit in limits if limit is not None), None)
        if asked is not None and not 1 <= asked <= MOST_TOKENS:
            raise ValueError(f"max_tokens is not between 1 and {MOST_TOKENS}")
        self.asked_tokens = asked
        self.model = fields.model
        self.streamed = fields.stream is True
        self.include_usage = fields.stream_options is not None and (
            fields.stream_options.include_usage
        )
        self.tool = _first_tool(fields)
        """Name of the first tool, when the last turn is a user's."""

    def tokens(self, options: MockOptions, *, limit_only: bool) -> int:
        """Return the tokens of the answer; `limit_only`: the requested number is a limit, as in
        the messages API.
        """
        if self.asked_tokens is None:
            return options.tokens
        return min(self.asked_tokens, options.tokens) if limit_only else self.asked_tokens


def _texts(fields: Body) -> Iterator[str]:
    turns: list[Any] = [fields.system, fields.instructions, fields.prompt]
    turns += fields.messages or ()
    turns += fields.input if isinstance(fields.input, list) else [fields.input]
    for turn in turns:
        yield from _parts(turn)


def _parts(value: Any) -> Iterator[str]:
    """Yield the texts in a turn: itself, its content, or the text parts of its content."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from _parts(part)
    elif isinstance(value, dict):
        for name in ("content", "text"):
            if name in value:
                yield from _parts(value[name])


def _first_tool(fields: Body) -> str | None:
    if not fields.tools or not fields.messages or fields.messages[-1].get("role") != "user":
        return None
    function = fields.tools[0].get("function")
    name = function.get("name") if isinstance(function, dict) else None
    return name if isinstance(name, str) else None


class PrefixCache:
    """Remembers prompt prefixes by whole blocks of words, as servers do by tokens."""

    def __init__(self) -> None:
        self._seen: set[bytes] = set()

    def cached_words(self, words: list[str]) -> int:
        """Return how many of the first words are cached, and cache all of them."""
        digest, cached, unbroken = hashlib.blake2b(digest_size=16), 0, True
        for start in range(0, len(words) - PREFIX_WORDS + 1, PREFIX_WORDS):
            digest.update("\n".join(words[start : start + PREFIX_WORDS]).encode() + b"\n")
            key = digest.copy().digest()
            unbroken = unbroken and key in self._seen
            if unbroken:
                cached = start + PREFIX_WORDS
            elif len(self._seen) < _MOST_PREFIXES:
                self._seen.add(key)
        return cached
