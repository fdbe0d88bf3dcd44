"""From suites, agents and options to a plan. Everything is validated here, before anything runs."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from agentbench_tui.engine.cases.casebook import open_group
from agentbench_tui.engine.kinds import run_with
from agentbench_tui.engine.run.plan import ExecutionPlan, Group, Plan, SuiteInPlan
from agentbench_tui.engine.run.plan_secrets import declare_secrets_of, exposed_keys
from agentbench_tui.engine.suite.limits import unlimited_agents
from agentbench_tui.engine.suite.loading import LoadedSuite, load_suite
from agentbench_tui.engine.suite.sweep import points
from agentbench_tui.engine.suite.validation import validate_suite
from agentbench_tui.model.bounds import MOST_EXECUTIONS
from agentbench_tui.model.errors import SuiteError, UsageError, did_you_mean
from agentbench_tui.model.identity import content_hash, new_id
from agentbench_tui.model.kinds import kind_named
from agentbench_tui.model.text.small_file import read_small_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentbench_tui.engine.suite.parameters import Settings
    from agentbench_tui.model.agent import AgentSpec
    from agentbench_tui.model.suite import Benchmark, Suite


class RunOptions(msgspec.Struct, frozen=True):
    """Overrides from the command line. None keeps the suite's value."""

    agents: tuple[str | AgentSpec, ...] = ()
    """Targets, `[ID[@VERSION]=]TARGET`, ids of agents that the suite names, or agents as a plan
    holds them; all of the suite's own when empty."""
    benchmarks: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    repeats: int = 1
    iterations: int | None = None
    warmup: int | None = None
    limit: int | None = None
    seed: int | None = None
    seeds: int = 1
    """Number of seeds, starting with `seed`."""
    concurrency: int | None = None
    settings: tuple[str, ...] = ()
    token_prices: tuple[dict[str, Any], ...] = ()
    """Token prices as tables of `model.suite.Price`; they count before those of `prices`."""
    prices: Path | None = None
    hourly_price_usd: float | None = None
    cost_limit_usd: float | None = None
    token_limit: int | None = None
    gates: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    notes: str = ""
    command: str = ""
    folder: Path = msgspec.field(default_factory=Path.cwd)
    """Base of relative paths in targets and settings."""


def make_plan(given_suites: Sequence[str | LoadedSuite], options: RunOptions) -> Plan:
    """The plan of a run of these suites (paths, names, or suites that were read already).

    Raises UsageError and SuiteError; a SuiteError carries every problem of every suite at once.
    """
    loaded = [one if isinstance(one, LoadedSuite) else load_suite(one) for one in given_suites]
    _check_different(loaded)
    groups: list[Group] = []
    suites: list[SuiteInPlan] = []
    problems = []
    budgets: list[Suite] = []
    for one in loaded:
        settings = one.settings(options.settings)
        suite = one.resolve(settings)
        given = [agent_given(text, suite, one.folder, options.folder) for text in options.agents]
        problems += validate_suite(one, given or None, settings, seed=options.seed)
        if problems:
            continue
        agents = _agents(given, one, suite, options)
        budgets.append(suite)
        document = suite.model_dump(mode="json")
        suites.append(SuiteInPlan(content_hash(document), suite.suite_id, document, one.text))
        for group in _groups(one, suite, settings, agents, suites[-1].hash, options):
            groups.append(group)
            _check_size(len(groups) * len(group.executions))
    if problems:
        raise SuiteError(problems)
    _check_picked("--benchmark", options.benchmarks, _benchmark_ids(budgets))
    groups = _with_cases(groups, options.cases)
    plan = Plan(
        run_id=new_id(),
        suites=tuple(suites),
        groups=tuple(_numbered(groups)),
        repeats=options.repeats,
        seed=_seed(options, budgets[0]),
        cost_limit_usd=_tightest(options.cost_limit_usd, [one.cost_limit_usd for one in budgets]),
        token_limit=_tightest(options.token_limit, [one.token_limit for one in budgets]),
        prices=_price_overrides(options),
        prices_file=_price_source(options),
        gates=options.gates,
        tags=tuple(dict.fromkeys((*options.tags, *(tag for one in budgets for tag in one.tags)))),
        notes=options.notes or " ".join(one.notes for one in budgets if one.notes),
        command=options.command,
        remarks=(
            *(note for one in loaded for note in one.notes),
            *unlimited_agents(groups),
            *exposed_keys(groups),
        ),
    )
    declare_secrets_of(plan)
    return plan


