"""The result of a run: who is best and how surely, where the agents differ, what failed, and what
to look at next. Every figure of every execution comes after, for whoever asks for it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.model.figures.dimension import DIMENSIONS
from agentbench_tui.model.figures.pass_metrics import attempts_of
from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.presentation.interval_bars import interval_bars
from agentbench_tui.presentation.numbers import (
    MISSING,
    count,
    duration,
    estimate,
    measured_estimate,
    money_each,
    of_dimension,
    percent,
)
from agentbench_tui.presentation.report import Column, Row, Section, Table
from agentbench_tui.presentation.run_remarks import (
    contained_answer_lines,
    failure_lines,
    next_steps,
    reservations,
    unknown_cost_lines,
    unmeasured_lines,
)
from agentbench_tui.presentation.run_verdict import run_verdict
from agentbench_tui.presentation.runs import (
    agent_name,
    answers,
    ended,
    is_judged,
    is_unmeasured,
    kind_of,
    place_name,
)
from agentbench_tui.verdicts.evidence.place import point_words
from agentbench_tui.verdicts.runs.defined_metrics import DefinedMetric, by_metric

if TYPE_CHECKING:
    from agentbench_tui.contracts.leaderboard import Board
    from agentbench_tui.contracts.run import ExecutionResult, RunDocument, RunLeaderboardEntry

_MOST_AGENTS = 6
"""Agents whose accuracy on each benchmark is shown side by side."""
_MOST_BENCHMARKS = 10
_EQUAL = 0.0005
"""Accuracies that differ by less look the same."""

_ENTRIES = (
    Column("rank_shown", "#", right=True, names_row=True),
    Column("agent", "agent", names_row=True),
    Column("shown", "", right=True),
    Column("bar", "", is_drawing=True),
    *(Column(name, name, of_dimension(name), right=True) for name in DIMENSIONS),
    Column("usd_per_task", "USD/task", money_each, right=True),
    Column("answers", "right/answered/asked", right=True),
)
EXECUTIONS = (
    Column("benchmark_id", "benchmark", names_row=True),
    Column("agent_id", "agent", names_row=True),
    Column("parameters_shown", "parameters", names_row=True),
    Column("accuracy", "accuracy", percent, right=True),
    Column("reliability", "reliable", percent, right=True),
    Column("p50", "e2e p50", duration, right=True),
    Column("p95", "e2e p95", right=True),
    Column("tokens_shown", "tokens", right=True),
    Column("per_correct", "USD/right", money_each, right=True),
    Column("cases", "right/answered/asked", right=True),
    Column("failures", "failures"),
    Column("state", "status"),
)
_ALWAYS = frozenset({"agent", "answers", "benchmark_id", "agent_id", "cases", "state"})


class RunReport(msgspec.Struct, frozen=True):
    """The parts of a run's result, in order; a kind prints its own executions after `answer`."""

    answer: Sequence[Section]
    """The verdict with the leaderboard, and the benchmarks that made it."""
    remarks: Sequence[Section]
    """The figures of every execution if asked for; failures, reservations, what to do next, and
    how the run ended.
    """


def run_report(run: RunDocument, boards: Sequence[Board] = (), *, full: bool = False) -> RunReport:
    """Return the result of a run whose tasks are all of kinds without an own printed form.

    `full` adds every figure of every execution. `boards` rank agents case by case where the run
    has no overall scores.
    """
    tasks = [one for one in run.executions if not kind_of(one).result]
    measured = [one for one in tasks if not is_unmeasured(one)]
    has_accuracy = any(map(is_judged, measured))
    figures = [_figures(measured)] if measured else []
    answer: list[Section] = []
    if run.leaderboard and (measured or any(one.overall is not None for one in run.leaderboard)):
        answer.append(_standings(run, boards, judged=has_accuracy))
    if not has_accuracy:
        # What code returns has no accuracy to summarize, so that its figures are the answer.
        answer += figures
    elif not full or len(run.leaderboard) > 1:
        answer += _by_benchmark(run, measured)
    if has_accuracy and not full and (defined := defined_metrics_table(measured)):
        answer.append(Section(tables=[defined]))
    remarks = [
        *(figures if full and has_accuracy else ()),
        Section(
            sentences=[
                *failure_lines(run.executions),
                *contained_answer_lines(run),
                *reservations(run, shares_rank=_shares_rank(run, boards)),
            ]
        ),
        Section(sentences=next_steps(run, measured, full=full)),
        Section(sentences=[f"run {run.run_id}: {ended(run)}"]),
    ]
    return RunReport(answer, [one for one in remarks if one.tables or one.sentences])


