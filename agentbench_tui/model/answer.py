"""What is sent to an agent and what comes back: case, request, answer, failure, score.

These cross every boundary of the program and are written to the store as JSON, so they are
frozen msgspec structs: cheap to make, cheap to encode.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

import msgspec


class FailureKind(StrEnum):
    """Why a sample has no valid answer."""

    RATE_LIMITED = "rate_limited"
    """The server refused because of too many requests (429)."""
    TIMEOUT = "timeout"
    """No complete answer before the deadline."""
    CONNECTION = "connection"
    """The connection could not be made, or broke before the first byte of the answer."""
    SERVER = "server"
    """The server failed (5xx), or refused the request (4xx other than 429)."""
    TRUNCATED = "truncated"
    """The answer began but did not come to its end."""
    PARSE = "parse"
    """A complete answer that is not of the agreed form."""
    LIMIT = "limit"
    """The agent went over a memory, token or cost limit."""
    AGENT = "agent"
    """The agent itself raised, exited or reported an error."""
    GRADER = "grader"
    """The answer is there, but a scorer failed on it."""
    HARNESS = "harness"
    """A fault of agentbench or of the machine it runs on."""


UNMEASURED = frozenset({FailureKind.GRADER, FailureKind.HARNESS})
"""Failures that say nothing about the agent: left out of its metrics, and shown."""

_PASSING = frozenset({FailureKind.RATE_LIMITED, FailureKind.CONNECTION, FailureKind.SERVER})
"""Kinds of failures that may pass, unless a failure says that it is final."""

INFRASTRUCTURE = _PASSING | {FailureKind.HARNESS}
"""Failures on the way to the agent rather than of the agent: a rerun replaces them."""


class Usage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Tokens of one answer. None means that the agent did not report them."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    """Part of `input_tokens` that was read from a prompt cache."""
    reasoning_tokens: int | None = None
    """Part of `output_tokens` that was spent on hidden reasoning."""
    estimated: bool = False
    """True if the counts are agentbench's own (chunk counts) rather than the server's."""
    cache_write_tokens: int | None = None
    """Part of `input_tokens` that was written to a prompt cache; disjoint from `cached_tokens`."""
    cache_write_1h_tokens: int | None = None
    """Part of `cache_write_tokens` that the cache keeps for an hour rather than five minutes."""

    @property
    def total(self) -> int | None:
        """Return input plus output tokens, or None if neither is known."""
        if self.input_tokens is None and self.output_tokens is None:
            return None
        return (self.input_tokens or 0) + (self.output_tokens or 0)


class ToolCall(msgspec.Struct, frozen=True, omit_defaults=True):
    """One tool call that the agent made or requested."""

    name: str
    arguments: dict[str, Any] = msgspec.field(default_factory=dict)
    id: str | None = None
    result: Any = None
    """Result of the tool, if the agent ran it itself."""


class Message(msgspec.Struct, frozen=True, omit_defaults=True):
    """One turn of a conversation."""

    role: str
    """`system`, `user`, `assistant` or `tool`."""
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


def plain_turn(turn: Message) -> dict[str, Any]:
    """Return a turn as agents outside this process receive it: role and content, and the calls or
    the id of the call that it belongs to, if it has them."""
    plain: dict[str, Any] = {"role": turn.role, "content": turn.content}
    if turn.tool_calls:
        plain["tool_calls"] = msgspec.to_builtins(turn.tool_calls)
    if turn.tool_call_id is not None:
        plain["tool_call_id"] = turn.tool_call_id
    return plain


class Span(msgspec.Struct, frozen=True, omit_defaults=True):
    """A phase of the agent's work, reported by the agent."""

    name: str
    start_ms: float
    """Since the request was sent."""
    duration_ms: float
    attributes: dict[str, Any] = msgspec.field(default_factory=dict)


class Case(msgspec.Struct, frozen=True, omit_defaults=True):
    """One input of a task benchmark, with the expected answer."""

    id: str
    input: Any
    """The question: text, or any JSON value that the agent understands."""
    expected: Any = None
    """Expected value for scorers; its form depends on the scorer."""
    messages: tuple[Message, ...] = ()
    """Turns before the input (a system prompt, earlier dialogue)."""
    tools: tuple[dict[str, Any], ...] = ()
    """JSON-schema function definitions `{name, description, parameters}` that may be called."""
    cluster: str | None = None
    """Cases that share a source (one passage, one repository) share a cluster."""
    metadata: dict[str, Any] = msgspec.field(default_factory=dict)

    @property
    def ends_with_tool_result(self) -> bool:
        """Return whether its turns end with a tool's result. They hold the input then, as the last
        turn of the user, and the agent continues from the result."""
        if not self.messages or self.messages[-1].role != "tool":
            return False
        turns = (turn.content for turn in reversed(self.messages) if turn.role == "user")
        return bool(next(turns, None) == self.input)


