"""What executions of one agent on one benchmark say, as arrays: the ground of every verdict.

Observations of a task benchmark have a case, so that two agents can be held against each other
case by case. What is said of speed stands on whole repeats, since the answers of one repeat share
its luck: `per_repeat` gives one value for each, of every kind of benchmark.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from agentbench_tui.engine.aggregate import Observations
from agentbench_tui.model.agent import AgentSpec
from agentbench_tui.model.metric import SHARES
from agentbench_tui.store.selection import specification_of
from agentbench_tui.verdicts.repeat_totals import repeat_totals

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Execution = dict[str, Any]

OF_OBSERVATIONS = (
    "accuracy", "correct_share", "reliability", "error_rate", "e2e_ms", "ttft_ms", "waiting_ms",
    "input_tokens", "output_tokens", "cost_usd_per_task",
)  # fmt: skip
"""What each observation of a task benchmark has a value of, by the name of the metric."""


class Evidence(Protocol):
    """One side of a comparison on one benchmark, at one point of a sweep."""

    @property
    def executions(self) -> Sequence[Execution]:
        """Where it comes from, the oldest first."""

    def per_repeat(self, metric: str) -> Floats:
        """One value for each repeat that has one; empty where it was not measured.

        `metric` as in gates (`e2e_ms.p95`, `accuracy`). A distribution without a part is its p50.
        """

    def fewest_answers(self, metric: str) -> int:
        """Values of a distribution in that repeat which has the fewest; 0 where none has any."""


@dataclass(frozen=True)
class TaskEvidence:
    """Counted observations, a row each; NaN where a value is not known.

    Observations that failed for a reason of the grader's or the harness's do not count.
    """

    executions: Sequence[Execution]
    case: Integers
    """Equal for equal cases, also of other evidence made by the same `CaseNumbers`."""
    cluster: Integers
    """What is independent: the case, or the cluster that its author put it in."""
    seed: Integers
    repeat: Integers
    """Numbered 0 … R-1 over the repeats of all executions."""
    values: dict[str, Floats]
    """By the names of `OF_OBSERVATIONS`; those without any value are left out."""
    repeats: int
    """R."""
    totals: dict[str, Floats] = field(default_factory=dict)
    """Of what only whole repeats have (see `repeat_totals`), float64[R]; NaN where not known."""
    repeats_of: Sequence[int] = ()
    """How many repeats each of the executions has; empty of files."""
    run_of: Integers | None = None
    """Of files that tell runs, the number of each repeat's."""

    @property
    def runs(self) -> int:
        """How many it is of; 0 of a file that does not tell."""
        if self.run_of is not None:
            return len(np.unique(self.run_of))
        return len({row["run_id"] for row in self.executions})

    def by_run(self) -> TaskEvidence:
        """With whole runs as its repeats: a total is the mean over those of the run."""
        told = self.run_of
        runs = _runs(self.executions, self.repeats_of) if told is None else told
        return replace(
            self,
            repeat=runs[self.repeat],
            totals={name: _mean_by(runs, values) for name, values in self.totals.items()},
            repeats=int(runs.max(initial=-1)) + 1,
            repeats_of=(),
            run_of=None if told is None else np.unique(told),
        )

    def only(self, cases: Integers) -> TaskEvidence:
        """What is said of these cases alone; totals of a repeat are of all its cases, and go."""
        kept = np.isin(self.case, cases)
        return replace(
            self,
            case=self.case[kept],
            cluster=self.cluster[kept],
            seed=self.seed[kept],
            repeat=self.repeat[kept],
            values={name: column[kept] for name, column in self.values.items()},
            totals={},
        )

    def per_repeat(self, metric: str) -> Floats:
        """See `Evidence`. Shares and costs are means; percentiles of any number of answers."""
        base, _, part = metric.partition(".")
        if metric in self.totals:
            total = self.totals[metric]
            return total[~np.isnan(total)]
        column = self.values.get(base)
        if column is None:
            return np.empty(0)
        share = SHARES.get(part)
        if share is None and not part and base.endswith("_ms"):
            share = 0.5
        found = []
        for number in range(self.repeats):
            values = column[self.repeat == number]
            values = values[~np.isnan(values)]
            if len(values):
                one = values.mean() if share is None else np.quantile(values, share)
                found.append(float(one))
        return np.array(found)

    def fewest_answers(self, metric: str) -> int:
        """See `Evidence`."""
        column = self.values.get(metric.partition(".")[0])
        if column is None:
            return 0
        counts = np.bincount(self.repeat[~np.isnan(column)])
        return int(counts[counts > 0].min()) if counts.any() else 0


