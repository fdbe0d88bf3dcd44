"""Stress is put on this machine's loopback, and on other hosts only when they are allowed."""

from pathlib import Path

import pytest

from agentbench_tui.agents.target import parse_agent
from agentbench_tui.engine.run.plan import Plan
from agentbench_tui.engine.run.planning import RunOptions, make_plan
from agentbench_tui.engine.suite.loading import suite_of_data
from agentbench_tui.model.errors import UsageError
from agentbench_tui.stress.safety import check_consent, require_consent, strange_hosts
from agentbench_tui.stress.spec import StressSpec


def strange(target: str, *allowed: str, upstream: str | None = None) -> tuple[str, ...]:
    spec = StressSpec(scenario="high_load", allowed_hosts=list(allowed), upstream=upstream)
    return strange_hosts(parse_agent(target, base_dir="."), spec)


@pytest.mark.parametrize(
    "target",
    [
        "mock",
        "mock?slots=8",
        "python:my_agent:answer",
        "command:./agent --url https://elsewhere.example",
        "worker:./agent",
        "replay:answers.jsonl",
        "openai:http://127.0.0.1:8000/v1#m",
        "openai:http://127.8.9.10:8000/v1#m",
        "openai:http://[::1]:8000/v1#m",
        "anthropic:http://localhost:8000#m",
        "http://agent.localhost:9000/ask",
    ],
)
def test_what_is_on_this_machine_may_be_put_under_stress(target: str) -> None:
    assert strange(target) == ()


@pytest.mark.parametrize(
    ("target", "host"),
    [
        ("openai:#some-model", "api.openai.com"),
        ("anthropic:#some-model", "api.anthropic.com"),
        ("openai:https://Models.Example:8443/v1#m", "models.example"),
        ("http://192.168.0.7/ask", "192.168.0.7"),
        ("https://localhost.example.org/ask", "localhost.example.org"),
        ("openai:http://127.0.0.1.example.org/v1#m", "127.0.0.1.example.org"),
        ("http://0.0.0.0:80/ask", "0.0.0.0"),
        ("openai:http://127.0.0.1:8000/v1?proxy=http://gate.example:3128#m", "gate.example"),
    ],
)
def test_what_is_elsewhere_is_told_by_its_host(target: str, host: str) -> None:
    assert strange(target) == (host,)


def test_what_the_agent_depends_on_counts_as_well() -> None:
    assert strange("command:./agent", upstream="https://api.example/v1") == ("api.example",)
    assert strange("command:./agent", upstream="http://127.0.0.1:8000/v1") == ()


@pytest.mark.parametrize(
    ("target", "allowed"),
    [
        ("openai:https://models.example/v1#m", "Models.Example."),
        ("http://[2001:db8::1]/ask", "2001:0db8:0:0::1"),
        ("http://192.168.0.7/ask", "192.168.0.7"),
    ],
)
def test_a_host_is_allowed_by_its_name_in_any_spelling(target: str, allowed: str) -> None:
    assert strange(target, allowed) == ()


def test_an_allowed_host_allows_no_other() -> None:
    assert strange("https://models.example/v1", "example", "other.example") == ("models.example",)


def test_a_refusal_is_one_line_that_says_what_to_do() -> None:
    agent = parse_agent("theirs=https://models.example/v1", base_dir=".")
    with pytest.raises(UsageError) as refused:
        require_consent(agent, StressSpec(scenario="spike_load"))
    said = str(refused.value)
    assert said == (
        "stress on theirs: models.example is not this machine; if the target is yours, say"
        " --i-own-this-target (agentbench stress), or allow it in the suite:"
        " allowed_hosts: [models.example]"
    )


@pytest.mark.parametrize("target", ["mock", "command:echo http://127.0.0.1:1", "python:os:getcwd"])
def test_a_server_is_started_only_for_what_is_asked_at_a_url(target: str, tmp_path: Path) -> None:
    stress = {"scenario": "failure_recovery", "serve": "true"}

    def plan(target: str) -> Plan:
        document = {
            "suite_id": "stress",
            "agents": [{"id": "one", "target": target}],
            "benchmarks": [{"benchmark_id": "one", "kind": "stress", "stress": stress}],
        }
        return make_plan([suite_of_data(document, tmp_path)], RunOptions(folder=tmp_path))

    with pytest.raises(UsageError, match=r"stress on one: `serve` starts .* has none$"):
        check_consent(plan(target))
    check_consent(plan("openai:http://127.0.0.1:8000/v1#m"))
    check_consent(plan("http://127.0.0.1:8000/ask"))
