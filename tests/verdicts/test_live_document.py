"""Who leads while a run goes on, what it is held against, and which answers took longest."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agentbench_tui.analysis.histogram import Histogram
from agentbench_tui.analysis.intervals.estimate import estimate
from agentbench_tui.analysis.intervals.interval import wilson
from agentbench_tui.store.database import connect_to_write
from agentbench_tui.store.locking import Lease
from agentbench_tui.store.queries.slowest import Slowest
from agentbench_tui.verdicts.load.reference_ticks import reference_of
from agentbench_tui.verdicts.ranking.running_board import BoardReader
from agentbench_tui.verdicts.runs.live_document import LiveReader
from agentbench_tui.verdicts.runs.run_choice import live_run, resumable_run, run_to_watch


class Store:
    """A database that tests fill row by row."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.connection = connect_to_write(path)
        self.connection.row_factory = sqlite3.Row
        self.connection.execute(
            "INSERT INTO benchmark_suites VALUES ('h', 's', 's', 'c', '1', '', '{}', NULL, '')"
        )

    def run(self, key: int, *, status: str = "complete", kind: str = "task", tags: str = "[]",
            executions: tuple[int, ...] = ()) -> None:  # fmt: skip
        plan = {
            "groups": [
                {"benchmark": {"kind": kind}, "executions": [{"id": f"e{n}"} for n in executions]}
            ]
        }
        self.connection.execute(
            "INSERT INTO runs (key, id, workspace_id, status, suite_ids, plan, seed, repeats, tags,"
            " notes, tool_version, started_at) VALUES (?, ?, 'w', ?, '[]', ?, 1, 1, ?, '', '0', ?)",
            (key, f"run{key}", status, json.dumps(plan), tags, f"2026-01-0{key}T00:00:00.000Z"),
        )

    def execution(self, key: int, run: int, agent: str, **more: Any) -> None:
        self.connection.execute("INSERT OR IGNORE INTO agents VALUES (?, ?, '')", (agent, agent))
        row = {
            "key": key, "id": f"e{key}", "run_key": run, "ordinal": key, "suite_hash": "h",
            "suite_id": "s", "benchmark_id": "b", "agent_id": agent, "agent_version": "1",
            "workspace_id": "w", "seed": 1, "status": "complete",
            "created_at": f"2026-01-0{run}T00:00:00.000Z", **more,
        }  # fmt: skip
        names, marks = ", ".join(row), ", ".join("?" * len(row))
        self.connection.execute(
            f"INSERT INTO benchmark_executions ({names}) VALUES ({marks})", (*row.values(),)
        )

    def tick(
        self,
        execution: int,
        times: list[float],
        correct: int = 0,
        failed: int = 0,
        *,
        at: float = 1.0,
    ) -> None:
        run = self.connection.execute(
            "SELECT run_key FROM benchmark_executions WHERE key=?", (execution,)
        ).fetchone()[0]
        self.connection.execute(
            "INSERT INTO ticks (run_key, execution_key, at, observed, answered, correct, tokens,"
            " cost_usd, e2e_histogram) VALUES (?, ?, ?, ?, ?, ?, 0, 0.5, ?)",
            (run, execution, at, len(times) + failed, len(times), correct,
             Histogram(times).to_bytes()),
        )  # fmt: skip

    def answer(
        self,
        execution: int,
        case: int,
        e2e_ms: float | None,
        kind: str | None,
        *,
        credit: float | None = None,
        repeat: int = 0,
    ) -> None:
        self.connection.execute("INSERT OR IGNORE INTO datasets VALUES (1, 'd', '', 9)")
        self.connection.execute(
            "INSERT OR IGNORE INTO cases VALUES (?, 1, ?, '{}')", (case, f"c{case}")
        )
        self.connection.execute(
            "INSERT INTO answers (run_key, execution_key, case_key, repeat, iteration, attempt,"
            " failure_kind, sent_ms, e2e_ms, waiting_ms, api_calls, credit)"
            " VALUES (1, ?, ?, ?, 0, 0, ?, 0, ?, 0, 1, ?)",
            (execution, case, repeat, kind, e2e_ms, credit),
        )

    def graded(self, execution: int, each: list[int], *, first: int = 1, repeat: int = 0) -> None:
        for case, credit in enumerate(each, first):
            self.answer(execution, case, 10.0, None, credit=credit, repeat=repeat)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store(tmp_path / "s.db")
    with closing(made.connection):
        yield made


