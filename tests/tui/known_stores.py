"""Stores of known values: a history with a planted regression, and a stress run with its report."""

import sys
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from agentbench_tui.analysis.histogram import Histogram
from agentbench_tui.store.database import connect_to_read, connect_to_write
from agentbench_tui.stress.report import (
    Advice,
    LimitsUsed,
    NormalLoad,
    RecoveryFacts,
    ScalingFacts,
    ScenarioReport,
    ScoreFacts,
    WindowFacts,
)
from agentbench_tui.stress.search.breaking_point import BreakingPoint

sys.path.insert(0, str(Path(__file__).parents[1] / "verdicts"))
from run_history import Measured, RunHistory, near, timed  # found by the path above

HOSTILE = "\x1b]52;c;aGk=\x07\x1b[2J[bold red]"
OLD, RUNS = 22, 28
"""Runs before the regression, and all."""


def measured(size: float, number: int, level: float) -> Measured:
    """What `bot` was in a run: its time grows with the size of the benchmark."""
    late = number >= OLD
    return Measured(
        {
            "e2e_ms.p50": size * level * (246 if late else 200),
            "accuracy": (0.88 if late else 0.93) + 0.004 * ((number * 7) % 5 - 2),
            "cost_usd_per_task": 0.002 * level * (0.8 if late else 1.0),
        }
    )


def history_store(path: Path) -> Path:
    """`bot` is 23% slower, 5 points less right and a fifth cheaper from the run 22 on; `calm`
    does not change; `once` was measured once, in a version whose name is hostile."""
    store = RunHistory(path)
    for number, level in enumerate(near(1.0, RUNS, 0.012)):
        version = "2.0" if number >= OLD else "1.0"
        agents = {
            f"bot@{version}": {
                "sums": measured(1.0, number, level),
                "plans": measured(6.0, number, level),
            }
        }
        if number < 15:
            agents["calm@3"] = {"sums": timed(80 * level)}
        if number == 0:
            agents[f"once@{HOSTILE}"] = {"sums": timed(50.0)}
        store.run(agents)
    store.close()
    with closing(connect_to_write(path)) as connection:
        connection.execute(
            "UPDATE metrics SET low=value-0.02, high=value+0.02 WHERE name='accuracy'"
        )
    return path


def high_load() -> ScenarioReport:
    """Breaks between 100 and 110 requests a second, by its p95."""
    levels = ((50.0, 40.0, "pass"), (100.0, 60.0, "pass"), (110.0, 300.0, "fail"))
    windows = [
        WindowFacts(phase="probe", repeat=number, length_s=2.0, asked_per_s=level, requests=100,
                    answered_per_s=level, error_share=0.0, p50_ms=p95 / 2, p95_ms=p95,
                    memory_mb=100.0 + number, verdict=verdict)
        for number, (level, p95, verdict) in enumerate(levels)
    ]  # fmt: skip
    return ScenarioReport(
        scenario="high_load",
        normal=NormalLoad(rate_per_s=50.0, users=4, p50_ms=20.0, p95_ms=40.0, capacity_per_s=105.0),
        limits=LimitsUsed(error_share=0.01, p95_ms=120.0, completed_share=0.95, derived=True),
        windows=windows,
        score=ScoreFacts(value=59.0, low=40.0, high=75.0, worst_second=0.25),
        breaking_points=[
            BreakingPoint(on="rate", unit="requests/s", status="found", passes=100.0, fails=110.0,
                          confirmed=True, broke=("p95 of latency",), reason="p95 300 ms")
        ],
        advice=[
            Advice(rule="queue", severity="warning", words="Queueing starts at 100 requests/s.",
                   evidence={"cpu_cores": 0.07})
        ],
    )  # fmt: skip


