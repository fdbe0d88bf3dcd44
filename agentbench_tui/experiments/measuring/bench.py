"""One variant of an experiment in one repeat, from set-up to tear-down.

Everything runs in the calling thread, with one event loop for `async def`. Errors of the experiment
are never raised here, but returned in the answers.
"""

from __future__ import annotations

import contextlib
import inspect
import random
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentbench_tui.agents.python.python_source import describe
from agentbench_tui.experiments.experiment import Experiment, ExperimentContext
from agentbench_tui.experiments.instrument import Around, Written, find_around
from agentbench_tui.experiments.measuring.order import Opened, Order, Profiled, Reading, Warmed
from agentbench_tui.experiments.measuring.parameter_reads import asked_for, settle, unnoted, unread
from agentbench_tui.experiments.measuring.timing import (
    Timed,
    calibrated_loops,
    timed,
    timed_async,
)
from agentbench_tui.experiments.parameters import make_experiment
from agentbench_tui.experiments.registry import find_experiment
from agentbench_tui.experiments.values import plain_map
from agentbench_tui.instruments.clock import now_ns, timer_facts
from agentbench_tui.model.clock import perf_counter, process_time
from agentbench_tui.model.errors import AgentbenchError
from agentbench_tui.model.identity import derive_seed

if TYPE_CHECKING:
    import asyncio

    from agentbench_tui.experiments.measuring.order import Instrument

_FAILS = BaseException
"""Exceptions of an experiment's code that do not end the run: no signal reaches its thread."""


