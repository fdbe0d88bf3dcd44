"""What load makes of model servers that answer in ways of their own."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from driving import Heard, constant, heard, plan

from agentbench_tui.agents.model_call import ModelCall
from agentbench_tui.load.protocol import HttpTarget

sys.path.insert(0, str(Path(__file__).parents[1] / "servers"))

from openai_process import RunningServer, running_openai_server


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_openai_server() as running:
        yield running


async def loaded(server: RunningServer, behaviour: str, *, idle_timeout_s: float = 120.0) -> Heard:
    target = HttpTarget(
        f"{server.url}/v1/chat/completions",
        {"content-type": "application/json"},
        ModelCall("chat", behaviour, {}, stream=True),
        idle_timeout_s=idle_timeout_s,
    )
    return await heard([plan(target, constant(100), requests=3, warmup_requests=0)])


async def test_an_answer_ends_with_its_last_event_where_the_body_never_does(
    server: RunningServer,
) -> None:
    found = await loaded(server, "left-open", idle_timeout_s=0.3)
    assert found.statuses() == {"ok": 3}
    # The 0.3 s in which nothing came are not the answer's.
    assert all(row["e2e_us"] < 300_000 for row in found.rows)


async def test_a_redirect_is_refused_with_its_goal(server: RunningServer) -> None:
    found = await loaded(server, "redirect:/over/there")
    assert found.statuses() == {"server": 3}
    kind, detail = found.failures[0]
    assert (kind, detail.partition(" ")[2]) == (
        "server",
        "redirects (HTTP 307) to /over/there: give that URL as the target",
    )


@pytest.mark.parametrize(
    ("behaviour", "status"),
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
async def test_kinds_of_failures(server: RunningServer, behaviour: str, status: str) -> None:
    assert (await loaded(server, behaviour)).statuses() == {status: 3}
