"""Kinds of benchmarks: their description, and how they are found by name.

A `Kind` answers the questions that the rest of the code has about it, so that nothing else compares
its name. It is light: commands and screens read its answers without loading what measures. What
takes code is named as a part, `module:attribute`, and loaded when it is needed.

A kind from another distribution is an entry point of the group `agentbench.kinds` that leads to a
`Kind`; see docs/kinds.md.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import msgspec

from agentbench_tui.model.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from agentbench_tui.model.figures.figure import Metric

ENTRY_POINTS = "agentbench.kinds"


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """Description of a kind of benchmarks. The defaults fit a kind that measures numbers."""

    name: str
    """As suites write it in `kind:`. The field of a benchmark with this name, a table, is the
    kind's own."""
    summary: str = ""
    """What it does, in one line: `put a target under load`."""
    runner: str = ""
    """`module` or `module:attribute` of its `engine.kinds.Runner`."""

    needs: tuple[str, ...] = ()
    """Fields that a benchmark of this kind must have in its suite."""
    needs_agents: bool = True
    """Whether a suite or a command has to name agents."""
    reads_dataset: bool = False
    """Whether the engine stores the cases of `dataset` before it runs."""
    judges_answers: bool = False
    """Whether answers are right or wrong."""
    plans_answers: bool = False
    """Whether `planned` of an execution is the number of answers it will have."""
    returns_numbers: bool = False
    """Whether the data of each answer are numbers by name, each of which is a metric."""
    measures_code: bool = False
    """Whether it measures code in a process of the harness: profilers can look at it, and it uses
    no tokens and costs nothing."""
    sends_load: bool = False
    """Whether worker processes send its requests, so that their number is not known beforehand, and
    only the first failures of each kind are stored."""
    runs_by_schedule: bool = False
    """Whether the benchmark says how long it will take: by a duration, or requests and a rate."""
    compares_repeats: bool = False
    """Whether a version can be judged by its repeats where there are few runs."""
    judges_tail: bool = False
    """Whether regressions of its p95 are judged unless metrics are named."""

    variants: str = ""
    """Part `(benchmark, base_dir, agents) -> agents`: what is run in place of the agents given."""
    metrics: str = ""
    """Part that is an iterable of `Metric`: those that this kind alone measures. They can be ranked
    by, compared and explained like every other."""
    evidence: str = ""
    """Part `(connection, executions) -> Evidence`, for comparisons of executions without cases."""
    document: str = ""
    """Part `(connection, execution, benchmark) -> dict | Struct | None`: what the document of a run
    holds of an execution, under the kind's name."""
    live_facts: str = ""
    """Part `(document, *, ended) -> list[Fact]`: what the live page tells of an execution, of what
    `document` gave."""
    check_plan: str = ""
    """Part `(plan) -> None`, called before a run; raises UsageError."""
    plan_words: str = ""
    """Part `(benchmark) -> str`: what a plan shows of a benchmark beside its counts."""
    result: str = ""
    """Part `(run_document, executions, form, *, in_full) -> None`: prints the executions of this
    kind in a run, as `table`, `md`, `csv` or `jsonl`. Without it they are rows of one table with
    all others."""
    progress: str = ""
    """Part, async `(database, run_id, began) -> None`: says on stderr how a run goes whose
    benchmarks are all of this kind; without a screen."""

    def part(self, name: str) -> Any:
        """Return the part of that name, such as `document`; None if the kind has none."""
        where: str = getattr(self, name)
        return load_part(where) if where else None


def load_part(where: str) -> Any:
    """Return what `module:attribute` names; the module itself without an attribute."""
    module, _, attribute = where.partition(":")
    found = import_module(module)
    return getattr(found, attribute) if attribute else found


BUILT_IN = {
    "task": "agentbench_tui.engine.task.traits",
    "load": "agentbench_tui.load.traits",
    "stress": "agentbench_tui.stress.traits",
    "experiment": "agentbench_tui.experiments.traits",
}
"""Name → the module whose `KIND` it is."""
DEFAULT = "task"
"""The kind of a benchmark that names none."""


@cache
def kind_named(name: str) -> Kind:
    """Return the kind of that name, or a default one if this installation lacks it, as for imported
    runs.
    """
    return _found(name) or Kind(name=name)


def find_kind(name: str) -> Kind:
    """Return the kind of that name. Raises UsageError with the nearest name if there is none."""
    found = _found(name)
    if found is None:
        known = kind_names()
        near = did_you_mean(name, known) or f"; there are {', '.join(known)}"
        raise UsageError(f"there is no benchmark kind '{name}'{near}")
    return found


def is_known(name: str) -> bool:
    """Return whether there is a kind of that name."""
    return _found(name) is not None


def kind_names() -> tuple[str, ...]:
    """Return every installed kind, built-in ones first."""
    return (*BUILT_IN, *sorted(set(_installed()) - set(BUILT_IN)))


@cache
def metrics_of_kinds() -> dict[str, Metric]:
    """Return the metrics of kinds from other distributions by name, without those of a kind that
    cannot be loaded, which is reported where it is used.
    """
    found: dict[str, Metric] = {}
    for name in kind_names():
        with suppress(UsageError, ImportError, AttributeError):
            found |= {metric.name: metric for metric in find_kind(name).part("metrics") or ()}
    return found


@cache
def _found(name: str) -> Kind | None:
    if name in BUILT_IN:
        module = BUILT_IN[name]
        package = module.rpartition(".")[0]
        if find_spec(package) is None or find_spec(module) is None:
            return None
        return _checked(import_module(module).KIND, name)
    if name not in _installed():
        return None
    try:
        found = load_part(_installed()[name])
    except (ImportError, AttributeError) as error:
        raise UsageError(f"benchmark kind '{name}' cannot be loaded: {error}") from error
    return _checked(found, name)


def _checked(found: object, name: str) -> Kind:
    if not isinstance(found, Kind) or found.name != name:
        raise UsageError(
            f"benchmark kind '{name}': its entry point must lead to a Kind of that name, "
            f"not {found!r}"
        )
    return found


@cache
def _installed() -> dict[str, str]:
    """Return the target of each entry point by name."""
    from importlib import metadata  # which imports a parser of mail

    return {point.name: point.value for point in metadata.entry_points(group=ENTRY_POINTS)}
