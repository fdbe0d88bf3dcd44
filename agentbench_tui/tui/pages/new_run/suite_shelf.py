"""Loads every suite that can be found by name, for the tree of suites."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from agentbench_tui.agents.target import argument_of, spec_from_table
from agentbench_tui.engine.suite.catalog import suite_catalog
from agentbench_tui.engine.suite.loading import LoadedSuite, load_suite
from agentbench_tui.engine.suite.parameters import (
    NO_SETTINGS,
    declarations,
    parse_settings,
    type_of,
)
from agentbench_tui.model.errors import AgentbenchError, UsageError
from agentbench_tui.model.kinds import kind_named
from agentbench_tui.tui.pages.new_run.choice import FieldSpec

if TYPE_CHECKING:
    from collections.abc import Iterable

CASES_SHOWN = 200
"""Cases shown per benchmark; others can be named by `--case`."""


@dataclass(frozen=True, slots=True)
class ShelvedSuite:
    """One suite; not loaded if it is invalid."""

    name: str
    """Its name on the command line."""
    origin: str
    loaded: LoadedSuite | None = None
    fault: str = ""

    @property
    def category(self) -> str:
        return "faulty" if self.loaded is None else self.loaded.suite.category

    @property
    def needs_agent(self) -> bool:
        """Return whether it needs agents and names none."""
        if self.loaded is None:
            return False
        suite = self.loaded.suite
        ask_agents = any(kind_named(one.kind).needs_agents for one in suite.benchmarks)
        return ask_agents and not suite.agents


def read_shelf(others: Iterable[str] = ()) -> list[ShelvedSuite]:
    """Return the suites of the catalog and `others` (paths). Reads files, so run it in a thread."""
    entries = [(entry.name, str(entry.origin), entry.fault) for entry in suite_catalog()]
    known = {name for name, _, _ in entries}
    entries += [(other, "file", "") for other in others if other not in known]
    return [_read(*entry) for entry in entries]


def _read(name: str, origin: str, fault: str) -> ShelvedSuite:
    if fault:
        return ShelvedSuite(name, origin, fault=fault)
    try:
        return ShelvedSuite(name, origin, load_suite(name))
    except AgentbenchError as error:
        return ShelvedSuite(name, origin, fault=str(error).partition("\n")[0])


def own_agents(loaded: LoadedSuite) -> list[str]:
    """Return the agents that the suite names, as arguments; invalid ones are omitted, since the
    plan reports them.
    """
    found = []
    for table in loaded.suite.agents:
        try:
            found.append(argument_of(spec_from_table(table, str(loaded.folder))))
        except UsageError:
            continue
    return found


def parameter_fields(loaded: LoadedSuite) -> list[FieldSpec]:
    """Return one line for each parameter that may be set."""
    fields = []
    for name, parameter in declarations(loaded.suite).items():
        words = tuple(str(choice) for choice in parameter.choices or ())
        if not words and type_of(parameter) == "boolean":
            words = ("true", "false")
        default = "required" if parameter.required else _written(parameter.default)
        about = parameter.description or ", ".join(words)
        hint = f"{default}; {about}" if about else default
        fields.append(FieldSpec(f"--set {name}", name, hint, words))
    return fields


def parameter_fault(loaded: LoadedSuite, name: str, typed: str) -> str:
    """Return why the text is no value of the parameter; empty if it is one."""
    if not typed:
        return ""
    try:
        parse_settings(loaded.suite, [f"{name}={typed}"])
    except UsageError as error:
        return str(error).removeprefix(f"--set {name}: ")
    return ""


def case_ids(loaded: LoadedSuite, index: int) -> tuple[list[str], int]:
    """Return the first 200 cases of a benchmark, and their total number. Raises AgentbenchError."""
    from agentbench_tui.engine.cases.dataset import open_dataset

    benchmark = loaded.benchmark(index, NO_SETTINGS)
    if benchmark.dataset is None:
        return [], 0
    with open_dataset(
        benchmark,
        base_dir=str(loaded.folder),
        seed=loaded.suite.seed,
        parameters=loaded.values(benchmark, NO_SETTINGS),
    ) as source:
        return list(islice(source.ids(), CASES_SHOWN)), len(source)


def _written(default: object) -> str:
    if isinstance(default, bool):
        return str(default).lower()
    return "empty" if default is None else str(default)
