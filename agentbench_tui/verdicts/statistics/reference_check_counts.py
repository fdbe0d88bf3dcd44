"""Checks reference results about multiple p values, shares, passes, clusters, and tables of
tasks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from agentbench_tui.analysis.boards.task_aggregate import (
    Aggregate,
    aggregate,
    bootstrap_aggregate,
    performance_profile,
    probability_of_improvement,
)
from agentbench_tui.analysis.differences import multiplicity as adjust
from agentbench_tui.analysis.intervals import proportion
from agentbench_tui.analysis.intervals.interval import Interval, clustered_se, wilson
from agentbench_tui.analysis.resampling.resampling import Resampling
from agentbench_tui.analysis.sample import Floats
from agentbench_tui.analysis.summary import pass_at_k, pass_hat_k, summarize
from agentbench_tui.verdicts.statistics.reference_sheet import Missing, Rule, Sheet

_ADJUSTMENTS: dict[str, Callable[[Sequence[float]], list[float]]] = {
    "holm": adjust.holm,
    "bonferroni": adjust.bonferroni,
    "hochberg_simes": adjust.hochberg_simes,
    "benjamini_hochberg": adjust.benjamini_hochberg,
    "fdr_bh": adjust.benjamini_hochberg,
    "benjamini_yekutieli": adjust.benjamini_yekutieli,
    "fdr_by": adjust.benjamini_yekutieli,
}
_SHARES: dict[str, Callable[[int, int, float], Interval | None]] = {
    "wilson": wilson,
    "clopper_pearson": proportion.clopper_pearson,
    "agresti_coull": proportion.agresti_coull,
    "jeffreys": proportion.jeffreys,
}
_AGGREGATES: dict[str, Aggregate] = {
    "iqm": "iqm",
    "median_of_task_means": "median_of_task_means",
    "mean": "mean",
    "optimality_gap": "optimality_gap",
}
_RESAMPLES = 20_000
"""Number of agentbench's resamples; the file's tolerance assumes as many."""
_USUAL_TOLERANCE = 0.003


def multiplicity(sheet: Sheet, _inputs: Mapping[str, Any]) -> None:
    """Check p values adjusted together."""
    p = [float(one) for one in sheet.given("p")]
    for name in sheet.names():
        if name in _ADJUSTMENTS:
            sheet.check(name, _ADJUSTMENTS[name], p)


def passes(sheet: Sheet, _inputs: Mapping[str, Any]) -> None:
    """Check pass@k and pass^k of tasks with n attempts and c passes."""
    tasks = [(int(n), int(c)) for n, c in sheet.given("tasks_n_c")]
    for name, function in (("pass_at_k", pass_at_k), ("pass_hat_k", pass_hat_k)):
        table = sheet.part(name)
        for k, part in table.parts() if table else []:
            each = [function(n, c, int(k)) for n, c in tasks]
            part.same("per_task", each)
            part.same("mean", math.fsum(each) / len(each))


def proportions(sheet: Sheet, _inputs: Mapping[str, Any]) -> None:
    """Check intervals of `c/n`, and McNemar's exact test of `mcnemar_b=…_c=…`."""
    for name, part in sheet.parts():
        if share := re.fullmatch(r"(\d+)/(\d+)", name):
            _share_intervals(part, int(share[1]), int(share[2]))
        if pairs := re.fullmatch(r"mcnemar_b=(\d+)_c=(\d+)", name):
            part.check("exact_p", proportion.mcnemar_exact, int(pairs[1]), int(pairs[2]))


def _share_intervals(part: Sheet, successes: int, n: int) -> None:
    for key in part.names():
        match = re.fullmatch(r"([a-z_]+?)(\d+)", key)
        if match and match[1] in _SHARES:
            found = _SHARES[match[1]](successes, n, float(f"0.{match[2]}"))
            part.same(key, None if found is None else [found.low, found.high])


def clustered(sheet: Sheet, _inputs: Mapping[str, Any]) -> None:
    """Check standard errors of a mean of clustered scores; of B - A in entries whose names mention
    pairs or differences.
    """
    clusters = np.asarray(sheet.given("cluster"))
    scores = np.asarray(sheet.given("score"), dtype=np.float64)
    differences = None
    if "score_B" in sheet.names():
        differences = np.asarray(sheet.given("score_B"), dtype=np.float64) - scores
    for part, prefix in [(sheet, ""), *((one, name) for name, one in sheet.parts())]:
        for name in part.names():
            of_pairs = re.search(r"(?<!un)paired|diff", f"{prefix}_{name}".lower())
            x = differences if of_pairs else scores
            if x is not None and (answer := _cluster_answer(name, x, clusters)) is not None:
                part.same(name, answer)