def concurrent_requests() -> ScenarioReport:
    """Follows the scalability law with the best load at 20 users."""
    sigma, kappa, rate = 0.0, 1 / 400, 10.0
    points = [(n, rate * n / (1 + sigma * (n - 1) + kappa * n * (n - 1))) for n in (1.0, 8.0, 32.0)]
    return ScenarioReport(
        scenario="concurrent_requests",
        windows=[
            WindowFacts(phase="scaling", repeat=number, length_s=1.0, users=int(users), requests=9,
                        answered_per_s=found, error_share=0.0, p50_ms=9.0, p95_ms=10.0)
            for number, (users, found) in enumerate(points)
        ],
        score=ScoreFacts(value=90.0),
        scaling=ScalingFacts(model="usl", lambda_per_s=rate, sigma=sigma, kappa=kappa, n_star=20.0,
                             n_star_interval=(18.0, 23.0), largest=32.0, words="",
                             points=tuple(points)),
    )  # fmt: skip


def failure_recovery() -> ScenarioReport:
    """Recovers from a reset after 2 s, from a kill not while it was watched."""
    return ScenarioReport(
        scenario="failure_recovery",
        windows=[
            WindowFacts(phase="normal", repeat=0, length_s=2.0, asked_per_s=10.0, requests=20),
            WindowFacts(phase="fault reset", repeat=1, length_s=4.0, asked_per_s=10.0, requests=40),
        ],
        recoveries=[
            RecoveryFacts(after="reset", seconds=2.0, watched_s=4.0),
            RecoveryFacts(
                after="kill", seconds=None, known=True, watched_s=4.0, words=f"not back {HOSTILE}"
            ),
        ],
    )


TICKS = ((1001.0, 0, 10, 10, 0), (1002.0, 0, 10, 10, 0), (1003.0, 1, 10, 2, 8),
         (1004.0, 1, 10, 4, 6), (1005.0, 1, 10, 10, 0), (1006.0, 1, 10, 10, 0))  # fmt: skip
"""Of `failure_recovery`: at, window, sent, answered, failed."""


def stress_store(path: Path, *agents: str) -> tuple[Path, str]:
    """A store with one stress run of these agents, else of `target`, with three scenarios; and the
    run's id."""
    store = RunHistory(path)
    reports = [high_load(), concurrent_requests(), failure_recovery()]
    scenarios = {one.scenario: Measured({}) for one in reports}
    run_id = store.run(dict.fromkeys(agents or ("target@1",), scenarios))
    store.close()
    with closing(connect_to_write(path)) as connection:
        connection.execute(
            'UPDATE runs SET plan=replace(plan, \'"kind": "task"\','
            ' \'"kind": "stress", "stress": {}\')'
        )
        for report in reports:
            connection.execute(
                "INSERT INTO stress_reports SELECT key, run_key, ? FROM benchmark_executions"
                " WHERE benchmark_id=?",
                (msgspec.json.encode(report).decode(), report.scenario),
            )
        for at, window, sent, answered, failed in TICKS:
            connection.execute(
                "INSERT INTO ticks (run_key, execution_key, at, repeat, observed, answered,"
                " correct, tokens, cost_usd, e2e_histogram, sent, failed)"
                " SELECT run_key, key, ?, ?, ?, ?, 0, 0, 0, ?, ?, ? FROM benchmark_executions"
                " WHERE benchmark_id='failure_recovery'",
                (at, window, answered + failed, answered, Histogram().to_bytes(), sent, failed),
            )
    return path, run_id


@pytest.fixture(scope="session")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of `history_store`; nobody writes to it."""
    return history_store(tmp_path_factory.mktemp("history") / "h.db")


@pytest.fixture(scope="session")
def stress(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The database of `stress_store` and its run; nobody writes to it."""
    return stress_store(tmp_path_factory.mktemp("stress") / "s.db")


def rows(path: Path, query: str) -> list[tuple[object, ...]]:
    """What a query finds, read anew."""
    with closing(connect_to_read(path)) as connection:
        return [tuple(row) for row in connection.execute(query).fetchall()]


def copied(path: Path, folder: Path) -> Path:
    """A copy that one test may write to."""
    target = folder / "copy.db"
    with closing(connect_to_read(path)) as source, closing(connect_to_write(target)) as copy:
        source.backup(copy)
    return target
