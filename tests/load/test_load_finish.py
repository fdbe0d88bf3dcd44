"""The end of a load execution: metrics, summary and prices come out of samples, again and again."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from samples import Execution, Sample, done, window

from agentbench_tui.engine.run.finish import Ended, finish_executions
from agentbench_tui.engine.run.planning import RunOptions, make_plan
from agentbench_tui.engine.run.registration import register_run, take_lease
from agentbench_tui.engine.task.aggregate import Resources
from agentbench_tui.load import kind
from agentbench_tui.model.suite import Suite
from agentbench_tui.store.database import connect_to_read, create_or_migrate
from agentbench_tui.store.writer import Writer

DOCUMENT = {
    "suite_id": "small",
    "prices": [{"model": "some/model", "input": 2.0, "output": 10.0}],
    "agents": [{"id": "a", "target": "openai:http://127.0.0.1:1/v1#some/model"}],
    "benchmarks": [{"benchmark_id": "b", "kind": "load", "load": {"rate": 10, "requests": 100}}],
}
MEASURED = Execution(
    [Sample(n / 10, 0.3, ttft=0.1, gaps=[0.2], tokens=2, input_tokens=5) for n in range(100)],
    {0: window(done(offered=100, sent=100, window_s=9.9), asked_per_s=10.0, asked=100.0)},
)


async def test_metrics_summary_and_prices_are_kept_and_the_same_again(tmp_path: Path) -> None:
    (tmp_path / "suite.json").write_text(json.dumps(DOCUMENT))
    plan = make_plan([str(tmp_path / "suite.json")], RunOptions(folder=tmp_path))
    ((group, wanted),) = plan.executions()
    suite = Suite.model_validate_json(msgspec.json.encode(plan.suites[0].document))
    benchmark = group.resolved()
    database = tmp_path / "store.db"
    create_or_migrate(database)
    lease, holder = take_lease(database, plan.run_id)

    def stored() -> dict[str, list[tuple[Any, ...]]]:
        tables = ("metrics", "benchmark_executions", "load_summaries", "prices")
        with closing(connect_to_read(database)) as connection:
            return {
                table: sorted(map(tuple, connection.execute(f"SELECT * FROM {table}").fetchall()))
                for table in tables
            }

    with closing(Writer(database)) as writer:
        run_key = await writer.apply(lambda c: register_run(c, plan, holder))
        await writer.apply(lambda c: MEASURED.write(c, 1, run_key))
        with closing(connect_to_read(database)) as read_only:
            handed = kind.aggregate(
                read_only, 1, wanted.agent, Resources(0.0, None, None), benchmark
            )
        nothing = stored()
        (result,) = await finish_executions(writer, [Ended(1, benchmark, suite)])
        first = stored()
        await finish_executions(writer, [Ended(1, benchmark, suite)])
    lease.release()

    assert handed.metrics == result.metrics
    assert not nothing["load_summaries"] + nothing["prices"] + nothing["metrics"]
    # 100 times 5 tokens in at 2 $ and 2 tokens out at 10 $ a million
    assert result.metrics["cost_usd"].value == pytest.approx(100 * (5 * 2 + 2 * 10) / 1e6)
    assert len(first["metrics"]) == len(result.metrics)
    ((price_run, model, *price, source, _, _, _),) = first["prices"]
    assert (price_run, model, source) == (run_key, "some/model", "suite")
    assert price[:2] == [2.0, 10.0]
    assert len(first["load_summaries"]) == 1
    assert stored() == first
