"""Stores measurements of `@benchmark` as a run in a database, like any experiment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from agentbench_tui.experiments.experiment import REGISTERED, Experiment, ExperimentContext
from agentbench_tui.experiments.measuring.timing import Timed
from agentbench_tui.model.errors import Unmeasured, UsageError
from agentbench_tui.model.identity import is_name

if TYPE_CHECKING:
    from agentbench_tui.engine.run.plan import Plan


async def measure_stored(
    name: str,
    call: Callable[[Any], Any],
    *,
    is_async: bool,
    counts: tuple[int, int],
    database: Path,
) -> tuple[str, list[Timed]]:
    """Return the id of the run, and its measurements; `counts` are warm-up and iterations.

    Raises UsageError for an invalid name or that of an existing experiment, and Unmeasured with the
    first error of the function, or if it was stopped: the measurements are kept.
    """
    from agentbench_tui.engine.run.coordinator import carry_out
    from agentbench_tui.store.database import create_or_migrate

    if not is_name(name):
        raise UsageError(f"`{name}` cannot be kept: letters, digits, `.`, `_` and `-`")
    if name in REGISTERED:
        raise UsageError(f"`{name}` is an experiment already; call the benchmark something else")
    create_or_migrate(database)
    REGISTERED[name] = _experiment(call, is_async=is_async)
    try:
        plan = _plan(name, counts)
        await carry_out(plan, database)
    finally:
        with suppress(KeyError):
            del REGISTERED[name]
    return plan.run_id, _readings(database, plan.run_id)


def _experiment(call: Callable[[Any], Any], *, is_async: bool) -> type[Experiment]:
    class Now(Experiment):
        """A decorated function."""

        def execute_once(self, context: ExperimentContext) -> Mapping[str, Any] | None:
            returned: Mapping[str, Any] | None = call(context)
            return returned

    class Later(Experiment):
        """A decorated coroutine function."""

        async def execute_once(self, context: ExperimentContext) -> Mapping[str, Any] | None:
            returned: Mapping[str, Any] | None = await call(context)
            return returned

    return Later if is_async else Now


def _plan(name: str, counts: tuple[int, int]) -> Plan:
    from agentbench_tui.engine.run.planning import RunOptions, make_plan
    from agentbench_tui.engine.suite.loading import suite_of_data

    warmup, measured = counts
    suite = {
        "suite_id": name,
        "category": "speed",
        "description": "Put together by @benchmark.",
        "weights": {"accuracy": 0, "speed": 1, "efficiency": 0, "cost": 0, "reliability": 0},
        "benchmarks": [
            {
                "benchmark_id": name,
                "kind": "experiment",
                "experiment": name,
                "iterations": {"warmup": warmup, "measured": measured},
            }
        ],
    }
    return make_plan([suite_of_data(suite, Path.cwd())], RunOptions(command="@benchmark"))


def _readings(database: Path, run_id: str) -> list[Timed]:
    from agentbench_tui.store.database import reading
    from agentbench_tui.store.queries.experiments import first_failure, readings_of_run

    with reading(database) as connection:
        rows = readings_of_run(connection, run_id)
        error = first_failure(connection, run_id)
    if error is not None:
        raise Unmeasured(f"run {run_id}: {error}")
    if not rows:
        raise Unmeasured(f"run {run_id} was ended before anything was measured")
    found = []
    for ms, text in rows:
        answer = msgspec.json.decode(text)
        found.append(Timed(ms * 1e6, answer["metadata"]["loops"], answer.get("data")))
    return found
