"""Limits of the machine that a load may reach, reported before the load starts.

Each connection takes one of the machine's ports for the target's address, and one open file in the
sending process and, for the practice server, in the answering one.
"""

from __future__ import annotations

import math
import os
import resource
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.agents.schemes import OF_MODELS
from agentbench_tui.model.text.plain_number import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agentbench_tui.engine.run.plan import Plan
    from agentbench_tui.load.spec import LoadSpec
    from agentbench_tui.model.agent import AgentSpec

NEAR = 2 / 3
"""Share of a limit from which on a load causes a warning."""
FILES_BESIDE = 64
"""Open files of a process other than connections: pipes, libraries, the log."""
MOST_FILES = 1 << 20
"""As many as any load needs; a limit is not raised beyond."""
_PORT_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
_OF_HTTP = OF_MODELS | {"http", "https"}


class Bounds(msgspec.Struct, frozen=True):
    """Limits of this machine and this process; None if there is none, or if it is unknown."""

    ports: int | None
    """For connections to one address."""
    files: int | None
    """That a process may have open, its limit raised."""
    cores: int = 1


def raise_open_files() -> None:
    """Raise the soft limit of open files for this process and its children."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        with suppress(OSError, ValueError):  # macOS has a lower bound of its own
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def bounds_here() -> Bounds:
    """Return the current limits."""
    return Bounds(_ports(), _files(), _cores())


def prepare_limits(plan: Plan, *, watched: bool = False) -> list[str]:
    """Raise the limits if possible, and return warnings for those that the plan's loads come
    close to; `watched` says that a view is drawn at the same time. Raises UsageError for a load
    that its agent does not support.
    """
    kinds = {group.benchmark["kind"] for group in plan.groups}
    if "load" in kinds:
        refuse_unbreakable(plan)
    if kinds.isdisjoint({"load", "stress"}):
        return []
    raise_open_files()
    return limit_warnings(plan, bounds_here(), watched=watched)


def refuse_unbreakable(plan: Plan) -> None:
    """Raise UsageError if answers are to be canceled after some tokens, but do not stream."""
    from agentbench_tui.load.sending.target import why_not_broken_off
    from agentbench_tui.load.spec import LoadSpec
    from agentbench_tui.model.errors import UsageError

    for group, execution in plan.executions():
        if group.benchmark["kind"] != "load":
            continue
        spec = LoadSpec.model_validate(group.resolved().load)
        if any(one.cancel_after_tokens for one in spec.workload):
            reason = why_not_broken_off(execution.agent, stream=spec.stream)
            if reason is not None:
                place = f"{group.benchmark['benchmark_id']} {execution.agent.id}"
                raise UsageError(f"{place}: {reason}")


def limit_warnings(plan: Plan, bounds: Bounds, *, watched: bool = False) -> list[str]:
    """Return a warning for each limit that a load comes close to, each budget without a known
    price, each option that an agent does not support, and a view that competes for CPU.
    """
    from agentbench_tui.load.spec import LoadSpec

    lines: list[str] = []
    agents: dict[str, AgentSpec] = {}
    for group in plan.groups:
        if group.benchmark["kind"] != "load":
            continue
        spec = LoadSpec.model_validate(group.resolved().load)
        for execution in group.executions:
            lines += _of_machine(spec, execution.agent, bounds)
            lines += _of_lengths(spec, execution.agent)
            lines += _of_view(spec, execution.agent, bounds) if watched else ()
            agents[execution.agent.id] = execution.agent
    return list(dict.fromkeys((*lines, *_of_prices(plan, agents.values()))))


def _of_machine(spec: LoadSpec, agent: AgentSpec, bounds: Bounds) -> Iterator[str]:
    from agentbench_tui.agents.target import parse_target

    scheme = parse_target(agent.target).scheme
    wanted = _most_at_once(spec)
    if wanted is None or scheme not in _OF_HTTP:
        return
    ports, files = bounds.ports, bounds.files
    if ports is not None and wanted > NEAR * ports:
        yield (
            f"{agent.id}: {wanted:,} connections at once, and this machine has {ports:,} ports"
            " for connections to one address (net.ipv4.ip_local_port_range), of which those that"
            " were closed hold theirs for a minute; ask for less at once, or widen the range"
        )
    each = _most_of_a_process(wanted, spec, agent, bounds) + FILES_BESIDE
    if files is not None and each > NEAR * files:
        yield (
            f"{agent.id}: {each:,} open files in one process, which may have {files:,}; "
            f"lower the concurrency, or raise the limit first: ulimit -n {2 * each}"
        )


def _of_lengths(spec: LoadSpec, agent: AgentSpec) -> Iterator[str]:
    """Warn that only a model's own API accepts a length of answers."""
    from agentbench_tui.agents.target import parse_target

    if not any(request.output_tokens is not None for request in spec.workload):
        return
    own_client = agent.options.get("transport", "own") == "own"
    if parse_target(agent.target).scheme not in OF_MODELS or not own_client:
        yield (
            f"{agent.id}: the number of output tokens (--output-tokens) is not passed on; "
            "only openai:, anthropic: and mock targets accept it"
        )


