"""Prices of an hour: those of the agents of one run."""

import sqlite3

from agentbench_tui.store.queries.prices import hour_prices_of_run


def test_only_agents_of_the_run_that_are_paid_by_the_hour_have_a_price() -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute(
        "CREATE TABLE benchmark_executions (run_key, agent_id, benchmark_id, model_configuration)"
    )
    connection.executemany(
        "INSERT INTO benchmark_executions VALUES (?, ?, ?, ?)",
        [
            (1, "timed", "a", '{"hourly_price_usd": 0.1}'),
            (1, "timed", "b", '{"hourly_price_usd": 0.1}'),
            (1, "by-token", "a", '{"target": "openai:x"}'),
            (2, "other", "a", '{"hourly_price_usd": 7}'),
        ],
    )
    assert hour_prices_of_run(connection, 1) == {"timed": 0.1}
    assert hour_prices_of_run(connection, 3) == {}
    connection.close()
