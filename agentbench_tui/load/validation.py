"""Finds problems of a load benchmark before anything runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from agentbench_tui.engine.cases.records import access_of_source
from agentbench_tui.engine.suite.limits import refused_limits
from agentbench_tui.engine.suite.suite_problems import Finding, findings
from agentbench_tui.load.schedule.arrivals import problems
from agentbench_tui.load.schedule.shape import schedule_of
from agentbench_tui.load.spec import LoadSpec
from agentbench_tui.load.workload.workload import problems as workload_problems
from agentbench_tui.model.access import Access
from agentbench_tui.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agentbench_tui.load.spec import RequestSpec
    from agentbench_tui.model.suite import Benchmark


def accesses_of_load(block: object, base_dir: str) -> Iterator[Access]:
    """Return what a `load:` block, which may be malicious, reads or runs."""
    if not block:
        return
    try:
        spec = LoadSpec.model_validate(block)
    except ValidationError:
        yield Access("uses", "`load`, which this version cannot read")
        return
    if spec.trace is not None:
        yield Access("reads", str(Path(base_dir, spec.trace.file)))
    yield from accesses_of_workload(spec.workload, base_dir)


def accesses_of_workload(workload: Iterable[RequestSpec], base_dir: str) -> Iterator[Access]:
    """Return what the datasets of a workload read or run."""
    for request in workload:
        if request.data_source is not None:
            yield access_of_source(request.data_source, Path(base_dir))


def check_load(benchmark: Benchmark, base_dir: str) -> list[str | Finding]:
    """Return problems of the `load:` block and related keys, with their paths.

    Reads the trace, and the first case of each dataset; `base_dir` is the base of relative paths.
    """
    found: list[str | Finding] = []
    if benchmark.dataset is not None:
        found.append("`dataset` belongs to benchmarks of kind task; a load names its `workload`")
    if benchmark.experiment is not None:
        found.append("`experiment` belongs to benchmarks of kind experiment")
    if benchmark.scorers:
        found.append("`scorers` belong to benchmarks of kind task: a load grades no answers")
    if benchmark.metrics:
        found.append("`metrics` belong to benchmarks of kind task: a load measures no answers")
    found += refused_limits(
        benchmark,
        ("token_limit", "cost_limit_usd"),
        "give the suite one, which caps the whole run, or `max_tokens` to the load",
    )
    if not benchmark.load:
        return [*found, "a load benchmark needs `load`: a schedule, such as `load: {rate: 10}`"]
    try:
        spec = LoadSpec.model_validate(benchmark.load)
    except ValidationError as error:
        return found + [
            Finding(("load", *one.path), one.message, one.at_key)
            for one in findings(error, benchmark.load, LoadSpec)
        ]
    try:
        arrivals = schedule_of(spec, base_dir)
    except UsageError as error:
        found.append(Finding(("load", "trace"), str(error)))
    else:
        if arrivals is not None:
            found += [Finding(("load",), line) for line in problems(arrivals)]
    for line in workload_problems(spec, base_dir):
        path, _, message = line.partition(": ")
        steps = (int(part) if part.isdecimal() else part for part in path.split("."))
        found.append(Finding(("load", *steps), message))
    return found
