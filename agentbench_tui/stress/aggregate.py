"""Computes the metrics of a scenario from its stored report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.engine.run.closing import write_prices
from agentbench_tui.engine.task.aggregate import Aggregate, MetricValue
from agentbench_tui.load.results.aggregate import read_requests, spending
from agentbench_tui.load.results.pricing import price_of
from agentbench_tui.model.figures.metric import METRICS
from agentbench_tui.store.queries.iterations import counts_of_iterations
from agentbench_tui.stress.reporter import read_report

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.model.agent import AgentSpec
    from agentbench_tui.stress.report import ScenarioReport
    from agentbench_tui.stress.search.breaking_point import BreakingPoint

BREAKING = {
    "rate": "breaking_rate_per_s",
    "concurrency": "breaking_concurrency",
    "input": "breaking_input_tokens",
}
"""Axis of a search → its metric."""
SCORED = ("stress", "recovery", "overload", "429", "ballast")
"""Phases of the windows that a scenario scores; for failure_recovery its observations decide."""
SPENT = ("tokens_used", "cost_usd")
_NOT_MEASURED = {
    **dict.fromkeys(("correctness", "completeness", "relevance"), "stress does not judge answers"),
    **dict.fromkeys(("memory_peak_mb", "cpu_usage_percent"), "reported window by window"),
}


def aggregate_report(
    connection: sqlite3.Connection, execution_key: int, agent: AgentSpec
) -> Aggregate:
    """Return the metrics of a scenario with a report, or the reason for missing ones.

    Tokens and costs are totals of all windows.
    """
    observed, answered = counts_of_iterations(connection, execution_key)
    result = Aggregate(observed=observed, counted=observed, answered=answered)
    for name, reason in _NOT_MEASURED.items():
        result.total(name, None, observed, reason)
    result.total("api_calls", float(observed), observed)
    price = price_of(connection, execution_key, agent)
    spent = spending(
        read_requests(connection, execution_key), agent, None if price is None else price.of_request
    )
    if price is not None:
        result.writes.append(lambda c: write_prices(c, price.run_key, price.used))
    result.metrics |= {name: spent.metrics[name] for name in SPENT}
    report = read_report(connection, execution_key)
    if report is None:
        for name in ("resilience", "recovery_s", "error_share"):
            result.total(name, None, 0, "no window was measured")
        return result
    _score(result, report)
    for point in report.breaking_points:
        _breaking(result, point)
    _recovery(result, report)
    _errors(result, report)
    normal = report.normal
    value = None if normal is None else normal.p95_ms
    result.metrics["e2e_ms.p95"] = MetricValue(
        "e2e_ms.p95",
        value,
        METRICS["e2e_ms"].unit,
        n=_answered_at_ease(report),
        reason=_why(report, value),
    )
    return result


def _why(report: ScenarioReport, value: float | None) -> str | None:
    """Return the reason for a missing value."""
    return None if value is not None else report.reason or "the scenario does not measure it"


def _answered_at_ease(report: ScenarioReport) -> int:
    """Return the throughput of the baseline, the first window at normal load; 0 if there is
    none.
    """
    for window in report.windows:
        if window.phase == "normal":
            return round(window.requests * (1 - (window.error_share or 0.0)))
    return 0


def _score(result: Aggregate, report: ScenarioReport) -> None:
    score = report.score
    if score is None:
        why = report.missing.get("score") or report.missing.get("resilience")
        result.total("resilience", None, 0, why or _why(report, None))
        return
    unit = METRICS["resilience"].unit
    result.metrics["resilience"] = MetricValue(
        "resilience", score.value, unit, score.low, score.high, score.windows, score.no_interval
    )


def _breaking(result: Aggregate, point: BreakingPoint) -> None:
    """Set the breaking point to the middle of the bracket, with its ends as interval."""
    name = BREAKING[point.on]
    value = point.middle
    result.metrics[name] = MetricValue(
        name,
        value,
        METRICS[name].unit,
        None if value is None else point.passes,
        None if value is None else point.fails,
        point.measurements,
        None if value is not None else point.words,
    )


def _recovery(result: Aggregate, report: ScenarioReport) -> None:
    """Return the longest recovery; None if the target did not recover once."""
    known = [one.seconds for one in report.recoveries if one.seconds is not None]
    lacking = [one for one in report.recoveries if one.seconds is None]
    n = len(report.recoveries)
    if lacking:
        result.total("recovery_s", None, n, f"{lacking[0].after}: {lacking[0].words}")
    else:
        result.total("recovery_s", max(known, default=None), n, _why(report, None))


def _errors(result: Aggregate, report: ScenarioReport) -> None:
    told = report.observations.get("scored_requests"), report.observations.get("scored_failed")
    if isinstance(told[0], int | float) and isinstance(told[1], int | float) and told[0]:
        result.total("error_share", told[1] / told[0], int(told[0]))
        return
    scored = [one for one in report.windows if one.phase in SCORED and one.error_share is not None]
    n = sum(window.requests for window in scored)
    failed = sum(window.requests * (window.error_share or 0.0) for window in scored)
    result.total("error_share", failed / n if n else None, n, _why(report, None))
