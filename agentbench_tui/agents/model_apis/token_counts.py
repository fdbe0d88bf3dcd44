"""Token counts as servers report them, converted to agentbench's terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from agentbench_tui.model.answer import Usage
from agentbench_tui.model.text.not_json import NOT_JSON

_MAX_TOKENS = 10**9
"""Far beyond what any model takes in or gives."""


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """A server's counts for one answer; None if not reported."""

    given: int | None = None
    """All tokens given to the model, those from and for a cache included."""
    made: int | None = None
    """Tokens that the model made. Servers differ in whether reasoning is among them."""
    cached: int | None = None
    written: int | None = None
    written_1h: int | None = None
    reasoning: int | None = None
    total: int | None = None
    """The total, which shows where the reasoning was counted."""

    def usage(self) -> Usage | None:
        """Return the counts in agentbench's terms; None if neither input nor output is known.

        No request has 0 input tokens: that is what servers say that do not count.
        """
        given = self.given or None
        if given is None and self.made is None:
            return None
        apart = self._reasoning_apart()
        made = None if self.made is None else self.made + apart
        reasoning = _part_of(self.reasoning or apart or self.reasoning, made)
        written = _part_of(self.written, given)
        return Usage(
            given,
            made,
            _part_of(self.cached, given),
            reasoning,
            # The server does not say what the rest of its total is.
            estimated=bool(apart and not self.reasoning),
            cache_write_tokens=written,
            cache_write_1h_tokens=None if written is None else _part_of(self.written_1h, written),
        )

    def _reasoning_apart(self) -> int:
        """Return the reasoning tokens that `made` excludes, as xAI counts. OpenAI includes them.

        Gemini leaves them out, too, and shows it by its total alone. What its total has beyond
        input and output is output, unless that is as much as came from or went into a cache.
        """
        made, given, reasoning = self.made, self.given, self.reasoning or 0
        if made is None:
            return 0
        if self.total is None or not given:
            return reasoning if reasoning > made else 0
        rest = self.total - given - made
        if reasoning:
            return reasoning if rest == reasoning else 0
        cached, written = self.cached or 0, self.written or 0
        return rest if rest > 0 and rest not in {cached, written, cached + written} else 0


def without_output(usage: Usage) -> Usage | None:
    """Return `usage` with unknown output; None if nothing else is known."""
    left = msgspec.structs.replace(usage, output_tokens=None, reasoning_tokens=None)
    return None if left.total is None else left


def token_count(value: object) -> int | None:
    """Return a server's number of tokens; None if it cannot be one."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MAX_TOKENS:
        return value
    return None


def token_counts(usage: msgspec.Raw) -> dict[str, Any]:
    """Parse the counts separately from their answer, so that an error in them loses only the
    counts. Empty if invalid.
    """
    try:
        counts = msgspec.json.decode(usage)
    except NOT_JSON:
        return {}
    return counts if isinstance(counts, dict) else {}


def usage_of(usage: msgspec.Raw, given_name: str, made_name: str) -> Usage | None:
    """Return the usage, by a dialect's names of input and output tokens."""
    counts = token_counts(usage)
    given = _group(counts, f"{given_name}_details")
    made = _group(counts, f"{made_name}_details")
    return TokenCounts(
        given=token_count(counts.get(given_name)),
        made=token_count(counts.get(made_name)),
        cached=token_count(given.get("cached_tokens")),
        written=token_count(given.get("cache_write_tokens")),
        reasoning=token_count(made.get("reasoning_tokens")),
        total=token_count(counts.get("total_tokens")),
    ).usage()


def usage_of_messages(counts: dict[str, Any]) -> Usage | None:
    """Return the usage of the messages API, whose `input_tokens` exclude tokens read from and
    written to the cache.
    """
    fresh = token_count(counts.get("input_tokens"))
    read = token_count(counts.get("cache_read_input_tokens"))
    written = token_count(counts.get("cache_creation_input_tokens"))
    by_time = _group(counts, "cache_creation")
    return TokenCounts(
        given=None if fresh is None else fresh + (read or 0) + (written or 0),
        made=token_count(counts.get("output_tokens")),
        cached=read,
        written=written,
        written_1h=token_count(by_time.get("ephemeral_1h_input_tokens")),
    ).usage()


def _group(counts: dict[str, Any], name: str) -> dict[str, Any]:
    group = counts.get(name)
    return group if isinstance(group, dict) else {}


def _part_of(part: int | None, whole: int | None) -> int | None:
    """Return `part` if it can be a part of `whole`, else None."""
    return part if part is not None and (whole is None or part <= whole) else None