def _cluster_answer(name: str, x: Floats, clusters: NDArray[Any]) -> float | None:
    """Check an entry by its name; None for an unknown entry."""
    figures = summarize(x)
    if figures is None or figures.sd is None:
        raise Missing("clustered_se.score holds fewer than 2 values")
    correction: Literal["CR0", "CR1"] = "CR1" if "CR1" in name else "CR0"
    if "clustered" in name or "CR0" in name or "CR1" in name:
        return clustered_se(x, clusters, correction)
    if "bernoulli" in name:
        return math.sqrt(figures.mean * (1 - figures.mean) / figures.n)
    if "iid" in name:
        return figures.sd / math.sqrt(figures.n)
    return figures.mean if "mean" in name else None


def task_aggregates(sheet: Sheet, _inputs: Mapping[str, Any]) -> None:
    """Check figures over tasks with few runs; `X_runs_by_tasks` holds a row per run."""
    tables = {
        name[0]: np.asarray(sheet.given(name), dtype=np.float64).T
        for name in sheet.names()
        if re.fullmatch(r"[A-Z]_runs_by_tasks", name)
    }
    if not tables:
        raise Missing("rliable.X_runs_by_tasks is not in the file")
    tolerance = _USUAL_TOLERANCE
    if "tolerance_for_ci_ends" in sheet.names():
        tolerance = float(sheet.given("tolerance_for_ci_ends"))
    order = [_AGGREGATES[kind] for kind in sheet.given("order")]
    for name in sheet.names():
        if (match := re.fullmatch(r"point_([A-Z])", name)) and match[1] in tables:
            sheet.same(name, [aggregate(tables[match[1]], kind) for kind in order])
        elif (match := re.match(r"ci(\d+)_([A-Z])_", name)) and match[2] in tables:
            level = float(f"0.{match[1]}")
            ends = [_aggregate_ends(tables[match[2]], kind, level) for kind in order]
            both = list(zip(*ends, strict=True))
            sheet.same(name, both, rule=_for_draws(name, tolerance))
    _improvement(sheet, tables, tolerance)
    for name, part in sheet.parts():
        if match := re.fullmatch(r"performance_profile(?:_([A-Z]))?", name):
            table = tables[match[1] or "X"]
            taus = part.given("tau")
            profile = performance_profile(table, taus, Resampling(resamples=1))
            part.same("fraction_runs_above_tau", profile.share.tolist())


def _improvement(sheet: Sheet, tables: Mapping[str, Floats], tolerance: float) -> None:
    how = Resampling(resamples=_RESAMPLES)
    pair = ("Y", "X")
    for name in sheet.names():
        if match := re.fullmatch(r"probability_of_improvement_([A-Z])_over_([A-Z])", name):
            pair = match[1], match[2]
            found = probability_of_improvement(tables[pair[0]], tables[pair[1]], how)
            sheet.same(name, None if found is None else [found.estimate])
    for name in sheet.names():
        if name.startswith("poi_ci"):
            found = probability_of_improvement(tables[pair[0]], tables[pair[1]], how)
            ends = None if found is None else [found.interval.low, found.interval.high]
            sheet.same(name, ends, rule=_for_draws(name, tolerance))


def _aggregate_ends(table: Floats, kind: Aggregate, level: float) -> tuple[float, float]:
    found = bootstrap_aggregate(table, kind, Resampling(resamples=_RESAMPLES, level=level))
    if found is None:
        raise Missing("rliable: no task has 2 runs")
    return found.interval.low, found.interval.high


def _for_draws(name: str, tolerance: float) -> Rule:
    """Return the file's tolerance, widened if its own answer has fewer draws (according to the
    entry's name): the error of an end falls with the square root of their number.
    """
    match = re.search(r"\((\d+)\)", name)
    draws = int(match[1]) if match else _RESAMPLES
    return Rule("monte carlo", tolerance * max(1.0, math.sqrt(_RESAMPLES / draws)), relative=False)
