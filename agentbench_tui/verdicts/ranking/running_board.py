"""Provisional ranking of a run in progress, with its uncertainty.

A run of games orders its agents by the mean profit or loss (P&L) per episode. Other runs have the
order of their leaderboard once every execution has its scores; before that, agents are ordered by
their accuracy so far or, if nothing is right or wrong, by the median time. Accuracy and its
interval are computed as at the end: answers to one case count as one, and benchmarks are averaged.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.analysis.histogram import Histogram
from agentbench_tui.analysis.intervals.effective_number import bounded_mean_of_units
from agentbench_tui.analysis.intervals.estimate import Estimate, estimate
from agentbench_tui.store.queries.episodes import episode_profits, plays_games_only
from agentbench_tui.store.queries.graded_answers import (
    newest_answer,
    nth_answer,
    unit_credits,
)
from agentbench_tui.store.queries.runs import executions_of
from agentbench_tui.store.queries.ticks import ticks_after
from agentbench_tui.verdicts.ranking.standing import by_intervals, rank_labels
from agentbench_tui.verdicts.run_leaderboard import run_leaderboard
from agentbench_tui.verdicts.score_means import mean_of_scores

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping

_NEEDED = {0.5: 1, 0.95: 59}
"""Answers that a percentile needs: fewer seldom reach beyond it."""


@dataclass(slots=True)
class Standing:
    """One agent's result so far."""

    agent_id: str
    simulated: bool
    place: str = "–"
    """Rank as printed, `1=` if several share it."""
    score: float | None = None
    low: float | None = None
    high: float | None = None
    """95% interval of the score."""
    accuracy: float | None = None
    """Mean credit of the answers so far, averaged over benchmarks."""
    answered_share: float | None = None
    p50_ms: float | None = None
    p95_ms: float | None = None
    cost_usd: float | None = None
    observed: int = 0
    reason: str = ""
    """Reason for a missing score."""


@dataclass(slots=True)
class RunningBoard:
    """Agents of one run, best first; simulated ones after measured ones."""

    score: str = "accuracy"
    """Ordering: `overall`, `accuracy` so far, `pnl` in dollars, or `p50`."""
    standings: list[Standing] = field(default_factory=list)


@dataclass(slots=True)
class _Sums:
    observed: int = 0
    answered: int = 0
    cost_usd: float = 0.0
    times: Histogram = field(default_factory=Histogram)
    credits: dict[int | str, tuple[int, float]] = field(default_factory=dict)
    """Case or cluster → number and summed credit of the answers."""

    def accuracy(self) -> Estimate | None:
        """Return accuracy as in an execution's metrics; None before the first answer."""
        if not self.credits:
            return None
        sizes, sums = np.array(list(self.credits.values()), np.float64).T
        interval = bounded_mean_of_units(sums, sizes)
        assert interval is not None
        value = float(sums.sum() / sizes.sum())
        return Estimate(value, interval.low, interval.high, int(sizes.sum()), "share")


