"""Finds problems of an experiment in a suite before anything runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agentbench_tui.engine.suite.limits import refused_limits
from agentbench_tui.engine.suite.suite_problems import Finding
from agentbench_tui.engine.suite.sweep import axis
from agentbench_tui.experiments.experiment import Experiment
from agentbench_tui.experiments.instrument import around, find_around, instruments_of
from agentbench_tui.experiments.parameters import problems_of
from agentbench_tui.experiments.registry import find_experiment
from agentbench_tui.instruments.registry import check_instrument
from agentbench_tui.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from agentbench_tui.model.suite import Benchmark


def check_experiment(benchmark: Benchmark, base_dir: str) -> list[str | Finding]:
    """Return every problem; imports the experiment's module."""
    found: list[str | Finding] = [
        Finding((key,), f"`{key}` does not belong to benchmarks of kind experiment", at_key=True)
        for key, given in (
            ("dataset", benchmark.dataset),
            ("game", benchmark.game),
            ("load", benchmark.load),
            ("stress", benchmark.stress),
            ("scorers", benchmark.scorers),
            ("metrics", benchmark.metrics),
        )
        if given
    ]
    found += refused_limits(
        benchmark,
        ("memory_limit_mb", "token_limit", "cost_limit_usd"),
        "only `time_limit_ms` is; limit memory in the experiment itself",
    )
    found += _unknown_instruments(benchmark, Path(base_dir))
    try:
        cls = find_experiment(benchmark.experiment or "", Path(base_dir))
    except UsageError as error:
        return [*found, Finding(("experiment",), str(error))]
    for values in _points(benchmark):
        found += [Finding(_place(one, benchmark), one) for one in problems_of(cls, values)]
        if found:
            return found
    return [*found, *_own(cls, benchmark.parameters)]


def _unknown_instruments(benchmark: Benchmark, folder: Path) -> Iterator[Finding]:
    """Yield instruments of plugins and of Python code that cannot be loaded."""
    for place, spec in enumerate(benchmark.instruments):
        if check_instrument(spec, benchmark.kind):
            continue  # The engine reports what is wrong with the entry itself.
        for instrument in around(instruments_of([spec])):
            try:
                find_around(instrument, folder)
            except UsageError as error:
                yield Finding(("instruments", place), str(error))


def _points(benchmark: Benchmark) -> Iterator[Mapping[str, Any]]:
    """Yield sets of parameters in which every value of the benchmark and its sweep occurs."""
    swept = {
        name: axis(values)
        for name, values in (benchmark.sweep.parameters if benchmark.sweep else {}).items()
    }
    first = {**benchmark.parameters, **{name: values[0] for name, values in swept.items()}}
    yield first
    for name, values in swept.items():
        for value in values[1:]:
            yield {**first, name: value}


def _place(problem: str, benchmark: Benchmark) -> tuple[str, ...]:
    """Return the position of the parameter with the problem, the same for a benchmark and for a
    point of its sweep, whose parameters include swept values.
    """
    swept = benchmark.sweep.parameters if benchmark.sweep else {}
    for name in swept:
        if problem.startswith((f"parameter `{name}`", f'there is no parameter "{name}"')):
            return ("sweep", "parameters", name)
    return ("parameters",) if benchmark.parameters.keys() - swept.keys() else ("experiment",)


def _own(cls: type[Experiment], parameters: Mapping[str, Any]) -> list[str | Finding]:
    """Return the problems of the class's declaration, and of its variants."""
    found: list[str | Finding] = [
        f"{cls.__name__}.better: `{name}` is better `lower` or `higher`, not {way!r}"
        for name, way in cls.better.items()
        if way not in {"lower", "higher"}
    ]
    if cls.execute_once is Experiment.execute_once:
        found.append(f"{cls.__name__} has no `execute_once`, which is what is timed")
    return found + [
        f"variant `{name}` of {cls.__name__}: {problem}"
        for name, values in cls.variants.items()
        for problem in problems_of(cls, {**parameters, **values})
    ]
