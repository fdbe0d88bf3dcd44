"""The suite that `agentbench experiments run` builds from its options."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any

from agentbench_tui.cli.suite_parts import Block, agent_tables, run_keys
from agentbench_tui.engine.suite.agentfarm import UNTIMED
from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.identity import is_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from agentbench_tui.experiments.experiment import Experiment


def suite_of_options(slug: str, given: dict[str, Any], folder: Path) -> Block:
    """Return the suite as plain data.

    Raises UsageError for parameters that the experiment does not accept.
    """
    from agentbench_tui.experiments.registry import find_experiment

    cls = find_experiment(slug, folder)
    parameters = _once([_setting(cls, text, "--set") for text in given["settings"]], "--set")
    variants = _variants(cls, parameters, given["variants"])
    if variants and given["agents"]:
        raise UsageError(
            "--variants and --agent exclude each other: compare either variants or agents"
        )
    name = _name(cls.slug or slug)
    benchmark: Block = {
        "benchmark_id": name,
        "kind": "experiment",
        "experiment": slug,
        "parameters": parameters,
        "iterations": {"warmup": given["warmup"], "measured": given["iterations"]},
        "instruments": list(given["instruments"]),
    }
    if given["fresh_process"]:
        benchmark["fresh_process"] = True
    swept = _once([_values(cls, text, "--sweep") for text in given["sweeps"]], "--sweep")
    varied = variants[0]["options"] if variants else {}
    _by_one_option({"--set": parameters, "--variants": varied, "--sweep": swept})
    if swept:
        benchmark["sweep"] = {"parameters": swept}
    suite: Block = {
        "suite_id": name,
        "name": cls.slug or slug,
        "category": "speed",
        "description": "Put together by `agentbench experiments run`.",
        # The code is right or it fails; how long it takes is what is asked.
        "weights": {"accuracy": 0, "speed": 1, "efficiency": 0, "cost": 0, "reliability": 0},
        "benchmarks": [benchmark],
        **run_keys(given),
    }
    if given["parallel"] > 1:
        suite |= {"parallelism": given["parallel"], "weights": UNTIMED}
    asked = agent_tables(given["agents"], given, folder)
    _refuse_idle(cls, name, asked)
    agents = asked or variants
    if agents:
        suite["agents"] = agents
    if given["output"] is not None:
        suite["output_dir"] = given["output"]
    return suite


def _variants(
    cls: type[Experiment], parameters: Mapping[str, Any], texts: Sequence[str]
) -> list[Block]:
    """Return every combination of the values, as tables of agents. Raises UsageError."""
    from agentbench_tui.experiments.parameters import problems_of
    from agentbench_tui.experiments.variants import TARGET

    axes = _once([_values(cls, text, "--variants") for text in texts], "--variants")
    if not axes:
        return []
    tables: list[Block] = []
    for chosen in itertools.product(*axes.values()):
        values = dict(zip(axes, chosen, strict=True))
        for problem in problems_of(cls, {**parameters, **values}):
            raise UsageError(f"--variants: {problem}")
        tables.append({"id": _variant_name(values), "target": TARGET, "options": values})
    names = [table["id"] for table in tables]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"--variants: two variants would have the name `{twice}`")
    return tables


def _variant_name(values: Mapping[str, Any]) -> str:
    """Return `disk` if a single text identifies it; otherwise such as `size-10-mode-fast`."""
    if len(values) == 1 and is_name(text := str(next(iter(values.values())))) and text[0].isalpha():
        return text
    return _name("-".join(f"{key}-{value}" for key, value in values.items()))


def _refuse_idle(cls: type[Experiment], name: str, agents: Sequence[Block]) -> None:
    """Raise UsageError for an agent that would take no part in the measurement."""
    from agentbench_tui.agents.target import parse_target
    from agentbench_tui.experiments.variants import TARGET

    idle = [one["id"] for one in agents if parse_target(one["target"]).scheme != TARGET]
    if idle and not cls.asks_agent:
        raise UsageError(
            f"--agent {idle[0]}: {name} measures code and calls no agent; remove --agent"
        )


def _once(pairs: Sequence[tuple[str, Any]], option: str) -> dict[str, Any]:
    """Return the pairs by name. Raises UsageError for a repeated name."""
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{option} {name}=…: given twice")
    return dict(pairs)


def _by_one_option(given: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise UsageError for a parameter that two options set, since one of them would be ignored."""
    for (one, its), (other, others) in itertools.combinations(given.items(), 2):
        for name in its:
            if name in others:
                raise UsageError(f"{one} and {other} both set `{name}`; remove one of them")


def _values(cls: type[Experiment], text: str, option: str) -> tuple[str, list[Any]]:
    from agentbench_tui.experiments.parameters import from_text

    key, equals, values = text.partition("=")
    if not equals or not key or not values:
        raise UsageError(f"{option} {text}: expected KEY=A,B…")
    return key, [from_text(cls, key, value) for value in values.split(",")]


def _setting(cls: type[Experiment], text: str, option: str) -> tuple[str, Any]:
    from agentbench_tui.experiments.parameters import from_text

    key, equals, value = text.partition("=")
    if not equals or not key:
        raise UsageError(f"{option} {text}: expected KEY=VALUE")
    return key, from_text(cls, key, value)


def _name(text: str) -> str:
    clean = re.sub(r"[^A-Za-z0-9._-]+", "-", text.rpartition(":")[2]).strip("._-")[:64]
    return clean or "experiment"
