"""A run as a full report: chapters of tables, charts and sentences for everything it measured."""

from __future__ import annotations

from collections import Counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agentbench_tui.model.figures.dimension import DIMENSIONS
from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.presentation.full_report.cost_chapter import cost_chapter
from agentbench_tui.presentation.full_report.history import history_chapter, history_reasons
from agentbench_tui.presentation.full_report.leaderboard_chapter import (
    leaderboard_chapter,
    priced_table,
)
from agentbench_tui.presentation.full_report.parts import Chapter, FullReport
from agentbench_tui.presentation.full_report.run_chapters import (
    latency_chapter,
    load_chapter,
    over_time_chapter,
    profile_chapter,
    stress_chapter,
)
from agentbench_tui.presentation.full_report.run_charts import in_order_of
from agentbench_tui.presentation.gates import gates_table
from agentbench_tui.presentation.market.run_chapter import market_chapter
from agentbench_tui.presentation.numbers import (
    MISSING,
    percent,
    with_interval,
)
from agentbench_tui.presentation.report import Column, Row, Section, Table, raw_columns
from agentbench_tui.presentation.run import (
    EXECUTIONS,
    defined_metrics_table,
    execution_row,
    filled,
)
from agentbench_tui.presentation.run_remarks import (
    unknown_cost_lines,
    unmeasured_lines,
    untimed_lines,
)
from agentbench_tui.presentation.run_verdict import run_verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from agentbench_tui.contracts.cost import CostDocument
    from agentbench_tui.contracts.leaderboard import LeaderboardDocument
    from agentbench_tui.contracts.run import ExecutionResult, GateOutcome
    from agentbench_tui.contracts.run import RunLeaderboardEntry as Entry
    from agentbench_tui.contracts.runs import RunDetailsDocument
    from agentbench_tui.presentation.report import Report
    from agentbench_tui.verdicts.regression.metric_series import AgentSeries
    from agentbench_tui.verdicts.runs.market_summary import MarketResults
    from agentbench_tui.verdicts.runs.run_times import RunTimes

_NO_PRICES: Mapping[str, float] = MappingProxyType({})
_ACCURACY = Column("accuracy_shown", "accuracy [95%]", right=True)
_P95_AT_NORMAL = Column("p95", "p95 at normal load", right=True)
_FAILURE_COUNTS = (
    Column("n", "count", lambda value: f"{value:,}", right=True),
    Column("kind", "kind", names_row=True),
    Column("agent_id", "agent", names_row=True),
    Column("benchmark_id", "benchmark", names_row=True),
)
_KEPT_DETAILS = (
    "A stress test keeps the details of the first few failures of each kind only; the table of all "
    "failures has the exact counts."
)
_FAILURES = (
    Column("n", "count", lambda value: f"{value:,}", right=True),
    Column("kind", "kind", names_row=True),
    Column("agent_id", "agent"),
    Column("benchmark_id", "benchmark"),
    Column("case_id", "example case"),
    Column("detail", "detail"),
)
_KEPT = Column("n", "details kept", lambda value: f"{value:,}", right=True)
_METRICS = raw_columns(
    ("suite_id", "benchmark_id", "agent_id", "agent_version", "parameters", "simulated", "metric",
     "unit", "value", "low", "high", "n", "reason")
)  # fmt: skip
_OUTCOMES = raw_columns(
    ("execution_id", "suite_id", "benchmark_id", "agent_id", "agent_version", "parameters", "kind",
     "simulated", "status", "stop_reason", "total", "observed", "answered", "correct", "overall",
     *DIMENSIONS, "failures")
)  # fmt: skip
_ENTRIES = raw_columns(
    ("rank", "rank_shown", "agent_id", "agent_version", "simulated", "overall", "low", "high",
     *DIMENSIONS, "benchmarks", "cost_usd", "observed", "answered", "correct", "failures", "reason")
)  # fmt: skip
_METHODS = (
    "Scores are between 0 and 1. The overall score is the mean of the five dimensions by the "
    "weights of the suite; it exists only if every dimension with a weight has a score.\n"
    "Brackets hold 95% confidence intervals. An interval of [–] is unknown; the reason is "
    "stated below its table.\n"
    "Agents share a rank if these answers do not distinguish them. A rank is 1 + the number "
    "of agents that are clearly ahead, with p-values adjusted for all pairs (Holm).\n"
    "p95 is the time that 95% of the answers do not exceed. A percentile is shown only if "
    "enough answers support it.\n"
    "A wrong answer is a result. A failure is an answer that never came or that could not be "
    "read: timeout, rate limit, server error and the like."
)
_PRIVATE = frozenset({"hostname", "folder", "locale"})
"""Facts about the machine that readers of a report have no use for."""
_FACTS = (Column("name", "fact", names_row=True), Column("value", "value"))


