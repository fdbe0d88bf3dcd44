"""Variants of an experiment: named sets of parameters, measured in alternation.

In a plan each is an agent with the target `variant`, its parameters as options: so everything that
compares agents compares variants. A run that names no agents has those that the experiment brings
along, else the one with nothing changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentbench_tui.agents.target import parse_target, spec_from_table
from agentbench_tui.experiments.parameters import from_text, parameter_model, problems_of
from agentbench_tui.experiments.registry import find_experiment
from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.suite import AgentTable

if TYPE_CHECKING:
    from agentbench_tui.experiments.experiment import Experiment
    from agentbench_tui.model.agent import AgentSpec
    from agentbench_tui.model.suite import Benchmark

TARGET = "variant"
UNCHANGED = "code"
"""Name of the only variant if nothing is varied: the code under test as it is."""


def is_variant(agent: AgentSpec) -> bool:
    """Return whether it is a variant rather than an agent."""
    return parse_target(agent.target).scheme == TARGET


def variant(name: str, parameters: Mapping[str, Any]) -> AgentSpec:
    """Return a variant as a plan holds it. Raises UsageError for an invalid name."""
    return spec_from_table(AgentTable(id=name, target=TARGET, options=dict(parameters)), "")


def run_with(
    benchmark: Benchmark, base_dir: str, given: Sequence[AgentSpec]
) -> Sequence[AgentSpec]:
    """Return what a benchmark is run with: the given agents or variants, else the variants of the
    experiment.

    Agents are excluded from an experiment that calls none. Variants whose parameters the benchmark
    sets itself are excluded: they are pinned. Raises UsageError for an unknown experiment and for
    variants with unknown parameters.
    """
    cls = find_experiment(benchmark.experiment or "", Path(base_dir))
    if not cls.asks_agent:
        given = [one for one in given if is_variant(one)]
    for agent in given:
        values = parameters_of(cls, benchmark.parameters, agent)
        for problem in problems_of(cls, values) if is_variant(agent) else ():
            raise UsageError(f"variant {agent.id}: {problem}")
    if given:
        return given
    pinned = {*benchmark.parameters, *(benchmark.sweep.parameters if benchmark.sweep else ())}
    free = [
        variant(name, values)
        for name, values in cls.variants.items()
        if not pinned.intersection(values)
    ]
    return free or [variant(UNCHANGED, {})]


def parameters_of(
    cls: type[Experiment], parameters: Mapping[str, Any], agent: AgentSpec
) -> dict[str, Any]:
    """Return the parameters of a variant; those of the benchmark for an agent.

    Texts of a target's options are read as the parameter's type.
    """
    if not is_variant(agent):
        return dict(parameters)
    known = parameter_model(cls).model_fields
    own = {
        name: from_text(cls, name, value) if isinstance(value, str) and name in known else value
        for name, value in agent.options.items()
    }
    return {**parameters, **own}