class BoardReader:
    """Reads a run repeatedly; each time only new rows are read, unless it goes back in time."""

    def __init__(self, run_key: int) -> None:
        self._run_key = run_key
        self._is_game: bool | None = None
        self._forget()

    def _forget(self) -> None:
        self._last = self._last_answer = 0
        self._until = -math.inf
        self._sums: dict[int, _Sums] = defaultdict(_Sums)
        self._profits: dict[int, list[tuple[int, float]]] = defaultdict(list)
        """Execution key → (case key, P&L in dollars) of each episode."""

    def read(
        self, connection: sqlite3.Connection, graded: frozenset[int], until: float = math.inf
    ) -> RunningBoard:
        """Return the board; `graded`: keys of the executions whose answers are right or wrong.

        `until`: the moment that is shown, in seconds since 1970. The board of a past moment holds
        what its ticks had counted, as far as it was committed, and has no final scores.
        """
        is_past = math.isfinite(until)
        if until < self._until:
            self._forget()
        self._until = until
        for tick in ticks_after(connection, self._run_key, self._last, until):
            self._last = tick.seq
            sums = self._sums[tick.execution_key]
            sums.observed += tick.observed
            sums.answered += tick.answered
            sums.cost_usd += tick.cost_usd
            sums.times.merge(Histogram.from_bytes(tick.e2e_histogram))
        self._read_answers(connection, graded, is_past=is_past)
        rows = executions_of(connection, self._run_key)
        by_agent: dict[tuple[str, bool], list[int]] = defaultdict(list)
        for row in rows:
            by_agent[row["agent_id"], bool(row["simulated"])].append(row["key"])
        board = RunningBoard(
            standings=[self._so_far(*agent, keys, graded) for agent, keys in by_agent.items()]
        )
        if self._is_game:
            self._by_profit(board, by_agent)
        elif not is_past and rows and all(row["overall_score"] is not None for row in rows):
            _by_overall(connection, self._run_key, board)
        elif graded:
            _by_score(board, board.standings)
        else:
            board.score = "p50"
            _by_time(board)
        return board

    def _read_answers(
        self, connection: sqlite3.Connection, graded: frozenset[int], *, is_past: bool
    ) -> None:
        if self._is_game is None:
            self._is_game = plays_games_only(connection, self._run_key)
        if not graded:
            return
        if is_past:
            count = sum(self._sums[key].observed for key in graded)
            newest = nth_answer(connection, self._run_key, graded, count)
        else:
            newest = newest_answer(connection, self._run_key)
        last, self._last_answer = self._last_answer, max(newest, self._last_answer)
        for one in unit_credits(connection, self._run_key, last, newest):
            known = self._sums[one.execution_key].credits
            answers, credit = known.get(one.unit, (0, 0.0))
            known[one.unit] = answers + one.answers, credit + one.credit
        if self._is_game:
            for row in episode_profits(connection, self._run_key, last, newest):
                if row["pnl"] is not None:
                    self._profits[row["execution_key"]].append((row["case_key"], row["pnl"]))

    def _by_profit(
        self, board: RunningBoard, by_agent: Mapping[tuple[str, bool], Iterable[int]]
    ) -> None:
        """Rank by the mean P&L; episodes of one world count as one cluster."""
        board.score = "pnl"
        for standing in board.standings:
            keys = by_agent[standing.agent_id, standing.simulated]
            profits = [profit for key in keys for profit in self._profits[key]]
            standing.score = standing.low = standing.high = None
            standing.reason = "" if profits else "no episode has ended yet"
            if profits:
                worlds, values = zip(*profits, strict=True)
                mean = estimate(values, "amount", clusters=worlds)
                standing.score, standing.low, standing.high = mean.value, mean.low, mean.high
        _by_score(board, board.standings)

    def _so_far(
        self, agent_id: str, simulated: bool, keys: Iterable[int], graded: frozenset[int]
    ) -> Standing:
        found = Standing(agent_id, simulated)
        times, answered = Histogram(), 0
        accuracies: list[Estimate] = []
        for key in keys:
            sums = self._sums[key]
            found.observed += sums.observed
            answered += sums.answered
            found.cost_usd = (found.cost_usd or 0.0) + sums.cost_usd
            times.merge(sums.times)
            accuracy = sums.accuracy() if key in graded else None
            if accuracy is not None:
                accuracies.append(accuracy)
        found.answered_share = answered / found.observed if found.observed else None
        shares = [share for share, needed in _NEEDED.items() if len(times) >= needed]
        known = dict(zip(shares, times.percentiles(shares), strict=True))
        found.p50_ms, found.p95_ms = known.get(0.5), known.get(0.95)
        if not accuracies:
            found.reason = "nothing answered yet"
        mean = mean_of_scores(accuracies)
        found.accuracy = found.score = mean.value
        found.low, found.high = mean.low, mean.high
        return found


def _by_overall(connection: sqlite3.Connection, run_key: int, board: RunningBoard) -> None:
    """Return the row as in the run's leaderboard; without a rank if the uncertainty of the score
    is unknown.
    """
    board.score = "overall"
    known = {(one.agent_id, one.simulated): one for one in board.standings}
    ordered = []
    for entry in run_leaderboard(connection, run_key):
        standing = known.pop((entry["agent_id"], entry["simulated"]), None)
        if standing is not None:
            if entry["low"] is not None or entry["rank_low"] is not None:
                standing.place = entry["rank_shown"].rstrip("=")
            standing.score, standing.low, standing.high = (
                entry["overall"], entry["low"], entry["high"],
            )  # fmt: skip
            standing.accuracy = entry["accuracy"]
            ordered.append(standing)
    for simulated in (False, True):
        placed = [one for one in ordered if one.simulated == simulated and one.place != "–"]
        labels = rank_labels([int(one.place) for one in placed])  # `1=` among those alone
        for one, label in zip(placed, labels, strict=True):
            one.place = label
    board.standings = ordered + list(known.values())


def _by_score(board: RunningBoard, standings: list[Standing]) -> None:
    """Rank by the score, by intervals, separately for measured and simulated agents."""
    for simulated in (False, True):
        those = [one for one in standings if one.simulated == simulated and one.score is not None]
        if not those:
            continue
        found = by_intervals(
            [Estimate(one.score, one.low, one.high, one.observed, board.score) for one in those],
            "higher",
        )
        for one, label in zip(those, found.labels(), strict=True):
            one.place = label
    board.standings.sort(
        key=lambda one: (one.simulated, one.score is None, -(one.score or 0.0), one.agent_id)
    )


def _by_time(board: RunningBoard) -> None:
    """Order by the median, without ranks, because its uncertainty is unknown here."""
    for one in board.standings:
        one.score = one.low = one.high = None
    board.standings.sort(
        key=lambda one: (one.simulated, one.p50_ms is None, one.p50_ms or 0.0, one.agent_id)
    )
