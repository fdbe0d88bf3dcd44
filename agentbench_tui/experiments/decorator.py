"""`@benchmark(name=…, iterations=…)`: a function that, when called, is measured.

@benchmark(name="parsing", iterations=200)
def parse():
    return {"items": len(json.loads(TEXT))}

result = parse.run()          # or: await parse()
result.avg_time_ms, result.p95_ms, result.metrics["items"]
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from agentbench_tui.experiments.measuring.timing import (
    Timed,
    calibrated_loops,
    calibrated_loops_async,
    timed,
    timed_async,
)
from agentbench_tui.experiments.values import LEAST_FOR
from agentbench_tui.instruments.clock import TimerFacts, timer_facts
from agentbench_tui.model.errors import UsageError


@dataclass(frozen=True, slots=True)
class BenchmarkResult:
    """Measurements of a decorated function."""

    name: str
    times_ms: tuple[float, ...]
    """Time of each iteration, in order."""
    metrics: Mapping[str, Any]
    """Returned values: the mean over the iterations for numbers, else the last value."""
    loops: int
    """Calls in one iteration: more than one if a single call is too short for the timer."""
    timer: TimerFacts
    run_id: str | None = None
    """Id of the stored run, if a database was named."""

    def __str__(self) -> str:
        """Format one line; with percentiles of single times."""
        p95 = "" if self.p95_ms is None else f", p95 {self.p95_ms:.4g} ms"
        told = "".join(f", {name} {value}" for name, value in self.metrics.items())
        return (
            f"{self.name}: {self.avg_time_ms:.4g} ms a call on average{p95}"
            f" ({self.iterations} iterations{told})"
        )

    @property
    def iterations(self) -> int:
        return len(self.times_ms)

    @property
    def total_time_ms(self) -> float:
        """Return the total time of all measured calls."""
        return self.loops * sum(self.times_ms)

    @property
    def avg_time_ms(self) -> float:
        return fmean(self.times_ms)

    @property
    def min_time_ms(self) -> float:
        return min(self.times_ms)

    @property
    def max_time_ms(self) -> float:
        return max(self.times_ms)

    @property
    def std_dev_ms(self) -> float | None:
        """Return the sample standard deviation; None for a single iteration."""
        return stdev(self.times_ms) if len(self.times_ms) > 1 else None

    @property
    def throughput(self) -> float:
        """Return the calls per second of measured time."""
        return 1000 / self.avg_time_ms

    @property
    def p50_ms(self) -> float | None:
        return self.percentile_ms(0.50)

    @property
    def p95_ms(self) -> float | None:
        """Return the 95th percentile; None below 20 iterations."""
        return self.percentile_ms(0.95)

    @property
    def p99_ms(self) -> float | None:
        """Return the 99th percentile; None below 100 iterations."""
        return self.percentile_ms(0.99)

    def percentile_ms(self, share: float) -> float | None:
        """Return a percentile by linear interpolation between order statistics; None with too
        few.
        """
        import numpy as np

        least = LEAST_FOR.get(share, round(1 / min(share, 1 - share)) if 0 < share < 1 else 1)
        if len(self.times_ms) < least:
            return None
        return float(np.quantile(self.times_ms, share))


class Measured:
    """A decorated function. `func` is the original; calling this measures it."""

    def __init__(
        self,
        func: Callable[..., Any],
        name: str,
        iterations: int,
        warmup: int,
        db: str | Path | None,
    ) -> None:
        self.func = func
        self.name = name
        self.iterations = iterations
        self.warmup = warmup
        self.db = db
        functools.update_wrapper(self, func)

    def __get__(self, instance: object | None, owner: type | None = None) -> Measured:
        """Bind a method to its object."""
        if instance is None:
            return self
        bound = self.func.__get__(instance, owner)
        return Measured(bound, self.name, self.iterations, self.warmup, self.db)

    async def __call__(self, *args: Any, **options: Any) -> BenchmarkResult:
        """Run warm-up and iterations in the current event loop.

        Exceptions of the function propagate.
        """
        if self.db is not None:
            return await self._run_stored(self.db, args, options)
        if not inspect.iscoroutinefunction(self.func):
            return self._run_sync(args, options)
        call = self._call(args, options)
        for _ in range(self.warmup):
            await call(None)
        loops = await calibrated_loops_async(lambda n: timed_async(call, None, n))
        found = [await timed_async(call, None, loops) for _ in range(self.iterations)]
        return result_of(self.name, found, loops)

    def run(self, *args: Any, **options: Any) -> BenchmarkResult:
        """Run the measurement without `await`. Raises UsageError for an async function inside a
        loop.
        """
        if self.db is None and not inspect.iscoroutinefunction(self.func):
            return self._run_sync(args, options)
        import asyncio

        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(self(*args, **options))
        raise UsageError(f"{self.name}: inside a running loop write `await {self.func.__name__}()`")

    def _call(self, args: Sequence[Any], options: Mapping[str, Any]) -> Callable[[Any], Any]:
        """Return a callable that ignores its one argument and calls the function with these
        arguments.
        """
        func = self.func
        if not args and not options:
            return lambda _: func()
        return lambda _: func(*args, **options)

    async def _run_stored(
        self, db: str | Path, args: Sequence[Any], options: Mapping[str, Any]
    ) -> BenchmarkResult:
        from agentbench_tui.experiments.stored import measure_stored

        run_id, found = await measure_stored(
            self.name,
            self._call(args, options),
            is_async=inspect.iscoroutinefunction(self.func),
            counts=(self.warmup, self.iterations),
            database=Path(db),
        )
        return replace(result_of(self.name, found, found[0].loops), run_id=run_id)

    def _run_sync(self, args: Sequence[Any], options: Mapping[str, Any]) -> BenchmarkResult:
        call = self._call(args, options)
        for _ in range(self.warmup):
            call(None)
        loops = calibrated_loops(lambda n: timed(call, None, n))
        found = [timed(call, None, loops) for _ in range(self.iterations)]
        return result_of(self.name, found, loops)


def benchmark(
    name: str | Callable[..., Any] | None = None,
    iterations: int = 100,
    warmup: int = 5,
    db: str | Path | None = None,
) -> Any:
    """Decorate a function so that calling it measures it.

    `name` is the function's own when left out; `warmup` calls are not measured. With `db` each
    measurement is kept as a run in that database, and made in a thread with a loop of its own.
    Raises UsageError for counts that measure nothing.
    """
    if callable(name):
        return Measured(name, name.__name__, iterations, warmup, db)
    if iterations < 1 or warmup < 0:
        raise UsageError("@benchmark: `iterations` must be 1 or more, and `warmup` 0 or more")

    def decorate(func: Callable[..., Any]) -> Measured:
        return Measured(func, name or func.__name__, iterations, warmup, db)

    return decorate


def result_of(name: str, found: Sequence[Timed], loops: int) -> BenchmarkResult:
    """Return the result of these measurements."""
    values = [one.value for one in found if isinstance(one.value, Mapping)]
    times = tuple(one.ns / 1e6 for one in found)
    return BenchmarkResult(name, times, mean_metrics(values), loops, timer_facts())


def mean_metrics(values: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return by name the mean if every value is a number, else the last value."""
    merged: dict[str, list[Any]] = {}
    for one in values:
        for key, value in one.items():
            merged.setdefault(str(key), []).append(value)
    return {
        key: fmean(known) if all(map(_is_number, known)) else known[-1]
        for key, known in merged.items()
    }


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
