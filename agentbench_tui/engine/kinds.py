"""What measures benchmarks of a kind. The engine knows kinds only through this protocol.

A runner is a module, or an object, with these functions. It is named by its `model.kinds.Kind`.
`aggregate` gives the metrics of what is stored: the same rows always give the same figures. It only
reads, and hands over what else is to be written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.kinds import find_kind, kind_named

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


class Runner(Protocol):
    """How benchmarks of one kind are checked and measured."""

    def check(self, benchmark: Benchmark, base_dir: str) -> Sequence[str | Finding]:
        """Return the problems that are known before running: sentences about the whole benchmark,
        or findings with their path in it.
        """

    def block(self) -> type[BaseModel] | None:
        """Return the model of the benchmark field with the kind's name, if there is one."""

    def accesses(self, benchmark: Mapping[str, Any], base_dir: str) -> Iterable[Access]:
        """Return what the kind's own fields run, read or call, for a benchmark as JSON; see
        `engine.run.trust`. The benchmark may be of another kind, and may be malicious.
        """

    async def run(self, group: Group, context: RunContext) -> None:
        """Measure every execution of the group, writing as it goes."""

    def aggregate(
        self,
        connection: sqlite3.Connection,
        execution_key: int,
        agent: AgentSpec,
        resources: Resources,
        benchmark: Benchmark,
    ) -> Aggregate:
        """Return the metrics of a stored execution."""


def section_problems(benchmark: Benchmark, model: type[BaseModel]) -> list[Finding]:
    """Return the problems in the table that a benchmark's kind owns; `model` describes it."""
    from pydantic import ValidationError

    from agentbench_tui.engine.suite.suite_problems import Finding, findings

    section = benchmark.section(benchmark.kind)
    try:
        model.model_validate(section)
    except ValidationError as error:
        found = findings(error, section, model)
        return [Finding((benchmark.kind, *one.path), one.message, one.at_key) for one in found]
    return []


def run_with(
    benchmark: Benchmark, base_dir: str, given: Sequence[AgentSpec]
) -> Sequence[AgentSpec]:
    """Return the agents of a benchmark's executions: the given ones, or by default the variants
    of its kind. Raises UsageError for variants that the benchmark does not accept.
    """
    variants = kind_named(benchmark.kind).part("variants")
    if variants is None:
        return given
    return cast("Sequence[AgentSpec]", variants(benchmark, base_dir, given))


def find_runner(name: str) -> Runner:
    """Return the runner of a kind. Raises UsageError if the kind is not installed."""
    kind = find_kind(name)
    if not kind.runner:
        raise UsageError(f"benchmark kind '{name}' names no runner")
    return cast("Runner", kind.part("runner"))
