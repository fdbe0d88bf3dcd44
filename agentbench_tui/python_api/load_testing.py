"""`load`: load on agents, as `agentbench load` has it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from agentbench_tui.agents.python.session_objects import session_objects
from agentbench_tui.model.bounds import MOST_REPEATS
from agentbench_tui.model.errors import UsageError
from agentbench_tui.python_api.agents import AgentsLike, given_agents
from agentbench_tui.python_api.arguments import (
    check_block,
    check_counts,
    check_importable,
    names,
    present,
)
from agentbench_tui.python_api.load_results import LoadResult
from agentbench_tui.python_api.planned_run import Database, PlannedRun, Storage, awaitable, waiting

if TYPE_CHECKING:
    from agentbench_tui.agents.python.session_objects import Place, SessionObject

_SCHEDULES = ("rate", "ramp", "steps", "spike", "sine", "trace", "concurrency")


@waiting
def load(
    agents: AgentsLike,
    *,
    rate: float | Sequence[float] | None = None,
    concurrency: int | Sequence[int] | None = None,
    throughput: bool = False,
    arrivals: Literal["constant", "poisson", "gamma"] | None = None,
    burstiness: float | None = None,
    ramp: Mapping[str, float] | None = None,
    steps: Sequence[Mapping[str, float]] | None = None,
    spike: Mapping[str, float] | None = None,
    sine: Mapping[str, float] | None = None,
    trace: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    think_time_ms: float | None = None,
    duration_s: float | None = None,
    requests: int | None = None,
    max_in_flight: int | None = None,
    prompts: str | Sequence[str] | None = None,
    input_tokens: int | Mapping[str, float] | None = None,
    output_tokens: int | Mapping[str, float] | None = None,
    workload: Sequence[Mapping[str, Any]] | None = None,
    stream: bool | None = None,
    slo: Mapping[str, float] | None = None,
    timeout_s: float | None = None,
    warmup_requests: int | None = None,
    drain_s: float | None = None,
    workers: int | None = None,
    realtime: bool | None = None,
    runs: int = 1,
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
) -> PlannedRun[LoadResult]:
    """Load-test agents: latency and throughput at a given load, and how far to trust them.

    Requests are sent by processes of agentbench. A function must therefore be importable: one of a
    module, or of a script that starts the load under `if __name__ == "__main__":`. Open-loop
    latency counts from the time a request was due, which avoids coordinated omission.

    Args:
        agents: An agent, several, or a mapping of ids to agents, as in `run`. They take turns.
        rate: Open loop: requests per second. Several rates run one after another.
        concurrency: Closed loop: users, each of which sends its next request when the previous
            one ends. Several values run one after another. 1 if no schedule is given.
        throughput: Closed loop at maximum throughput, with `max_in_flight` users.
        arrivals: Distribution of the arrival times of an open loop; `constant` if None.
        burstiness: Shape parameter of `gamma` arrivals; below 1 is burstier than Poisson.
        ramp: Open loop: `{"start": rate, "end": rate, "over_s": seconds}`.
        steps: Open loop: a sequence of `{"rate": rate, "for_s": seconds}`.
        spike: Open loop: `{"rate": rate, "peak": rate, "at_s": seconds, "for_s": seconds}`.
        sine: Open loop: `{"mean": rate, "amplitude": rate, "period_s": seconds}`.
        trace: Open loop: file of a recorded trace, or `{"file": path, "speed": factor}`.
        think_time_ms: Time that each user of a closed loop waits between requests.
        duration_s: Length of the measurement window; that of the schedule, else 10, if None.
        requests: Number of requests to send; with `duration_s`, whichever ends first.
        max_in_flight: Maximum number of in-flight requests.
        prompts: Prompt or prompts to send in turn; a short built-in text if None.
        input_tokens: Generate synthetic prompts of this many tokens, or
            `{"mean": tokens, "spread": tokens}`.
        output_tokens: Number of output tokens to request as max_tokens.
        workload: Requests with weights, as `workload` in a suite file has them, instead of
            `prompts`, `input_tokens` and `output_tokens`.
        stream: Request streamed or complete answers; the agent's setting if None.
        slo: Service-level objective: latency limits in ms that a good request meets, such as
            `{"ttft_ms": 200}`.
        timeout_s: Maximum duration of one request; the agent's own limits if None.
        warmup_requests: Unmeasured requests that each worker sends before the window; 3 if None.
        drain_s: Grace period for in-flight requests at the end of the window; 30 if None.
        workers: Processes that send requests; as many as needed if None.
        realtime: Run the sending processes with real-time priority; where permitted if None.
        runs: Number of repeats, each with new connections.
        seed: Seed of all random choices; 42 if None.
        prices: File of token prices by model.
        hourly_price_usd: Price in USD of one hour of the machine that serves the agents.
        max_cost_usd: Stop the run when it has cost this many US dollars.
        max_tokens: Stop the run when it has used this many tokens.
        gates: Gates such as `e2e_ms.p95<=1200` or `verdict==clean`; the result says which hold.
        tags: Tags to find the run by.
        notes: Note to store with the run.
        db: Database file, as in `run`.
        persist: File to which a database `:memory:` is written at the end.

    Raises:
        UsageError: An argument is wrong, or an agent cannot be called from another process.
        StoreError: The database cannot be written.
        Unmeasured: The run could not be carried out to its end.
    """
    from agentbench_tui.engine.run.planning import RunOptions, make_plan
    from agentbench_tui.engine.suite.loading import suite_of_data
    from agentbench_tui.load.suite import DEFAULT_USERS, load_suite, window_of
    from agentbench_tui.model.gate import parse_gate

    check_counts(runs=(runs, 1, MOST_REPEATS), max_tokens=(max_tokens, 1, None))
    objects: dict[Place, SessionObject] = {}
    given = given_agents(agents, objects)
    check_importable(objects, "load")
    if isinstance(trace, str | os.PathLike):
        trace = {"file": os.fspath(trace)}
    block = present(
        rate=rate, concurrency=concurrency, throughput=throughput or None, arrivals=arrivals,
        burstiness=burstiness, ramp=ramp, steps=steps, spike=spike, sine=sine, trace=trace,
        think_time_ms=think_time_ms, duration_s=duration_s, requests=requests,
        max_in_flight=max_in_flight, stream=stream, slo=slo, warmup_requests=warmup_requests,
        drain_s=drain_s, workers=workers, realtime=realtime,
        workload=workload_of("load", workload, prompts, input_tokens, output_tokens),
    )  # fmt: skip
    if not throughput and not any(name in block for name in _SCHEDULES):
        block["concurrency"] = DEFAULT_USERS
    folder = Path.cwd()
    block |= window_of(block, folder)
    _check(block)
    suite = load_suite(
        block,
        agents=[],
        time_limit_ms=None if timeout_s is None else timeout_s * 1000,
        keys=present(cost_limit_usd=max_cost_usd, token_limit=max_tokens),
    )
    options = RunOptions(
        agents=given,
        repeats=runs,
        seed=seed,
        prices=None if prices is None else Path(prices),
        hourly_price_usd=hourly_price_usd,
        gates=names("gates", gates),
        tags=names("tags", tags),
        notes=notes,
        command="agentbench.load()",
    )
    with session_objects(objects):
        plan = make_plan([suite_of_data(suite, folder)], options)
    for gate in options.gates:
        parse_gate(gate)
    return PlannedRun(plan, Storage(db, persist), LoadResult.of_ended_run, objects)


load_async = awaitable("load_async", load)


def workload_of(
    function: str,
    workload: Sequence[Mapping[str, Any]] | None,
    prompts: str | Sequence[str] | None,
    input_tokens: int | Mapping[str, float] | None,
    output_tokens: int | Mapping[str, float] | None,
) -> list[Mapping[str, Any]] | None:
    """Return the `workload` of a block; None for the built-in text. Raises UsageError for two
    ways to say what to send."""
    request: dict[str, Any] = {}
    if prompts is not None:
        request["prompts"] = [prompts] if isinstance(prompts, str) else list(prompts)
    if input_tokens is not None:
        request["synthetic"] = {"input_tokens": input_tokens}
    if output_tokens is not None:
        request["output_tokens"] = output_tokens
    if workload is None:
        return [request] if request else None
    if request:
        raise UsageError(
            f"{function}: workload says what to send; give it instead of {', '.join(request)}"
        )
    return list(workload)


def _check(block: Mapping[str, Any]) -> None:
    """Raise UsageError for values that a load cannot have, at any of its levels."""
    from agentbench_tui.load.spec import LoadSpec
    from agentbench_tui.load.suite import swept_keys

    swept = swept_keys(block)
    for name, values in swept.items() or [("", [None])]:
        for value in values:
            check_block({**block, name: value} if name else block, LoadSpec, "load")