class CaseNumbers:
    """Gives equal cases of different datasets the same number, and so with their clusters."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._datasets: dict[int, dict[int, int]] = {}
        self._known: dict[tuple[str, str], int] = {}
        """By id and body of the case."""
        self._names: dict[int, str] = {}
        self._clusters: dict[str, int] = {}
        self._cluster_of: dict[int, int] = {}
        """By number of the case, where its author gave it a cluster: -1 and below."""

    def of(self, dataset_key: int, cases: Integers) -> Integers:
        """Numbers of cases of a dataset, given by their keys."""
        numbers = self._of_dataset(dataset_key)
        return np.fromiter((numbers[case] for case in cases.tolist()), np.int64, len(cases))

    def of_ids(self, ids: Sequence[str]) -> Integers:
        """Numbers of cases of which the id alone is known, as in a file: by what is so called."""
        if not ids:
            return np.empty(0, np.int64)
        by_id = {name: number for number, name in self._names.items()}
        found = np.empty(len(ids), np.int64)
        for place, case_id in enumerate(ids):
            number = by_id.get(case_id)
            if number is None:
                number = by_id[case_id] = self._known.setdefault((case_id, ""), len(self._known))
                self._names[number] = case_id
            found[place] = number
        return found

    def all_of(self, dataset_keys: Iterable[int]) -> set[int]:
        """Numbers of all cases of some datasets."""
        return {number for key in dataset_keys for number in self._of_dataset(key).values()}

    def clusters(self, numbers: Integers) -> Integers:
        """What is independent: the cluster of a case, and of one without any the case itself."""
        if not self._cluster_of:
            return numbers
        of = self._cluster_of
        return np.fromiter((of.get(one, one) for one in numbers.tolist()), np.int64, len(numbers))

    def name(self, number: int) -> str:
        """The case's id."""
        return self._names[number]

    def _of_dataset(self, dataset_key: int) -> dict[int, int]:
        numbers = self._datasets.get(dataset_key)
        if numbers is None:
            numbers = self._datasets[dataset_key] = self._number(dataset_key)
        return numbers

    def _number(self, dataset_key: int) -> dict[int, int]:
        rows = self._connection.execute(
            "SELECT key, case_id, body, CASE WHEN instr(body, '\"cluster\"')"
            " THEN json_extract(body, '$.cluster') END FROM cases WHERE dataset_key=?",
            (dataset_key,),
        )
        numbers = {}
        for key, case_id, body, cluster in rows:
            number = self._known.setdefault((case_id, body), len(self._known))
            numbers[key] = number
            self._names[number] = case_id
            if cluster is not None:
                self._cluster_of[number] = self._clusters.setdefault(
                    cluster, -1 - len(self._clusters)
                )
        return numbers


def task_evidence(
    connection: sqlite3.Connection, executions: Iterable[Execution], numbers: CaseNumbers
) -> TaskEvidence:
    """The observations of these executions of a task benchmark together."""
    parts = [_part(connection, row, numbers) for row in executions]
    first, repeats = 0, []
    for part in parts:
        repeats.append(part.repeat + first)
        first += part.repeats
    values = {
        name: np.concatenate([part.values[name] for part in parts]) for name in OF_OBSERVATIONS
    }
    names = {name for part in parts for name in part.totals}
    totals = {
        name: np.concatenate(
            [part.totals.get(name, np.full(part.repeats, math.nan)) for part in parts]
        )
        for name in names
    }
    for name in names & values.keys():  # of whole repeats in one of them: so in all of them
        del values[name]
    case = np.concatenate([part.case for part in parts])
    return TaskEvidence(
        [row for part in parts for row in part.executions],
        case,
        numbers.clusters(case),
        np.concatenate([part.seed for part in parts]),
        np.concatenate(repeats),
        {name: column for name, column in values.items() if not np.isnan(column).all()},
        first,
        totals,
        [part.repeats for part in parts],
    )


def _part(connection: sqlite3.Connection, row: Execution, numbers: CaseNumbers) -> TaskEvidence:
    """Of one execution, with every column of `OF_OBSERVATIONS`."""
    seen = Observations(connection, row["key"])
    agent = agent_of(connection, row)
    _, repeat = np.unique(seen.repeat, return_inverse=True)
    repeat = repeat.reshape(-1).astype(np.int64)
    case = numbers.of(row["dataset_key"], seen.case)
    return TaskEvidence(
        [row],
        case,
        case,
        np.full(len(seen), row["seed"], np.int64),
        repeat,
        _columns(seen, scored=_is_scored(connection, row["key"]), recorded=agent.recorded),
        int(repeat.max()) + 1 if len(repeat) else 0,
        repeat_totals(connection, row["key"], seen, agent),
    )


def _runs(executions: Sequence[Execution], repeats_of: Iterable[int]) -> Integers:
    """Of each repeat the number of its run, 0 … by the order of the executions."""
    numbers: dict[str, int] = {}
    of = [numbers.setdefault(row["run_id"], len(numbers)) for row in executions]
    return np.repeat(np.array(of, np.int64), list(repeats_of))


