"""`reference:NAME?option=value`: seeded agents that replace real ones in tests and tutorials.

For demonstrations and tests. What they answer follows from the request's seed (and attempt)
alone, so a rerun gives the same. All their answers are marked `simulated` and never rank with
measured ones. They know the expected answer, which no real agent does.

- `perfect` gives what is expected.
- `noisy` does so with probability `accuracy`.
- `slow` takes `latency_ms` ± `jitter` × `latency_ms`.
- `flaky` fails with probability `failure_rate`, with one of `kinds`.
- `rate-limited` refuses what goes beyond `requests_per_s`, and says when to come back.
- `streaming` answers in `tokens` pieces: the first after `ttft_ms`, the others `itl_ms` apart.
- `noop` answers nothing, at once: what is left is the harness.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated

from pydantic import Field, field_validator

from agentbench_tui.agents.adapter import AgentOptions, NameList, OpenContext
from agentbench_tui.agents.recorded.expected import answer_expected, answer_wrong
from agentbench_tui.agents.target import parse_target
from agentbench_tui.model.agent import AgentSpec
from agentbench_tui.model.answer import (
    UNMEASURED,
    Agent,
    AgentFailure,
    Answer,
    FailureKind,
    Request,
    Usage,
)
from agentbench_tui.model.clock import monotonic, perf_counter
from agentbench_tui.model.errors import UsageError, did_you_mean
from agentbench_tui.model.identity import derive_seed
from agentbench_tui.model.text.plain_number import plain

Share = Annotated[float, Field(ge=0, le=1)]
NotNegative = Annotated[float, Field(ge=0)]

_OF_AGENT: dict[str, frozenset[str]] = {
    "perfect": frozenset(),
    "noisy": frozenset({"accuracy"}),
    "slow": frozenset({"latency_ms", "jitter"}),
    "flaky": frozenset({"failure_rate", "kinds"}),
    "rate-limited": frozenset({"requests_per_s"}),
    "streaming": frozenset({"ttft_ms", "tokens", "itl_ms"}),
    "noop": frozenset(),
}
"""Reference agents, and the options that each one takes."""


class Options(AgentOptions):
    """Options of all reference agents; each accepts only its own."""

    accuracy: Share = 0.8
    latency_ms: NotNegative = 200.0
    jitter: Share = 0.1
    """Share of `latency_ms` by which it varies, uniformly up and down."""
    failure_rate: Share = 0.2
    kinds: NameList = Field(default_factory=lambda: ["server", "connection"])
    """Failure kinds to draw from."""
    requests_per_s: Annotated[float, Field(gt=0)] = 10.0
    ttft_ms: NotNegative = 50.0
    tokens: Annotated[int, Field(ge=1, le=100_000)] = 20
    itl_ms: NotNegative = 5.0
    """Time between two tokens."""

    @field_validator("kinds")
    @classmethod
    def _known_kinds(cls, kinds: list[str]) -> list[str]:
        allowed = [str(kind) for kind in FailureKind if kind not in UNMEASURED]
        for kind in kinds:
            if kind not in allowed:
                raise ValueError(f"no failure kind `{kind}`{did_you_mean(kind, allowed)}")
        if not kinds:
            raise ValueError("name at least one failure kind")
        return kinds


def check(spec: AgentSpec, options: Options) -> list[str]:
    """Return an unknown name, and options that belong to another reference agent."""
    name = parse_target(spec.target).rest
    if name not in _OF_AGENT:
        known = ", ".join(_OF_AGENT)
        return [f'no reference agent "{name}"{did_you_mean(name, _OF_AGENT)}; there are {known}']
    own = _OF_AGENT[name]
    takes = f"it takes {', '.join(sorted(own))}" if own else "it takes none"
    foreign = sorted(options.model_fields_set - own)
    return [f"reference agent `{name}` has no option `{option}`; {takes}" for option in foreign]


def open(spec: AgentSpec, options: Options, context: OpenContext) -> Agent:  # noqa: A001, ARG001
    """Return a session with the reference agent. Raises UsageError for what `check` reports."""
    problems = check(spec, options)
    if problems:
        raise UsageError(problems[0])
    return _AGENTS[parse_target(spec.target).rest](options)


class _Reference:
    """Common part of all reference agents: no processes, nothing to open."""

    pids: tuple[int, ...] = ()
    peak_memory_mb: float | None = None
    cpu_seconds: float | None = None

    def __init__(self, options: Options) -> None:
        self._options = options

    async def start(self) -> None:
        """Do nothing."""

    async def close(self) -> None:
        """Do nothing."""


class Perfect(_Reference):
    """Returns the expected answer."""

    async def answer(self, request: Request) -> Answer:
        """Return the expected answer."""
        return answer_expected(request.case)


class Noisy(_Reference):
    """Returns the expected answer with probability `accuracy`, otherwise a wrong one."""

    async def answer(self, request: Request) -> Answer:
        """Return the expected or a wrong answer, drawn from the seed."""
        right = _draw(request.seed, "noisy") < self._options.accuracy
        return answer_expected(request.case) if right else answer_wrong(request.case)


class Slow(_Reference):
    """Answers after a delay."""

    async def answer(self, request: Request) -> Answer:
        """Return the expected answer after the delay."""
        shift = self._options.jitter * (2 * _draw(request.seed, "slow") - 1)
        await asyncio.sleep(self._options.latency_ms * (1 + shift) / 1000)
        return answer_expected(request.case)


class Flaky(_Reference):
    """Fails with probability `failure_rate`; another attempt draws again."""

    async def answer(self, request: Request) -> Answer:
        """Return the expected answer, or fail."""
        options = self._options
        if _draw(request.seed, "flaky", request.attempt) < options.failure_rate:
            place = int(_draw(request.seed, "kind", request.attempt) * len(options.kinds))
            raise AgentFailure(FailureKind(options.kinds[place]), "simulated failure")
        return answer_expected(request.case)


class RateLimited(_Reference):
    """Accepts `requests_per_s`, with bursts of at most one second's worth."""

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self._allowed = max(1.0, options.requests_per_s)
        self._left = self._allowed
        self._counted_at = monotonic()

    async def answer(self, request: Request) -> Answer:
        """Return the expected answer, or fail as `rate_limited` with the time until the
        next slot.
        """
        rate, now = self._options.requests_per_s, monotonic()
        self._left = min(self._allowed, self._left + (now - self._counted_at) * rate)
        self._counted_at = now
        if self._left < 1:
            wait_s = (1 - self._left) / rate
            raise AgentFailure(
                FailureKind.RATE_LIMITED,
                f"simulated limit of {plain(rate)}/s",
                retry_after_s=wait_s,
            )
        self._left -= 1
        return answer_expected(request.case)


