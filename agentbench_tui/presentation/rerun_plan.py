"""Requests of a planned rerun and their reasons, as tables and sentences."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.presentation.numbers import from_one, money
from agentbench_tui.presentation.report import Column, Report, Section, Table, raw_columns

if TYPE_CHECKING:
    from agentbench_tui.contracts.plan import RerunExecution, RerunPlanDocument

_SHOWN = 40
"""Requests listed one by one."""
_SUMMARY = (
    Column("suite_id", "suite", names_row=True),
    Column("benchmark_id", "benchmark", names_row=True),
    Column("agent_id", "agent", names_row=True),
    Column("requests", "requests", right=True),
    Column("because", "because"),
    Column("becomes", "the new answers"),
    Column("kept", "kept", right=True),
    Column("cost_usd", "cost", money, right=True),
)
_REQUESTS = (
    Column("case_id", "case", names_row=True),
    Column("agent_id", "agent", names_row=True),
    Column("benchmark_id", "benchmark"),
    Column("repeat", "repeat", from_one, right=True),
    Column("iteration", "iteration", from_one, right=True),
    Column("outcome", "was"),
    Column("becomes", "becomes"),
)
_RECORDS = raw_columns(
    (
        "suite_id", "benchmark_id", "agent_id", "agent_version", "parameters", "seed", "case_id",
        "repeat", "iteration", "outcome", "attempt",
    )
)  # fmt: skip


def rerun_plan_report(document: RerunPlanDocument) -> Report:
    """Return the counts by execution and the first requests; the records are all requests, except
    those that were never sent."""
    asking = [one for one in document.executions if one.requests]
    records = [record for one in asking for record in _records(one)]
    summary = Section(
        _headline(document), [Table(_SUMMARY, [_row(one) for one in asking])], is_answer=True
    )
    more = len(records) - _SHOWN
    sections = [summary]
    if records:
        notes = [f"… and {counted(more, 'more request')} (--format csv)."] if more > 0 else []
        columns = _REQUESTS if _has_passes(records) else _without_passes()
        sections.append(Section("Requests:", [Table(columns, records[:_SHOWN])], notes))
    return Report(Table(_RECORDS, records), sections, _notes(document, asking))


def _headline(document: RerunPlanDocument) -> str:
    cost = "" if document.cost_usd is None else f" for about {money(document.cost_usd)}"
    return (
        f"{counted(document.requests, 'request')}{cost} would ask part of run {document.run_id}"
        " again; nothing was sent or changed."
    )


def _row(one: RerunExecution) -> dict[str, Any]:
    return {
        "suite_id": one.suite_id,
        "benchmark_id": one.benchmark_id,
        "agent_id": one.agent_id,
        "requests": one.requests,
        "because": _because(one),
        "becomes": "replace the failures" if one.attempt == 1 else _attempt(one),
        "kept": one.kept if one.attempt == 1 else None,
        "cost_usd": one.cost_usd,
    }


def _because(one: RerunExecution) -> str:
    outcomes = Counter(request.outcome for request in one.asked)
    parts = [f"{count:,} {outcome}" for outcome, count in outcomes.most_common()]
    if one.never_asked:
        parts.append(f"{one.never_asked:,} never asked")
    return ", ".join(parts)


def _attempt(one: RerunExecution) -> str:
    return f"are attempt {one.attempt}"


def _records(one: RerunExecution) -> list[dict[str, Any]]:
    execution = {
        "suite_id": one.suite_id,
        "benchmark_id": one.benchmark_id,
        "agent_id": one.agent_id,
        "agent_version": one.agent_version,
        "parameters": one.parameters,
        "seed": one.seed,
        "attempt": one.attempt,
        "becomes": "replaced" if one.attempt == 1 else f"attempt {one.attempt}",
    }
    return [
        execution
        | {
            "case_id": request.case_id,
            "repeat": request.repeat,
            "iteration": request.iteration,
            "outcome": request.outcome,
        }
        for request in one.asked
    ]


def _has_passes(records: list[dict[str, Any]]) -> bool:
    return any(record["repeat"] or record["iteration"] for record in records)


def _without_passes() -> tuple[Column, ...]:
    return tuple(one for one in _REQUESTS if one.key not in {"repeat", "iteration"})


def _notes(document: RerunPlanDocument, asking: list[RerunExecution]) -> list[str]:
    notes = []
    if any(one.attempt == 1 for one in asking):
        notes.append(
            "Replaced failures: boards, comparisons and histories would read the new run in place"
            f" of run {document.run_id}."
        )
    if any(one.attempt > 1 for one in asking):
        notes.append(
            "Further attempts replace nothing: they count for pass@k, and accuracy, times and costs"
            " stay those of the earlier answers."
        )
    notes.append(_cost_note(document))
    if any(one.never_asked for one in asking):
        notes.append("Cases that were never asked are not listed one by one.")
    return notes


def _cost_note(document: RerunPlanDocument) -> str:
    cost, limit = document.cost_usd, document.cost_limit_usd
    if cost is None:
        unpriced = {one.agent_id for one in document.executions if one.cost_usd is None}
        return (
            "The cost is unknown: the earlier answers of"
            f" {', '.join(sorted(unpriced))} have no known price."
        )
    origin = (
        "The cost is estimated from the earlier answers: the cost of the answer to the same"
        " question, or the mean of all answers where it has none. Retries and judges are not in it."
    )
    if limit is not None and cost > limit:
        return (
            f"{origin} It is above the run's limit of {money(limit)}, where the rerun would stop."
        )
    return origin
