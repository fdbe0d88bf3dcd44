"""Finds copies of one question under several ids in a suite: copies add no evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.model.errors import AgentbenchError

if TYPE_CHECKING:
    from agentbench_tui.engine.suite.loading import LoadedSuite
    from agentbench_tui.engine.suite.parameters import Settings
    from agentbench_tui.model.answer import Case
    from agentbench_tui.model.suite import Benchmark


def copied_cases(loaded: LoadedSuite, settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield the id of each benchmark with copies, and in words how many.

    A copy is equal in everything but the id. Cases in a cluster are left out, since they are known
    to belong together, and so are datasets that a Python generator makes.
    """
    try:
        suite = loaded.resolve(settings)
    except AgentbenchError:
        return
    for benchmark in suite.benchmarks:
        counts = Counter(map(_content, cases_of(loaded, settings, benchmark)))
        several = [count for content, count in counts.items() if content and count > 1]
        if several:
            questions = "one question" if len(several) == 1 else f"{len(several):,} questions"
            words = f"{sum(several):,} cases are copies of {questions} under other ids"
            yield benchmark.benchmark_id, f"{words}; comparisons count each question once"


def cases_of(loaded: LoadedSuite, settings: Settings, benchmark: Benchmark) -> Iterator[Case]:
    """Yield the cases of a benchmark; none if they are generated or cannot be read."""
    from agentbench_tui.engine.cases.dataset import open_dataset

    dataset = benchmark.dataset
    if dataset is None or (dataset.data_source or "").startswith("python:"):
        return
    try:
        with open_dataset(
            benchmark,
            base_dir=loaded.folder,
            seed=0,
            parameters=loaded.values(benchmark, settings),
        ) as source:
            yield from source.cases()
    except AgentbenchError:
        return  # the run says what is wrong with it


def _content(case: Case) -> bytes:
    """Return a hash of everything but the id; empty for a case with a cluster."""
    if case.cluster is not None:
        return b""
    return msgspec.json.encode(msgspec.structs.replace(case, id=""))
