"""Finds problems of a stress benchmark before anything runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from agentbench_tui.engine.suite.limits import refused_limits
from agentbench_tui.engine.suite.suite_problems import Finding, findings
from agentbench_tui.http.wire import Origin
from agentbench_tui.load.spec import LoadSpec
from agentbench_tui.load.validation import accesses_of_workload
from agentbench_tui.load.workload.workload import problems as workload_problems
from agentbench_tui.model.access import Access, in_folder
from agentbench_tui.model.errors import UsageError, did_you_mean
from agentbench_tui.stress.catalog import SCENARIOS
from agentbench_tui.stress.faults.failures import name_problems
from agentbench_tui.stress.spec import StressSpec
from agentbench_tui.stress.stand.served import words_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentbench_tui.model.suite import Benchmark


def accesses_of_stress(block: object, base_dir: str) -> Iterator[Access]:
    """Return what a `stress:` block, which may be malicious, runs, reads or calls in addition to
    the agent.
    """
    if not block:
        return
    try:
        spec = StressSpec.model_validate(block)
    except ValidationError:
        yield Access("uses", "`stress`, which this version cannot read")
        return
    if spec.serve is not None:
        yield Access("runs", in_folder(spec.serve, base_dir))
    if spec.upstream is not None:
        told = f"{spec.upstream}, and sets {spec.upstream_variable}"
        yield Access("sends requests to", told)
    yield from accesses_of_workload(spec.workload, base_dir)


def check_stress(benchmark: Benchmark, base_dir: str) -> list[str | Finding]:
    """Return problems of the `stress:` block and related keys, with their paths.

    Reads the first case of each dataset; `base_dir` is the base of relative paths.
    """
    found: list[str | Finding] = [
        f"`{name}` belongs to benchmarks of kind {kind}"
        for name, kind, given in (
            ("dataset", "task", benchmark.dataset),
            ("experiment", "experiment", benchmark.experiment),
            ("scorers", "task", benchmark.scorers),
            ("metrics", "task", benchmark.metrics),
            ("load", "load", benchmark.load),
        )
        if given
    ]
    found += refused_limits(
        benchmark,
        ("token_limit", "cost_limit_usd"),
        "give the suite one, which caps the whole run",
    )
    if not benchmark.stress:
        return [*found, "a stress benchmark needs `stress`: `stress: {scenario: high_load}`"]
    name = benchmark.stress.get("scenario")
    if isinstance(name, str) and name not in SCENARIOS:
        near = did_you_mean(name, SCENARIOS) or f"; there are {', '.join(SCENARIOS)}"
        return [*found, Finding(("stress", "scenario"), f'no scenario "{name}"{near}')]
    try:
        spec = StressSpec.model_validate(benchmark.stress)
    except ValidationError as error:
        return found + [
            Finding(("stress", *one.path), one.message, one.at_key)
            for one in findings(error, benchmark.stress, StressSpec)
        ]
    return [*found, *_problems(spec), *_of_workload(spec, base_dir)]


def _problems(spec: StressSpec) -> Iterator[Finding]:
    """Return incompatible combinations."""
    if spec.normal_rate is not None and spec.normal_rate > spec.most_rate:
        yield Finding(("stress", "normal_rate"), f"more than `most_rate`, {spec.most_rate:g}")
    users = spec.normal_concurrency
    if users is not None and users > spec.most_concurrency:
        most = spec.most_concurrency
        yield Finding(("stress", "normal_concurrency"), f"more than `most_concurrency`, {most}")
    if spec.upstream_env is not None and spec.upstream is None:
        yield Finding(("stress", "upstream_env"), "names where `upstream` is told: give that too")
    for place, name in enumerate(spec.faults or ()):
        for problem in name_problems([name]):
            yield Finding(("stress", "faults", place), problem)
    for key, text, read in (
        ("upstream", spec.upstream, Origin.of),
        ("serve", spec.serve, words_of),
    ):
        try:
            if text is not None:
                read(text)
        except UsageError as error:
            yield Finding(("stress", key), str(error))


def _of_workload(spec: StressSpec, base_dir: str) -> Iterator[Finding]:
    load = LoadSpec(rate=1.0, workload=spec.workload)
    for line in workload_problems(load, base_dir):
        path, _, message = line.partition(": ")
        steps = (int(part) if part.isdecimal() else part for part in path.split("."))
        yield Finding(("stress", *steps), message)