def full_run(
    run: RunDetailsDocument,
    board: LeaderboardDocument | None,
    document: Any,
    gates: Sequence[GateOutcome] = (),
    times: RunTimes | None = None,
    profile: Report | None = None,
    histories: Sequence[AgentSeries] = (),
    usd_per_hour: Mapping[str, float] = _NO_PRICES,
    market: MarketResults | None = None,
    cost: CostDocument | None = None,
) -> FullReport:
    """Return a run as a full report.

    `board`: the leaderboard of the run, case by case; `document`: what JSON has; `times` and
    `profile`: what charts and the chapter on the profile show; `histories`: of its agents;
    `usd_per_hour`: price of an hour of each agent whose cost is the time that it takes;
    `market`: its episodes of market worlds; `cost`: what `agentbench cost` says of it.
    """
    boards = () if board is None else board.boards
    if times is not None:
        times = in_order_of(times, _contenders(run))
    chapters = [
        leaderboard_chapter(run, board),
        cost_chapter(cost, run.leaderboard),
        _gates(gates),
        *([] if market is None else [market_chapter(market)]),
        stress_chapter(run),
        _executions(run),
        load_chapter(run),
        *(
            []
            if times is None
            else [latency_chapter(times, run.executions), over_time_chapter(times)]
        ),
        history_chapter(histories, run.run_id),
        profile_chapter(profile, sum(one.failures for one in run.leaderboard)),
        _failures(run),
        _environment(run),
        _methods(),
    ]
    suites = ", ".join(run.suite_ids) or "run"
    verdict = run_verdict(run, boards, gates, usd_per_hour)
    reasons = [*verdict.reasons, *history_reasons(histories, run.run_id)]
    return FullReport(
        title=f"{suites}: {counted(len(run.leaderboard), 'agent')}",
        about=_about(run),
        verdict=replace(verdict, reasons=reasons),
        chapters=[one for one in chapters if one.sections],
        document=document,
        contenders=_contenders(run),
        tables={
            "leaderboard": Table(_ENTRIES, [*map(_plain, run.leaderboard)]),
            "executions": Table(_OUTCOMES, [*map(_outcome, run.executions)]),
            "metrics": Table(_METRICS, [*_metric_rows(run.executions)]),
        },
    )


def _contenders(run: RunDetailsDocument) -> list[str]:
    ranked = [one.agent_id for one in run.leaderboard]
    return [*dict.fromkeys([*ranked, *(one.agent_id for one in run.executions)])]


def _about(run: RunDetailsDocument) -> list[tuple[str, str]]:
    facts = [
        ("run", run.run_id),
        ("started", run.started_at),
        ("ended", run.ended_at or MISSING),
        ("status", run.status),
        ("suites", ", ".join(run.suite_ids)),
        ("agentbench", run.tool_version),
    ]
    return facts + ([("tags", ", ".join(run.tags))] if run.tags else [])


def _gates(gates: Sequence[GateOutcome]) -> Chapter:
    sections = [Section("", [gates_table(gates)])] if gates else []
    return Chapter("gates", "Gates", sections)


def _executions(run: RunDetailsDocument) -> Chapter:
    rows = [_execution_row(one) for one in run.executions]
    columns = [_ACCURACY if one.key == "accuracy" else one for one in EXECUTIONS]
    if all(one.scenario is not None for one in run.executions):
        columns = [_P95_AT_NORMAL if one.key == "p95" else one for one in columns]
    else:
        rows = [
            row if one.scenario is None or row["p95"] == MISSING
            else {**row, "p95": f"{row['p95']} at normal load"}
            for row, one in zip(rows, run.executions, strict=True)
        ]  # fmt: skip
    tables = [priced_table(Table(filled(columns, rows), rows))] if rows else []
    if defined := defined_metrics_table(run.executions):
        tables.append(defined)
    lines = [
        *untimed_lines(run.executions),
        *unmeasured_lines(run.executions),
        *unknown_cost_lines(run.executions),
    ]
    sections = [Section("", tables, lines)] if rows else []
    return Chapter("benchmarks", "Benchmarks", sections)


