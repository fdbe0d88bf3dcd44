"""The prices with which costs were computed last."""

from contextlib import closing
from pathlib import Path

from run_history import RunHistory, timed

from agentbench_tui.store.database import connect_to_write
from agentbench_tui.store.queries.prices import price_table


def test_of_each_model_the_price_that_was_applied_last(tmp_path: Path) -> None:
    store = RunHistory(tmp_path / "a.db")
    ids = [store.run({"bot@1": {"b": timed(1.0)}}) for _ in range(2)]
    store.run(
        {"own@1": {"b": timed(1.0)}}, configuration='{"target": "t", "hourly_price_usd": 2.5}'
    )
    store.close()
    prices = [(1, "large", 9.0, 30.0), (2, "large", 2.0, 8.0), (1, "small", 0.1, 0.4)]
    with closing(connect_to_write(store.path)) as connection:
        for run_key, model, given, said in prices:
            connection.execute(
                "INSERT INTO prices (run_key, model, input_usd_per_mtok, output_usd_per_mtok,"
                " source) VALUES (?,?,?,?,'file')",
                (run_key, model, given, said),
            )
        found = price_table(connection)
    assert [
        (one.model, one.input_usd_per_mtok, one.output_usd_per_mtok, one.run_id)
        for one in found.tokens
    ] == [("large", 2.0, 8.0, ids[1]), ("small", 0.1, 0.4, ids[0])]
    assert [(one.agent_id, one.usd_per_hour) for one in found.hours] == [("own", 2.5)]
