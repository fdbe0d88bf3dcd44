"""Timing of the practice server: a pure function of the times of events.

Nothing here waits, reads a clock or knows of sockets. Times are nanoseconds of one clock. The
server tells of requests (`arrive`) and of clients that went away (`leave`), and takes the steps
that have come due (`next_step`), in the order of their due times.

A request's times count from when it arrived, or from when it got a slot. A chunk is due when the
one before it was due plus its tokens' gaps: never later because a step was taken late. What falls
due in a stall is due at its end, and what follows counts from there.
"""

from __future__ import annotations

import math
from collections import deque
from enum import Enum
from heapq import heappop, heappush
from random import Random
from typing import NamedTuple

from agentbench_tui.agents.mock.options import MockOptions

_NS_PER_S = 1_000_000_000


class Job:
    """One request being processed."""

    __slots__ = (
        "arrived_ns", "cut_after", "due_ns", "gone", "has_slot", "number", "random", "reasoning",
        "sent", "streamed", "tokens",
    )  # fmt: skip

    def __init__(self, tokens: int, reasoning: int, *, streamed: bool) -> None:
        """`tokens` is the length of the answer, the first `reasoning` of them are reasoning."""
        self.tokens = tokens
        self.reasoning = reasoning
        self.streamed = streamed
        self.number = 0
        self.arrived_ns = 0
        self.due_ns = 0
        """Time of its next step."""
        self.sent = 0
        """Tokens whose steps were taken."""
        self.cut_after: int | None = None
        """Tokens after which its connection is cut."""
        self.has_slot = False
        """One that it gives back at its end; not one that it holds for a service time."""
        self.gone = False
        self.random: Random | None = None


class StepKind(Enum):
    """Kind of the next step of a request."""

    REFUSE = "refuse"
    """Over the rate limit: 429."""
    FAIL = "fail"
    """500."""
    BEGIN = "begin"
    """It is being served from now on: the head of a stream can go out."""
    CHUNK = "chunk"
    """Send `tokens` tokens, reasoning or not."""
    LAST = "last"
    """Send these tokens, and the end of the answer."""
    CUT = "cut"
    """Send these tokens and break off."""


class Step(NamedTuple):
    """A step that has come due."""

    kind: StepKind
    job: Job
    due_ns: int
    tokens: int = 0
    """The last ones of `job.sent`."""


class _Event(Enum):
    ARRIVE = 0
    TOKENS = 1
    RELEASE = 2


