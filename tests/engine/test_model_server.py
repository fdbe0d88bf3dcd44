"""A model server is benchmarked, streaming and not; each way to misbehave has its failure kind."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from carried_out import Result, suite

from agentbench_tui.engine.run.coordinator import carry_out
from agentbench_tui.engine.run.planning import RunOptions, make_plan
from agentbench_tui.store.database import create_or_migrate, reading
from agentbench_tui.store.queries.progress import progress_of_run
from agentbench_tui.verdicts.cost.cost_board import CostAsked, cost_document

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
async def test_each_misbehavior_is_sorted_into_its_failure_kind(
    tmp_path: Path, server: RunningServer, stream: bool
) -> None:
    names = {behavior.replace(":", "-"): kind for behavior, kind in KINDS.items()}
    document = suite(2, retries=1, concurrency=2, constraints={"time_limit_ms": 1500})
    document["agents"] = [
        {
            "id": behavior.replace(":", "-"),
            "target": f"openai:{server.url}/v1#{behavior}",
            "options": {"stream": stream},
        }
        for behavior in KINDS
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


REFUSALS = {400: 1, 401: 1, 403: 1, 404: 1, 422: 1, 408: 3, 425: 3, 429: 3, 500: 3, 503: 3}
"""By status, how often a request with two retries is sent."""


@pytest.mark.parametrize("api", ["openai", "anthropic", "http"])
async def test_only_refusals_that_may_pass_are_retried(
    tmp_path: Path, server: RunningServer, api: str
) -> None:
    document = suite(1, retries=2)
    document["agents"] = [
        {
            "id": f"http-{status}",
            "target": f"{server.url}/solve" if api == "http" else f"{api}:{server.url}/v1#{said}",
            "options": {"headers": {"x-behavior": said}} if api == "http" else {},
        }
        for status in REFUSALS
        for said in [f"status:{status}"]
    ]
    (tmp_path / "suite.json").write_text(json.dumps(document))
    plan = make_plan([str(tmp_path / "suite.json")], RunOptions(folder=tmp_path))
    database = tmp_path / "store.db"
    create_or_migrate(database)
    before = len(server.requests())
    result = Result(await carry_out(plan, database), database)
    sent = {status: 1 + result.metrics(f"http-{status}")["retries"]["value"] for status in REFUSALS}
    assert sent == REFUSALS
    assert len(server.requests()) - before == sum(REFUSALS.values())


async def test_a_refusal_that_names_a_time_is_retried_then(
    tmp_path: Path, server: RunningServer
) -> None:
    document = suite(1, retries=1)
    document["agents"] = [{"id": "busy", "target": f"openai:{server.url}/v1#conflict:0.3"}]
    (tmp_path / "suite.json").write_text(json.dumps(document))
    plan = make_plan([str(tmp_path / "suite.json")], RunOptions(folder=tmp_path))
    database = tmp_path / "store.db"
    create_or_migrate(database)
    result = Result(await carry_out(plan, database), database)
    assert result.column("SELECT retry_after_s FROM attempts") == [0.3]
    (waiting_ms,) = result.column("SELECT waiting_ms FROM answers")
    assert waiting_ms >= 300


@pytest.mark.parametrize("behavior", ["rate-limited", "unavailable"])
@pytest.mark.parametrize("retries", [1, 0])
async def test_a_server_that_asks_for_time_gets_it(
    tmp_path: Path, server: RunningServer, behavior: str, retries: int
) -> None:
    document = suite(2, retries=retries, concurrency=1)
    target = f"openai:{server.url}/v1#{behavior}:0.6"
    document["agents"] = [{"id": "busy", "target": target}]
    (tmp_path / "suite.json").write_text(json.dumps(document))
    plan = make_plan([str(tmp_path / "suite.json")], RunOptions(folder=tmp_path))
    database = tmp_path / "store.db"
    create_or_migrate(database)
    result = Result(await carry_out(plan, database), database)
    assert result.column("SELECT retry_after_s FROM attempts") == [0.6] * 2 * retries
    first, second = result.rows("SELECT sent_ms, waiting_ms, e2e_ms FROM answers ORDER BY sent_ms")
    if retries:  # the same case again, when the time is over
        assert first["waiting_ms"] >= 600
    else:  # the next case, when the time is over
        assert second["sent_ms"] - first["sent_ms"] >= 600
    details = result.column("SELECT detail FROM failures")
    assert all(detail.endswith("(Retry-After: 0.6 s)") for detail in details)
    with reading(database) as connection:
        progress = progress_of_run(connection, result.outcome.run_id)
    assert progress is not None
    expected = {"rate-limited": 2 + 2 * retries, "unavailable": 2 * retries}
    assert progress["asked_to_wait"] == expected[behavior]


PRICE = {"model": "*", "input": 2.5, "cached_input": 1.25, "output": 10, "cache_write": 4}
APART = {
    "prompt_tokens": 40,
    "completion_tokens": 8,
    "total_tokens": 148,
    "prompt_tokens_details": {"cached_tokens": 10},
    "completion_tokens_details": {"reasoning_tokens": 100},
}
WRITTEN = {
    "input_tokens": 20,
    "cache_creation_input_tokens": 10_000,
    "cache_read_input_tokens": 5_000,
    "output_tokens": 500,
}
ZEROS = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}


async def counted(
    tmp_path: Path,
    server: RunningServer,
    agents: dict[str, tuple[str, object]],
    cases: int = 1,
    cost_limit_usd: float | None = None,
    **more: object,
) -> Result:
    """Cases asked of agents, each an API and the usage that its server tells."""
    document = suite(cases, **more)
    document["prices"] = [PRICE]
    document["agents"] = [
        {"id": name, "target": f"{api}:{server.url}/v1#usage:{quote(json.dumps(usage))}"}
        for name, (api, usage) in agents.items()
    ]
    (tmp_path / "suite.json").write_text(json.dumps(document))
    options = RunOptions(folder=tmp_path, cost_limit_usd=cost_limit_usd)
    plan = make_plan([str(tmp_path / "suite.json")], options)
    database = tmp_path / "store.db"
    create_or_migrate(database)
    return Result(await carry_out(plan, database), database)


async def test_what_a_server_counts_apart_is_paid_for(
    tmp_path: Path, server: RunningServer
) -> None:
    agents: dict[str, tuple[str, object]] = {
        "apart": ("openai", APART),
        "written": ("anthropic", WRITTEN),
    }
    result = await counted(tmp_path, server, agents)
    apart, written = result.metrics("apart"), result.metrics("written")
    assert apart["tokens_used"]["value"] == 148
    assert apart["cost_usd"]["value"] == pytest.approx((30 * 2.5 + 10 * 1.25 + 108 * 10) / 1e6)
    assert written["tokens_used"]["value"] == 15_520
    usd = (20 * 2.5 + 10_000 * 4 + 5_000 * 1.25 + 500 * 10) / 1e6
    assert written["cost_usd"]["value"] == pytest.approx(usd)
    stored = result.rows("SELECT cache_write_usd_per_mtok, cache_write_1h_usd_per_mtok FROM prices")
    assert {tuple(row) for row in stored} == {(4.0, 4.0)}


async def test_tokens_that_are_counted_apart_stand_against_the_limit(
    tmp_path: Path, server: RunningServer
) -> None:
    agents: dict[str, tuple[str, object]] = {"apart": ("openai", APART)}
    result = await counted(tmp_path, server, agents, constraints={"token_limit": 147})
    assert result.execution("apart")["failures"] == {"limit": 1}


async def test_tokens_that_are_counted_apart_are_spent(
    tmp_path: Path, server: RunningServer
) -> None:
    agents: dict[str, tuple[str, object]] = {"apart": ("openai", APART)}
    result = await counted(tmp_path, server, agents, 5, cost_limit_usd=0.002, concurrency=1)
    assert (result.outcome.stop_reason or "").startswith("cost limit reached")
    assert result.column("SELECT COUNT(*) FROM answers") == [2]  # at 0.0011675 USD each


async def test_a_server_that_does_not_count_is_not_free(
    tmp_path: Path, server: RunningServer
) -> None:
    agents: dict[str, tuple[str, object]] = {
        "zeros": ("openai", ZEROS),
        "apart": ("openai", APART),
    }
    result = await counted(tmp_path, server, agents)
    zeros = result.metrics("zeros")
    (row,) = result.rows(
        "SELECT a.input_tokens, a.output_tokens, a.tokens_estimated FROM answers a"
        " JOIN benchmark_executions e ON e.key=a.execution_key WHERE e.agent_id='zeros'"
    )
    chunks = row["output_tokens"]
    assert (row["input_tokens"], row["tokens_estimated"]) == (None, 1)
    assert chunks >= 1
    assert zeros["output_tokens.mean"]["value"] == chunks
    assert zeros["output_tokens.mean"]["reason"].startswith("estimated")
    assert zeros["cost_usd"] == {
        **zeros["cost_usd"],
        "value": None,
        "reason": "the agent did not say how many input tokens it used (1 answer)",
    }
    assert zeros["tokens_per_correct"]["value"] is None
    with reading(result.database) as connection:
        board = cost_document(connection, CostAsked())
    (group,) = board.groups
    assert [one.configuration for one in group.optimal_configurations] == ["apart"]
    assert [one.name for one in board.unknown] == ["zeros"]
