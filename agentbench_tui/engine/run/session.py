"""One agent's session in one repeat of one execution: open, warm up, ask, close."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from agentbench_tui.agents.target import named_model
from agentbench_tui.engine.games import find_game
from agentbench_tui.engine.run.limiter import Limiter
from agentbench_tui.engine.run.stopping import check_hopeless, check_observation, end_pass
from agentbench_tui.engine.task.observation import Interview, attempt_once, observe
from agentbench_tui.engine.task.recorder import Recorder
from agentbench_tui.model.answer import AgentFailure, FailureKind, Request
from agentbench_tui.model.clock import perf_counter, utc_now
from agentbench_tui.model.identity import derive_seed
from agentbench_tui.model.text.secrets import redact
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.process.snapshot import least_cpu_seconds
from agentbench_tui.store.writes.observations import IterationRow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agentbench_tui.engine.cases.casebook import CaseReader
    from agentbench_tui.engine.run.context import RunContext
    from agentbench_tui.engine.run.plan import ExecutionPlan, Group
    from agentbench_tui.engine.task.grading import Scoring
    from agentbench_tui.model.agent import AgentSpec
    from agentbench_tui.model.answer import Agent, Answer, Case
    from agentbench_tui.model.suite import Benchmark
    from agentbench_tui.scoring.prices import PriceTable

START_LIMIT_S = 60.0
LONGEST_REASON = 300
"""Characters of a reason for which an execution could not be measured."""
CLOSE_LIMIT_S = 15.0
YIELD_EVERY = 16
"""Number of observations after which a worker lets other tasks run, for any agent."""


class Session:
    """One agent, opened for one repeat of one execution."""

    def __init__(
        self,
        execution: ExecutionPlan,
        group: Group,
        benchmark: Benchmark,
        reader: CaseReader,
        scoring: Scoring,
        context: RunContext,
    ) -> None:
        from agentbench_tui.agents.registry import open_agent

        self._key = context.execution_keys[execution.id]
        self._context = context
        self._benchmark = benchmark
        self._reader = reader
        self._recorder = Recorder(context.writer, context.run_key, self._key)
        self._progress = context.progress_of(self._key)
        self._opened = False
        self._iteration: IterationCounts | None = None
        self._idle_since: float | None = None
        """Since when the run is paused and nothing is in flight."""
        agent = open_agent(
            execution.agent,
            memory_limit_mb=benchmark.constraints.memory_limit_mb,
            concurrency=benchmark.concurrency,
        )
        if benchmark.game is not None:
            limit = benchmark.constraints.memory_limit_mb
            game = find_game(benchmark.game)
            agent = game.player(agent, execution.agent, limit, context.stop)
        self._interview = Interview(
            agent=agent,
            scoring=scoring,
            constraints=benchmark.constraints,
            retries=benchmark.retries,
            seed=group.seed,
            parameters=group.values,
            seed_path=(group.suite_id, benchmark.benchmark_id),
            limiter=Limiter(
                benchmark.concurrency,
                context.most_in_flight,
                sleep=context.stop.sleep,
                stopped=lambda: context.stop.is_set,
            ),
            stop=context.stop,
            recorder=self._recorder,
            progress=self._progress,
            budget=context.budget,
            price=_pricing(execution.agent, context.prices),
            clock_start_ns=context.clock_start_ns,
        )

    @property
    def goes_on(self) -> bool:
        """Return whether this execution still has cases to ask."""
        progress = self._progress
        return self._opened and progress.stop_reason is None and progress.broken is None

    async def open(self) -> None:
        """Start the agent's session. A failure breaks this execution, not the others."""
        if self._progress.stop_reason or self._progress.broken:
            return
        failure = await _start(self._interview.agent)
        if failure is None:
            self._opened = True
            self._context.active[self._key] = self._interview
            return
        self._recorder.failure("start", failure.kind, failure.detail)
        detail = one_line(redact(failure.detail), LONGEST_REASON)
        self._progress.broken = f"the agent did not start: {detail}"

    async def close(self) -> None:
        """Close the session in any state."""
        self._context.active.pop(self._key, None)
        if self._iteration is not None:
            self._finish_iteration("stopped")
        try:
            async with asyncio.timeout(CLOSE_LIMIT_S):
                await self._interview.agent.close()
        except Exception as failure:  # noqa: BLE001  # other sessions are still to be closed
            self._recorder.failure("close", FailureKind.AGENT, f"did not close: {failure!r}")

    async def warm_up(self, rounds: int, repeat: int) -> None:
        """Unmeasured requests, one case for every place of concurrency in each round."""
        if not rounds or not self.goes_on:
            return
        started_at, started = utc_now(), perf_counter()
        places = min(self._benchmark.concurrency, len(self._reader))
        asked = answered = 0
        for nth in range(rounds):
            first = nth * places % (len(self._reader) - places + 1)
            cases = [case for _, case in self._reader.read(first, first + places)]
            outcomes = await asyncio.gather(*(self._warm(case, repeat, nth) for case in cases))
            asked += len(outcomes)
            answered += sum(outcomes)
            if self._context.stop.is_set:
                break
        self._recorder.iteration(
            IterationRow(
                repeat, 0, True, "ok" if answered == asked else "failed", started_at,
                perf_counter() - started, asked, answered, 0,
            )
        )  # fmt: skip

    async def _warm(self, case: Case, repeat: int, nth: int) -> bool:
        interview = self._interview
        request = Request(
            case,
            derive_seed(interview.seed, *interview.seed_path, case.id, repeat, -1 - nth),
            repeat,
            nth,
            warmup=True,
            time_limit_s=interview.time_limit_s,
            parameters=interview.parameters,
        )
        outcome = await attempt_once(interview.agent, request, interview.time_limit_s)
        cost = None if outcome.answer is None else interview.price(outcome.answer)
        usage = None if outcome.answer is None else outcome.answer.usage
        self._context.budget.spend(cost, None if usage is None else usage.total)
        self._context.check_budget()
        if outcome.failure is not None:
            self._recorder.failure("warmup", outcome.failure.kind, outcome.failure.detail)
        return outcome.failure is None

    def begin(self, repeat: int, nth: int) -> None:
        """A measured iteration begins."""
        self._iteration = IterationCounts(repeat, nth, self._interview)

    def end(self) -> None:
        """A measured iteration is over: write its row, look whether to stop early."""
        complete = not self._context.stop.is_set and self._progress.broken is None
        self._finish_iteration("ok" if complete else "stopped")
        if complete:
            end_pass(self._progress, self._benchmark.early_stop)

    def _finish_iteration(self, status: str) -> None:
        assert self._iteration is not None
        row = self._iteration.row(status)
        # A resumed run passes through iterations that were finished before it.
        if row.observed or self._key not in self._context.done:
            self._recorder.iteration(row)
        self._iteration = None

    async def ask(self, repeat: int, nth: int, start: int, stop: int) -> None:
        """Ask the cases at positions `start` to `stop`, concurrently up to the limit."""
        if not self.goes_on or self._context.stop.is_set:
            return
        assert self._iteration is not None
        started = perf_counter()
        cases = self._pending(repeat, nth, start, stop)
        places = min(self._benchmark.concurrency, stop - start)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(places):
                    group.create_task(self._work(cases, repeat, nth))
        finally:
            self._iteration.asking_s += perf_counter() - started
        check_hopeless(self._progress, self._benchmark.early_stop)

    def _pending(self, repeat: int, nth: int, start: int, stop: int) -> Iterator[tuple[int, Case]]:
        done = self._context.done.get(self._key)
        for key, case in self._reader.read(start, stop):
            if done is None or (key, repeat, nth) not in done:
                yield key, case

    async def _work(self, cases: Iterator[tuple[int, Case]], repeat: int, nth: int) -> None:
        context = self._context
        since_yield = 0
        for case_key, case in cases:
            if not context.may_ask.is_set():
                await self._pause()
            if context.stop.is_set or not self.goes_on:
                return
            await observe(self._interview, case_key, case, repeat, nth)
            self._note_idle()
            context.check_budget()
            check_observation(self._progress, self._benchmark.early_stop)
            # Nobody is asked, and paid, for what can no longer be kept.
            context.writer.check()
            if context.writer.is_full:
                await context.writer.room()
            since_yield += 1
            if since_yield >= YIELD_EVERY:
                since_yield = 0
                await asyncio.sleep(0)

    async def _pause(self) -> None:
        """Wait while the run is paused.

        Once nothing is in flight, the pause does not count as time of measurement.
        """
        self._note_idle()
        try:
            await self._context.may_ask.wait()
        finally:
            if self._idle_since is not None:
                assert self._iteration is not None
                self._iteration.asking_s -= perf_counter() - self._idle_since
                self._idle_since = None

    def _note_idle(self) -> None:
        idle = not self._context.may_ask.is_set() and not self._interview.in_flight
        if idle and self._idle_since is None:
            self._idle_since = perf_counter()


