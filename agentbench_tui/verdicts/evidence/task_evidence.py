"""Observations of a task benchmark as arrays, with the case of each, so that two agents can be
compared case by case.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from agentbench_tui.analysis.attempts import attempts_at, pass_names, pass_values
from agentbench_tui.analysis.sample import constant, distinct, known_or_zero
from agentbench_tui.engine.task.observations import Observations
from agentbench_tui.experiments.aggregate import repeat_means
from agentbench_tui.market.judging.aggregate import columns as games
from agentbench_tui.model.figures.market_metrics import MARKET_METRICS
from agentbench_tui.model.figures.metric import SHARES
from agentbench_tui.store.answer_columns import FigureNames, figure_names
from agentbench_tui.store.queries.iterations import totals_by_repeat
from agentbench_tui.store.queries.metrics import names_of_execution
from agentbench_tui.store.queries.selection import specification_of
from agentbench_tui.verdicts.evidence.declared_metrics import (
    base_of,
    declare_benchmark_metrics,
)
from agentbench_tui.verdicts.evidence.evidence_columns import EvidenceColumns, with_each
from agentbench_tui.verdicts.evidence.ratio_columns import (
    has_sums,
    ratio_of_each_repeat,
    sum_columns,
)
from agentbench_tui.verdicts.evidence.repeat_totals import RepeatTotals, repeat_totals, total_names
from agentbench_tui.verdicts.evidence.whole_runs import mean_by_run, run_numbers

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence

    from agentbench_tui.analysis.sample import Floats, Integers
    from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
    from agentbench_tui.verdicts.evidence.evidence_columns import Compute
    from agentbench_tui.verdicts.evidence.place import Execution

COST = "cost_usd_per_task"
OF_OBSERVATIONS = (
    "accuracy", "correct_share", "reliability", "error_rate", "e2e_ms", "ttft_ms", "waiting_ms",
    "input_tokens", "output_tokens", COST,
)  # fmt: skip
"""Metrics of single observations of a task benchmark, by name."""
TOKENS = "tokens_per_task"
"""Input plus output tokens of each observation: not a metric itself, but the basis of totals and
ratios of tokens.
"""
_ORDER = (*OF_OBSERVATIONS, TOKENS)
Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True)
class TaskEvidence:
    """Counted observations, one row each; NaN for unknown values.

    Observations that failed for a reason of the grader's or the harness's do not count.
    """

    executions: Sequence[Execution]
    case: Integers
    """Equal for equal cases, also of other evidence made by the same `CaseNumbers`."""
    cluster: Integers
    """Independent unit: the case, or its declared cluster."""
    seed: Integers
    repeat: Integers
    """Numbered 0 … R-1 over the repeats of all executions."""
    values: Mapping[str, Floats]
    """By the names of `OF_OBSERVATIONS` and of a game, `TOKENS`, and `sum_columns` of a ratio of
    sums; those without any value are left out."""
    repeats: int
    """R."""
    totals: Mapping[str, Floats] = field(default_factory=dict)
    """Totals of whole repeats (see `repeat_totals`), float64[R]; NaN if unknown."""
    repeats_of: Sequence[int] = ()
    """Number of repeats of each execution; empty for files."""
    names_cases: bool = True
    """Whether each answer has a case; False for files without ids."""
    tells_failures: bool = True
    """Whether it says which answers failed; False of files that have no column for it and a value
    in every row."""
    clusters_are_local: bool = False
    """Whether numbers of clusters mean something else in evidence of another benchmark."""
    run_of: Integers | None = None
    """For files with a run column, the run number of each repeat."""
    defined: tuple[str, ...] = ()
    """The metrics that the benchmark defines: one for each of several scorers, and its own."""

    @property
    def runs(self) -> int:
        """Return the number of runs; 0 for a file without a run column."""
        if self.run_of is not None:
            return len(np.unique(self.run_of))
        return len({row["run_id"] for row in self.executions})

    def by_run(self) -> TaskEvidence:
        """Return the evidence with whole runs as its repeats: a total is the mean over the
        repeats of the run.
        """
        told = self.run_of
        runs = run_numbers(self.executions, self.repeats_of) if told is None else told
        return replace(
            self,
            repeat=runs[self.repeat],
            totals={name: mean_by_run(runs, values) for name, values in self.totals.items()},
            repeats=int(runs.max(initial=-1)) + 1,
            repeats_of=(),
            run_of=None if told is None else np.unique(told),
        )

    def only(self, cases: Integers) -> TaskEvidence:
        """Return the evidence for these cases only; totals of a repeat cover all its cases, and
        are dropped.
        """
        return self.rows(np.isin(self.case, cases))

    def rows(self, kept: NDArray[np.bool_]) -> TaskEvidence:
        """Return the evidence of these observations; totals of a repeat cover all its cases, and
        are dropped.
        """
        return replace(
            self,
            case=self.case[kept],
            cluster=self.cluster[kept],
            seed=self.seed[kept],
            repeat=self.repeat[kept],
            values=with_each(self.values, lambda column: column[kept]),
            totals={},
        )

    def per_repeat(self, metric: str) -> Floats:
        """See `Evidence`. Shares and costs are means; percentiles of any number of answers."""
        base, _, part = metric.partition(".")
        if metric in self.totals:
            total = self.totals[metric]
            return total[~np.isnan(total)]
        if has_sums(self.values, metric):
            return ratio_of_each_repeat(self, metric)
        column = self.values.get(base)
        if column is None or (base == COST and self.unknown(base)):
            return np.empty(0)
        share = SHARES.get(part)
        if not part and base.endswith("_ms") and base not in MARKET_METRICS:
            share = 0.5
        found = []
        for number in range(self.repeats):
            values = column if self.repeats == 1 else column[self.repeat == number]
            values = values[~np.isnan(values)]
            if len(values):
                whole = values.max() if part == "max" else values.mean()
                found.append(float(whole if share is None else np.quantile(values, share)))
        return np.array(found)

    def unknown(self, column: str) -> int:
        """Return which answers lack a known amount that is paid for; a failure may have used
        nothing.
        """
        values = self.values[column]
        answered = self.values.get("reliability", np.ones(len(values))) > 0
        return int((np.isnan(values) & answered).sum())

    def fewest_answers(self, metric: str) -> int:
        """See `Evidence`."""
        column = self.values.get(metric.partition(".")[0])
        if column is None:
            return 0
        counts = np.bincount(self.repeat[~np.isnan(column)])
        return int(counts[counts > 0].min()) if counts.any() else 0


def task_evidence(
    connection: sqlite3.Connection, executions: Iterable[Execution], numbers: CaseNumbers
) -> TaskEvidence:
    """Return the observations of these executions of a task benchmark together."""
    rows = [*executions]
    parts = [_part(connection, row, numbers) for row in rows]
    first, repeats = 0, []
    for part in parts:
        repeats.append(part.repeat + first if first else part.repeat)
        first += part.repeats
    known = dict.fromkeys(name for part in parts for name in part.values)
    # What only whole repeats have in one of them: so in all of them.
    columns = [name for name in known if not any(name in part.totals for part in parts)]
    columns.sort(key=[*_ORDER, *known].index)
    case = joined([part.case for part in parts])
    return TaskEvidence(
        rows,
        case,
        numbers.clusters(case),
        joined([part.seed for part in parts]),
        joined(repeats),
        EvidenceColumns({name: partial(_column, parts, name) for name in columns}),
        first,
        _joined_totals(parts),
        [part.repeats for part in parts],
        defined=tuple(dict.fromkeys(name for part in parts for name in part.defined)),
    )


def _joined_totals(parts: Sequence[_Part]) -> RepeatTotals:
    if len(parts) == 1:
        return parts[0].totals

    def compute() -> dict[str, Floats]:
        names = {name for part in parts for name in part.totals}
        return {
            name: np.concatenate(
                [part.totals.get(name, np.full(part.repeats, math.nan)) for part in parts]
            )
            for name in names
        }

    return RepeatTotals(frozenset().union(*(part.totals.possible for part in parts)), compute)


def _column(parts: Sequence[_Part], name: str) -> Floats:
    return joined(
        [
            part.values[name] if name in part.values else constant(math.nan, len(part.case))
            for part in parts
        ]
    )


def joined(columns: Sequence[NDArray[Scalar]]) -> NDArray[Scalar]:
    """Concatenate the arrays; a single one is returned without a copy, since it may be large."""
    return columns[0] if len(columns) == 1 else np.concatenate(columns)


class _Part(NamedTuple):
    """One execution; the fields are those of `TaskEvidence`."""

    case: Integers
    seed: Integers
    repeat: Integers
    values: EvidenceColumns
    repeats: int
    totals: RepeatTotals
    defined: tuple[str, ...]


def _part(connection: sqlite3.Connection, row: Execution, numbers: CaseNumbers) -> _Part:
    """Return one execution, with every column of `OF_OBSERVATIONS`, and those of a game."""
    seen = Observations(connection, row["key"])
    agent = specification_of(connection, row)
    numbered, repeat = _repeats(seen)
    case = numbers.of(row["dataset_key"], seen.case)
    measured = _measured(connection, row["key"])
    columns = _columns(seen, scored="accuracy" in measured, recorded=agent.recorded)
    declared = declare_benchmark_metrics(connection, row["key"])
    known = figure_names(connection, row["key"]) if declared else FigureNames.none()
    defined = tuple(dict.fromkeys(base_of(name) for name in declared))
    defined = tuple(name for name in defined if name in known.numbers | known.pairs)
    for name in defined:
        if name in known.numbers:
            columns[name] = partial(seen.figures, name)
            continue
        for place, column in enumerate(sum_columns(name)):
            columns[column] = partial(seen.figures, name, place)
    if "accuracy" in measured:
        columns |= _of_attempts(seen)
    if "total_pnl" in measured:
        for name, values in games(connection, row["key"]).items():
            if not np.isnan(values).all():
                columns[name] = partial(np.asarray, values)
    returned = _returned(connection, row["key"], numbered)
    iterations = totals_by_repeat(connection, row["key"])

    def totals() -> dict[str, Floats]:
        return {**repeat_totals(seen, iterations, agent), **returned}

    return _Part(
        case,
        constant(row["seed"], len(seen)),
        repeat,
        EvidenceColumns(columns),
        len(numbered),
        RepeatTotals(total_names(agent) | returned.keys(), totals),
        defined,
    )


def _of_attempts(seen: Observations) -> dict[str, Compute]:
    """Return pass@k and pass^k of each case, on each of its observations, by name."""
    if len(seen) < 2 or not (names := pass_names(attempts_at(seen.case, seen.right))):
        return {}

    def values(name: str) -> Floats:
        attempts = attempts_at(seen.case, seen.right)
        return pass_values(attempts, name)[attempts.place]

    return {name: partial(values, name) for name in names}


def _repeats(seen: Observations) -> tuple[Integers, Integers]:
    """Return the existing repeats, and for each observation the index of its repeat."""
    repeat = seen.repeat
    if len(repeat) and repeat.min() == repeat.max():
        return repeat[:1].astype(np.int64), constant(0, len(repeat))
    found = distinct(repeat.astype(np.int64))
    return found.names, found.place


def _returned(
    connection: sqlite3.Connection, execution_key: int, repeats: Integers
) -> dict[str, Floats]:
    """Return the metrics of an experiment's iterations, as a mean for each of these repeats."""
    return {
        name: np.array([means.get(repeat, math.nan) for repeat in repeats.tolist()])
        for name, means in repeat_means(connection, execution_key).items()
    }


