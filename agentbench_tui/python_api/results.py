"""Results of the API's functions: typed documents, displayed as tables and convertible to
pandas.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import msgspec
from msgspec import UNSET

from agentbench_tui.contracts.document import plain
from agentbench_tui.contracts.load import LoadDocument
from agentbench_tui.contracts.run import (
    ExecutionResult,
    GateOutcome,
    RunDocument,
    RunLeaderboardEntry,
)
from agentbench_tui.contracts.runs import FailureDetail
from agentbench_tui.model.errors import GateFailed, MissingExtra, UsageError
from agentbench_tui.model.figures.dimension import DIMENSIONS
from agentbench_tui.presentation.numbers import duration, money, score, with_interval
from agentbench_tui.python_api.display import ResultPage, ResultTable

if TYPE_CHECKING:
    from typing import Self

    import pandas as pd  # type: ignore[import-not-found,import-untyped,unused-ignore]

    from agentbench_tui.verdicts.runs.ended_run import EndedRun

Row = dict[str, Any]
Typed = TypeVar("Typed")


def typed(document: object, of: type[Typed]) -> Typed:
    """Return a document of plain JSON values as its class."""
    return document if type(document) is of else msgspec.convert(plain(document), of)


class Result:
    """Base of all results: shown as tables in a notebook and at a prompt."""

    tables: ClassVar[tuple[str, ...]] = ()
    """Names of the tables that `to_pandas` returns, the default one first."""

    def to_pandas(self, table: str | None = None) -> pd.DataFrame:
        """Return a table as a pandas DataFrame; see `tables` for their names.

        Raises MissingExtra without pandas, and UsageError for a table that there is not.
        """
        rows = self.rows(table)
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtra("to_pandas()", "pandas") from None
        columns = list(dict.fromkeys(name for row in rows for name in row))
        return pd.DataFrame(rows, columns=columns)

    def rows(self, table: str | None = None) -> list[Row]:
        """Return a table as dictionaries, as `to_pandas` has it. Raises UsageError."""
        name = self.tables[0] if table is None else table
        if name not in self.tables:
            raise UsageError(f"no table '{name}'; there are {', '.join(self.tables)}")
        rows: Sequence[Row] = getattr(self, f"_{name}_rows")()
        return [*rows]

    def _page(self) -> ResultPage:
        raise NotImplementedError

    def __str__(self) -> str:
        return self._page().text()

    def __repr__(self) -> str:
        return self._page().text()

    def _repr_html_(self) -> str:
        return self._page().html()


@dataclass(frozen=True, repr=False)
class RunResult(Result):
    """A run: scores, metrics and failures of each agent on each benchmark."""

    tables: ClassVar[tuple[str, ...]] = ("executions", "metrics", "leaderboard", "gates")

    document: RunDocument
    """What `agentbench run --format json` prints."""
    failures: tuple[FailureDetail, ...] = ()
    """The most frequent failures, each with an example."""

    @classmethod
    def of_ended_run(cls, ended: EndedRun) -> Self:
        """Make the result of a run that has ended."""
        return cls(*common_fields(ended))

    @property
    def run_id(self) -> str:
        """Id of the run, by which the command line finds it."""
        return self.document.run_id

    @property
    def status(self) -> str:
        """`complete`, `incomplete` or `interrupted`."""
        return self.document.status

    @property
    def executions(self) -> tuple[ExecutionResult, ...]:
        """Each agent on each benchmark at each parameter point."""
        return self.document.executions

    @property
    def leaderboard(self) -> tuple[RunLeaderboardEntry, ...]:
        """The agents, the best first."""
        return self.document.leaderboard

    @property
    def gates(self) -> tuple[GateOutcome, ...]:
        """Each gate on each execution."""
        return () if self.document.gates is UNSET else self.document.gates

    def raise_for_gates(self) -> None:
        """Raise GateFailed if a gate does not hold or cannot be judged."""
        lost = [one for one in self.gates if not one.holds]
        if lost:
            raise GateFailed("; ".join(map(_gate_words, lost)))

    def _executions_rows(self) -> list[Row]:
        return [
            {
                **place_of(one),
                "agent_version": one.agent_version,
                "simulated": one.simulated,
                "seed": one.seed,
                "status": one.status,
                "observed": one.cases.observed,
                "answered": one.cases.answered,
                "correct": one.cases.correct,
                "failures": sum(one.failures.values()),
                "overall": one.scores.overall,
                **{name: metric.value for name, metric in one.metrics.items()},
            }
            for one in self.executions
        ]

    def _metrics_rows(self) -> list[Row]:
        return [
            {**place_of(one), "metric": name, **msgspec.structs.asdict(metric)}
            for one in self.executions
            for name, metric in one.metrics.items()
        ]

    def _leaderboard_rows(self) -> list[Row]:
        return [msgspec.structs.asdict(one) for one in self.leaderboard]

    def _gates_rows(self) -> list[Row]:
        return [msgspec.structs.asdict(one) for one in self.gates]

    def _page(self) -> ResultPage:
        return ResultPage(
            f"run {self.run_id}: {self.status}",
            (
                ResultTable("Leaderboard", _LEADERBOARD, [*map(_leader_row, self.leaderboard)]),
                ResultTable("Executions", _EXECUTIONS, [*map(_execution_row, self.executions)]),
                gate_table(self.gates),
            ),
            [*self.document.remarks, *self._what_failed()],
        )

    def _what_failed(self) -> list[str]:
        """Why executions did not come to their end, and the most frequent failures."""
        ended = [
            f"{one.benchmark_id} by {one.agent_id}: {one.stop_reason or one.status}"
            for one in self.executions
            if one.status != "complete"
        ]
        return [*ended, *map(_failure_words, self.failures)]


_LEADERBOARD = {
    "rank_shown": "#", "agent_id": "agent", "overall": "overall [95%]", "accuracy": "accuracy",
    "speed": "speed", "efficiency": "efficiency", "cost": "cost", "reliability": "reliability",
    "cost_usd": "USD", "counts": "correct/answered/asked",
}  # fmt: skip
_EXECUTIONS = {
    "benchmark_id": "benchmark", "agent_id": "agent", "parameters": "parameters",
    "accuracy": "accuracy [95%]", "p50": "e2e p50", "p95": "e2e p95", "cost": "USD",
    "counts": "correct/answered/asked", "failures": "failures", "status": "status",
}  # fmt: skip
_GATES = {
    "gate": "gate", "agent_id": "agent", "benchmark_id": "benchmark", "value": "value",
    "holds": "holds", "reason": "reason",
}  # fmt: skip


def common_fields(ended: EndedRun) -> tuple[RunDocument, tuple[FailureDetail, ...]]:
    failures = typed(ended.failures, tuple[FailureDetail, ...])
    return typed(ended.document, RunDocument), failures


def _failure_words(one: FailureDetail) -> str:
    place = " ".join(filter(None, (one.agent_id, one.benchmark_id, one.stage)))
    example = f" (case {one.case_id})" if one.case_id else ""
    return f"{one.n} × {place}: {one.kind}: {one.detail}{example}"


def place_of(one: ExecutionResult | LoadDocument) -> Row:
    place = {name: getattr(one, name) for name in ("suite_id", "benchmark_id", "agent_id")}
    return place | {f"parameters.{name}": value for name, value in one.parameters.items()}


def _leader_row(one: RunLeaderboardEntry) -> Row:
    return msgspec.structs.asdict(one) | {
        "agent_id": _agent(one.agent_id, simulated=one.simulated),
        "overall": with_interval(one.overall, one.low, one.high),
        **{name: score(getattr(one, name)) for name in DIMENSIONS},
        "cost_usd": money(one.cost_usd),
        "counts": f"{one.correct}/{one.answered}/{one.observed}",
    }


def _execution_row(one: ExecutionResult) -> Row:
    accuracy = one.metrics.get("accuracy")

    def value(name: str) -> float | None:
        metric = one.metrics.get(name)
        return None if metric is None else metric.value

    return {
        "benchmark_id": one.benchmark_id,
        "agent_id": _agent(one.agent_id, simulated=one.simulated),
        "parameters": one.parameters,
        "accuracy": accuracy and with_interval(accuracy.value, accuracy.low, accuracy.high),
        "p50": duration(value("e2e_ms.p50")),
        "p95": duration(value("e2e_ms.p95")),
        "cost": money(value("cost_usd")),
        "counts": f"{one.cases.correct}/{one.cases.answered}/{one.cases.observed}",
        "failures": one.failures,
        "status": one.status,
    }


def gate_table(gates: Sequence[GateOutcome]) -> ResultTable:
    rows: list[Mapping[str, Any]] = [msgspec.structs.asdict(one) for one in gates]
    return ResultTable("Gates", _GATES, rows)


def _gate_words(one: GateOutcome) -> str:
    found = one.value if one.holds is False else one.reason or "it cannot be judged"
    point = f" ({one.point})" if one.point else ""
    return f"{one.gate} on {one.benchmark_id}{point} by {one.agent_id}: {found}"


def _agent(agent_id: str, *, simulated: bool) -> str:
    return f"{agent_id} (simulated)" if simulated else agent_id
