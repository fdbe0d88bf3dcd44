"""`run`: suites against agents, as `agentbench run` has it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agentbench_tui.agents.python.session_objects import session_objects
from agentbench_tui.model.bounds import MOST_AT_ONCE, MOST_REPEATS, MOST_ROUNDS, MOST_SEEDS
from agentbench_tui.python_api.agents import AgentsLike, given_agents
from agentbench_tui.python_api.arguments import check_counts, names
from agentbench_tui.python_api.planned_run import Database, PlannedRun, Storage, awaitable, waiting
from agentbench_tui.python_api.progress import OnProgress
from agentbench_tui.python_api.results import RunResult
from agentbench_tui.python_api.suites import SuitesLike, given_suites

if TYPE_CHECKING:
    import os

    from agentbench_tui.agents.python.session_objects import Place, SessionObject


@waiting
def run(
    suites: SuitesLike | None = None,
    agents: AgentsLike | None = None,
    *,
    benchmarks: Sequence[str] = (),
    cases: Sequence[str] = (),
    limit: int | None = None,
    runs: int = 1,
    iterations: int | None = None,
    warmup: int | None = None,
    concurrency: int | None = None,
    seed: int | None = None,
    seeds: int = 1,
    settings: Mapping[str, object] | None = None,
    prices: str | os.PathLike[str] | None = None,
    hourly_price_usd: float | None = None,
    max_cost_usd: float | None = None,
    max_tokens: int | None = None,
    gates: Sequence[str] = (),
    tags: Sequence[str] = (),
    notes: str = "",
    db: Database | None = None,
    persist: Database | None = None,
    on_progress: OnProgress | None = None,
) -> PlannedRun[RunResult]:
    """Run suites against agents, store the run, and return its result.

    The run is stored as `agentbench run` stores it, so that the command line and the session show
    it, also while it lasts. Functions given as agents are called in this process, sync ones in
    threads. In a notebook this blocks the cell; an interrupt waits for in-flight requests, keeps
    what was measured and raises KeyboardInterrupt.

    Args:
        suites: A suite or several: names, paths, dictionaries with the keys of a suite file, or
            `Suite` objects. Without one, the `default_suite` of agentbench.toml, else quickstart.
        agents: An agent, several, or a mapping of ids (`id` or `id@version`) to agents. An agent
            is a target string, a function or async function of the question, or a class or object
            with a method `answer`. Without one, the agents that the suites name.
        benchmarks: Run only the benchmarks with these ids.
        cases: Run only the cases with these ids.
        limit: Maximum number of cases of each benchmark.
        runs: Number of repeats, each with new sessions and connections.
        iterations: Number of measured passes over the cases in each repeat; set by the suite if
            None.
        warmup: Number of unmeasured passes before the measured ones; set by the suite if None.
        concurrency: Maximum number of cases in flight; set by the suite if None.
        seed: Seed of all random choices; set by the suite, else 42, if None.
        seeds: Number of seeds: `seed` and the ones that follow it.
        settings: Values of declared parameters of the suite, by name or `BENCHMARK.NAME`.
        prices: File of token prices by model.
        hourly_price_usd: Price in USD of one hour of the machine that serves the agents.
        max_cost_usd: Stop the run when it has cost this many US dollars.
        max_tokens: Stop the run when it has used this many tokens.
        gates: Gates such as `accuracy>=0.8` or `no-regression`; the result says which hold.
        tags: Tags to find the run by.
        notes: Note to store with the run.
        db: Database file; `AGENTBENCH_DB`, else agentbench.db in the user's data folder, if None.
            `:memory:` is discarded at the end.
        persist: File to which a database `:memory:` is written at the end.
        on_progress: Function that is called about twice a second with the `RunProgress`, such as
            `print`. What it raises ends the run.

    Raises:
        UsageError: An argument, an agent or a gate is wrong.
        SuiteError: A suite is wrong; it carries every problem.
        StoreError: The database cannot be written.
        Unmeasured: The run could not be carried out to its end.
    """
    from agentbench_tui.engine.run.planning import RunOptions, make_plan
    from agentbench_tui.model.gate import parse_gate

    check_counts(
        limit=(limit, 1, None),
        runs=(runs, 1, MOST_REPEATS),
        iterations=(iterations, 1, MOST_ROUNDS),
        warmup=(warmup, 0, MOST_ROUNDS),
        concurrency=(concurrency, 1, MOST_AT_ONCE),
        seeds=(seeds, 1, MOST_SEEDS),
        max_tokens=(max_tokens, 1, None),
    )
    objects: dict[Place, SessionObject] = {}
    options = RunOptions(
        agents=given_agents(agents, objects),
        benchmarks=names("benchmarks", benchmarks),
        cases=names("cases", cases),
        repeats=runs,
        iterations=iterations,
        warmup=warmup,
        limit=limit,
        seed=seed,
        seeds=seeds,
        concurrency=concurrency,
        settings=_settings(settings),
        prices=None if prices is None else Path(prices),
        hourly_price_usd=hourly_price_usd,
        cost_limit_usd=max_cost_usd,
        token_limit=max_tokens,
        gates=names("gates", gates),
        tags=names("tags", tags),
        notes=notes,
        command="agentbench.run()",
    )
    given = given_suites(suites, objects)
    with session_objects(objects):
        plan = make_plan(given, options)
    for gate in options.gates:
        parse_gate(gate)
    return PlannedRun(plan, Storage(db, persist), RunResult.of_ended_run, objects, on_progress)


run_async = awaitable("run_async", run)


def _settings(given: Mapping[str, object] | None) -> tuple[str, ...]:
    """Format settings as `KEY=VALUE` strings, as `--set` takes them."""
    return tuple(
        f"{name}={value if isinstance(value, str) else json.dumps(value, default=str)}"
        for name, value in (given or {}).items()
    )
