"""Kinds of benchmarks, found by name. The engine imports none of them.

A kind is a module with `check(benchmark, base_dir)` (what can be known before running: sentences
about the whole benchmark, or findings with their path in it), `async run(group, context)` (measure
every execution of the group, writing as it goes) and `aggregate(connection, execution_key, …)`
(the metrics of what is stored; the same rows always give the same figures). That one only reads,
and hands over what else is to be written.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol, cast

from agentbench_tui.model.errors import UsageError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from pydantic import BaseModel

    from agentbench_tui.engine.run.context import RunContext
    from agentbench_tui.engine.run.plan import Group
    from agentbench_tui.engine.suite.suite_problems import Finding
    from agentbench_tui.engine.task.aggregate import Aggregate, Resources
    from agentbench_tui.model.access import Access
    from agentbench_tui.model.agent import AgentSpec
    from agentbench_tui.model.suite import Benchmark

KINDS = {
    "task": "agentbench_tui.engine.task.task",
    "load": "agentbench_tui.load.kind",
    "stress": "agentbench_tui.stress.kind",
    "experiment": "agentbench_tui.experiments.kind",
}


class Kind(Protocol):
    """How benchmarks of one kind are checked and executed."""

    def check(self, benchmark: Benchmark, base_dir: str) -> Sequence[str | Finding]: ...

    def block(self) -> type[BaseModel] | None:
        """The model of the field of a benchmark that is named like the kind, if it has one."""

    def accesses(self, benchmark: Mapping[str, Any], base_dir: str) -> Iterable[Access]:
        """Return what the kind's own fields run, read or call, for a benchmark as JSON; see
        `engine.run.trust`. The benchmark may be of another kind, and may be malicious.
        """

    async def run(self, group: Group, context: RunContext) -> None: ...

    def aggregate(
        self,
        connection: sqlite3.Connection,
        execution_key: int,
        agent: AgentSpec,
        resources: Resources,
        benchmark: Benchmark,
    ) -> Aggregate: ...


class _Varied(Protocol):
    """`experiments.variants`."""

    def run_with(
        self, benchmark: Benchmark, base_dir: str, given: Sequence[AgentSpec]
    ) -> Sequence[AgentSpec]: ...


def run_with(
    benchmark: Benchmark, base_dir: str, given: Sequence[AgentSpec]
) -> Sequence[AgentSpec]:
    """Return the agents of a benchmark's executions: the given ones, or by default the variants
    of an experiment. Raises UsageError for variants that the experiment does not accept.
    """
    if benchmark.kind != "experiment":
        return given
    package, _, _ = KINDS["experiment"].rpartition(".")
    return cast("_Varied", import_module(f"{package}.variants")).run_with(
        benchmark, base_dir, given
    )


def is_built_in(name: str) -> bool:
    """Return whether this version can execute benchmarks of the kind."""
    package, _, _ = KINDS[name].rpartition(".")
    return find_spec(package) is not None and find_spec(KINDS[name]) is not None


def find_kind(name: str) -> Kind:
    """The kind of that name. Raises UsageError when this version has it not."""
    if not is_built_in(name):
        raise UsageError(f"this version cannot run benchmarks of kind '{name}'")
    return cast("Kind", import_module(KINDS[name]))
