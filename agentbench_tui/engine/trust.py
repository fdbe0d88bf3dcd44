"""What a stored run would execute when it is resumed or scored again.

The plan of an imported run comes from somebody else. Resuming it runs the commands and the Python
code that it names, and sends the keys of this machine to the URLs that it names. Scoring it again
runs the code of its scorers, and with `python_tests` the code in its cases and answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from agentbench_tui.agents.schemes import BUILT_IN, INSIDE, SIMULATED
from agentbench_tui.agents.secret_names import named_variables
from agentbench_tui.agents.target import parse_target
from agentbench_tui.model.untrusted import one_line

if TYPE_CHECKING:
    from agentbench_tui.engine.plan import Group, Plan

_EXECUTED = re.compile(r"(?:[^=:?#/]*=)?\s*(?:python|command|worker)[?:]")
"""Begins a scorer, a data source or a target that runs code here. A target may have a name before
its scheme, and options after it."""
_HERE = INSIDE | SIMULATED
"""Schemes of agents that neither run foreign code nor send anything elsewhere, `python` aside."""
_COMMAND, _JUDGES = "serve", "judges"
"""Options that hold a command line, and targets that are sent questions."""
_LONGEST = 300


def executed_by_resuming(plan: Plan) -> list[str]:
    """A line for each command, each piece of Python code, and each place that gets questions."""
    agents = {spec.agent.id: spec.agent for _, spec in plan.executions()}
    lines = []
    for agent in agents.values():
        target, scheme = one_line(agent.target, _LONGEST), parse_target(agent.target).scheme
        names = sorted(named_variables(msgspec.to_builtins(agent)))
        keys = f", with the values of {', '.join(names)}" if names else ""
        if _EXECUTED.match(agent.target) or scheme not in BUILT_IN:
            lines.append(f"runs {target}{keys}")
        elif keys or scheme not in _HERE:
            lines.append(f"sends questions to {target}{keys}")
    for group in plan.groups:
        # Every part, since kinds differ in where they name code.
        lines += _of_benchmark(group, group.benchmark)
    return list(dict.fromkeys(lines))


def executed_by_rescoring(plan: Plan) -> list[str]:
    """A line for each piece of code, and each judge, that the run's own scorers name."""
    lines = [line for group in plan.groups for line in _of_benchmark(group, ("scorers",))]
    return list(dict.fromkeys(lines))


def _of_benchmark(group: Group, keys: Iterable[str]) -> Iterator[str]:
    from agentbench_tui.scoring.program import RECIPES

    for key in keys:
        value = group.benchmark.get(key)
        place = f"{key} of {group.benchmark['benchmark_id']}"
        for text in dict.fromkeys(_texts(value)):
            if _EXECUTED.match(text):
                yield f"runs {one_line(text, _LONGEST)} ({place})"
            elif key == "scorers" and text in RECIPES:
                yield f"runs the code in answers and cases by {text} ({place})"
        for command in dict.fromkeys(_values_of(_COMMAND, value)):
            yield f"runs {one_line(command, _LONGEST)} ({place})"
        for judge in dict.fromkeys(_values_of(_JUDGES, value)):
            if not _EXECUTED.match(judge):
                yield f"sends questions to {one_line(judge, _LONGEST)} ({place})"
        if names := sorted(named_variables(value)):
            yield f"hands out the values of {', '.join(names)} ({place})"


def _values_of(option: str, value: Any) -> Iterator[str]:
    """The texts in an option, wherever in plain data the option is."""
    if isinstance(value, dict):
        yield from _texts(value.get(option))
        value = list(value.values())
    for inner in value if isinstance(value, list | tuple) else ():
        yield from _values_of(option, inner)


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
