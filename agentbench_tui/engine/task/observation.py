"""One observation: ask, wait up to the deadline, retry if that may help, score, store."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec

from agentbench_tui.model.answer import (
    NOT_GRADED,
    UNMEASURED,
    AgentFailure,
    Answer,
    FailureKind,
    Request,
)
from agentbench_tui.model.clock import perf_counter_ns
from agentbench_tui.model.errors import named
from agentbench_tui.model.identity import derive_seed
from agentbench_tui.model.text.plain_number import plain
from agentbench_tui.process.supervision import note_call

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentbench_tui.engine.run.context import StopSignal
    from agentbench_tui.engine.run.limiter import Limiter
    from agentbench_tui.engine.run.stopping import Budget, Progress
    from agentbench_tui.engine.task.grading import Scoring
    from agentbench_tui.engine.task.recorder import Recorder
    from agentbench_tui.model.answer import Agent, Case, Graded
    from agentbench_tui.model.suite import Constraints

DEFAULT_TIME_LIMIT_S = 600.0
"""Deadline of an answer if the suite sets none, so that nothing waits forever."""
OLDEST_SHOWN = 5
"""Cases in flight that the live row names, the oldest first."""
_FIRST_BACKOFF_S = 0.25
_LONGEST_BACKOFF_S = 30.0
_USAGE_NUMBERS = (
    "input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens", "cache_write_tokens",
    "cache_write_1h_tokens",
)  # fmt: skip
_ANSWER_NUMBERS = ("api_calls", "ttft_ms", "cost_usd")
_LARGEST = 10**15
"""Limit of any count, time or cost that an answer may report; float64 represents it exactly."""


class Interview(msgspec.Struct):
    """Everything that asking the cases of one execution needs; shared by its observations."""

    agent: Agent
    scoring: Scoring
    constraints: Constraints
    retries: int
    seed: int
    parameters: dict[str, object]
    seed_path: tuple[str, str]
    """(suite id, benchmark id): the part of the observation key above the case."""
    limiter: Limiter
    stop: StopSignal
    recorder: Recorder
    progress: Progress
    budget: Budget
    price: Callable[[Answer], float | None]
    clock_start_ns: int
    in_flight: dict[tuple[int, int, int], tuple[str, int, asyncio.Task[object]]] = msgspec.field(
        default_factory=dict
    )
    """Observation key → (case id, sent, task), for the live view and for canceling a case."""

    canceled: set[tuple[int, int, int]] = msgspec.field(default_factory=set)
    """Observations that a viewer canceled."""

    @property
    def pids(self) -> tuple[int, ...]:
        """See `context.Ongoing`."""
        return self.agent.pids

    def state(self) -> dict[str, Any]:
        """See `context.Ongoing`."""
        waiting = sorted(self.in_flight.values(), key=lambda entry: entry[1])
        return {
            "in_flight": self.limiter.in_flight,
            "limit": self.limiter.limit,
            "pause_s": self.limiter.pause_left_s,
            "observed": self.progress.observed,
            "answered": self.progress.answered,
            "outlook": self.progress.outlook,
            "oldest": [
                {"case_id": case_id, "age_s": (perf_counter_ns() - sent) / 1e9}
                for case_id, sent, _ in waiting[:OLDEST_SHOWN]
            ],
        }

    def resize(self, most_in_flight: int) -> str | None:
        """See `context.Ongoing`."""
        self.limiter.resize(most_in_flight)
        return None

    def set_rate(self, factor: float) -> str | None:  # noqa: ARG002  # Ongoing's signature
        """See `context.Ongoing`."""
        return "a task asks by its concurrency and has no rate"

    def pause(self) -> str | None:
        """See `context.Ongoing`."""
        return None

    def cancel(self, case_id: str) -> int:
        """See `context.Ongoing`."""
        canceled = 0
        for key, (waiting_id, _, task) in self.in_flight.items():
            if waiting_id == case_id:
                self.canceled.add(key)
                task.cancel()
                canceled += 1
        return canceled

    @property
    def time_limit_s(self) -> float:
        limit_ms = self.constraints.time_limit_ms
        return DEFAULT_TIME_LIMIT_S if limit_ms is None else limit_ms / 1000


class _Outcome(msgspec.Struct):
    answer: Answer | None
    failure: AgentFailure | None
    sent_ns: int
    done_ns: int

    @property
    def e2e_ms(self) -> float:
        return (self.done_ns - self.sent_ns) / 1e6


async def observe(interview: Interview, case_key: int, case: Case, repeat: int, nth: int) -> None:
    """Ask one case once (with retries), score the answer and record it all.

    Nothing that the agent or a scorer does escapes: it becomes a failure of this observation, as
    does a viewer's wish to cancel it. When the run stops before it was sent, or while it waits to
    be sent again, nothing is recorded.
    """
    key = (case_key, repeat, nth)
    task = asyncio.current_task()
    assert task is not None
    interview.in_flight[key] = (case.id, perf_counter_ns(), task)
    try:
        asked = await _ask(interview, key, case)
        if asked is None:
            return
        attempt, first_sent_ns, outcome = asked
        cost = None if outcome.answer is None else interview.price(outcome.answer)
        _apply_limits(interview, outcome, cost)
        graded = await _score(interview, key, case, outcome)
        failure = FailureKind.GRADER if graded is None else None
        if outcome.failure is not None:
            failure = outcome.failure.kind
            interview.recorder.failure("answer", failure, outcome.failure.detail, key, attempt)
        _record(
            interview, key, attempt, failure, outcome, graded or NOT_GRADED, first_sent_ns, cost
        )
    except asyncio.CancelledError:
        if key not in interview.canceled:
            raise
        _record_canceled(interview, key)
    finally:
        del interview.in_flight[key]
        if key in interview.canceled:
            interview.canceled.discard(key)
            task.uncancel()


def _record_canceled(interview: Interview, key: tuple[int, int, int]) -> None:
    """Store it as a failure of the harness: it affects no score, and the case is not asked
    again.
    """
    waiting_since_ns = interview.in_flight[key][1]
    kind = FailureKind.HARNESS
    interview.recorder.failure("answer", kind, "canceled on request", key, 0)
    interview.recorder.answer(
        key,
        0,
        kind,
        None,
        NOT_GRADED,
        sent_ms=(waiting_since_ns - interview.clock_start_ns) / 1e6,
        e2e_ms=None,
        waiting_ms=0.0,
        cost_usd=None,
    )
    interview.progress.observed += 1


def _record(
    interview: Interview,
    key: tuple[int, int, int],
    attempt: int,
    failure: FailureKind | None,
    outcome: _Outcome,
    graded: Graded,
    first_sent_ns: int,
    cost: float | None,
) -> None:
    interview.recorder.answer(
        key,
        attempt,
        failure,
        outcome.answer,
        graded,
        sent_ms=(outcome.sent_ns - interview.clock_start_ns) / 1e6,
        e2e_ms=outcome.e2e_ms,
        waiting_ms=(outcome.sent_ns - first_sent_ns) / 1e6,
        cost_usd=cost,
    )
    usage = outcome.answer.usage if outcome.answer is not None else None
    tokens = usage.total if usage is not None else None
    interview.budget.spend(cost, tokens)
    progress = interview.progress
    progress.tokens += tokens or 0
    progress.cost_usd += cost or 0.0
    progress.note(
        failure,
        graded.credit,
        graded.correct,
        outcome.e2e_ms,
        None if outcome.answer is None else outcome.answer.ttft_ms,
    )


async def _ask(
    interview: Interview, key: tuple[int, int, int], case: Case
) -> tuple[int, int, _Outcome] | None:
    """(attempts before the last, when the first one was sent, the last one's outcome).

    None when the run stopped before the attempt that would have been the last.
    """
    _, repeat, nth = key
    request = Request(
        case,
        derive_seed(interview.seed, *interview.seed_path, case.id, repeat, nth),
        repeat,
        nth,
        0,
        False,
        interview.time_limit_s,
        interview.parameters,
    )
    limiter = interview.limiter
    first_sent_ns = 0
    attempt = 0
    while await limiter.enter():
        try:
            outcome = await attempt_once(interview.agent, request, interview.time_limit_s)
        finally:
            limiter.leave()
        first_sent_ns = first_sent_ns or outcome.sent_ns
        failure = outcome.failure
        if failure is None:
            limiter.answered()
            return attempt, first_sent_ns, outcome
        if failure.kind is FailureKind.RATE_LIMITED:
            limiter.rate_limited(failure.retry_after_s)
        elif failure.may_pass and failure.retry_after_s is not None:
            limiter.pause(failure.retry_after_s)
        if not failure.may_pass or attempt >= interview.retries:
            return attempt, first_sent_ns, outcome
        interview.recorder.attempt(
            key,
            attempt,
            failure,
            sent_ms=(outcome.sent_ns - interview.clock_start_ns) / 1e6,
            e2e_ms=outcome.e2e_ms,
        )
        interview.recorder.failure("retry", failure.kind, failure.detail, key, attempt)
        _spend_partial(interview, failure.partial)
        if failure.kind is not FailureKind.RATE_LIMITED:
            await interview.stop.sleep(min(_LONGEST_BACKOFF_S, _FIRST_BACKOFF_S * 2**attempt))
        attempt += 1
        request = msgspec.structs.replace(request, attempt=attempt)
    return None


def _spend_partial(interview: Interview, partial: Answer | None) -> None:
    """Count the use of a failed attempt toward the run's budget."""
    if partial is not None and _impossible(partial) is None:
        tokens = None if partial.usage is None else partial.usage.total
        interview.budget.spend(interview.price(partial), tokens)


async def attempt_once(agent: Agent, request: Request, time_limit_s: float) -> _Outcome:
    """One attempt under its deadline. Times are taken here, before anything looks at the answer."""
    answer: Answer | None = None
    failure: AgentFailure | None = None
    sent_ns = perf_counter_ns()
    deadline = asyncio.timeout(time_limit_s)
    try:
        async with deadline:
            note_call(f"case {request.case.id}")
            answer = await agent.answer(request)
        done_ns = perf_counter_ns()
    except AgentFailure as raised:
        done_ns = perf_counter_ns()
        failure = raised
        answer = raised.partial
    except TimeoutError as raised:
        done_ns = perf_counter_ns()
        if deadline.expired():
            failure = AgentFailure(FailureKind.TIMEOUT, f"no answer within {time_limit_s:g} s")
        else:
            failure = AgentFailure(FailureKind.AGENT, named(raised))
    except Exception as raised:  # noqa: BLE001  # adapters raise AgentFailure; this is our fault
        done_ns = perf_counter_ns()
        failure = AgentFailure(FailureKind.HARNESS, f"{type(raised).__name__}: {raised}")
    if done_ns < sent_ns:
        failure = AgentFailure(FailureKind.HARNESS, "the clock went backwards during the request")
        answer, done_ns = None, sent_ns
    wrong = None if answer is None else _impossible(answer)
    if answer is not None and wrong is not None:
        failure = failure or AgentFailure(FailureKind.PARSE, wrong)
        answer = msgspec.structs.replace(
            answer, usage=None, ttft_ms=None, cost_usd=None, api_calls=1
        )
    return _Outcome(answer, failure, sent_ns, done_ns)


def _impossible(answer: Answer) -> str | None:
    """Which number of an answer cannot be, if one: it would spoil every sum that it goes into."""
    usage = answer.usage
    for part, names in ((usage, _USAGE_NUMBERS), (answer, _ANSWER_NUMBERS)):
        if part is None:
            continue
        for name in names:
            number = getattr(part, name)
            if number is not None and not 0 <= number <= _LARGEST:
                named = f"usage.{name}" if part is usage else name
                return f"{named} is {str(number)[:40]}, not a number from 0 to 10^15"
    return None


def _apply_limits(interview: Interview, outcome: _Outcome, cost: float | None) -> None:
    """An answer over a limit is a failure, however good it is."""
    if outcome.failure is not None or outcome.answer is None:
        return
    limits = interview.constraints
    if limits.time_limit_ms is not None and outcome.e2e_ms > limits.time_limit_ms:
        outcome.failure = AgentFailure(
            FailureKind.TIMEOUT,
            f"answered after {outcome.e2e_ms:.0f} ms, limit {plain(limits.time_limit_ms)} ms",
        )
        return
    usage = outcome.answer.usage
    tokens = usage.total if usage is not None else None
    if limits.token_limit is not None and tokens is not None and tokens > limits.token_limit:
        outcome.failure = AgentFailure(
            FailureKind.LIMIT, f"{tokens} tokens, limit {limits.token_limit}"
        )
    elif limits.cost_limit_usd is not None and cost is not None and cost > limits.cost_limit_usd:
        outcome.failure = AgentFailure(
            FailureKind.LIMIT, f"cost {cost:.6f} USD, limit {plain(limits.cost_limit_usd)} USD"
        )


async def _score(
    interview: Interview, key: tuple[int, int, int], case: Case, outcome: _Outcome
) -> Graded | None:
    """Return what the scorers say of the outcome; None if one of those that decide failed."""
    if outcome.failure is not None or outcome.answer is None:
        is_counted = outcome.failure is not None and outcome.failure.kind not in UNMEASURED
        return NOT_GRADED._replace(figures=interview.scoring.of_failure() if is_counted else {})

    def failed(detail: str) -> None:
        interview.recorder.failure("score", FailureKind.GRADER, detail, key)

    return await interview.scoring.grade(case, outcome.answer, failed)