def _standings(run: RunDocument, boards: Sequence[Board], *, judged: bool) -> Section:
    """Return the verdict and the leaderboard."""
    title, ends = _figure(run, boards)
    show = of_dimension(title)
    axis, bars = (
        interval_bars(list(ends.values()), show) if len(ends) > 1 else ("", [""] * len(ends))
    )
    rows = []
    for entry, bar in zip(run.leaderboard, bars, strict=True):
        value, low, high = ends[_contender(entry)]
        rows.append(
            {
                **{name: getattr(entry, name) for name in DIMENSIONS if name != title},
                "rank_shown": _ranks(run, boards)[_contender(entry)],
                "agent": agent_name(entry, run) + (" (simulated)" if entry.simulated else ""),
                "shown": estimate(value, low, high, show),
                "bar": bar,
                "usd_per_task": entry.cost_usd / entry.observed
                if entry.cost_usd is not None and entry.observed
                else None,
                "answers": answers(entry, judged=judged),
            }
        )
    titles = {"shown": f"{title} [95%]", "bar": axis}
    columns = [
        Column(one.key, titles.get(one.key, one.title), one.show, one.right, one.names_row,
               one.is_drawing)
        for one in filled(_ENTRIES, rows)
    ]  # fmt: skip
    tasks = tuple(one for one in run.executions if not kind_of(one).result)
    words = run_verdict(msgspec.structs.replace(run, executions=tasks), boards).words
    return Section(words, [Table(columns, rows)], is_answer=True)


_Ends = tuple[float | None, float | None, float | None]


def _contender(entry: RunLeaderboardEntry) -> tuple[str, str, bool]:
    return entry.agent_id, entry.agent_version, entry.simulated


def _figure(
    run: RunDocument, boards: Sequence[Board]
) -> tuple[str, dict[tuple[str, str, bool], _Ends]]:
    """Return the name of the figure that agents are ordered by, and its value for each of them."""
    lines = {
        (one.agent_id, one.agent_version, one.simulated): (one.score, one.low, one.high)
        for board in boards
        for one in board.standings
    }
    if lines and all(_contender(entry) in lines for entry in run.leaderboard):
        return boards[0].metric, lines
    if any(one.overall is not None for one in run.leaderboard):
        return "overall", {
            _contender(one): (one.overall, one.low, one.high) for one in run.leaderboard
        }
    return "accuracy", {_contender(one): _accuracy(one, run) for one in run.leaderboard}


def _accuracy(entry: RunLeaderboardEntry, run: RunDocument) -> _Ends:
    """Return the mean accuracy of an agent; with its interval if it is of one execution."""
    own = [
        found
        for one in run.executions
        if (one.agent_id, one.agent_version) == (entry.agent_id, entry.agent_version)
        and (found := one.metrics.get("accuracy")) is not None
    ]
    if len(own) == 1 and own[0].value is not None:
        return own[0].value, own[0].low, own[0].high
    return entry.accuracy, None, None


def _ranks(run: RunDocument, boards: Sequence[Board]) -> dict[tuple[str, str, bool], str | None]:
    """Return what stands under `#`; None where nothing ranks an agent."""
    found: dict[tuple[str, str, bool], str | None] = {
        _contender(one): one.rank_shown if one.rank_shown != MISSING else None
        for one in run.leaderboard
    }
    for line in (line for board in boards for line in board.standings):
        found[line.agent_id, line.agent_version, line.simulated] = line.rank_shown
    return found


def _shares_rank(run: RunDocument, boards: Sequence[Board]) -> bool:
    shown = [
        (simulated, rank)
        for (_, _, simulated), rank in _ranks(run, boards).items()
        if rank is not None
    ]
    return len(set(shown)) < len(shown)


def filled(columns: Sequence[Column], rows: Sequence[Row]) -> list[Column]:
    """Return the columns that any row has a value for."""
    return [
        one
        for one in columns
        if one.key in _ALWAYS or any(row.get(one.key) not in {None, "", MISSING} for row in rows)
    ]


def _by_benchmark(run: RunDocument, executions: Sequence[ExecutionResult]) -> list[Section]:
    """Return the accuracy of the agents on each benchmark, the most different first."""
    names = [agent_name(one, run) for one in run.leaderboard]
    if len(names) < 2:
        return [_alone(executions)] if len(executions) <= _MOST_BENCHMARKS else []
    by_place: dict[str, dict[str, float]] = defaultdict(dict)
    for one in executions:
        value = one.value("accuracy")
        if value is not None:
            by_place[place_name(one)][agent_name(one, run)] = value
    if len(by_place) < 2:
        return []
    spread = {place: max(of.values()) - min(of.values()) for place, of in by_place.items()}
    shown = sorted(
        (place for place in by_place if spread[place] >= _EQUAL), key=lambda one: -spread[one]
    )
    columns = [
        Column("place", "accuracy on", names_row=True),
        *(Column(f"agent {name}", name, percent, right=True) for name in names[:_MOST_AGENTS]),
    ]
    rows = [
        {"place": place, **{f"agent {name}": value for name, value in by_place[place].items()}}
        for place in shown[:_MOST_BENCHMARKS]
    ]
    equal = [place for place in by_place if spread[place] < _EQUAL]
    sentences = [f"All agents have the same accuracy on {', '.join(equal)}."] if equal else []
    if more := len(shown) - len(rows):
        sentences.append(f"… and {counted(more, 'more benchmark')}.")
    if more := len(names) - _MOST_AGENTS:
        sentences.append(f"… and {counted(more, 'more agent')}." if more > 0 else "")
    tables = [Table(columns, rows)] if rows else []
    return [Section(tables=tables, sentences=[*filter(None, sentences)])]


