"""A model's output so far: text, tool calls, usage, and the arrival time of each part."""

from __future__ import annotations

from itertools import pairwise
from statistics import median
from typing import Any

import msgspec

from agentbench_tui.agents.model_apis.token_counts import without_output
from agentbench_tui.model.answer import Answer, ToolCall, Usage
from agentbench_tui.model.text.not_json import NOT_JSON

_MOST_TOKENS_A_BYTE = 1_000
"""Maximum tokens per byte of an answer's body.

Higher counts are wrong: a short answer with hidden reasoning has some hundred bytes around it.
"""


_MOST_CHECKS = 8
"""Maximum number of checks whether the arguments of one call are complete."""


class CallDraft(msgspec.Struct):
    """A tool call whose arguments are still arriving."""

    place: int
    """Its place among the calls of the answer, as the server counts."""
    order: int
    """Calls are sorted by it, and equal ones by their start."""
    name: str = ""
    id: str | None = None
    arguments: list[str] = []
    """Pieces of the JSON text."""
    parsed: dict[str, Any] | None = None
    """Arguments of servers that send them as an object rather than as text."""
    renamed: bool = False
    """The server repeated the name of a call whose arguments may be complete, without more of
    them: either this call continues in the next part, or another one of the same tool begins.
    """
    failed_checks: int = 0
    """How often `is_complete` parsed the arguments without success."""

    @property
    def has_arguments(self) -> bool:
        """Return whether any part of the arguments has arrived."""
        return self.parsed is not None or bool(self.arguments)

    def is_complete(self) -> bool:
        """Return whether the received arguments are a complete JSON object."""
        if self.parsed is not None:
            return True
        if not self.arguments or not self.arguments[-1].rstrip().endswith("}"):
            return False
        # Reading them again at every part would take quadratic time.
        if self.failed_checks == _MOST_CHECKS:
            return False
        self.arguments = ["".join(self.arguments)]
        if _arguments(self.arguments[0]) is None:
            self.failed_checks += 1
            return False
        return True


