"""The suite that `agentbench stress` builds from its options: one benchmark per scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentbench_tui.cli.suite_parts import Block, agent_tables, request_of, run_keys
from agentbench_tui.model.errors import UsageError
from agentbench_tui.stress.suite import ONLY_OF, stress_suite

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from agentbench_tui.stress.spec import StressSpec

_LIMITS = ("error_share", "p95_ms")
_AS_GIVEN = (
    *("time_scale", "normal_rate", "normal_concurrency", "most_rate", "most_concurrency"),
    *("most_input_tokens", "multiple", "serve", "upstream", "upstream_env", "memory_limit_mb"),
    *("ballast_mb", "max_requests", "max_bytes", "stream", "spikes"),
)
"""Options whose key in `stress:` has the same name."""
_RENAMED = {
    "duration": "duration_s",
    "recovery": "recovery_s",
    "max_time": "max_s",
    "retry_after": "retry_after_s",
}
"""Option → key."""
_OF_SCENARIO = {
    next((option for option, of_key in _RENAMED.items() if of_key == key), key): only
    for key, only in ONLY_OF.items()
}
"""Options that only some scenarios have a use for."""


def suite_of_options(given: dict[str, Any], folder: Path) -> Block:
    """The suite, as plain data. Raises UsageError for options that make no sense together."""
    from agentbench_tui.stress.catalogue import SCENARIOS

    scenarios = list(dict.fromkeys(given["scenarios"])) or list(SCENARIOS)
    _refuse_unused(given, scenarios)
    timeout_s = given["timeout"]
    suite = stress_suite(
        {name: _block(name, given) for name in scenarios},
        agents=agent_tables(given["targets"], given, folder),
        time_limit_ms=None if timeout_s is None else timeout_s * 1000,
        keys=run_keys(given),
    )
    if given["own_target"]:
        _allow(suite, folder)
    return suite


def _block(scenario: str, given: dict[str, Any]) -> Block:
    """The `stress:` block of a scenario, with the options that are for it."""
    block: Block = {"scenario": scenario}
    for name in _AS_GIVEN:
        if given[name] is not None:
            block[name] = given[name]
    for name, key in _RENAMED.items():
        if given[name] is not None:
            block[key] = given[name]
    if given["faults"]:
        block["faults"] = _faults(given["faults"])
    for key, only in ONLY_OF.items():
        if scenario not in only:
            block.pop(key, None)
    limits = {name: given[name] for name in _LIMITS if given[name] is not None}
    if limits:
        block["limits"] = limits
    request = request_of(given)
    if request:
        block["workload"] = [request]
    _spec_of(block)
    return block


def _faults(names: Sequence[str]) -> list[str]:
    from agentbench_tui.stress.faults.failures import name_problems

    for problem in name_problems(names):
        raise UsageError(f"--fault: {problem}")
    return list(names)


def _refuse_unused(given: dict[str, Any], scenarios: Sequence[str]) -> None:
    """An option that would change nothing is a misunderstanding."""
    for name, only in _OF_SCENARIO.items():
        if given[name] is not None and given[name] != () and not set(only) & set(scenarios):
            option = "fault" if name == "faults" else name.replace("_", "-")
            raise UsageError(f"--{option} works only with --scenario {' or '.join(only)}")
    if given["upstream_env"] is not None and given["upstream"] is None:
        raise UsageError("--upstream-env needs --upstream")


def _spec_of(block: Block) -> StressSpec:
    """Raise UsageError, in terms of the options, for invalid values of stress."""
    from pydantic import ValidationError

    from agentbench_tui.engine.suite.suite_problems import findings
    from agentbench_tui.stress.spec import StressSpec

    try:
        return StressSpec.model_validate(block)
    except ValidationError as error:
        finding = findings(error, block, StressSpec)[0]
        raise UsageError(f"{_option_of(finding.path)}{finding.message}") from None


def _option_of(path: tuple[str | int, ...]) -> str:
    """`--most-rate: ` for a problem at that key of `stress:`."""
    names = [str(part) for part in path if isinstance(part, str)]
    if not names:
        return ""
    options = {key: option for option, key in _RENAMED.items()}
    options |= {"faults": "fault", "prompts": "prompt", "data_source": "dataset"}
    name = names[-1] if names[0] in {"workload", "limits"} else names[0]
    return f"--{options.get(name, name).replace('_', '-')}: "


def _allow(suite: Block, folder: Path) -> None:
    """Allow the hosts of the targets, and of what they depend on, by name."""
    from agentbench_tui.agents.target import spec_from_table
    from agentbench_tui.model.suite import AgentTable
    from agentbench_tui.stress.safety import strange_hosts

    agents = [
        spec_from_table(AgentTable.model_validate(table), str(folder)) for table in suite["agents"]
    ]
    for benchmark in suite["benchmarks"]:
        spec = _spec_of(benchmark["stress"])
        hosts = dict.fromkeys(host for agent in agents for host in strange_hosts(agent, spec))
        if hosts:
            benchmark["stress"]["allowed_hosts"] = list(hosts)
