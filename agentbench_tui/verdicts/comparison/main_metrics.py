"""Which metrics a comparison has: the main ones, which are judged, and those of several attempts,
which are shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.analysis.sample import distinct
from agentbench_tui.model.figures.pass_metrics import attempts_of
from agentbench_tui.verdicts.evidence.stress_evidence import PRIMARY as PRIMARY_OF_STRESS
from agentbench_tui.verdicts.evidence.stress_evidence import StressEvidence
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence
from agentbench_tui.verdicts.files.sample_columns import CIRCUMSTANCES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.verdicts.evidence.evidence import Evidence

OF_TASKS = ("accuracy", "e2e_ms", "output_tokens", "cost_usd_per_task", "reliability")
OF_LOADS = (
    "ttft_ms.p50", "ttft_ms.p99", "e2e_ms.p50", "e2e_ms.p99", "request_throughput_per_s",
    "reliability", "output_tokens_per_s",
)  # fmt: skip
"""Metrics compared by default; `goodput_per_s` replaces throughput if both sides have it."""
_MOST_CASES = 0.5
"""Share of the cases that must have as many attempts."""


def main_metrics(a: Evidence, b: Evidence) -> Sequence[str]:
    """Return the metrics that two sides are judged by unless others are named."""
    if isinstance(a, TaskEvidence) and isinstance(b, TaskEvidence):
        if a.executions or b.executions:
            return (*OF_TASKS, *(name for name in a.defined if name in b.defined))
        said = [name for name in a.values if name not in CIRCUMSTANCES]
        names = dict.fromkeys([*OF_TASKS, *said])  # of files, all of their metrics
        if not (a.tells_failures or b.tells_failures):
            del names["reliability"]
        return tuple(names)
    if isinstance(a, StressEvidence) and isinstance(b, StressEvidence):
        # Each scenario finds some of them.
        return [one for one in PRIMARY_OF_STRESS if len(a.per_repeat(one)) + len(b.per_repeat(one))]
    if len(a.per_repeat("goodput_per_s")) and len(b.per_repeat("goodput_per_s")):
        swap = {"request_throughput_per_s": "goodput_per_s"}
        return [swap.get(name, name) for name in OF_LOADS]
    return OF_LOADS


def attempt_metrics(a: Evidence, b: Evidence) -> tuple[str, ...]:
    """Return `pass@k` and `pass^k` for the largest k of which both sides have k attempts at half of
    their cases; none if the attempts at each case always end alike, which accuracy says already.
    """
    if not (isinstance(a, TaskEvidence) and isinstance(b, TaskEvidence)):
        return ()
    shared = {k for name in a.values if name in b.values and (k := attempts_of(name)) is not None}
    for k in sorted(shared, reverse=True):
        any_right, all_right = f"pass@{k}", f"pass^{k}"
        if all(_has_most_cases(side, any_right) for side in (a, b)):
            differ = any(_differ(side, any_right, all_right) for side in (a, b))
            return (any_right, all_right) if differ else ()
    return ()


def _has_most_cases(side: TaskEvidence, metric: str) -> bool:
    known = ~np.isnan(side.values[metric])
    cases = distinct(side.case)
    return bool(np.mean(known[cases.first]) >= _MOST_CASES) if len(known) else False


def _differ(side: TaskEvidence, one: str, other: str) -> bool:
    x, y = side.values[one], side.values[other]
    return bool((x[~np.isnan(x)] != y[~np.isnan(y)]).any())
