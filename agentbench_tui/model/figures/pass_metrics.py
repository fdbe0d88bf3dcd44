"""pass@k and pass^k: metrics of several attempts at each case, for any k."""

from __future__ import annotations

import re

from agentbench_tui.model.figures.figure import Metric

_NAME = re.compile(r"pass([@^])([1-9]\d{0,3})")
_SHARED = (
    " Mean over the cases with k attempts or more, each with equal weight; interval over "
    "independent cases or declared clusters. Attempts are the measured iterations and repeats of "
    "an execution. Reported for every k from 2 to 10, for 16, 32, 64 and 100, and for the number "
    "of attempts, if at least half of the cases have k."
)

PASS_METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            "pass@k",
            "share",
            "higher",
            "Chance that at least one of k attempts at a case is right, as in `pass@4`: for a case "
            "with n attempts of which c are right, 1 - C(n - c, k) ÷ C(n, k), which is unbiased "
            "(Chen et al. 2021)." + _SHARED,
        ),
        Metric(
            "pass^k",
            "share",
            "higher",
            "Chance that all of k attempts at a case are right, as in `pass^4`: for a case with n "
            "attempts of which c are right, C(c, k) ÷ C(n, k), which is unbiased (Yao et al. "
            "2024)." + _SHARED,
        ),
    )
}
"""By the names that stand for every k."""


def pass_metric(name: str) -> Metric | None:
    """Return the metric `pass@4`, `pass^4` or one of another k; None for any other name."""
    if name in PASS_METRICS:
        return PASS_METRICS[name]
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    general = PASS_METRICS[f"pass{match[1]}k"]
    return Metric(name, general.unit, general.direction, general.formula)


def attempts_of(name: str) -> int | None:
    """Return k of pass@k or pass^k; None for the name of another metric."""
    match = _NAME.fullmatch(name)
    return None if match is None else int(match[2])
