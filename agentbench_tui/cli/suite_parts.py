"""Common parts of suites built from options: agents, workload, budgets, gates, and their text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentbench_tui.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.model.agent import AgentSpec

Block = dict[str, Any]


def agent_tables(targets: Sequence[str], given: dict[str, Any], folder: Path) -> list[Block]:
    """Return `agents` of a suite. Raises UsageError for an invalid target."""
    from agentbench_tui.agents.target import parse_agent

    return [_agent_table(parse_agent(text, base_dir=str(folder)), given) for text in targets]


def run_keys(given: dict[str, Any]) -> Block:
    """Return the run's options as keys of a suite: gates, seed, budgets and prices."""
    keys: Block = {}
    if given["gates"]:
        keys["gates"] = list(given["gates"])
    for key, name in (
        ("seed", "seed"),
        ("cost_limit_usd", "max_cost"),
        ("token_limit", "max_tokens"),
    ):
        if given[name] is not None:
            keys[key] = given[name]
    if given["prices"] is not None:
        keys["prices"] = _prices(given["prices"])
    return keys


def request_of(given: dict[str, Any]) -> Block:
    """The one request of a workload; empty for the built-in text. An option that the command has
    not is as one that is not given. Raises UsageError for two sources of prompts."""
    sources = [
        f"--{name.replace('_', '-')}"
        for name in ("prompts", "dataset", "input_tokens")
        if given[name]
    ]
    if len(sources) > 1:
        raise UsageError(f"{' and '.join(sources)}: give one".replace("--prompts", "--prompt"))
    request: Block = {}
    if given["prompts"]:
        request["prompts"] = list(given["prompts"])
    if given["dataset"] is not None:
        request["data_source"] = given["dataset"]
        if given["fields"]:
            request["fields"] = dict(given["fields"])
        _check_dataset(request)
    elif given["fields"]:
        raise UsageError("--fields works only with --dataset")
    if given["input_tokens"] is not None:
        request["synthetic"] = {"input_tokens": given["input_tokens"]}
        if given.get("prefix_share") is not None:
            request["synthetic"]["prefix_share"] = given["prefix_share"]
    for key, name in (
        ("output_tokens", "output_tokens"),
        ("turns", "turns"),
        ("cancel_after_tokens", "cancel_after"),
    ):
        if given.get(name) is not None:
            request[key] = given[name]
    return request


def _check_dataset(request: Block) -> None:
    """Find the first record that can be sent, for messages in the words of the options.

    Raises UsageError, and MissingExtra.
    """
    from agentbench_tui.engine.cases.dataset import open_dataset
    from agentbench_tui.model.errors import SuiteError
    from agentbench_tui.model.suite import Benchmark, Dataset

    dataset = Dataset(data_source=request["data_source"], fields=request.get("fields", {}))
    try:
        open_dataset(
            Benchmark(benchmark_id="load", dataset=dataset),
            base_dir=Path.cwd(),
            seed=0,
            limit=1,
            skip_unusable=True,
            on_command_line=True,
        ).close()
    except SuiteError as error:
        lines = []
        for problem in error.problems:
            option = "--fields" if ".fields" in problem.path else "--dataset"
            lines.append(f"{option}: {replace(problem, path='')}")
        raise UsageError("\n".join(lines)) from None


def as_yaml(suite: Block) -> str:
    """The suite as a person would write it into a file."""
    import io

    from ruamel.yaml import YAML

    yaml = YAML()
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.width = 100
    text = io.StringIO()
    yaml.dump(suite, text)
    return text.getvalue()


def _prices(file: Path) -> list[Block]:
    from agentbench_tui.scoring.prices import read_prices

    return [price.model_dump(mode="json", exclude_none=True) for price in read_prices(file)]


def _agent_table(spec: AgentSpec, given: dict[str, Any]) -> Block:
    from agentbench_tui.agents.target import spec_from_table
    from agentbench_tui.model.suite import AgentTable

    table: Block = {"id": spec.id, "target": spec.target}
    if spec.options:
        table["options"] = dict(spec.options)
    if given["hourly_price"] is not None:
        table["hourly_price_usd"] = given["hourly_price"]
    derived = spec_from_table(AgentTable.model_validate(table), spec.base_dir)
    if derived.version != spec.version:
        table["version"] = spec.version
    return table
