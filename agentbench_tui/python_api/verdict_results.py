"""Results of the functions that read the store: comparisons, leaderboards, regressions, lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
from msgspec import UNSET

from agentbench_tui.contracts.compare import (
    ComparedMetric,
    CompareDocument,
    ComparedPair,
    CompareMatrixDocument,
)
from agentbench_tui.contracts.leaderboard import Board, LeaderboardDocument
from agentbench_tui.contracts.regressions import RegressionFinding, RegressionsDocument
from agentbench_tui.contracts.runs import AnswerLine, AnswersDocument, RunsDocument, RunSummary
from agentbench_tui.model.errors import GateFailed
from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.presentation.comparison.wording import CHANGE_TITLE, change
from agentbench_tui.presentation.numbers import (
    decimals,
    duration,
    measure_of,
    money,
    p_value,
    with_interval,
)
from agentbench_tui.presentation.regressions import lines_of, row_of
from agentbench_tui.python_api.display import ResultPage, ResultTable, shown
from agentbench_tui.python_api.results import Result, Row

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, repr=False)
class ComparisonResult(Result):
    """A comparison: whether B is better than A, by how much, and how sure that is."""

    tables: ClassVar[tuple[str, ...]] = ("metrics", "disagreements")

    document: CompareDocument | CompareMatrixDocument
    """What `agentbench compare --format json` prints."""

    @property
    def pairs(self) -> Sequence[ComparedPair | CompareDocument]:
        """Every pair that was compared; one for two selectors."""
        found = self.document
        return found.matrix if isinstance(found, CompareMatrixDocument) else (found,)

    @property
    def metrics(self) -> tuple[ComparedMetric, ...]:
        """The metrics of all pairs."""
        return tuple(one for pair in self.pairs for one in pair.metrics)

    @property
    def winner(self) -> str | None:
        """The selector that wins over all metrics; None if none does."""
        return self.document.overall.winner

    @property
    def verdict(self) -> str:
        """`better`, `worse` or `tie`: what B is against A over all metrics."""
        return self.document.overall.verdict

    def raise_if_worse(self) -> None:
        """Raise GateFailed if B is worse than A in a metric."""
        worse = [one.metric for one in self.metrics if one.comparable and one.verdict == "worse"]
        if worse:
            raise GateFailed(f"worse in {', '.join(dict.fromkeys(worse))}")

    def _metrics_rows(self) -> list[Row]:
        return [
            {"control": pair.a, "candidate": pair.b, **_flat(one)}
            for pair in self.pairs
            for one in pair.metrics
        ]

    def _disagreements_rows(self) -> list[Row]:
        return [
            {
                "control": pair.a,
                "candidate": pair.b,
                "benchmark_id": at.benchmark_id,
                "case_id": one.case_id,
                "expected": one.expected,
                "a": one.a.answer,
                "a_right": one.a.right,
                "b": one.b.answer,
                "b_right": one.b.right,
            }
            for pair in self.pairs
            for at in pair.benchmarks
            if at.disagreements is not None
            for one in at.disagreements.first
        ]

    def _page(self) -> ResultPage:
        tables = [
            ResultTable(
                f"B {pair.b} against A {pair.a}", _METRICS, [*map(_metric_row, pair.metrics)]
            )
            for pair in self.pairs
        ]
        winner = "no winner" if self.winner is None else f"{self.winner} wins"
        return ResultPage(f"comparison: {winner}", tables, self.document.recommendations)


@dataclass(frozen=True, repr=False)
class LeaderboardResult(Result):
    """Leaderboards: agents by their scores, statistically tied agents with a shared rank."""

    tables: ClassVar[tuple[str, ...]] = ("standings", "agents")

    document: LeaderboardDocument
    """What `agentbench leaderboard --format json` prints."""

    @property
    def boards(self) -> tuple[Board, ...]:
        """The boards; simulated agents have boards of their own."""
        return self.document.boards

    def _standings_rows(self) -> list[Row]:
        return [
            {
                "category": board.category,
                "group": board.group,
                "metric": board.metric,
                **{name: getattr(one, name) for name in _OF_STANDING},
                **{f"{name}_score": value for name, value in _flat(one.scores).items()},
            }
            for board in self.boards
            for one in board.standings
        ]

    def _agents_rows(self) -> list[Row]:
        return [msgspec.structs.asdict(one) for one in self.document.agents]

    def _page(self) -> ResultPage:
        tables = [
            ResultTable(
                _board_title(board),
                {"rank_shown": "#", "name": "name", "score": f"{board.metric} [95%]"},
                [
                    {
                        "rank_shown": one.rank_shown,
                        "name": f"{one.name} (simulated)" if one.simulated else one.name,
                        "score": with_interval(
                            one.score, one.low, one.high, measure_of(board.unit or "")
                        ),
                    }
                    for one in board.standings
                ],
            )
            for board in self.boards
        ]
        notes = [note for board in self.boards for note in board.notes]
        return ResultPage(self.document.reason or "leaderboard", tables, notes)


@dataclass(frozen=True, repr=False)
class RegressionsResult(Result):
    """A check for regressions: the verdict on each metric of an agent, and what to do."""

    tables: ClassVar[tuple[str, ...]] = ("findings",)

    document: RegressionsDocument
    """What `agentbench regressions --format json` prints."""

    @property
    def verdict(self) -> str:
        """`regression`, `suspect`, `not comparable`, `not enough data` or `no regression`."""
        return self.document.verdict

    @property
    def findings(self) -> tuple[RegressionFinding, ...]:
        """Every metric that was judged."""
        return self.document.findings

    @property
    def regressions(self) -> tuple[RegressionFinding, ...]:
        """The findings that are regressions."""
        return self.document.regressions

    def raise_for_regression(self) -> None:
        """Raise GateFailed if there is a regression."""
        if self.regressions:
            named = ", ".join(f"{one.metric} on {one.benchmark_id}" for one in self.regressions)
            raise GateFailed(f"{self.document.agent}: regression of {named}")

    def _findings_rows(self) -> list[Row]:
        return [
            {name: value for name, value in _flat(one).items() if name not in _NESTED}
            for one in self.findings
        ]

    def _page(self) -> ResultPage:
        found = self.document
        return ResultPage(
            f"{found.agent}@{found.version}",
            (ResultTable("", _FINDINGS, [*map(row_of, self.findings)]),),
            [line.strip() for line in lines_of(found)],
        )


@dataclass(frozen=True, repr=False)
class RunsResult(Result):
    """The stored runs, newest first."""

    tables: ClassVar[tuple[str, ...]] = ("runs",)

    document: RunsDocument
    """What `agentbench runs list --format json` prints."""

    @property
    def runs(self) -> tuple[RunSummary, ...]:
        """The runs."""
        return self.document.runs

    def _runs_rows(self) -> list[Row]:
        return [msgspec.structs.asdict(one) for one in self.runs]

    def _page(self) -> ResultPage:
        rows = [
            row
            | {
                "counts": f"{shown(one.correct)}/{shown(one.answered)}/{shown(one.observed)}",
                "cost_usd": money(one.cost_usd),
            }
            for row, one in zip(self._runs_rows(), self.runs, strict=True)
        ]
        return ResultPage(counted(len(self.runs), "run"), (ResultTable("", _RUNS, rows),))


@dataclass(frozen=True, repr=False)
class AnswersResult(Result):
    """Observations of a run: what was answered to each case, and whether it is correct."""

    tables: ClassVar[tuple[str, ...]] = ("answers",)

    document: AnswersDocument
    """What `agentbench runs show --answers --format json` prints."""

    @property
    def answers(self) -> tuple[AnswerLine, ...]:
        """The observations; long texts are cut."""
        return self.document.answers

    def _answers_rows(self) -> list[Row]:
        return [msgspec.structs.asdict(one) for one in self.answers]

    def _page(self) -> ResultPage:
        more = f", {self.document.more:,} more" if self.document.more else ""
        heading = f"run {self.document.run_id}: {counted(len(self.answers), 'answer')}{more}"
        rows = [
            row
            | {
                "credit": decimals(2)(row["credit"]),
                "e2e_ms": duration(row["e2e_ms"]),
                "cost_usd": money(row["cost_usd"]),
            }
            for row in self._answers_rows()
        ]
        return ResultPage(heading, (ResultTable("", _ANSWERS, rows),))


_METRICS = {
    "benchmark_id": "benchmark", "parameters": "parameters", "metric": "metric", "a": "A",
    "b": "B", "change": CHANGE_TITLE, "p": "p", "verdict": "B is",
}  # fmt: skip
_FINDINGS = {
    "benchmark": "benchmark", "metric": "metric", "before_shown": "before", "now_shown": "now",
    "change_shown": "change [95%]", "verdict_shown": "verdict", "seen_shown": "would detect",
}  # fmt: skip
_RUNS = {
    "id": "run", "status": "status", "suite_ids": "suites", "agents": "agents",
    "counts": "correct/answered/asked", "cost_usd": "USD", "started_at": "started (UTC)",
    "tags": "tags",
}  # fmt: skip
_ANSWERS = {
    "benchmark_id": "benchmark", "agent_id": "agent", "case_id": "case", "repeat": "repeat",
    "credit": "credit", "failure_kind": "failure", "expected": "expected", "answer": "answer",
    "e2e_ms": "e2e", "cost_usd": "USD",
}  # fmt: skip
_OF_STANDING = (
    "name", "agent_id", "agent_version", "simulated", "rank", "rank_low", "rank_high",
    "rank_shown", "score", "low", "high", "overall", "reason", "harness", "last_benchmark_date",
)  # fmt: skip
_NESTED = frozenset({"change_point", "impact_analysis", "values"})


def _flat(one: msgspec.Struct) -> Row:
    """Fields that have a value; parameters as columns of their own."""
    row = {name: value for name, value in msgspec.structs.asdict(one).items() if value is not UNSET}
    parameters: dict[str, Any] = row.pop("parameters", {})
    return row | {f"parameters.{name}": value for name, value in parameters.items()}


def _metric_row(one: ComparedMetric) -> Row:
    show = measure_of(one.unit)
    return _flat(one) | {
        "parameters": None if one.parameters is UNSET else one.parameters,
        "a": show(one.a),
        "b": show(one.b),
        "change": change(one),
        "p": p_value(one.p_adjusted),
    }


def _board_title(board: Board) -> str:
    group = f", {board.field} {board.group}" if board.group is not None else ""
    who = "simulated agents" if board.simulated else f"{board.category or 'all'} suites"
    return f"{who}{group}"
