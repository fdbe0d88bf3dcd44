"""`stress`: scenarios that break agents, as `agentbench stress` has them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from agentbench_tui.agents.python.session_objects import session_objects
from agentbench_tui.model.errors import UsageError, did_you_mean
from agentbench_tui.python_api.agents import AgentsLike, given_agents
from agentbench_tui.python_api.arguments import (
    check_block,
    check_counts,
    check_importable,
    names,
    present,
)
from agentbench_tui.python_api.load_results import StressResult
from agentbench_tui.python_api.load_testing import workload_of
from agentbench_tui.python_api.planned_run import Database, PlannedRun, Storage, awaitable, waiting
from agentbench_tui.stress.catalog import SCENARIOS, Scenario

if TYPE_CHECKING:
    from agentbench_tui.agents.python.session_objects import Place, SessionObject

ScenariosLike: TypeAlias = "Scenario | Sequence[Scenario]"
"""A stress scenario or several, by name."""


@waiting
def stress(
    agents: AgentsLike,
    scenarios: ScenariosLike | None = None,
    *,
    time_scale: float | None = None,
    duration_s: float | None = None,
    recovery_s: float | None = None,
    normal_rate: float | None = None,
    normal_concurrency: int | None = None,
    most_rate: float | None = None,
    most_concurrency: int | None = None,
    most_input_tokens: int | None = None,
    multiple: float | None = None,
    limits: Mapping[str, float] | None = None,
    faults: Sequence[str] | None = None,
    spikes: int | None = None,
    serve: str | None = None,
    upstream: str | None = None,
    upstream_env: str | None = None,
    retry_after_s: int | None = None,
    memory_limit_mb: float | None = None,
    ballast_mb: float | None = None,
    prompts: str | Sequence[str] | None = None,
    input_tokens: int | Mapping[str, float] | None = None,
    output_tokens: int | Mapping[str, float] | None = None,
    workload: Sequence[Mapping[str, Any]] | None = None,
    stream: bool | None = None,
    timeout_s: float | None = None,
    max_requests: int | None = None,
    max_bytes: int | None = None,
    max_s: float | None = None,
    allowed_hosts: Sequence[str] = (),
    seed: int | None = None,
    prices: str | os.PathLike[str] | None = None,
    hourly_price_usd: float | None = None,
    max_cost_usd: float | None = None,
    max_tokens: int | None = None,
    gates: Sequence[str] = (),
    tags: Sequence[str] = (),
    notes: str = "",
    db: Database | None = None,
    persist: Database | None = None,
) -> PlannedRun[StressResult]:
    """Stress-test agents: breaking point, cause and recovery.

    Normal load is measured first. All eight scenarios at full length take hours; `time_scale`
    shortens them. Requests are sent by processes of agentbench, so a function must be importable,
    as in `load`.

    Args:
        agents: An agent, several, or a mapping of ids to agents, as in `run`.
        scenarios: Scenarios to run; all eight if None.
        time_scale: Multiply every duration by this; 1 if None. Limits do not change.
        duration_s: Duration of the stress, or of each spike or fault, before `time_scale`.
        recovery_s: How long to watch the target after the stress, before `time_scale`.
        normal_rate: Normal load in requests per second; measured if None.
        normal_concurrency: Normal load in users; measured if None.
        most_rate: Highest rate to use in any scenario; 1,000 if None.
        most_concurrency: Highest number of users to use in any scenario; 100 if None.
        most_input_tokens: Longest prompt to send in the scenario large_inputs.
        multiple: Stress the target with this many times its normal load; 10 if None.
        limits: What a load level must keep to pass: `error_share`, `p95_ms`, `completed_share`.
        faults: Faults to inject in the scenario failure_recovery; all possible ones if None.
        spikes: Number of spikes in the scenario spike_load.
        serve: Command that starts the target's server, so that it can be killed and restarted.
        upstream: URL of the service that the agent depends on; faults are injected there.
        upstream_env: Environment variable from which the agent reads the URL of its upstream.
        retry_after_s: Retry-After of the HTTP 429 responses injected in front of an upstream.
        memory_limit_mb: Memory limit of the target's processes, in MB.
        ballast_mb: Memory to occupy on this machine, in MB.
        prompts: Prompt or prompts to send in turn; a short built-in text if None.
        input_tokens: Generate synthetic prompts of this many tokens.
        output_tokens: Number of output tokens to request as max_tokens.
        workload: Requests with weights, as `workload` in a suite file has them.
        stream: Request streamed or complete answers; the agent's setting if None.
        timeout_s: Maximum duration of one request; the agent's own limits if None.
        max_requests: Maximum number of requests in each scenario; 1,000,000 if None.
        max_bytes: Maximum number of bytes sent and received in each scenario.
        max_s: Maximum duration of each scenario in seconds; `time_scale` does not apply.
        allowed_hosts: Hosts other than this machine that you may stress.
        seed: Seed of all random choices; 42 if None.
        prices: File of token prices by model.
        hourly_price_usd: Price in USD of one hour of the machine that serves the agents.
        max_cost_usd: Stop the run when it has cost this many US dollars.
        max_tokens: Stop the run when it has used this many tokens.
        gates: Gates such as `broke==false`; the result says which hold.
        tags: Tags to find the run by.
        notes: Note to store with the run.
        db: Database file, as in `run`.
        persist: File to which a database `:memory:` is written at the end.

    Raises:
        UsageError: An argument is wrong, or a host is neither this machine nor allowed.
        StoreError: The database cannot be written.
        Unmeasured: The run could not be carried out to its end.
    """
    from agentbench_tui.engine.run.planning import RunOptions, make_plan
    from agentbench_tui.engine.suite.loading import suite_of_data
    from agentbench_tui.model.gate import parse_gate
    from agentbench_tui.stress.suite import stress_suite

    check_counts(max_tokens=(max_tokens, 1, None))
    objects: dict[Place, SessionObject] = {}
    given = given_agents(agents, objects)
    check_importable(objects, "stress")
    block = present(
        time_scale=time_scale, duration_s=duration_s, recovery_s=recovery_s,
        normal_rate=normal_rate, normal_concurrency=normal_concurrency, most_rate=most_rate,
        most_concurrency=most_concurrency, most_input_tokens=most_input_tokens,
        multiple=multiple, limits=limits, faults=faults, spikes=spikes, serve=serve,
        upstream=upstream, upstream_env=upstream_env, retry_after_s=retry_after_s,
        memory_limit_mb=memory_limit_mb, ballast_mb=ballast_mb, stream=stream,
        max_requests=max_requests, max_bytes=max_bytes, max_s=max_s,
        allowed_hosts=list(allowed_hosts) or None,
        workload=workload_of("stress", workload, prompts, input_tokens, output_tokens),
    )  # fmt: skip
    folder = Path.cwd()
    suite = stress_suite(
        {name: _block(name, block) for name in _scenarios(scenarios, block)},
        agents=[],
        time_limit_ms=None if timeout_s is None else timeout_s * 1000,
        keys=present(cost_limit_usd=max_cost_usd, token_limit=max_tokens),
    )
    options = RunOptions(
        agents=given,
        seed=seed,
        prices=None if prices is None else Path(prices),
        hourly_price_usd=hourly_price_usd,
        gates=names("gates", gates),
        tags=names("tags", tags),
        notes=notes,
        command="agentbench.stress()",
    )
    with session_objects(objects):
        plan = make_plan([suite_of_data(suite, folder)], options)
    for gate in options.gates:
        parse_gate(gate)
    return PlannedRun(plan, Storage(db, persist), StressResult.of_ended_run, objects)


stress_async = awaitable("stress_async", stress)


def _scenarios(given: ScenariosLike | None, block: Mapping[str, Any]) -> tuple[str, ...]:
    """The scenarios, each once. Raises UsageError for an unknown one, and for an argument that
    none of them uses."""
    from agentbench_tui.stress.suite import ONLY_OF

    if given is None:
        return SCENARIOS
    found = tuple(dict.fromkeys([given] if isinstance(given, str) else given))
    for name in found:
        if name not in SCENARIOS:
            hint = did_you_mean(name, SCENARIOS)
            raise UsageError(f"no scenario '{name}'{hint}; there are {', '.join(SCENARIOS)}")
    if not found:
        raise UsageError(f"no scenario is given; there are {', '.join(SCENARIOS)}")
    for key, only in ONLY_OF.items():
        if key in block and not set(only) & set(found):
            raise UsageError(f"stress: {key} works only in the scenario {' or '.join(only)}")
    return found


def _block(scenario: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The `stress:` block of a scenario, with the arguments that it uses. Raises UsageError."""
    from agentbench_tui.stress.spec import StressSpec
    from agentbench_tui.stress.suite import ONLY_OF

    unused = {key for key, only in ONLY_OF.items() if scenario not in only}
    block = {"scenario": scenario, **{k: value for k, value in given.items() if k not in unused}}
    check_block(block, StressSpec, "stress")
    return block