def _check_different(loaded: Sequence[LoadedSuite]) -> None:
    """Refuse a file that is given twice, by name and by path too."""
    paths: set[Path] = set()
    for one in loaded:
        path = one.path.resolve()
        if path in paths:
            raise UsageError(f"{one.path}: given twice; --runs 2 measures a suite twice")
        paths.add(path)


def agent_given(text: str | AgentSpec, suite: Suite, suite_folder: Path, folder: Path) -> AgentSpec:
    """An agent of the command line. One that the suite names is the suite's, relative to its
    folder; others are relative to that of the command. Raises UsageError."""
    from agentbench_tui.agents.target import parse_agent, spec_from_table

    if not isinstance(text, str):
        return text
    for table in suite.agents:
        if table.id == text.strip():
            return spec_from_table(table, str(suite_folder))
    try:
        return parse_agent(text, base_dir=str(folder))
    except UsageError as error:
        near = did_you_mean(text, [table.id for table in suite.agents])
        raise UsageError(f"{error}{near}") from error


def _agents(
    given: list[AgentSpec], loaded: LoadedSuite, suite: Suite, options: RunOptions
) -> list[AgentSpec]:
    from agentbench_tui.agents.target import spec_from_table

    agents = [_as_listed(one, suite) for one in given] or [
        spec_from_table(table, str(loaded.folder)) for table in suite.agents
    ]
    if not agents and any(kind_named(one.kind).needs_agents for one in suite.benchmarks):
        raise UsageError(
            f"suite {suite.suite_id} names no agents: give some with --agent TARGET, "
            "such as --agent openai:URL#MODEL or --agent python:module:function"
        )
    seen: set[str] = set()
    for agent in agents:
        if agent.id in seen:
            raise UsageError(
                f"two agents have the id '{agent.id}'; give one of them another: --agent "
                f"OTHER={agent.target}"
            )
        seen.add(agent.id)
    if options.hourly_price_usd is None:
        return agents
    return [
        agent
        if agent.hourly_price_usd is not None
        else msgspec.structs.replace(agent, hourly_price_usd=options.hourly_price_usd)
        for agent in agents
    ]


def _as_listed(given: AgentSpec, suite: Suite) -> AgentSpec:
    """One that the suite lists as well has the name and the price that it has there: an argument
    has no place for them, and some of a suite's agents are to cost what they cost among all."""
    from agentbench_tui.agents.target import argument_of, spec_from_table

    for table in suite.agents:
        if table.id != given.id:
            continue
        with suppress(UsageError):  # what is wrong in a suite's agent is no fault of a given one
            own = spec_from_table(table, given.base_dir)
            if argument_of(own) == argument_of(given):
                return msgspec.structs.replace(
                    given, name=own.name, hourly_price_usd=own.hourly_price_usd
                )
    return given


def _groups(
    loaded: LoadedSuite,
    suite: Suite,
    settings: Settings,
    agents: Sequence[AgentSpec],
    suite_hash: str,
    options: RunOptions,
) -> Iterator[Group]:
    shared: dict[bytes, Any] = {}
    for index, listed in enumerate(suite.benchmarks):
        if options.benchmarks and listed.benchmark_id not in options.benchmarks:
            continue
        pinned = settings.of(listed.benchmark_id)
        for offset in range(options.seeds):
            for point in points(listed.sweep, _seed(options, listed, suite), pinned):
                benchmark = _with_metrics(loaded.benchmark(index, settings, point), loaded.folder)
                those = run_with(benchmark, str(loaded.folder), agents)
                yield Group(
                    suite_id=suite.suite_id,
                    suite_hash=suite_hash,
                    benchmark=_sharing(
                        _overridden(benchmark, options).model_dump(mode="json"), shared
                    ),
                    parameters=benchmark.parameters,
                    values=loaded.values(benchmark, settings),
                    seed=_seed(options, benchmark, suite) + offset,
                    base_dir=str(loaded.folder),
                    case_ids=options.cases,
                    executions=tuple(ExecutionPlan(new_id(), 0, agent) for agent in those),
                )


def _sharing(document: dict[str, Any], shared: dict[bytes, Any]) -> dict[str, Any]:
    """Return the document with parts replaced by equal ones of `shared` (by their JSON), so that
    the points of a sweep, which differ little, use little memory.
    """
    return {
        name: shared.setdefault(msgspec.json.encode(part), part) for name, part in document.items()
    }