class Transcript:
    """Collects one answer, streamed or not."""

    def __init__(self, tool_names: dict[str, str]) -> None:
        """`tool_names` maps each tool name that had to change to the suite's name."""
        self.model: str | None = None
        self.finish_reason: str | None = None
        self.ended = False
        """Whether the server said that the answer is complete."""
        self.usage: Usage | None = None
        self.refused = False
        self.counts: dict[str, Any] = {}
        """Counts of the messages API so far, by its own names."""
        self.calls: list[CallDraft] = []
        """In the order in which they began."""
        # A hostile stream may begin as many calls as it has bytes: none is searched for.
        self._latest_calls: dict[int, CallDraft] = {}
        self._calls_by_id: dict[tuple[int | None, str], CallDraft] = {}
        self._tool_names = tool_names
        self.texts: list[str] = []
        """Pieces of the answer, without reasoning."""
        self.content_ns: list[int] = []
        """When each content-bearing event of a stream was received."""
        self.other_chunks = 0
        """Events with content of choices other than the answer (`n` above 1)."""
        self.received_bytes = 0
        """Size of the body, set by its reader: used to check the server's count."""
        self.first_output_ns: int | None = None
        """Time of the first event that is not reasoning."""

    @property
    def began(self) -> bool:
        """Return whether any content arrived."""
        return bool(self.content_ns or self.texts or self.calls)

    @property
    def complete(self) -> bool:
        """Return whether the answer is complete."""
        return self.ended or self.finish_reason is not None

    @property
    def is_empty(self) -> bool:
        """Return whether the answer lacks content and a finish reason: a model with nothing to say
        ends with a reason, a proxy whose model is gone without one.
        """
        made = self.usage is not None and self.usage.output_tokens
        return self.finish_reason is None and not self.began and not made

    @property
    def is_one_text(self) -> bool:
        """Return whether a single event contained text, and nothing else but the model's name."""
        others = self.ended, self.finish_reason, self.usage, self.refused, self.counts
        is_alone = not (self.calls or self.other_chunks or any(others))
        return is_alone and len(self.texts) == len(self.content_ns) == 1

    def begin_call(
        self, place: int, name: str = "", ident: str | None = None, *, order: int | None = None
    ) -> CallDraft:
        """Add a tool call at that index, sorted by the index unless `order` is given."""
        draft = CallDraft(place, place if order is None else order, name, ident)
        self.calls.append(draft)
        self._latest_calls[place] = draft
        if ident is not None:
            self.give_id(draft, ident)
        return draft

    def latest_at(self, place: int) -> CallDraft | None:
        """Return the latest call at that index."""
        return self._latest_calls.get(place)

    def call_at(self, place: int) -> CallDraft:
        """Return the latest call at that index; a new one if there is none."""
        return self.latest_at(place) or self.begin_call(place)

    def call_with_id(self, place: int | None, ident: str) -> CallDraft | None:
        """Return the first call with that id at that index, or at any."""
        return self._calls_by_id.get((place, ident))

    def give_id(self, draft: CallDraft, ident: str) -> None:
        """Store the id of a call, which a stream may send late."""
        draft.id = ident
        for place in (draft.place, None):
            self._calls_by_id.setdefault((place, ident), draft)

    def add_text(self, text: str, received_ns: int = 0) -> None:
        """Add a piece of the answer; `received_ns` is 0 if it is not streamed."""
        if text:
            self.texts.append(text)
            self.mark(received_ns)

    def mark(self, received_ns: int, *, output: bool = True) -> None:
        """Record a content-bearing event; `output` is false for reasoning."""
        if received_ns:
            self.content_ns.append(received_ns)
            if output and self.first_output_ns is None:
                self.first_output_ns = received_ns

    @property
    def text(self) -> str:
        """Return the text without reasoning."""
        return "".join(self.texts)

    def answer(self, sent_ns: int) -> Answer:
        """Return the answer received so far, with times since `sent_ns`."""
        metadata: dict[str, Any] = {}
        times = self.content_ns
        ttft_ms = None
        if times:
            ttft_ms = (times[0] - sent_ns) / 1e6
            metadata["chunks"] = len(times)
            if len(times) > 1:
                gaps = [later - earlier for earlier, later in pairwise(times)]
                metadata["icl_ms"] = median(gaps) / 1e6
            if self.first_output_ns is not None:
                metadata["ttfo_ms"] = (self.first_output_ns - sent_ns) / 1e6
        if self.refused:
            metadata["refused"] = True
        return Answer(
            text=self.text,
            tool_calls=self.tool_calls(metadata),
            usage=self.counted(),
            ttft_ms=ttft_ms,
            model=self.model,
            finish_reason=self.finish_reason,
            metadata=metadata,
        )

    def counted(self) -> Usage | None:
        """Return the server's count, or the number of streamed chunks if it sent no possible
        one.
        """
        usage = self.usage
        if usage is not None and not self._can_have(usage.output_tokens):
            usage = without_output(usage)
        if (usage is None or usage.output_tokens is None) and self.content_ns:
            known = usage or Usage()
            chunks = len(self.content_ns) + self.other_chunks
            return msgspec.structs.replace(known, output_tokens=chunks, estimated=True)
        return usage

    def _can_have(self, output_tokens: int | None) -> bool:
        """Return whether an answer of this size can have this many tokens.

        An answer with content has more than 0, which servers report that do not count.
        """
        if output_tokens == 0:
            return not self.began
        return (output_tokens or 0) <= _MOST_TOKENS_A_BYTE * self.received_bytes

    def tool_calls(self, metadata: dict[str, Any]) -> tuple[ToolCall, ...]:
        calls: list[ToolCall] = []
        for draft in sorted(self.calls, key=lambda draft: draft.order):
            name = self._tool_names.get(draft.name, draft.name)
            written = "".join(draft.arguments)
            arguments = draft.parsed
            if arguments is None:
                arguments = _arguments(written)
            if arguments is None:
                # The agent's own mistake, so an answer: with no arguments, and what it wrote.
                metadata.setdefault("invalid_arguments", {})[str(len(calls))] = written
            calls.append(ToolCall(name, arguments or {}, draft.id))
        return tuple(calls)


def _arguments(written: str) -> dict[str, Any] | None:
    if not written.strip():
        return {}
    try:
        return msgspec.json.decode(written, type=dict[str, Any])
    except NOT_JSON:
        return None


def place_of(index: float | str | None) -> int | None:
    """Return the index that a server gives a call or a choice.

    Some proxies send it as text; None if it is missing or invalid.
    """
    try:
        return None if index is None else int(index)
    except (ValueError, OverflowError):
        return None


def ident_of(ident: str | int | None) -> str | None:
    """Return the id of a call, which may be a number; None if there is none."""
    return None if ident is None or ident == "" else str(ident)