async def _start(agent: Agent) -> AgentFailure | None:
    """Start a session; why it could not be, or None."""
    try:
        async with asyncio.timeout(START_LIMIT_S):
            await agent.start()
    except AgentFailure as failure:
        return failure
    except TimeoutError:
        return AgentFailure(FailureKind.TIMEOUT, f"did not start within {START_LIMIT_S:g} s")
    except Exception as error:  # noqa: BLE001  # adapters raise AgentFailure; this is our fault
        return AgentFailure(FailureKind.HARNESS, f"{type(error).__name__}: {error}")
    return None


class IterationCounts:
    """Counts of one measured iteration, as differences from its start."""

    def __init__(self, repeat: int, nth: int, interview: Interview) -> None:
        progress = interview.progress
        self.asking_s = 0.0
        self._place = (repeat, nth)
        self._started_at = utc_now()
        self._interview = interview
        self._before = (progress.observed, progress.answered, progress.correct)
        self._cpu_before = interview.agent.cpu_seconds

    def row(self, status: str) -> IterationRow:
        """Return the iteration as it is stored."""
        progress, agent = self._interview.progress, self._interview.agent
        observed, answered, correct = self._before
        return IterationRow(
            *self._place,
            warmup=False,
            status=status,
            started_at=self._started_at,
            asking_s=self.asking_s,
            observed=progress.observed - observed,
            answered=progress.answered - answered,
            correct=progress.correct - correct,
            cpu_seconds=self._cpu_seconds(),
            memory_peak_mb=agent.peak_memory_mb,
        )

    def _cpu_seconds(self) -> float | None:
        """Return the CPU time of the agent's processes; None if there are none, or it is too
        small to measure.
        """
        now = self._interview.agent.cpu_seconds
        if now is None or self._cpu_before is None:
            return None
        used = now - self._cpu_before
        return used if used >= least_cpu_seconds() else None


def _pricing(agent: AgentSpec, prices: PriceTable) -> Callable[[Answer], float | None]:
    """Return the cost of an answer of this agent in dollars; None if unknown.

    An agent with an hourly price pays for its machine, not by the token.
    """

    def price(answer: Answer) -> float | None:
        if answer.cost_usd is not None:
            return answer.cost_usd
        if agent.hourly_price_usd is not None or answer.usage is None:
            return None
        # A server may report another name than it was asked for; a price of either will do.
        names = dict.fromkeys((answer.model, named_model(agent)))
        # Without any name only a price of every model, `*`, applies.
        known = [name for name in names if name is not None]
        costs = (prices.cost(name, None, answer.usage).usd for name in known or (None,))
        return next((cost for cost in costs if cost is not None), None)

    return price
