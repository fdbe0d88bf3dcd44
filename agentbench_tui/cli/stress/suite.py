"""The suite that `agentbench stress` builds from its options: one benchmark per scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentbench_tui.cli.suite_parts import (
    Block,
    agent_tables,
    check_request,
    check_spec,
    in_order,
    run_keys,
)
from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.suite_option import is_given, suite_fragment
from agentbench_tui.stress.options import STRESS_OPTIONS
from agentbench_tui.stress.suite import ONLY_OF, stress_suite

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


_KEYS = (
    *("scenario", "time_scale", "normal_rate", "normal_concurrency", "most_rate"),
    *("most_concurrency", "most_input_tokens", "multiple", "serve", "upstream", "upstream_env"),
    *("memory_limit_mb", "ballast_mb", "max_requests", "max_bytes", "stream", "spikes"),
    *("duration_s", "recovery_s", "max_s", "retry_after_s", "faults", "limits", "workload"),
)
"""Of `stress:`, in the order in which a person reads them."""


def suite_of_options(given: dict[str, Any], folder: Path) -> Block:
    """Return the suite as plain data. Raises UsageError for inconsistent options."""
    from agentbench_tui.stress.catalog import SCENARIOS

    scenarios = list(dict.fromkeys(given["scenarios"])) or list(SCENARIOS)
    _refuse_unused(given, scenarios)
    _check_faults(given["faults"])
    benchmark = suite_fragment(STRESS_OPTIONS, given)
    block = benchmark.get("stress", {})
    check_request(given, block.get("workload", [{}])[0])
    suite = stress_suite(
        {name: _block(name, block) for name in scenarios},
        agents=agent_tables(given["targets"], given, folder),
        time_limit_ms=benchmark.get("constraints", {}).get("time_limit_ms"),
        keys=run_keys(given),
    )
    if given["own_target"]:
        _allow(suite, folder)
    return suite


def _block(scenario: str, common: Block) -> Block:
    """Return the `stress:` block of a scenario, without what only other scenarios use."""
    from agentbench_tui.stress.spec import StressSpec

    unused = {key for key, only in ONLY_OF.items() if scenario not in only}
    own = {key: value for key, value in common.items() if key not in unused}
    block = in_order({"scenario": scenario, **own}, _KEYS)
    check_spec(block, StressSpec, "stress", STRESS_OPTIONS)
    return block


def _check_faults(names: Sequence[str]) -> None:
    from agentbench_tui.stress.faults.failures import name_problems

    for problem in name_problems(names):
        raise UsageError(f"--fault: {problem}")


def _refuse_unused(given: dict[str, Any], scenarios: Sequence[str]) -> None:
    """Raise UsageError for an option without effect, which is a mistake."""
    for option in STRESS_OPTIONS:
        only = ONLY_OF.get(option.field.removeprefix("stress."))
        if only and is_given(given[option.key]) and not set(only) & set(scenarios):
            raise UsageError(f"{option.option} works only with --scenario {' or '.join(only)}")
    if given["upstream_env"] is not None and given["upstream"] is None:
        raise UsageError("--upstream-env needs --upstream")


def _allow(suite: Block, folder: Path) -> None:
    """Allow the hosts of the targets, and of what they depend on, by name."""
    from agentbench_tui.agents.target import spec_from_table
    from agentbench_tui.model.suite import AgentTable
    from agentbench_tui.stress.safety import strange_hosts
    from agentbench_tui.stress.spec import StressSpec

    agents = [
        spec_from_table(AgentTable.model_validate(table), str(folder)) for table in suite["agents"]
    ]
    for benchmark in suite["benchmarks"]:
        spec = StressSpec.model_validate(benchmark["stress"])
        hosts = dict.fromkeys(host for agent in agents for host in strange_hosts(agent, spec))
        if hosts:
            benchmark["stress"]["allowed_hosts"] = list(hosts)
