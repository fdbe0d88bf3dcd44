"""A model server is benchmarked, streaming and not; each way to misbehave has its failure kind."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from carried_out import Result, suite

from agentbench_tui.engine.coordinator import carry_out
from agentbench_tui.engine.planning import RunOptions, make_plan
from agentbench_tui.store.database import create_or_migrate

sys.path.insert(0, str(Path(__file__).parents[1] / "servers"))
from openai_process import RunningServer, running_openai_server

KINDS = {
    "ok": None,
    "rate-limited:0": "rate_limited",
    "status:500": "server",
    "silent": "timeout",
    "truncated": "truncated",
    "malformed": "parse",
    "reset": "connection",
}


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_openai_server() as running:
        yield running


@pytest.mark.parametrize("stream", [True, False])
async def test_each_misbehaviour_is_sorted_into_its_failure_kind(
    tmp_path: Path, server: RunningServer, stream: bool
) -> None:
    names = {behaviour.replace(":", "-"): kind for behaviour, kind in KINDS.items()}
    document = suite(2, retries=1, concurrency=2, constraints={"time_limit_ms": 1500})
    document["agents"] = [
        {
            "id": behaviour.replace(":", "-"),
            "target": f"openai:{server.url}/v1#{behaviour}",
            "options": {"stream": stream},
        }
        for behaviour in KINDS
    ]
    (tmp_path / "suite.json").write_text(json.dumps(document))
    plan = make_plan([str(tmp_path / "suite.json")], RunOptions(folder=tmp_path))
    database = tmp_path / "store.db"
    create_or_migrate(database)
    result = Result(await carry_out(plan, database), database)
    assert result.outcome.status == "complete"
    for agent, kind in names.items():
        execution = result.execution(agent)
        assert execution["failures"] == ({} if kind is None else {kind: 2}), agent
        retried = kind in {"rate_limited", "server", "connection"}
        assert execution["metrics"]["retries"]["value"] == (2 if retried else 0), agent
    good = result.metrics("ok")
    assert good["accuracy"]["value"] == 1.0
    assert good["tokens_used"]["value"] is not None
    assert (good["ttft_ms.mean"]["value"] is not None) is stream


async def test_a_server_that_asks_for_time_gets_it(tmp_path: Path, server: RunningServer) -> None:
    document = suite(1, retries=1)
    document["agents"] = [{"id": "busy", "target": f"openai:{server.url}/v1#rate-limited:0.2"}]
    (tmp_path / "suite.json").write_text(json.dumps(document))
    plan = make_plan([str(tmp_path / "suite.json")], RunOptions(folder=tmp_path))
    database = tmp_path / "store.db"
    create_or_migrate(database)
    result = Result(await carry_out(plan, database), database)
    assert result.column("SELECT retry_after_s FROM attempts") == [0.2]
    (row,) = result.rows("SELECT waiting_ms, e2e_ms FROM answers")
    assert row["waiting_ms"] >= 200