class Streaming(_Reference):
    """Answers token by token, as a model server does."""

    async def answer(self, request: Request) -> Answer:
        """Return the expected answer after all its tokens, with the time of the first."""
        options, started = self._options, perf_counter()
        await asyncio.sleep(options.ttft_ms / 1000)
        ttft_ms = (perf_counter() - started) * 1000
        for nth in range(1, options.tokens):
            due = started + (options.ttft_ms + nth * options.itl_ms) / 1000
            await asyncio.sleep(max(0.0, due - perf_counter()))
        expected = answer_expected(request.case)
        return Answer(
            text=expected.text,
            data=expected.data,
            tool_calls=expected.tool_calls,
            usage=Usage(input_tokens=len(request.text().split()), output_tokens=options.tokens),
            ttft_ms=ttft_ms,
            simulated=True,
        )


class Noop(_Reference):
    """Returns an empty answer immediately."""

    async def answer(self, request: Request) -> Answer:  # noqa: ARG002 (the same for all)
        """Return an empty answer."""
        return _NOTHING


_NOTHING = Answer(simulated=True)

_AGENTS: dict[str, Callable[[Options], Agent]] = {
    "perfect": Perfect,
    "noisy": Noisy,
    "slow": Slow,
    "flaky": Flaky,
    "rate-limited": RateLimited,
    "streaming": Streaming,
    "noop": Noop,
}


def _draw(seed: int, *key: str | int) -> float:
    """Return a number in 0..1 determined by the seed and the key."""
    return derive_seed(seed, *key) / (1 << 63)
