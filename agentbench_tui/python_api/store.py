"""`open_store` and the functions that read stored runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from agentbench_tui.contracts.leaderboard import LeaderboardDocument
from agentbench_tui.contracts.regressions import RegressionsDocument
from agentbench_tui.contracts.run import RunDocument
from agentbench_tui.contracts.runs import FailureDetail
from agentbench_tui.model.errors import UsageError
from agentbench_tui.python_api.arguments import check_counts, names
from agentbench_tui.python_api.results import RunResult, typed
from agentbench_tui.python_api.verdict_results import (
    AnswersResult,
    ComparisonResult,
    LeaderboardResult,
    RegressionsResult,
    RunsResult,
)

if TYPE_CHECKING:
    from agentbench_tui.python_api.planned_run import Database


@dataclass(frozen=True)
class Store:
    """A database of runs. Each method opens it, reads and closes it; nothing stays open."""

    path: Path
    """The database file."""

    def runs(self, *, limit: int = 20, tag: str | None = None) -> RunsResult:
        """List runs, newest first; with `tag`, only those that have it."""
        from agentbench_tui.store.database import reading
        from agentbench_tui.verdicts.selection.listings import runs_document

        check_counts(limit=(limit, 1, None))
        with reading(self.path) as connection:
            return RunsResult(runs_document(connection, self.path, limit, tag))

    def run(self, run: str = "latest", *, gates: Sequence[str] = ()) -> RunResult:
        """Return a run by its id, a unique prefix of it, or `latest`.

        `gates`, such as `accuracy>=0.8`, are checked on it: see `RunResult.gates` and
        `RunResult.raise_for_gates`. Raises UsageError if there is no such run, and for a gate that
        means nothing.
        """
        from agentbench_tui.store.database import reading
        from agentbench_tui.store.queries.runs import failure_details, find_run
        from agentbench_tui.verdicts.runs.documents import run_document
        from agentbench_tui.verdicts.runs.ended_run import judged_run

        wanted = names("gates", gates)
        with reading(self.path) as connection:
            row = find_run(connection, run)
            document = (
                judged_run(connection, row, wanted).document
                if wanted
                else run_document(connection, row)
            )
            failures = failure_details(connection, row["key"])
        return RunResult(typed(document, RunDocument), typed(failures, tuple[FailureDetail, ...]))

    def answers(
        self,
        run: str = "latest",
        *,
        agent: str | None = None,
        benchmark: str | None = None,
        wrong: bool = False,
        limit: int = 1_000_000,
    ) -> AnswersResult:
        """Return the observations of a run; with `wrong`, only those that are not correct.

        Raises UsageError if there is no such run, agent or benchmark.
        """
        from agentbench_tui.store.database import reading
        from agentbench_tui.store.queries.runs import find_run
        from agentbench_tui.verdicts.runs.answers_document import answers_document

        check_counts(limit=(limit, 1, None))
        with reading(self.path) as connection:
            document = answers_document(
                connection,
                find_run(connection, run),
                agent=agent,
                benchmark=benchmark,
                wrong_only=wrong,
                limit=limit,
            )
        return AnswersResult(document)

    def compare(
        self,
        *selectors: str,
        suite: str | None = None,
        benchmark: str | None = None,
        metrics: Sequence[str] = (),
        better: Literal["lower", "higher"] | None = None,
        paired: Literal["auto", "yes", "no"] = "auto",
        margin: float | None = None,
        cluster: str | None = None,
        where: Mapping[str, str] = MappingProxyType({}),
        attempt: str = "",
        by: str | None = None,
        seed: int = 42,
        limit: int = 5,
    ) -> ComparisonResult:
        """Compare agents, versions, runs or files; see the function `compare`."""
        from agentbench_tui.verdicts.comparison.selector_comparison import (
            ComparisonOptions,
            compare_selectors,
        )

        check_counts(limit=(limit, 1, None), seed=(seed, 0, 2**32 - 1))
        if margin is not None and not 0 < margin < 1:
            raise UsageError(f"margin is {margin}; give a number between 0 and 1, such as 0.05")
        options = ComparisonOptions(
            selectors, suite, benchmark, names("metrics", metrics), better, where, attempt,
            cluster, paired, margin, seed, limit, by,
        )  # fmt: skip
        return ComparisonResult(compare_selectors(options, self.path).document)

    def leaderboard(
        self,
        *,
        suite: str | None = None,
        category: str | None = None,
        benchmark: str | None = None,
        overall: bool = False,
        metric: str | None = None,
        rank: Literal["agent", "version", "model"] = "agent",
        by: str | None = None,
        cluster: str | None = None,
        rating: bool = False,
        run: str | None = None,
        days: int | None = None,
        limit: int = 20,
    ) -> LeaderboardResult:
        """Rank agents by their recent executions; see the function `leaderboard`."""
        from agentbench_tui.store.database import reading
        from agentbench_tui.verdicts.ranking.leaderboard import asked_leaderboard
        from agentbench_tui.verdicts.ranking.scoreboard import BoardAsked
        from agentbench_tui.verdicts.selection.contenders import Wanted

        check_counts(limit=(limit, 1, None), days=(days, 1, 36_500))
        wanted = Wanted(days, suite, category, rank, benchmark)
        asked = BoardAsked(metric, overall, rating, wanted, cluster, by)
        with reading(self.path) as connection:
            document = asked_leaderboard(connection, asked, run, limit)
        return LeaderboardResult(typed(document, LeaderboardDocument))

    def regressions(
        self,
        agent: str | None = None,
        *,
        baseline: str | None = None,
        suite: str | None = None,
        benchmark: str | None = None,
        metrics: Sequence[str] = (),
        threshold: float | None = None,
        thresholds: Mapping[str, float] = MappingProxyType({}),
        requests_per_day: float | None = None,
    ) -> RegressionsResult:
        """Check whether an agent has become worse; see the function `regressions`."""
        from agentbench_tui.store.database import reading
        from agentbench_tui.verdicts.regression.regression import judge_agent
        from agentbench_tui.verdicts.regression.regression_document import regressions_document
        from agentbench_tui.verdicts.regression.regression_request import regression_request

        for name, value in {"threshold": threshold, **thresholds}.items():
            if value is not None and not 0 < value < 1:
                raise UsageError(f"{name} is {value}; give a number between 0 and 1, such as 0.05")
        with reading(self.path) as connection:
            request = regression_request(
                connection,
                agent,
                baseline=baseline,
                suite=suite,
                benchmark=benchmark,
                metrics=names("metrics", metrics),
                threshold=threshold,
                thresholds=thresholds,
            )
            judgment = judge_agent(connection, request)
            document = regressions_document(connection, judgment, requests_per_day)
        return RegressionsResult(typed(document, RegressionsDocument))


def open_store(db: Database | None = None) -> Store:
    """Return the database of runs: `AGENTBENCH_DB`, else the one in the user's data folder.

    Raises StoreError if there is none yet, or if it cannot be read.
    """
    from agentbench_tui.store.database import default_database, reading, real_path

    path = default_database() if db is None else real_path(Path(db))
    with reading(path):
        return Store(path)


def compare(
    *selectors: str,
    suite: str | None = None,
    benchmark: str | None = None,
    metrics: Sequence[str] = (),
    better: Literal["lower", "higher"] | None = None,
    paired: Literal["auto", "yes", "no"] = "auto",
    margin: float | None = None,
    cluster: str | None = None,
    where: Mapping[str, str] = MappingProxyType({}),
    attempt: str = "",
    by: str | None = None,
    seed: int = 42,
    limit: int = 5,
    db: Database | None = None,
) -> ComparisonResult:
    """Compare the second selector, B, with the first, A; of three or more, every pair.

    Args:
        selectors: `AGENT`, `AGENT@VERSION`, `run:ID`, `run:ID/AGENT` or `tag:NAME/AGENT`, each
            with `?PARAMETER=VALUE` for one point of a sweep, or `file:PATH` with samples.
        suite: Use only benchmarks of this suite.
        benchmark: Use only this benchmark.
        metrics: Compare these metrics instead of the main metrics.
        better: Direction in which a metric improves that is a column of a file or that an
            experiment returned.
        paired: Compare case by case: `auto` if A and B answered the same cases.
        margin: Smallest change that matters, such as 0.05; 5%, and 2 points for shares, if None.
        cluster: Field whose values make cases dependent; as the suite declares if None.
        where: Use only rows of files whose columns have these values.
        attempt: Attempt that counts in files with several: `first`, `last`, `all` or `pass@K`.
        by: Also compare within each group of cases that share the value of this field.
        seed: Seed of the bootstrap.
        limit: Maximum number of cases to list on which A and B disagree.
        db: Database file, as in `run`.

    Raises:
        UsageError: A selector or a metric means nothing, or no benchmark is shared.
        Unmeasured: There is nothing to compare.
        StoreError: The database cannot be read.
    """
    return _store(db).compare(
        *selectors, suite=suite, benchmark=benchmark, metrics=metrics, better=better,
        paired=paired, margin=margin, cluster=cluster, where=where, attempt=attempt, by=by,
        seed=seed, limit=limit,
    )  # fmt: skip


def leaderboard(
    *,
    suite: str | None = None,
    category: str | None = None,
    benchmark: str | None = None,
    overall: bool = False,
    metric: str | None = None,
    rank: Literal["agent", "version", "model"] = "agent",
    by: str | None = None,
    cluster: str | None = None,
    rating: bool = False,
    run: str | None = None,
    days: int | None = None,
    limit: int = 20,
    db: Database | None = None,
) -> LeaderboardResult:
    """Rank agents by their recent executions; statistically tied agents share a rank.

    Args:
        suite: Use only this suite.
        category: Use only suites of this category.
        benchmark: Use only this benchmark.
        overall: One board across all categories.
        metric: Metric or score to rank by; accuracy, or e2e_ms if no answer is graded, if None.
        rank: What to rank: `agent`, `version` or `model`.
        by: Field of the cases, such as `difficulty`: one board for each of its values.
        cluster: Field whose values make cases dependent; as the suite declares if None.
        rating: Also compute Bradley-Terry ratings.
        run: Use only the executions of this run (id, unique prefix, or `latest`).
        days: Use only executions of the last days; 30, or no limit with `run`, if None.
        limit: Maximum number of rows of each board.
        db: Database file, as in `run`.

    Raises:
        UsageError: A name is unknown, or no agent can be ranked by the metric.
        StoreError: The database cannot be read.
    """
    return _store(db).leaderboard(
        suite=suite, category=category, benchmark=benchmark, overall=overall, metric=metric,
        rank=rank, by=by, cluster=cluster, rating=rating, run=run, days=days, limit=limit,
    )  # fmt: skip


def regressions(
    agent: str | None = None,
    *,
    baseline: str | None = None,
    suite: str | None = None,
    benchmark: str | None = None,
    metrics: Sequence[str] = (),
    threshold: float | None = None,
    thresholds: Mapping[str, float] = MappingProxyType({}),
    requests_per_day: float | None = None,
    db: Database | None = None,
) -> RegressionsResult:
    """Check whether the newest runs of an agent are worse than a baseline or than its history.

    Args:
        agent: `AGENT` or `AGENT@VERSION`; the agent of the newest run if None.
        baseline: Runs to compare with: a version, `run:ID`, `tag:NAME`, or the name of a
            baseline; the one set by `agentbench baseline`, else the history, if None.
        suite: Use only benchmarks of this suite.
        benchmark: Use only this benchmark.
        metrics: Check only these metrics.
        threshold: Smallest change that matters, such as 0.05; 5%, and 2 points for shares, if
            None.
        thresholds: The same for single metrics, by name.
        requests_per_day: Requests per day, to estimate what a regression costs.
        db: Database file, as in `run`.

    Raises:
        UsageError: The agent, the baseline or a metric means nothing.
        StoreError: The database cannot be read.
    """
    return _store(db).regressions(
        agent, baseline=baseline, suite=suite, benchmark=benchmark, metrics=metrics,
        threshold=threshold, thresholds=thresholds, requests_per_day=requests_per_day,
    )  # fmt: skip


def _store(db: Database | None) -> Store:
    """The store, not opened yet: a comparison of files needs none."""
    from agentbench_tui.store.database import default_database, real_path

    return Store(default_database() if db is None else real_path(Path(db)))
