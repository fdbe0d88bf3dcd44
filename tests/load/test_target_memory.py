"""The memory of a target under load is that of its processes' gauges."""

import sqlite3

from agentbench_tui.load.sending.target_memory import memory_peak


def test_the_highest_reading_while_it_went_on_counts() -> None:
    store = sqlite3.connect(":memory:")
    store.executescript(
        "CREATE TABLE benchmark_executions (key, run_key, start_time, end_time);"
        "CREATE TABLE gauges (run_key, at, scope, reading);"
        "INSERT INTO benchmark_executions VALUES (1, 1, '2026-01-01T00:00:10Z',"
        " '2026-01-01T00:00:20Z');"
    )
    start = 1767225610  # 2026-01-01T00:00:10Z
    for at, scope, rss in (
        (start - 5, "agent:bot", 900.0),
        (start + 1, "agent:bot", 30.5),
        (start + 5, "agent:bot", 31.0),
        (start + 5, "agent:other", 700.0),
        (start + 60, "agent:bot", 800.0),
    ):
        store.execute(
            "INSERT INTO gauges VALUES (1, ?, ?, json_object('rss_mb', ?))", (at, scope, rss)
        )
    found = memory_peak(store, 1, "bot")
    assert found is not None
    assert (found.value, found.unit, found.n) == (31.0, "MB", 2)
    assert memory_peak(store, 1, "elsewhere") is None
    store.close()