def _measured(connection: sqlite3.Connection, execution_key: int) -> set[str]:
    """Return which of two metrics have a value: `accuracy` of a benchmark with a scorer, even
    without any answer to score; `total_pnl` of a game.
    """
    return names_of_execution(connection, execution_key, ("accuracy", "total_pnl"))


def _columns(seen: Observations, *, scored: bool, recorded: bool) -> dict[str, Compute]:
    """Return the columns with a value; recorded answers take no time."""
    found: dict[str, Compute] = {}
    if not len(seen):
        return found
    if scored:
        found["accuracy"] = lambda: np.where(seen.answered, known_or_zero(seen.credit), 0.0)
        found["correct_share"] = lambda: seen.right.astype(np.float64)
    found["reliability"] = lambda: seen.answered.astype(np.float64)
    found["error_rate"] = lambda: 1 - seen.answered.astype(np.float64)
    for name in ("e2e_ms", "ttft_ms", "waiting_ms"):
        if not recorded and seen.known_answered(name):
            found[name] = partial(_of_answered, seen, name)
    for name in ("input_tokens", "output_tokens"):
        if seen.known(name):
            found[name] = partial(getattr, seen, name)
    if seen.known("cost_usd"):
        found[COST] = partial(_paid, seen, "cost_usd")
    if seen.known("input_tokens") and seen.known("output_tokens"):
        tokens = _paid(seen, "input_tokens", "output_tokens")
        if not np.isnan(tokens).all():
            found[TOKENS] = partial(np.asarray, tokens)
    return found


def _of_answered(seen: Observations, name: str) -> Floats:
    return np.where(seen.answered, getattr(seen, name), math.nan)


def _paid(seen: Observations, *names: str) -> Floats:
    """Return the sum of amounts; a failure may have used nothing, an answer's amount may be
    unknown.
    """
    amounts: list[Floats] = [getattr(seen, name) for name in names]
    return np.where(seen.answered, sum(amounts), sum(map(known_or_zero, amounts)))
