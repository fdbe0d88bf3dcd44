"""What load makes of model servers that answer in ways of their own."""

import json
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from driving import Heard, constant, heard, plan

from agentbench_tui.agents.model_apis.model_call import Api, ModelCall
from agentbench_tui.load.sending.protocol import HttpTarget
from agentbench_tui.load.sending.sample import NEW_CONNECTION, NONE, RESENT, TOKENS_COUNTED

sys.path.insert(0, str(Path(__file__).parents[1] / "servers"))

from openai_process import RunningServer, running_openai_server
from raw_server import raw_server, read_request, sized


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_openai_server() as running:
        yield running


async def loaded(
    server: RunningServer, behavior: str, *, api: Api = "chat", idle_timeout_s: float = 120.0
) -> Heard:
    path = {"chat": "chat/completions"}.get(api, api)
    target = HttpTarget(
        f"{server.url}/v1/{path}",
        {"content-type": "application/json"},
        ModelCall(api, behavior, {"max_tokens": 9}, stream=True),
        idle_timeout_s=idle_timeout_s,
    )
    return await heard([plan(target, constant(100), requests=3, warmup_requests=0)])


async def test_an_answer_ends_with_its_last_event_where_the_body_never_does(
    server: RunningServer,
) -> None:
    found = await loaded(server, "left-open", idle_timeout_s=2.0)
    assert found.statuses() == {"ok": 3}
    # The 2 s in which nothing came are not the answer's.
    assert all(row["e2e_us"] < 2_000_000 for row in found.rows)


@pytest.mark.parametrize("behavior", ["unavailable:7", "rate-limited:7"])
async def test_the_wait_that_a_server_asks_for_is_told(
    server: RunningServer, behavior: str
) -> None:
    found = await loaded(server, behavior)
    assert all(detail.endswith("(Retry-After: 7 s)") for _, detail in found.failures)
    assert found.failures


async def test_a_redirect_is_refused_with_its_goal(server: RunningServer) -> None:
    found = await loaded(server, "redirect:/over/there")
    assert found.statuses() == {"server": 3}
    kind, detail = found.failures[0]
    assert (kind, detail.partition(" ")[2]) == (
        "server",
        "redirects (HTTP 307) to /over/there: give that URL as the target",
    )


@pytest.mark.parametrize(
    ("behavior", "status"),
    [
        ("truncated", "truncated"),
        ("reset-middle", "truncated"),
        ("no-end", "truncated"),
        ("malformed", "parse"),
        ("error-in-200", "server"),
        ("status:503", "server"),
        ("rate-limited", "rate_limited"),
        ("gzip", "parse"),
        ("short-end", "ok"),
        ("no-stream", "ok"),
    ],
)
async def test_kinds_of_failures(server: RunningServer, behavior: str, status: str) -> None:
    assert (await loaded(server, behavior)).statuses() == {status: 3}


@pytest.mark.parametrize(
    ("api", "usage", "counts"),
    [
        (
            "chat",
            {"prompt_tokens": 40, "completion_tokens": 8, "total_tokens": 148,
             "completion_tokens_details": {"reasoning_tokens": 100}},
            {"input_tokens": 40, "output_tokens": 108, "cache_write_tokens": NONE},
        ),
        (
            "messages",
            {"input_tokens": 20, "cache_creation_input_tokens": 9_000,
             "cache_read_input_tokens": 500, "output_tokens": 7,
             "cache_creation": {"ephemeral_1h_input_tokens": 4_000}},
            {"input_tokens": 9_520, "output_tokens": 7, "cached_tokens": 500,
             "cache_write_tokens": 9_000, "cache_write_1h_tokens": 4_000},
        ),
    ],
)  # fmt: skip
async def test_tokens_are_counted_as_for_a_task(
    server: RunningServer, api: Api, usage: dict[str, Any], counts: dict[str, int]
) -> None:
    found = await loaded(server, f"usage:{json.dumps(usage)}", api=api)
    assert found.statuses() == {"ok": 3}
    for row in found.rows:
        assert row["flags"] & TOKENS_COUNTED
        assert {name: row[name] for name in counts} == counts


async def test_a_usage_of_zeros_is_no_count(server: RunningServer) -> None:
    usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    found = await loaded(server, f"usage:{json.dumps(usage)}")
    for row in found.rows:
        assert not row["flags"] & TOKENS_COUNTED
        assert (row["input_tokens"], row["output_tokens"]) == (NONE, row["chunks"])


async def test_a_server_that_takes_every_fourth_request_and_closes_is_caught_at_it() -> None:
    whole = b'{"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]}'

    def answer_three(connection: socket.socket) -> None:
        for _ in range(3):
            read_request(connection)
            connection.sendall(sized(whole, b"content-type: application/json"))
        read_request(connection)

    with raw_server(answer_three) as server:
        call = ModelCall("chat", "m", {}, stream=False)
        target = HttpTarget(f"{server.url}v1/chat/completions", {}, call)
        asked = plan(target, constant(200), requests=10, warmup_requests=0, max_in_flight=1)
        found = await heard([asked])

    (done,) = found.done
    assert found.statuses() == {"ok": 10}
    assert (done.resent, done.connections) == (3, 4)
    in_order = sorted(found.rows, key=lambda row: row["due_us"])
    twice = [place for place, row in enumerate(in_order) if row["flags"] & RESENT]
    opened = [place for place, row in enumerate(in_order) if row["flags"] & NEW_CONNECTION]
    assert (twice, opened) == ([3, 6, 9], [0, 3, 6, 9])