def _alone(executions: Sequence[ExecutionResult]) -> Section:
    """Return the executions of the only agent, the least accurate first."""
    ordered = sorted(executions, key=lambda one: one.value("accuracy") or 0.0)
    rows = [execution_row(one) for one in ordered]
    columns = [one for one in filled(EXECUTIONS, rows) if one.key not in {"agent_id", "state"}]
    return Section(tables=[Table(columns, rows)])


def _figures(executions: Sequence[ExecutionResult]) -> Section:
    rows = [execution_row(one) for one in executions]
    tables = [Table(filled(EXECUTIONS, rows), rows)]
    if defined := defined_metrics_table(executions, full=True):
        tables.append(defined)
    return Section(
        tables=tables, sentences=[*unmeasured_lines(executions), *unknown_cost_lines(executions)]
    )


def defined_metrics_table(
    executions: Sequence[ExecutionResult], *, full: bool = False
) -> Table | None:
    """Return the metrics that only the benchmarks of these executions measure, and pass@k and
    pass^k where attempts at a case differ; with `full` also those of their kinds, and pass@k and
    pass^k of all attempts anyway. None without any.
    """
    rows: list[Row] = [
        {
            "benchmark_id": one.benchmark_id,
            "agent_id": one.agent_id,
            "parameters_shown": point_words(one.parameters),
            "metric": one.metric,
            "value": _defined_value(one),
        }
        for one in defined_metrics(executions, full=full)
    ]
    if not rows:
        return None
    benchmark, agent, point = EXECUTIONS[:3]
    metric = Column("metric", "metric", names_row=True)
    columns = (benchmark, point, metric, agent, Column("value", "value [95%]"))
    return Table(filled(columns, rows), rows)


def _defined_value(one: DefinedMetric) -> str:
    if one.value is None and not one.n:
        return f"{MISSING} (no answer has a value)"
    return measured_estimate(one.value, one.low, one.high, one.unit)


def defined_metrics(
    executions: Sequence[ExecutionResult], *, full: bool = False
) -> list[DefinedMetric]:
    """Return the metrics of `defined_metrics_table`, the agents of one metric together."""
    found = [
        DefinedMetric(
            one.agent_id, one.simulated, one.benchmark_id, one.parameters, name, found.unit,
            found.value, found.low, found.high, found.n,
        )
        for one in executions
        for name in _defined_names(one, full=full)
        if (found := one.metrics.get(name)) is not None
        and (full or found.value is not None or (name in one.own_metrics and not found.n))
    ]  # fmt: skip
    return by_metric(found)


def _defined_names(execution: ExecutionResult, *, full: bool) -> list[str]:
    metrics = execution.metrics
    attempts = {name: k for name in metrics if (k := attempts_of(name)) is not None}
    most = max(attempts.values(), default=0)
    of_all = [name for name, k in attempts.items() if k == most]
    of_kind = kind_of(execution).part("metrics") or () if full else ()
    return [
        *(metric.name for metric in of_kind),
        *execution.own_metrics,
        *(of_all if full or len({metrics[name].value for name in of_all}) > 1 else ()),
    ]


def execution_row(one: ExecutionResult) -> Row:
    """Return one line of the table of executions."""
    p95 = one.metrics.get("e2e_ms.p95")
    tokens = one.metrics.get("tokens_used")
    return {
        "benchmark_id": one.benchmark_id,
        "agent_id": one.agent_id + (" (simulated)" if one.simulated else ""),
        "parameters_shown": point_words(one.parameters),
        "accuracy": one.value("accuracy"),
        "reliability": one.value("reliability"),
        "p50": one.value("e2e_ms.p50"),
        "p95": MISSING
        if p95 is None
        else (p95.reason or MISSING)
        if p95.value is None
        else duration(p95.value),
        # ~ marks an estimate.
        "tokens_shown": MISSING
        if tokens is None or tokens.value is None
        else f"{'~' if tokens.reason else ''}{count(tokens.value)}",
        "per_correct": one.value("cost_usd_per_correct"),
        "cases": answers(one.cases, judged=is_judged(one)),
        "failures": " ".join(f"{kind}:{n}" for kind, n in one.failures.items()),
        "state": ended(one),
    }