class Request(msgspec.Struct, frozen=True):
    """One request to an agent: a case at one observation key."""

    case: Case
    seed: int
    """Derived from the observation key; the same in every rerun."""
    repeat: int = 0
    iteration: int = 0
    attempt: int = 0
    warmup: bool = False
    time_limit_s: float | None = None
    parameters: Mapping[str, Any] = {}

    def conversation(self) -> tuple[Message, ...]:
        """Return all turns to send: the case's messages, then its input as the user's turn, unless
        the messages hold it and end with a tool's result."""
        if self.case.ends_with_tool_result:
            return self.case.messages
        return (*self.case.messages, Message("user", self.text()))

    def text(self) -> str:
        """Return the input as text; structured input as compact JSON."""
        given = self.case.input
        return given if isinstance(given, str) else msgspec.json.encode(given).decode()


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """Answer of an agent. Only reported fields are filled in."""

    text: str = ""
    data: Any = None
    """Structured output, if the agent returns one."""
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None
    ttft_ms: float | None = None
    """From send to the first content-bearing event; None when not streamed."""
    messages: tuple[Message, ...] = ()
    """Turns between the input and the answer (tool calls and their results)."""
    spans: tuple[Span, ...] = ()
    model: str | None = None
    """The model that the server says it used."""
    finish_reason: str | None = None
    api_calls: int = 1
    """Requests to a model or server that this answer took."""
    cost_usd: float | None = None
    """Cost as the agent reports it; otherwise computed from the price table."""
    simulated: bool = False
    metadata: dict[str, Any] = msgspec.field(default_factory=dict)


class AgentFailure(Exception):
    """Raised by an agent without a valid answer. A result, not an error of agentbench.

    Raises ValueError for an invalid FailureKind or wait, and TypeError for a partial answer that is
    not an Answer, because third-party agents raise it too.
    """

    def __init__(
        self,
        kind: FailureKind,
        detail: str,
        *,
        retry_after_s: float | None = None,
        partial: Answer | None = None,
        final: bool = False,
    ) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = FailureKind(kind)
        self.detail = str(detail)
        if retry_after_s is not None and not 0 <= float(retry_after_s) < math.inf:
            raise ValueError(f"retry_after_s is {retry_after_s}, not a time from now on")
        self.retry_after_s = None if retry_after_s is None else float(retry_after_s)
        """Wait requested by the server; None without one."""
        if not isinstance(partial, Answer | None):
            raise TypeError(f"partial is {type(partial).__name__}, not an Answer")
        self.partial = partial
        """Data that arrived before the failure; stored with the observation."""
        self.final = bool(final)
        """Whether the same request would fail again, such as one that is refused as invalid."""

    @property
    def may_pass(self) -> bool:
        """Return whether another attempt may succeed; others are not retried."""
        return self.kind in _PASSING and not self.final


class Agent(Protocol):
    """The thing under test: one session, opened once per repeat and used for many cases."""

    async def start(self) -> None:
        """Open the session (process, connection). Raises AgentFailure."""

    async def answer(self, request: Request) -> Answer:
        """Answer one case. Raises AgentFailure; may be canceled at its deadline."""

    async def close(self) -> None:
        """End the session and everything it started. Never raises for an ended session."""

    @property
    def pids(self) -> tuple[int, ...]:
        """Return root processes of the session, for the samplers; empty if it has none."""

    @property
    def peak_memory_mb(self) -> float | None:
        """Return the highest resident memory of the session's process trees, in MB of 10^6
        bytes; None without its own processes or samples.
        """

    @property
    def cpu_seconds(self) -> float | None:
        """Return user and system CPU time of the session's process trees so far, including ended
        processes as far as known; None without its own processes.
        """


class Score(msgspec.Struct, frozen=True, omit_defaults=True):
    """Score of one answer by one scorer."""

    scorer: str
    value: float
    """Credit in 0..1."""
    correct: bool
    """Whether it counts as right; for graded scorers `value` at or above their pass mark."""
    reason: str = ""
    """Why, in a sentence, when the credit is not full."""
    correctness: float | None = None
    completeness: float | None = None
    relevance: float | None = None
    metadata: dict[str, Any] = msgspec.field(default_factory=dict)


class Graded(NamedTuple):
    """What the scorers of a benchmark say of one answer."""

    credit: float | None
    """0..1; None without a scorer that counts."""
    correct: bool | None
    scores: Sequence[Score]
    """In the order of the suite, without those of scorers that failed."""
    figures: Mapping[str, float | tuple[float, float]]
    """Metric of the benchmark → its value for this answer; empty for a single scorer, whose figure
    is the credit.
    """


NOT_GRADED = Graded(None, None, (), {})
"""Of an answer that no scorer judged."""


class GraderFailure(Exception):
    """Raised by a scorer that could not score. Counts as failure kind `grader`."""


Scorer = Callable[[Case, Answer], Score | Awaitable[Score]]
"""A scorer: a plain callable, made by `scoring.registry.make_scorer` from its options."""
