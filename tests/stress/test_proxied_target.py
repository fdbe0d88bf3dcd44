"""Targets asked through a proxy, agents that are told of one, and what an execution may cost."""

from __future__ import annotations

import os

import pytest

from agentbench_tui.agents.target import parse_agent
from agentbench_tui.load.results.window import Window
from agentbench_tui.load.sending.protocol import AgentTarget, Done
from agentbench_tui.stress.budget import Budget, Stopped
from agentbench_tui.stress.spec import StressSpec
from agentbench_tui.stress.stand.proxied_target import (
    HTTPS,
    NO_URL,
    behind,
    environment_with,
    told_of_upstream,
    url_of,
    why_not_behind,
)
from agentbench_tui.stress.stand.window_plan import WindowPlan


def target(text: str) -> AgentTarget:
    return AgentTarget(parse_agent(text, base_dir=""))


def test_an_agent_with_a_url_is_asked_at_that_of_the_proxy() -> None:
    for text in ("http://127.0.0.1:8000/ask", "openai:http://127.0.0.1:8000/ask#m"):
        one = target(text)
        assert url_of(one) == "http://127.0.0.1:8000/ask"
        assert why_not_behind(one) is None
        moved = behind(one, lambda url: url.replace(":8000", ":9"))
        assert url_of(moved) == "http://127.0.0.1:9/ask"
        assert isinstance(moved, AgentTarget)
        assert moved.spec.version == one.spec.version


def test_what_cannot_be_put_behind_a_proxy_says_why() -> None:
    assert why_not_behind(target("openai:https://127.0.0.1/v1#m")) == HTTPS
    program = target("worker:./agent")
    assert why_not_behind(program) == NO_URL
    assert behind(program, lambda url: url) == program


def test_a_program_is_given_the_variable_that_tells_its_upstream() -> None:
    spec = parse_agent("worker?env=KEY:./agent", base_dir="")
    assert told_of_upstream(spec, "UPSTREAM").options["env"] == ["KEY", "UPSTREAM"]
    server = parse_agent("openai:http://127.0.0.1/v1#m", base_dir="")
    assert told_of_upstream(server, "UPSTREAM") == server


@pytest.mark.parametrize("before", [None, "old"])
def test_the_environment_is_as_it_was_afterwards(
    monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    monkeypatch.delenv("UPSTREAM_OF_A_TEST", raising=False)
    if before is not None:
        monkeypatch.setenv("UPSTREAM_OF_A_TEST", before)
    with environment_with("UPSTREAM_OF_A_TEST", "http://127.0.0.1:9"):
        assert os.environ["UPSTREAM_OF_A_TEST"] == "http://127.0.0.1:9"
    assert os.environ.get("UPSTREAM_OF_A_TEST") == before


def spent(requests: int, size: int) -> Window:
    done = Done(
        offered=requests, sent=requests, window_s=1.0, drained_s=0.0, cpu_s=0.0, connections=1,
        resent=0, sent_bytes=size // 2, received_bytes=size // 2, most_in_flight=1, blocked=0,
        late=0, lateness=None, run_queue_wait_ms=None, gc_pause_ms=0.0, gc_pause_max_ms=0.0,
        peak_rss_mb=1.0, stopped=False,
    )  # fmt: skip
    return Window(True, 1.0, 1.0, "", None, {}, None, True, (done,))


def test_bytes_that_are_left_bound_the_requests_of_a_window() -> None:
    spec = StressSpec(scenario="high_load", max_bytes=10_000)
    budget, course = Budget(spec), WindowPlan(10, rate=100)
    budget.check()
    assert budget.within(course).requests == spec.max_requests
    budget.spend(spent(10, 4_000))
    assert budget.within(course).requests == 15  # of 400 bytes each
    budget.spend(spent(15, 6_000))
    with pytest.raises(Stopped, match="10,000 bytes"):
        budget.check()