def _of_view(spec: LoadSpec, agent: AgentSpec, bounds: Bounds) -> Iterator[str]:
    """Warn that load workers need a core each, and so do the view and an agent on this machine."""
    from agentbench_tui.agents.target import parse_target
    from agentbench_tui.load.schedule.shape import is_local

    target = parse_target(agent.target)
    elsewhere = target.scheme in _OF_HTTP - {"mock"} and not is_local(target.rest)
    wanted = (spec.workers or 1) + (not elsewhere) + 1
    if wanted > bounds.cores:
        yield (
            f"{agent.id}: no spare core for a view ({bounds.cores} of {wanted}), which may "
            "slow the measurement; --no-ui measures without a view"
        )


def _most_at_once(spec: LoadSpec) -> int | None:
    """Return the number of connections that the schedule may need at once; None if unlimited."""
    from agentbench_tui.load.schedule.shape import users_of

    wanted = spec.max_in_flight if spec.is_open else users_of(spec)
    counts = [count for count in (wanted, spec.requests) if count is not None]
    return min(counts, default=None)


def _most_of_a_process(wanted: int, spec: LoadSpec, agent: AgentSpec, bounds: Bounds) -> int:
    """Return the number of connections of the process with most of them, as
    `load.schedule.shape` distributes them.
    """
    from agentbench_tui.agents.target import parse_target
    from agentbench_tui.load.schedule.shape import USERS_A_WORKER, is_local

    target = parse_target(agent.target)
    if target.scheme == "mock":
        return wanted  # all of them end in the one server
    if spec.workers is not None:
        return math.ceil(wanted / spec.workers)
    if target.scheme not in OF_MODELS or spec.is_open:
        return wanted
    at_most = max(1, bounds.cores - is_local(target.rest))
    return math.ceil(wanted / min(at_most, math.ceil(wanted / USERS_A_WORKER)))


def _of_prices(plan: Plan, agents: Iterable[AgentSpec]) -> Iterator[str]:
    """Warn that a budget without a known price can never be reached."""
    from agentbench_tui.agents.target import named_model
    from agentbench_tui.model.answer import Usage
    from agentbench_tui.model.suite import Price
    from agentbench_tui.scoring.prices import PriceTable

    if plan.cost_limit_usd is None:
        return
    of_suites = (one for suite in plan.suites for one in suite.resolved().prices)
    table = PriceTable([*map(Price.model_validate, plan.prices), *of_suites])
    for agent in agents:
        cost = table.cost(named_model(agent), None, Usage(1, 1))
        if cost.usd is None and not agent.simulated:
            yield (
                f"{agent.id}: the budget of {plain(plan.cost_limit_usd)} USD cannot be held:"
                f" {cost.reason}"
            )


def _ports() -> int | None:
    try:
        first, last = map(int, _PORT_RANGE.read_text().split())
    except (OSError, ValueError):
        return None
    return last - first + 1


def _files() -> int | None:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