def _mean_by(number: Integers, values: Floats) -> Floats:
    """The mean of those values that are known, by number; NaN where none is."""
    known = ~np.isnan(values)
    count = int(number.max(initial=-1)) + 1
    found = np.full(count, math.nan)
    counts = np.bincount(number[known], minlength=count)
    sums = np.bincount(number[known], values[known], count)
    np.divide(sums, counts, out=found, where=counts > 0)
    return found


def agent_of(connection: sqlite3.Connection, row: Execution) -> AgentSpec:
    """The agent of an execution, as it was."""
    specification = specification_of(connection, row["agent_id"], row["agent_version"])
    return msgspec.json.decode(specification, type=AgentSpec)


def _is_scored(connection: sqlite3.Connection, execution_key: int) -> bool:
    """Whether the benchmark has a scorer, also where no answer came that it could have judged."""
    row = connection.execute(
        "SELECT 1 FROM metrics WHERE execution_key=? AND name='accuracy' AND value IS NOT NULL",
        (execution_key,),
    ).fetchone()
    return row is not None


def _columns(seen: Observations, *, scored: bool, recorded: bool) -> dict[str, Floats]:
    unknown = np.full(len(seen), math.nan)
    cost = seen.cost_usd
    # A sum is only known when every answer's price is; what failed may have cost nothing.
    priced = not np.isnan(cost[seen.answered]).any() and not np.isnan(cost).all()
    answered = seen.answered
    timed = answered & (not recorded)  # recorded answers take no time
    return {
        "accuracy": np.where(answered, np.nan_to_num(seen.credit), 0.0) if scored else unknown,
        "correct_share": seen.right.astype(np.float64) if scored else unknown,
        "reliability": answered.astype(np.float64),
        "error_rate": 1 - answered.astype(np.float64),
        "e2e_ms": np.where(timed, seen.e2e_ms, math.nan),
        "ttft_ms": np.where(timed, seen.ttft_ms, math.nan),
        "waiting_ms": np.where(timed, seen.waiting_ms, math.nan),
        "input_tokens": seen.input_tokens,
        "output_tokens": seen.output_tokens,
        "cost_usd_per_task": np.nan_to_num(cost) if priced else unknown,
    }


class LoadEvidence:
    """Repeats of load executions, each with its own metrics."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        executions: Iterable[Execution],
        *,
        by_run: bool = False,
    ) -> None:
        self.executions = list(executions)
        self._connection = connection
        self._averaged = by_run

    def by_run(self) -> LoadEvidence:
        """With the means of whole runs instead of its repeats."""
        return self._of_runs

    @cached_property
    def _of_runs(self) -> LoadEvidence:
        return LoadEvidence(self._connection, self.executions, by_run=True)

    def per_repeat(self, metric: str) -> Floats:
        """See `Evidence`."""
        base = metric if "." in metric or not metric.endswith("_ms") else f"{metric}.p50"
        runs = [run for run, repeat in self._repeats if base in repeat]
        values = np.array([repeat[base][0] for _, repeat in self._repeats if base in repeat])
        if not self._averaged:
            return values
        _, of = np.unique(np.array(runs, np.int64), return_inverse=True)
        return _mean_by(of.reshape(-1), values)

    def fewest_answers(self, metric: str) -> int:
        """See `Evidence`."""
        mean = f"{metric.partition('.')[0]}.mean"  # told of however few
        counts = (repeat[mean][1] for _, repeat in self._repeats if mean in repeat)
        return min(counts, default=0)

    def observed(self, metric: str) -> int:
        """How many requests its values stand on, in all repeats together."""
        return sum(repeat[metric][1] for _, repeat in self._repeats if metric in repeat)

    @cached_property
    def _repeats(self) -> list[tuple[int, dict[str, tuple[float, int]]]]:
        """Of each repeat the number of its run, and by metric its value and how many requests are
        behind it."""
        from agentbench_tui.load.aggregate import aggregate, read_windows
        from agentbench_tui.load.columns import read_columns
        from agentbench_tui.load.pricing import price_of
        from agentbench_tui.load.requests import Requests

        repeats = []
        runs = _runs(self.executions, [1] * len(self.executions)).tolist()
        for run, row in zip(runs, self.executions, strict=True):
            key = row["key"]
            agent = agent_of(self._connection, row)
            price = price_of(self._connection, key, agent)
            for number, window in read_windows(self._connection, key).items():
                columns = read_columns(self._connection, key, repeats=[number])
                found = aggregate(
                    Requests(columns, {number: window}),
                    agent,
                    None if price is None else price.of_request,
                )
                values = {
                    name: (metric.value, metric.n)
                    for name, metric in found.metrics.items()
                    if metric.value is not None
                }
                repeats.append((run, values))
        return repeats