def test_agents_are_ordered_by_their_right_answers_so_far_with_an_interval(store: Store) -> None:
    store.run(1, status="running")
    store.execution(1, 1, "worse", status="running")
    store.execution(2, 1, "better", status="running")
    store.execution(3, 1, "made up", status="running", simulated=1)
    reader = BoardReader(1)
    store.tick(1, [10.0] * 60, failed=40)
    store.tick(2, [20.0] * 100)
    store.tick(3, [1.0] * 100)
    store.graded(1, [1] * 6 + [0] * 94)
    store.graded(2, [1] * 90 + [0] * 10)
    store.graded(3, [1] * 100)
    board = reader.read(store.connection, frozenset({1, 2, 3}))

    assert board.score == "accuracy"
    assert [one.agent_id for one in board.standings] == ["better", "worse", "made up"]
    better, worse, made_up = board.standings
    interval = wilson(90, 100)
    assert interval is not None
    assert (better.score, better.low, better.high) == (0.9, interval.low, interval.high)
    # 90 of 100 and 6 of 100 are told apart; what is simulated is ranked for itself.
    assert (better.place, worse.place, made_up.place) == ("1", "2", "1")
    assert worse.answered_share == 0.6
    assert worse.p95_ms == pytest.approx(10.0, rel=0.005)

    store.tick(1, [10.0] * 100)
    store.graded(1, [1] * 100, first=101)
    again = {one.agent_id: one for one in reader.read(store.connection, frozenset({1})).standings}
    assert again["worse"].accuracy == 106 / 200
    assert again["worse"].cost_usd == 1.0


def test_the_board_of_a_past_moment_holds_what_was_counted_by_then(store: Store) -> None:
    """Two agents answer in turns; the run has ended with final scores."""
    store.run(1)
    store.execution(1, 1, "a", overall_score=0.9)
    store.execution(2, 1, "b", overall_score=0.1)
    for second, (a, b) in enumerate([(0, 1), (1, 1), (1, 0), (1, 0)], 1):
        store.graded(1, [a], first=second)
        store.graded(2, [b], first=second)
        store.tick(1, [10.0], at=float(second))
        store.tick(2, [20.0], at=float(second))
    graded, reader = frozenset({1, 2}), BoardReader(1)

    def at(moment: float) -> dict[str, tuple[int, float | None]]:
        board = reader.read(store.connection, graded, moment)
        assert board.score == "accuracy"
        return {one.agent_id: (one.observed, one.score) for one in board.standings}

    assert at(0.5) == {"a": (0, None), "b": (0, None)}
    assert at(1.0) == {"a": (1, 0.0), "b": (1, 1.0)}
    assert at(2.5) == {"a": (2, 0.5), "b": (2, 1.0)}
    assert at(4.0) == {"a": (4, 0.75), "b": (4, 0.5)}
    assert at(3.0) == {"a": (3, pytest.approx(2 / 3)), "b": (3, pytest.approx(2 / 3))}  # and back
    assert reader.read(store.connection, graded).score == "overall"


def test_repeats_of_a_case_count_as_one_as_they_do_at_the_end(store: Store) -> None:
    """Eight cases, five times each, always right: eight answers know as much."""
    store.run(1, status="running")
    store.execution(1, 1, "a", status="running")
    reader = BoardReader(1)
    for repeat in range(5):
        store.graded(1, [1] * 8, repeat=repeat)
        (standing,) = reader.read(store.connection, frozenset({1})).standings
    final = estimate(np.ones(40), "share", clusters=np.tile(np.arange(8), 5))
    assert (standing.score, standing.low, standing.high) == (1.0, final.low, 1.0)
    assert standing.low is not None
    assert standing.low < 0.68  # Wilson's of 40 independent answers is 0.912


def test_benchmarks_are_averaged_as_they_are_at_the_end(store: Store) -> None:
    """20 right of 20 cases and 2 of 4: 0.75, not 22 of 24."""
    store.run(1, status="running")
    store.execution(1, 1, "a", status="running")
    store.execution(2, 1, "a", status="running")
    store.graded(1, [1] * 20)
    store.graded(2, [1, 1, 0, 0], first=101)
    (standing,) = BoardReader(1).read(store.connection, frozenset({1, 2})).standings
    assert standing.score == 0.75
    parts = [wilson(20, 20), wilson(2, 4)]
    below = [value - one.low for value, one in zip((1, 0.5), parts, strict=True) if one is not None]
    assert standing.low == pytest.approx(0.75 - math.hypot(*below) / 2)


def test_where_nothing_is_right_or_wrong_times_order_and_nobody_has_a_place(store: Store) -> None:
    store.run(1, status="running", kind="load")
    store.execution(1, 1, "slow", status="running")
    store.execution(2, 1, "fast", status="running")
    store.tick(1, [50.0] * 10)
    store.tick(2, [20.0] * 10)
    board = BoardReader(1).read(store.connection, frozenset())
    assert board.score == "p50"
    assert [(one.agent_id, one.place, one.score) for one in board.standings] == [
        ("fast", "–", None),
        ("slow", "–", None),
    ]
    assert board.standings[0].p95_ms is None  # ten answers are too few for it