class Service:
    """The server's behavior under `options`."""

    def __init__(self, options: MockOptions) -> None:
        self._options = options
        self._count = 0
        self._zero_ns: int | None = None
        self._agenda: list[tuple[int, int, _Event, Job]] = []
        self._order = 0
        self._free = math.inf if options.slots is None else options.slots
        self._waiting: deque[Job] = deque()
        self._limit = None if options.rate_limit is None else TokenBucket(options.rate_limit)
        self._random = (
            options.ttft_dist != "const"
            or options.itl_dist != "const"
            or options.error_rate > 0
            or options.cut_rate > 0
        )

    @property
    def next_ns(self) -> int | None:
        """Return when the next step may be due."""
        return self._agenda[0][0] if self._agenda else None

    def arrive(self, job: Job, now_ns: int) -> None:
        """Register a complete request; its first step may be due immediately."""
        if self._zero_ns is None:
            self._zero_ns = now_ns
        job.number = self._count
        self._count += 1
        job.arrived_ns = now_ns
        self._push(self.not_frozen(now_ns), _Event.ARRIVE, job)

    def leave(self, job: Job, now_ns: int) -> None:
        """Remove the job of a disconnected client: nothing more is due for it, and its slot is
        free.
        """
        job.gone = True
        if job.has_slot:
            self._release_at(self.not_frozen(now_ns), job)

    def next_step(self, now_ns: int) -> Step | None:
        """Return the first step that is due by now; None if none is."""
        agenda = self._agenda
        while agenda and agenda[0][0] <= now_ns:
            due_ns, _, event, job = heappop(agenda)
            step = None
            if event is _Event.RELEASE:
                step = self._give_slot(due_ns)
            elif not job.gone:
                step = (
                    self._tokens(job, due_ns)
                    if event is _Event.TOKENS
                    else (self._judge(job, due_ns))
                )
            if step is not None:
                return step
        return None

    def not_frozen(self, at_ns: int) -> int:
        """Return `at_ns`, or the end of the stall that contains it."""
        stall = self._options.stall
        if stall is None or self._zero_ns is None:
            return at_ns
        length, period = stall
        since_first = at_ns - self._zero_ns - period // 2
        if since_first < 0:
            return at_ns
        into = since_first % period
        return at_ns + length - into if into < length else at_ns

    def _push(self, due_ns: int, event: _Event, job: Job) -> None:
        self._order += 1
        heappush(self._agenda, (due_ns, self._order, event, job))

    def _judge(self, job: Job, due_ns: int) -> Step | None:
        options = self._options
        if self._random:
            seed = options.seed * 1_000_003 + job.number
            job.random = Random(seed)  # noqa: S311  # has to be the same again
            failed, cut = job.random.random(), job.random.random()
            where = job.random.random()
            if failed < options.error_rate:
                return Step(StepKind.FAIL, job, due_ns)
            if cut < options.cut_rate:
                job.cut_after = min(1 + int(where * (job.tokens - 1)), job.tokens - 1)
        if self._limit is not None and not self._limit.take(due_ns):
            return Step(StepKind.REFUSE, job, due_ns)
        if self._free <= 0:
            self._waiting.append(job)
            return None
        return self._begin(job, due_ns)

    def _begin(self, job: Job, due_ns: int) -> Step:
        options = self._options
        self._free -= 1
        if options.service_time:
            self._release_at(self.not_frozen(due_ns + options.service_time), job)
        else:
            job.has_slot = True
        job.due_ns = self.not_frozen(due_ns + self._draw(options.ttft, options.ttft_dist, job))
        if not job.streamed:
            self._skip_to_end(job)
        self._push(job.due_ns, _Event.TOKENS, job)
        return Step(StepKind.BEGIN, job, due_ns)

    def _skip_to_end(self, job: Job) -> None:
        """Make an unstreamed answer arrive when the last chunk of a streamed one would."""
        options = self._options
        end = job.tokens if job.cut_after is None else max(job.cut_after, 1)
        job.sent = self._next_size(job)
        if options.itl_dist == "const" and options.stall is None:
            job.due_ns += options.itl * max(end - job.sent, 0)
        else:
            while job.sent < end:
                size = self._next_size(job)
                job.due_ns = self.not_frozen(job.due_ns + self._gap(size, job))
                job.sent += size
        job.sent = 0

    def _tokens(self, job: Job, due_ns: int) -> Step:
        size = self._next_size(job) if job.streamed else job.tokens
        if job.cut_after is not None and job.sent + size > job.cut_after:
            size = job.cut_after - job.sent if job.streamed else job.cut_after
            kind = StepKind.CUT
        elif job.sent + size >= job.tokens:
            kind = StepKind.LAST
        else:
            kind = StepKind.CHUNK
        job.sent += size
        if kind is StepKind.CHUNK:
            job.due_ns = self.not_frozen(due_ns + self._gap(self._next_size(job), job))
            self._push(job.due_ns, _Event.TOKENS, job)
        elif job.has_slot:
            self._release_at(due_ns, job)
        return Step(kind, job, due_ns, size)

    def _next_size(self, job: Job) -> int:
        """Return the size of the next chunk, which never mixes reasoning and answer."""
        end = job.reasoning if job.sent < job.reasoning else job.tokens
        return min(self._options.chunk_tokens, end - job.sent)

    def _give_slot(self, due_ns: int) -> Step | None:
        self._free += 1
        while self._waiting:
            job = self._waiting.popleft()
            if not job.gone:
                return self._begin(job, due_ns)
        return None

    def _release_at(self, due_ns: int, job: Job) -> None:
        job.has_slot = False
        self._push(due_ns, _Event.RELEASE, job)

    def _gap(self, tokens: int, job: Job) -> int:
        options = self._options
        if options.itl_dist == "const":
            return tokens * options.itl
        return sum(self._draw(options.itl, options.itl_dist, job) for _ in range(tokens))

    def _draw(self, typical_ns: int, distribution: str, job: Job) -> int:
        if distribution == "const":
            return typical_ns
        assert job.random is not None, "drawn from when it was judged"
        options = self._options
        if distribution == "lognormal":
            return round(typical_ns * math.exp(job.random.gauss(0, options.sigma)))
        slow = job.random.random() < options.slow_share
        return round(typical_ns * options.slow_factor) if slow else typical_ns


class TokenBucket:
    """Lets `rate` requests a second through, at most one second's worth at once."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._most = max(1.0, rate)
        self._left = self._most
        self._at_ns: int | None = None

    def take(self, at_ns: int) -> bool:
        """Return whether a request at that time is allowed; times must not decrease."""
        if self._at_ns is not None:
            gained = (at_ns - self._at_ns) / _NS_PER_S * self._rate
            self._left = min(self._most, self._left + gained)
        self._at_ns = at_ns
        if self._left < 1:
            return False
        self._left -= 1
        return True
