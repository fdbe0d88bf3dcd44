"""Target strings, the agents they name, and everything about them that is known before a run."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.agents.registry import check_agent, open_agent
from agentbench_tui.agents.schemes import BUILT_IN
from agentbench_tui.agents.target import argument_of, parse_agent, parse_target, spec_from_table
from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.identity import is_name
from agentbench_tui.model.suite import AgentTable


@pytest.mark.parametrize(
    ("text", "scheme", "rest", "options", "fragment"),
    [
        ("python:mod.sub:func", "python", "mod.sub:func", {}, ""),
        ("python:./a.py:f?inline=true", "python", "./a.py:f", {"inline": "true"}, ""),
        ("command:./agent --x=1 a?b#c", "command", "./agent --x=1 a?b#c", {}, ""),
        ("command?cwd=s&env=A,B:./a -q", "command", "./a -q", {"cwd": "s", "env": "A,B"}, ""),
        ("http://h:1/p?q=1#f", "http", "http://h:1/p?q=1#f", {}, ""),
        ("http:https://h/p", "http", "https://h/p", {}, ""),
        ("https?response=a.b:https://h/p?x=1", "https", "https://h/p?x=1", {"response": "a.b"}, ""),
        ("openai:http://h:8000/v1#org/model", "openai", "http://h:8000/v1", {}, "org/model"),
        ("openai:http://h/v1?stream=true#m", "openai", "http://h/v1", {"stream": "true"}, "m"),
        ("openai:http://h/v1#m?stream=true", "openai", "http://h/v1", {"stream": "true"}, "m"),
        ("replay:d/f.jsonl?answer=6b.text", "replay", "d/f.jsonl", {"answer": "6b.text"}, ""),
        ("reference:slow?latency_ms=5", "reference", "slow", {"latency_ms": "5"}, ""),
        ("mock?rate=3", "mock", "", {"rate": "3"}, ""),
        ("mock", "mock", "", {}, ""),
        ("reference:x?a=%26%3D+y", "reference", "x", {"a": "&= y"}, ""),
    ],
)  # fmt: skip
def test_a_target_comes_apart(
    text: str, scheme: str, rest: str, options: dict[str, str], fragment: str
) -> None:
    parsed = parse_target(text)
    assert (parsed.scheme, parsed.rest, parsed.options, parsed.fragment) == (
        scheme, rest, options, fragment,
    )  # fmt: skip
    again = parse_target(parsed.target)
    assert (again.scheme, again.rest, again.fragment) == (scheme, rest, fragment)
    assert again.options == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("./my-agent", "a program is written `command:./my-agent`"),
        ("agents.py", "a function of this file is written `python:agents.py:FUNCTION`"),
        ("agents.py:answer", "a function in a file is written `python:agents.py:answer`"),
        ("", "is not a target"),
        ("pyton:mod:f", 'did you mean "python"'),
        ("a b=python:m:f", "agent id `a b`"),
        ("=python:m:f", "agent id ``"),
        ("a@=python:m:f", "version ``"),
        ("a@v 1=python:m:f", "version `v 1`"),
        ("reference:slow?latency_ms", "expected name=value"),
        ("reference:slow?jitter=1&jitter=2", "`jitter` is given twice"),
    ],
)
def test_a_wrong_target_is_refused_in_one_line(text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_agent(text, base_dir="")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "agent_id"),
    [
        ("gpt@2026-01=openai:http://h/v1#m", "gpt"),
        ("openai:http://h/v1#org/My-Model:7b", "My-Model-7b"),
        ("python:my.module:answer", "answer"),
        ("python:./agents/plan.py:Agent", "Agent"),
        ("command:./bin/solver --fast", "solver"),
        ("command:{python} -u tools/agent.py --x", "agent"),
        ("worker:python3 -m my.package.solver", "solver"),
        ("command:node --no-warnings bot.mjs", "bot"),
        ("http://models.example:8080/ask", "models.example"),
        ("reference:rate-limited", "rate-limited"),
        ("replay:f.jsonl?answer=6b_finetuning.solution", "6b_finetuning"),
        ("python:mod:été", "t"),
    ],
)
def test_an_id_is_taken_or_made_readable(text: str, agent_id: str) -> None:
    assert parse_agent(text, base_dir="").id == agent_id


@given(st.sampled_from(sorted(BUILT_IN)), st.text(max_size=80))
def test_every_made_id_is_a_name_and_every_version_too(scheme: str, rest: str) -> None:
    try:
        spec = parse_agent(f"{scheme}:{rest}", base_dir="")
    except UsageError:
        return
    assert is_name(spec.id)
    assert is_name(spec.version)


def test_a_version_follows_from_target_and_options_and_nothing_else() -> None:
    def version(text: str, base_dir: str = "") -> str:
        return parse_agent(text, base_dir=base_dir).version

    plain = version("reference:noisy?accuracy=0.5")
    assert len(plain) == 12
    assert version("other-id=reference:noisy?accuracy=0.5", "/elsewhere") == plain
    assert version("reference?accuracy=0.5:noisy") == plain
    assert version("reference:noisy?accuracy=0.6") != plain
    assert version("reference:noisy") != plain
    assert version("me@v7=reference:noisy") == "v7"
    table = AgentTable(id="n", target="reference:noisy", options={"accuracy": 0.5})
    assert spec_from_table(table, "").version == plain


def test_a_table_gives_all_that_a_spec_holds() -> None:
    table = AgentTable(
        id="m",
        target="replay:f.jsonl?answer=a&id=n",
        name="My model",
        options={"answer": "b"},
        hourly_price_usd=2.5,
    )
    spec = spec_from_table(table, "suites")
    assert spec.options == {"answer": "b", "id": "n"}
    assert (spec.name, spec.hourly_price_usd, spec.base_dir) == ("My model", 2.5, "suites")
    assert spec.recorded
    assert not spec.simulated
    assert parse_agent("reference:noop", base_dir="").simulated


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("reference:perfekt", 'did you mean "perfect"'),
        ("reference:noisy?acuracy=1", 'no option `acuracy` (did you mean "accuracy"?)'),
        ("reference:noisy?accuracy=1.5", "option `accuracy`: input should be less than or equal"),
        ("reference:noisy?accuracy=high", "option `accuracy`: input should be a valid number"),
        ("reference:noisy?latency_ms=3", "`noisy` has no option `latency_ms`; it takes accuracy"),
        ("reference:flaky?kinds=sever", 'no failure kind `sever` (did you mean "server"?)'),
        ("reference:flaky?kinds=harness", "no failure kind `harness`"),
        ("replay:f.jsonl", "option `answer` is required"),
        ("replay:none.jsonl?answer=a", "no file `none.jsonl`"),
        ("replay:package:no_such_pkg/f.jsonl?answer=a", "`no_such_pkg` is not installed"),
        ("python:no_such_module:f", "cannot import `no_such_module`"),
        ("python:json:dump_s", 'did you mean "dumps"'),
        ("python:json:__version__", "is a str, not a function"),
        ("python:json", "expected python:MODULE:FUNCTION"),
        ("command:no-such-program x", "no program `no-such-program`"),
        ("command:", "names no program"),
        ('command:sh "a', "No closing quotation"),
        ("command?cwd=nowhere:sh", "option `cwd`: no folder"),
        ("command?env=NOT_SET_ANYWHERE:sh", "NOT_SET_ANYWHERE is not set"),
        ("command?mode=workr:sh", "option `mode`: input should be 'task' or 'worker'"),
    ],
)
def test_what_is_wrong_with_an_agent_is_known_before_it_runs(target: str, said: str) -> None:
    problems = check_agent(parse_agent(target, base_dir=""))
    assert len(problems) == 1
    assert said in problems[0]


def test_an_agent_that_is_right_has_no_problem() -> None:
    for target in ("reference:perfect", "python:json:dumps", "command:sh -c true"):
        assert check_agent(parse_agent(target, base_dir="")) == []


def test_a_module_that_breaks_or_exits_while_imported_is_a_problem_not_a_crash(
    tmp_path: Path,
) -> None:
    for body, said in (
        ("x = 1 / 0", "ZeroDivisionError: division by zero (broken0.py:2)"),
        ("raise SystemExit(4)", "SystemExit: 4 (broken1.py:2)"),
        ("def (", "SyntaxError"),
    ):
        number = 0 if "/" in body else 1 if "Exit" in body else 2
        (tmp_path / f"broken{number}.py").write_text(f"\n{body}\n")
        [problem] = check_agent(
            parse_agent(f"python:./broken{number}.py:f", base_dir=str(tmp_path))
        )
        assert said in problem


def test_opening_with_wrong_options_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="no option `acuracy`"):
        open_agent(
            parse_agent("reference:noisy?acuracy=1", base_dir=""),
            memory_limit_mb=None,
            concurrency=1,
        )


@pytest.mark.parametrize(
    "text",
    [
        "mock",
        "mock?slots=8",
        "a@2=openai:http://127.0.0.1:8000/v1?temperature=0.5#some/model",
        "openai:http://127.0.0.1:8000/v1#what%3Fis%25",
        "http://127.0.0.1/ask?deep=1#part",
        "w=http?headers=%7B%22a%22%3A1%7D:http://127.0.0.1/ask",
        "command?cwd=sub:./agent --quick=1",
        "reference:perfect",
        "mine=python:module:function",
    ],
)
def test_an_agent_is_written_as_the_argument_that_names_it(text: str) -> None:
    spec = parse_agent(text, base_dir="/here")
    assert parse_agent(argument_of(spec), base_dir="/here") == spec


def test_options_of_a_table_are_written_as_the_argument_has_them() -> None:
    table = AgentTable(id="a", target="mock", options={"slots": 8, "service_time": 1.5})
    assert argument_of(spec_from_table(table, "/here")) == "a=mock?slots=8&service_time=1.5"
