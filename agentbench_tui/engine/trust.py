"""What a stored run would execute when it is resumed or scored again.

The plan of an imported run comes from somebody else. Resuming it runs the commands and the Python
code that it names, and sends the keys of this machine to the URLs that it names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from agentbench_tui.agents.secret_names import named_variables
from agentbench_tui.agents.target import parse_target
from agentbench_tui.model.untrusted import one_line

if TYPE_CHECKING:
    from agentbench_tui.engine.plan import Group, Plan

_EXECUTED = ("python:", "command:", "worker:")
_LONGEST = 300


def executed_by_resuming(plan: Plan) -> list[str]:
    """A line for each command, each piece of Python code, and each place that gets keys."""
    agents = {spec.agent.id: spec.agent for _, spec in plan.executions()}
    lines = []
    for agent in agents.values():
        target = one_line(agent.target, _LONGEST)
        names = sorted(named_variables(msgspec.to_builtins(agent)))
        keys = f", with the values of {', '.join(names)}" if names else ""
        if agent.target.startswith(_EXECUTED):
            lines.append(f"runs {target}{keys}")
        elif keys or parse_target(agent.target).scheme in {"http", "https"}:
            lines.append(f"sends questions to {target}{keys}")
    for group in plan.groups:
        lines += _of_benchmark(group, ("scorers", "dataset", "experiment", "instruments"))
    return list(dict.fromkeys(lines))


def executed_by_rescoring(plan: Plan) -> list[str]:
    """A line for each piece of code, and each judge, that the run's own scorers name."""
    lines = [line for group in plan.groups for line in _of_benchmark(group, ("scorers",))]
    return list(dict.fromkeys(lines))


def _of_benchmark(group: Group, keys: tuple[str, ...]) -> Iterator[str]:
    for key in keys:
        value = group.benchmark.get(key)
        names = sorted(named_variables(value))
        found = dict.fromkeys(text for text in _texts(value) if text.startswith(_EXECUTED))
        for text in found:
            yield f"runs {one_line(text, _LONGEST)} ({key} of {group.benchmark['benchmark_id']})"
        if names:
            place = f"{key} of {group.benchmark['benchmark_id']}"
            yield f"hands out the values of {', '.join(names)} ({place})"


def _texts(value: Any) -> Iterator[str]:
    """Every text in plain data, keys too: a scorer may be written as a key with its options."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _texts(name)
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)