def test_once_all_are_scored_the_board_is_that_of_the_run(store: Store) -> None:
    store.run(1)
    store.execution(1, 1, "a", overall_score=0.4)
    store.execution(2, 1, "b", overall_score=0.6)
    board = BoardReader(1).read(store.connection, frozenset({1, 2}))
    assert board.score == "overall"
    assert [(one.agent_id, one.score) for one in board.standings] == [("b", 0.6), ("a", 0.4)]


def test_it_is_held_against_the_newest_complete_one_before(store: Store) -> None:
    for run in (1, 2, 3, 4, 5):
        store.run(run)
    store.execution(1, 1, "a")
    store.execution(2, 2, "a")
    store.execution(3, 3, "a", status="interrupted")
    store.execution(4, 3, "b")
    store.execution(5, 4, "a", status="running")
    store.execution(6, 5, "a")
    store.tick(1, [1.0])
    store.tick(2, [2.0, 3.0])
    store.tick(2, [4.0])
    reference = reference_of(store.connection, 5)
    assert reference is not None
    assert reference.name == "run run2 before"
    assert reference.histograms["e2e_histogram"] == Histogram([2.0, 3.0, 4.0])
    assert reference_of(store.connection, 1) is None


@pytest.mark.parametrize(
    ("kind", "target", "name"),
    [
        ("run", "run1", "baseline run run1"),
        ("version", "0", "baseline version 0"),
        ("tag", "good", "baseline tag good"),
    ],
)
def test_it_is_held_against_the_baseline_that_was_set(
    store: Store, kind: str, target: str, name: str
) -> None:
    store.run(1, tags='["good"]')
    store.run(2)
    store.run(3)
    store.execution(1, 1, "a", agent_version="0")
    store.execution(2, 2, "a")
    store.execution(3, 3, "a", status="running")
    store.tick(1, [1.0])
    store.tick(2, [2.0])
    store.connection.execute(
        "INSERT INTO baselines (agent_id, name, suite_id, benchmark_id, kind, target, created_at)"
        " VALUES ('a', 'default', '', '', ?, ?, '')",
        (kind, target),
    )
    reference = reference_of(store.connection, 3)
    assert reference is not None
    assert reference.name == name
    assert reference.histograms["e2e_histogram"] == Histogram([1.0])


def test_the_slowest_answers_are_kept_while_more_come(store: Store) -> None:
    store.run(1)
    store.execution(1, 1, "a")
    slowest = Slowest(1, kept=2)
    for case, time in enumerate((5.0, 9.0, 1.0)):
        store.answer(1, case, time, None)
    assert [(one.case_id, one.e2e_ms) for one in slowest.read(store.connection)] == [
        ("c1", 9.0),
        ("c0", 5.0),
    ]
    store.answer(1, 7, 7.0, "timeout")
    store.answer(1, 8, None, "harness")
    assert [(one.case_id, one.failure_kind) for one in slowest.read(store.connection)] == [
        ("c1", ""),
        ("c7", "timeout"),
    ]


def test_a_finished_run_is_never_taken_for_one_to_watch_or_to_resume(store: Store) -> None:
    for run, status in ((1, "interrupted"), (2, "incomplete"), (3, "running"), (4, "complete")):
        store.run(run, status=status)
    assert live_run(store.connection, store.path) is None
    assert resumable_run(store.connection, store.path) == "run3"
    lease = Lease.take(store.path, "run3")
    assert lease is not None
    try:
        assert live_run(store.connection, store.path) == "run3"
        assert resumable_run(store.connection, store.path) == "run1"
    finally:
        lease.release()


def test_the_newest_run_that_goes_on_is_watched_else_the_newest(store: Store) -> None:
    assert run_to_watch(store.connection, store.path) is None
    for run, status in ((1, "complete"), (2, "running"), (3, "running"), (4, "complete")):
        store.run(run, status=status)
    # Nobody holds a lease: those runs are called running and are not.
    assert run_to_watch(store.connection, store.path) == "run4"
    lease = Lease.take(store.path, "run2")
    assert lease is not None
    try:
        assert run_to_watch(store.connection, store.path) == "run2"
        store.execution(1, 2, "a", status="running")
        reader = LiveReader(store.connection, store.path, "run2")
        assert reader.read(store.connection, None).has_process
    finally:
        lease.release()
    assert not reader.read(store.connection, None).has_process
