"""Common parts of suites built from options: agents, workload, budgets, gates, and their text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentbench_tui.cli.console.token_prices import by_narrowness
from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.suite_option import option_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import BaseModel

    from agentbench_tui.model.agent import AgentSpec
    from agentbench_tui.model.suite_option import SuiteOption

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
    prices = list(by_narrowness(given["token_prices"]))
    if given["prices"] is not None:
        prices += _prices(given["prices"])
    if prices:
        keys["prices"] = prices
    return keys


def check_request(given: dict[str, Any], request: Block) -> None:
    """Raise UsageError for two sources of prompts, and for a dataset that cannot be sent.

    `request`: what the options mean in a workload. An option that the command does not have is
    like one that is not given.
    """
    sources = [
        f"--{name.replace('_', '-')}"
        for name in ("prompts", "dataset", "input_tokens")
        if given[name]
    ]
    if len(sources) > 1:
        raise UsageError(f"{' and '.join(sources)}: give one".replace("--prompts", "--prompt"))
    if given["dataset"] is not None:
        _check_dataset(request)
    elif given["fields"]:
        raise UsageError("--fields works only with --dataset")


def check_spec(
    block: Block, model: type[BaseModel], kind: str, options: Sequence[SuiteOption]
) -> None:
    """Raise UsageError, in terms of the command line, for invalid values of a kind's block."""
    from pydantic import ValidationError

    from agentbench_tui.engine.suite.suite_problems import findings

    try:
        model.model_validate(block)
    except ValidationError as error:
        finding = findings(error, block, model)[0]
        option = option_of(options, (kind, *finding.path))
        raise UsageError(f"{option}: {finding.message}" if option else finding.message) from None


def in_order(block: Block, keys: Sequence[str]) -> Block:
    """Return the block with its keys in the order of `keys`."""
    return {key: block[key] for key in keys if key in block}


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
    """Return the suite as a person would write it into a file."""
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