def _execution_row(one: ExecutionResult) -> Row:
    accuracy = one.metrics.get("accuracy")
    shown = MISSING
    if accuracy is not None:
        shown = with_interval(accuracy.value, accuracy.low, accuracy.high, percent)
    return {**execution_row(one), "accuracy_shown": shown}


def _failures(run: RunDetailsDocument) -> Chapter:
    rows = [
        {name: getattr(one, name) for name in ("n", "kind", "agent_id", "benchmark_id", "case_id",
                                               "detail")}
        for one in run.failure_details
    ]  # fmt: skip
    counts = _stress_failures(run)
    kept = [_KEPT_DETAILS] if counts else []
    sections = [Section("All failures under stress", [Table(_FAILURE_COUNTS, counts)])] * bool(
        counts
    )
    if rows:
        title = "Details" if counts else ""
        columns = [_KEPT if counts and one.key == "n" else one for one in _FAILURES]
        sections.append(Section(title, [Table(columns, rows)], kept))
    return Chapter("failures", "Failures", sections, is_detail=True)


def _stress_failures(run: RunDetailsDocument) -> list[Row]:
    """Count the failed requests of each scenario by kind, from all of its windows; most first."""
    rows: list[Row] = []
    for one in run.executions:
        if one.scenario is None:
            continue
        counts: Counter[str] = Counter()
        for window in one.scenario.windows:
            counts.update(window.failures)
        rows += [
            {"n": n, "kind": kind, "agent_id": one.agent_id, "benchmark_id": one.benchmark_id}
            for kind, n in counts.items()
            if n
        ]
    return sorted(rows, key=lambda row: -row["n"])


def _environment(run: RunDetailsDocument) -> Chapter:
    environment = run.environment or {}
    facts: dict[str, object] = {
        name.replace("_", " "): value
        for name, value in environment.items()
        if isinstance(value, str | int | float) and name not in _PRIVATE
    }
    facts |= {
        "command": run.command,
        "seed": run.seed,
        "repeats": run.repeats,
        "commit": _commit(run),
        "measurement": run.harness,
    }
    rows = [{"name": name, "value": str(value)} for name, value in facts.items() if value not in
            {None, ""}]  # fmt: skip
    reasons = [str(one) for one in (run.overhead or {}).get("reasons", [])]
    notes = [run.notes] if run.notes else []
    section = Section("", [Table(_FACTS, rows)], [*reasons, *run.remarks, *notes])
    return Chapter("environment", "Environment", [section], is_detail=True)


def _commit(run: RunDetailsDocument) -> str:
    vcs = run.vcs or {}
    commit = vcs.get("commit")
    if not commit:
        return ""
    return f"{commit}{' with local changes' if vcs.get('dirty') else ''}"


def _methods() -> Chapter:
    lines = _METHODS.split("\n")
    return Chapter("methods", "Methods", [Section(sentences=lines)], is_detail=True)


def _plain(entry: Entry) -> Row:
    return {column.key: getattr(entry, column.key) for column in _ENTRIES}


def _outcome(one: ExecutionResult) -> Row:
    own = ("execution_id", "suite_id", "benchmark_id", "agent_id", "agent_version", "parameters",
           "kind", "simulated", "status", "stop_reason", "failures")  # fmt: skip
    counts = ("total", "observed", "answered", "correct")
    scores = ("overall", *DIMENSIONS)
    return (
        {name: getattr(one, name) for name in own}
        | {name: getattr(one.cases, name) for name in counts}
        | {name: getattr(one.scores, name) for name in scores}
    )


def _metric_rows(executions: Iterable[ExecutionResult]) -> Iterable[Row]:
    for one in executions:
        place = {name: getattr(one, name) for name in ("suite_id", "benchmark_id", "agent_id",
                 "agent_version", "parameters", "simulated")}  # fmt: skip
        for name, found in one.metrics.items():
            yield place | {
                "metric": name, "unit": found.unit, "value": found.value, "low": found.low,
                "high": found.high, "n": found.n, "reason": found.reason,
            }  # fmt: skip