class Bench:
    """An experiment prepared for measurement."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._experiment: Experiment | None = None
        self._runner: asyncio.Runner | None = None
        self._is_async = False
        self._prepares = False
        self._loops = 1
        self._unread: tuple[str, ...] | None = None
        self._around: list[Around] = []
        run_dir = Path(order.run_dir)
        self._context = ExperimentContext(
            run_id=order.run_id,
            output_dir=Path(order.output_dir),
            run_dir=run_dir,
            seed=order.seed,
            repeat=order.repeat,
            iteration_index=None,
            loops=1,
            variant=order.variant,
            agent=order.agent,
            instruments=[one.name for one in order.around],
            extras={},
        )

    def open(self) -> Opened:
        """Create the experiment, set it up, and read its settings back."""
        order = self._order
        try:
            Path(order.run_dir).mkdir(parents=True, exist_ok=True)
            self._around = [find_around(one, Path(order.folder)) for one in order.around]
            cls = find_experiment(order.slug, Path(order.folder))
            self._seed(-1)
            experiment = self._experiment = make_experiment(cls, order.values)
            self._prepares = cls.before_each is not Experiment.before_each
            self._is_async = inspect.iscoroutinefunction(experiment.execute_once)
            self._finish(experiment.setup(self._context))
            with unnoted(experiment):
                effective = plain_map(experiment.effective(self._context))
            asked = plain_map(asked_for(experiment))
            otherwise = {name: effective.get(name) != value for name, value in asked.items()}
            return Opened(effective, None, otherwise, dict(cls.better))
        except AgentbenchError as error:
            return Opened({}, str(error))
        except OSError as error:
            return Opened({}, describe(error))
        except _FAILS as error:
            return Opened({}, describe(error))

    def warm_up(self, calls: int) -> Warmed:
        """Make unmeasured calls, and as many more as it takes to know the duration of one.

        Without any the first measured call is the first of all, and no loop is made of it.
        """
        began, errors = perf_counter(), []
        for nth in range(calls):
            self._seed(-2 - nth)
            try:
                self._prepare()
                self._time(1)
            except _FAILS as error:
                errors.append(describe(error))
        if calls and not errors:
            self._settle()
        if calls and not errors and not self._prepares:
            try:
                self._loops = calibrated_loops(self._time)
            except _FAILS as error:
                errors.append(describe(error))
        facts, seconds = timer_facts(), perf_counter() - began
        return Warmed(
            self._loops, seconds, calls, tuple(errors), facts.cost_ns, facts.resolution_ns
        )

    def iterate(self, index: int) -> Reading:
        """Run one measured iteration, with the instruments around it."""
        self._seed(index)
        context, loops = self._context, self._loops
        context.iteration_index, context.loops = index, loops
        try:
            self._prepare()
        except _FAILS as failure:
            context.iteration_index = None
            return Reading(now_ns(), None, loops, error=describe(failure))
        outer_began = now_ns()
        cpu_began = process_time()
        call: Timed | None = None
        error: str | None = None
        written = Written(context)
        by_instrument = True
        try:
            with contextlib.ExitStack() as stack:
                for instrument in self._around:
                    stack.enter_context(instrument(context))
                written.entered()
                by_instrument = False
                try:
                    call = self._time(loops)
                except _FAILS as failure:
                    error = describe(failure)
                cpu = process_time() - cpu_began
                written.called()
                by_instrument = True
            by_instrument = False
        except _FAILS as failure:
            error, cpu = describe(failure), process_time() - cpu_began
        ended = now_ns()
        instruments = plain_map(written.taken())
        context.iteration_index = None
        if error is None:
            self._settle()
        ms = None if call is None or error is not None else call.ns / 1e6
        inner_ns = 0.0 if call is None else call.ns * loops
        metrics, error = _metrics(call, error)
        return Reading(
            outer_began,
            ms if error is None else None,
            loops,
            metrics,
            instruments,
            (ended - outer_began - inner_ns) / 1e6 if self._around else 0.0,
            cpu,
            error,
            by_instrument,
            self._unread or (),
        )

    def profile(self, instrument: Instrument) -> Profiled:
        """Run one call under a profiler, separately from measured ones."""
        from agentbench_tui.experiments.measuring.profiler_passes import profiled

        self._seed(0)
        try:
            self._prepare()
            return profiled(instrument, lambda: self._time(1), self._context.run_dir)
        except AgentbenchError as error:
            return Profiled(instrument.name, error=str(error))
        except _FAILS as error:
            return Profiled(instrument.name, error=describe(error))

    def close(self) -> str | None:
        """Tear down in any state; return the error, or None."""
        error: str | None = None
        try:
            if self._experiment is not None:
                self._finish(self._experiment.teardown(self._context))
        except _FAILS as failure:
            error = describe(failure)
        if self._runner is not None:
            self._runner.close()
        with contextlib.suppress(OSError):  # where nothing was written into it
            Path(self._order.run_dir).rmdir()
        return error

    def _settle(self) -> None:
        """After the first whole call, fix the set of parameters that are in use."""
        if self._unread is None and self._experiment is not None:
            self._unread = unread(self._experiment)
            settle(self._experiment)

    def _time(self, loops: int) -> Timed:
        assert self._experiment is not None
        if self._is_async:
            call = self._experiment.execute_once
            return self._loop().run(timed_async(call, self._context, loops))  # type: ignore[arg-type]
        return timed(self._experiment.execute_once, self._context, loops)

    def _prepare(self) -> None:
        """Run the experiment's untimed preparation before each call."""
        if self._prepares:
            assert self._experiment is not None
            self._finish(self._experiment.before_each(self._context))

    def _finish(self, result: Any) -> None:
        """Await an untimed coroutine."""
        if inspect.isawaitable(result):
            self._loop().run(_awaited(result))

    def _loop(self) -> asyncio.Runner:
        if self._runner is None:
            import asyncio  # takes half of what a fresh process needs to start

            self._runner = asyncio.Runner()
        return self._runner

    def _seed(self, step: int) -> None:
        """Seed the random generators, so that variants draw the same numbers in the same step."""
        seed = derive_seed(self._order.seed, step)
        random.seed(seed)
        if (numpy := sys.modules.get("numpy")) is not None:
            numpy.random.seed(seed % 2**32)


async def _awaited(result: Any) -> None:
    await result


def _metrics(call: Timed | None, error: str | None) -> tuple[dict[str, Any], str | None]:
    """Return the call's metrics, and what is wrong with them."""
    if call is None or call.value is None:
        return {}, error
    if not isinstance(call.value, Mapping):
        kind = type(call.value).__name__
        return {}, error or f"execute_once gives metrics by name, a mapping, not {kind}"
    return plain_map(call.value), error
