"""How long a planned run will take and what it will cost, from what earlier ones took."""

import sqlite3
from contextlib import closing
from typing import Any

import pytest

from agentbench_tui.verdicts.cost.run_estimate import LOOKED_AT, estimate_run


def stored(*executions: tuple[str, str, float | None, int, float | None]) -> sqlite3.Connection:
    """Rows (benchmark, agent, seconds, asked, dollars), the oldest first."""
    connection = sqlite3.connect(":memory:")
    connection.execute(
        "CREATE TABLE benchmark_executions (key INTEGER PRIMARY KEY, suite_id, benchmark_id,"
        " agent_id, status, asking_s, observed, cost_usd, created_at)"
    )
    connection.executemany(
        "INSERT INTO benchmark_executions (suite_id, status, created_at, benchmark_id, agent_id,"
        " asking_s, observed, cost_usd) VALUES ('s', 'complete', ?, ?, ?, ?, ?, ?)",
        [(f"{number:04}", *row) for number, row in enumerate(executions)],
    )
    return connection


def planned(benchmark: str, agent: str, asked: int) -> dict[str, Any]:
    return {"suite_id": "s", "benchmark_id": benchmark, "agent_id": agent, "observations": asked}


def test_every_question_takes_what_earlier_ones_took() -> None:
    with closing(stored(("b", "x", 2.0, 10, 0.1), ("b", "x", 4.0, 20, 0.5))) as store:
        found = estimate_run(store, [planned("b", "x", 100)])
    assert found.seconds == pytest.approx(100 * 6 / 30)
    assert found.cost_usd == pytest.approx(100 * 0.6 / 30)
    assert found.seconds_why == "as 2 earlier executions went"


def test_an_agent_that_was_never_asked_is_taken_to_be_as_the_others() -> None:
    with closing(stored(("b", "x", 2.0, 10, 0.0), ("b", "y", 1.0, 10, 0.0))) as store:
        found = estimate_run(store, [planned("b", "x", 10), planned("b", "z", 10)])
    assert found.seconds == pytest.approx(2.0 + 1.5)
    assert "1 of 2 planned ones by those of other agents" in found.seconds_why


def test_a_benchmark_that_was_never_run_is_named_and_nothing_is_made_up() -> None:
    with closing(stored(("b", "x", 2.0, 10, 0.0))) as store:
        found = estimate_run(store, [planned("b", "x", 10), planned("new", "x", 10)])
    assert (found.seconds, found.cost_usd) == (None, None)
    assert found.seconds_why == "no earlier run of new to go by"


def test_a_cost_that_was_never_known_stays_unknown() -> None:
    with closing(stored(("b", "x", 2.0, 10, None), ("b", "x", 2.0, 10, 1.0))) as store:
        found = estimate_run(store, [planned("b", "x", 10)])
    assert found.seconds == pytest.approx(2.0)
    assert found.cost_usd is None
    assert "no price" in found.cost_why


def test_only_the_newest_executions_count() -> None:
    old, new = ("b", "x", 1000.0, 10, 0.0), ("b", "x", 1.0, 10, 0.0)
    with closing(stored(*[old] * 5, *[new] * LOOKED_AT)) as store:
        assert estimate_run(store, [planned("b", "x", 10)]).seconds == pytest.approx(1.0)


def test_without_a_store_there_is_nothing_to_go_by() -> None:
    found = estimate_run(None, [planned("b", "x", 10)])
    assert found.seconds is None
    assert "no earlier run of b" in found.seconds_why