def _check_size(executions: int) -> None:
    """Refuse an unreasonably large plan before building it."""
    if executions > MOST_EXECUTIONS:
        raise UsageError(
            f"more than {MOST_EXECUTIONS:,} executions (agents × sweep points × seeds): "
            "sweep fewer points, or give fewer --seeds"
        )


def _overridden(benchmark: Benchmark, options: RunOptions) -> Benchmark:
    """The benchmark with the command line's counts in force."""
    counts = {"warmup": options.warmup, "measured": options.iterations}
    iterations = benchmark.iterations.model_copy(
        update={name: count for name, count in counts.items() if count is not None}
    )
    update: dict[str, Any] = {"iterations": iterations}
    if options.concurrency is not None:
        update["concurrency"] = options.concurrency
    if options.limit is not None and benchmark.dataset is not None:
        # The author's size is of the whole dataset, which is not asked now.
        update["dataset"] = benchmark.dataset.model_copy(update={"limit": options.limit})
    return benchmark.model_copy(update=update)


def _with_metrics(benchmark: Benchmark, folder: Path) -> Benchmark:
    """The benchmark with everything that the code of its metrics says of them."""
    if not benchmark.metrics:
        return benchmark
    from agentbench_tui.scoring.answer_metric import with_definitions

    return benchmark.model_copy(update={"metrics": with_definitions(benchmark.metrics, folder)})


def _with_cases(groups: list[Group], cases: Sequence[str]) -> list[Group]:
    """Return the groups that contain selected cases, each with those cases, if cases are
    selected.
    """
    if not cases:
        return groups
    found: list[Group] = []
    known: set[str] = set()
    for group in groups:
        with open_group(msgspec.structs.replace(group, case_ids=())) as source:
            ids = set(source.ids())
        known |= ids
        picked = tuple(case for case in cases if case in ids)
        if picked:
            found.append(msgspec.structs.replace(group, case_ids=picked))
    for case in cases:
        if case not in known:
            raise UsageError(f"--case {case}: no such case{did_you_mean(case, known)}")
    return found


def _numbered(groups: Sequence[Group]) -> Iterator[Group]:
    ordinal = 0
    for group in groups:
        executions = []
        for execution in group.executions:
            executions.append(msgspec.structs.replace(execution, ordinal=ordinal))
            ordinal += 1
        yield msgspec.structs.replace(group, executions=tuple(executions))


def _seed(options: RunOptions, *parts: Benchmark | Suite) -> int:
    """The command line's seed, else that of the first of `parts` that has one."""
    seeds = (options.seed, *(part.seed for part in parts))
    return next(seed for seed in seeds if seed is not None)


def _tightest(given: Any, limits: Sequence[Any]) -> Any:
    """The command line's limit, else the smallest of the suites'."""
    known = [limit for limit in limits if limit is not None]
    return given if given is not None else min(known, default=None)


def _price_overrides(options: RunOptions) -> tuple[dict[str, Any], ...]:
    if options.prices is None:
        return options.token_prices
    from agentbench_tui.scoring.prices import read_prices

    listed = (price.model_dump(mode="json") for price in read_prices(options.prices))
    return (*options.token_prices, *listed)


def _price_source(options: RunOptions) -> str:
    """Return what is stored as the source of these prices."""
    sources = ["--price"] if options.token_prices else []
    if options.prices is not None:
        sources.append(str(options.prices))
    return ", ".join(sources)


def _benchmark_ids(suites: Sequence[Suite]) -> list[str]:
    return [benchmark.benchmark_id for suite in suites for benchmark in suite.benchmarks]


def _check_picked(option: str, picked: Sequence[str], known: Sequence[str]) -> None:
    for name in picked:
        if name not in known:
            raise UsageError(
                f"{option} {name}: no such benchmark{did_you_mean(name, known)}; "
                f"there are {', '.join(known)}"
            )


def default_suite(folder: Path) -> str:
    """`default_suite` of the nearest `agentbench.toml` from `folder` upward, else `quickstart`."""
    import tomllib

    for parent in (folder, *folder.parents):
        path = parent / "agentbench.toml"
        if not os.access(path, os.R_OK):
            continue
        try:
            settings = tomllib.loads(read_small_text(path, "the settings in"))
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise UsageError(f"{path}: {error}") from error
        name = settings.get("default_suite", "quickstart")
        if not isinstance(name, str):
            raise UsageError(f"{path}: default_suite must be the name or path of a suite")
        candidate = parent / name
        return str(candidate) if candidate.is_file() else name
    return "quickstart"
