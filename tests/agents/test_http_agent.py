"""Agents behind any JSON endpoint."""

from typing import Any

import msgspec
import pytest
from openai_process import RunningServer
from opening import ask, failure, opened
from raw_server import raw_server, saying, sized

from agentbench_tui.agents.model_apis.http import at_path
from agentbench_tui.agents.registry import check_agent
from agentbench_tui.agents.target import named_model, parse_agent
from agentbench_tui.model.answer import Answer, FailureKind, Message, Request, Usage


async def answer(server: RunningServer, request: Request | None = None, **options: Any) -> Answer:
    async with opened(f"{server.url}/solve", **options) as agent:
        return await agent.answer(request or ask("one two"))


def behaving(name: str) -> dict[str, str]:
    return {"x-behavior": name}


async def test_the_input_is_sent_and_the_usual_field_is_the_answer(
    model_server: RunningServer,
) -> None:
    got = await answer(model_server)
    assert got == Answer(text="one two")
    sent = model_server.last_request()
    assert (sent["method"], sent["path"]) == ("POST", "/solve")
    assert sent["body"] == {"input": "one two"}


async def test_a_template_takes_parts_of_the_case(model_server: RunningServer) -> None:
    body = {
        "input": "Q: {text} ({seed})",
        "raw": "{input}",
        "turns": "{messages}",
        "deep": [{"id": "{case_id}"}, 5, None],
        "braces": "{} {Not One}",
    }
    request = ask({"a": 1}, messages=(Message("system", "s"),), seed=3, id="c9")
    await answer(model_server, request, body=body)
    assert model_server.last_request()["body"] == {
        "input": 'Q: {"a":1} (3)',
        "raw": {"a": 1},
        "turns": [{"role": "system", "content": "s"}, {"role": "user", "content": '{"a":1}'}],
        "deep": [{"id": "c9"}, 5, None],
        "braces": "{} {Not One}",
    }


async def test_paths_find_answer_and_usage(model_server: RunningServer) -> None:
    paths = {"usage_input": "tokens.in", "usage_output": "tokens.out"}
    got = await answer(model_server, response="nested.answers.0", **paths)
    assert got == Answer(text="one two", usage=Usage(2, 2))
    data = (await answer(model_server, response="nested")).data
    assert data == {"answers": ["one two"]}
    wrong = await answer(model_server, usage_input="output", usage_output="no.where")
    assert wrong.usage is None


async def test_a_path_that_leads_nowhere_names_what_is_there(model_server: RunningServer) -> None:
    async with opened(f"{model_server.url}/solve?response=x", response="nested.answer") as agent:
        caught = await failure(agent, ask("x"), FailureKind.PARSE)
    assert 'did you mean "answers"?' in caught.detail


async def test_get_sends_the_fields_as_a_query(model_server: RunningServer) -> None:
    await answer(model_server, ask("a b&c"), method="GET")
    sent = model_server.last_request()
    assert (sent["method"], sent["path"]) == ("GET", "/solve?input=a+b%26c")


@pytest.mark.parametrize(
    ("behavior", "kind"),
    [
        ("rate-limited:3", FailureKind.RATE_LIMITED),
        ("status:500", FailureKind.SERVER),
        ("error-in-200", FailureKind.SERVER),
        ("truncated", FailureKind.TRUNCATED),
        ("reset", FailureKind.CONNECTION),
        ("malformed", FailureKind.PARSE),
        ("no-utf8", FailureKind.PARSE),
        ("empty", FailureKind.PARSE),
        ("wrong-type", FailureKind.PARSE),
        ("silent", FailureKind.TIMEOUT),
    ],
)
async def test_each_fault_has_its_kind(
    model_server: RunningServer, behavior: str, kind: FailureKind
) -> None:
    # Only who waits for the limit has a short one: a busy machine takes its time as well.
    limits = {"first_byte_timeout_s": 0.1} if kind is FailureKind.TIMEOUT else {}
    options = {"headers": behaving(behavior), **limits}
    async with opened(f"{model_server.url}/solve", **options) as agent:
        await failure(agent, ask("one two"), kind)


async def test_an_answer_over_the_bound_is_a_limit(model_server: RunningServer) -> None:
    options = {"headers": behaving("huge:100000"), "max_answer_bytes": 5000}
    async with opened(model_server.url, **options) as agent:
        await failure(agent, ask(), FailureKind.LIMIT)


async def test_headers_take_their_secrets_from_the_environment(
    model_server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODEL_ACCESS", "canary-word")
    headers = {"Authorization": "Basic ${MODEL_ACCESS}", "x-tenant": "blue"}
    got = await answer(model_server, ask("canary-word"), headers=headers)
    sent = model_server.last_request()["headers"]
    assert sent["authorization"] == "Basic canary-word"
    assert sent["x-tenant"] == "blue"
    assert got.text == "***"
    async with opened(model_server.url, headers=headers | behaving("status:401")) as agent:
        refused = await failure(agent, ask(), FailureKind.SERVER)
    assert refused.detail.endswith(" (the key was taken from $MODEL_ACCESS)")


def problems(url: str, **options: Any) -> list[str]:
    from msgspec.structs import replace

    return check_agent(replace(parse_agent(url, base_dir=""), options=options))


def test_an_option_in_the_query_of_the_url_is_refused_with_its_place() -> None:
    url = "http://127.0.0.1:9/ask?response=a.b&q=1"
    (told,) = problems(url)
    assert "`response` in the URL's query" in told
    assert "options go after the scheme: http?response=a.b:URL" in told
    assert problems(url, response="text") == []
    assert problems("http://127.0.0.1:9/ask?reply=a") == []
    assert "canary" not in problems("http://127.0.0.1:9/?headers=canary-word-1")[0]


def test_secrets_in_plain_text_are_refused_and_not_repeated() -> None:
    refused = [
        *problems("http://127.0.0.1:9/", headers={"Authorization": "Bearer canary-word-1"}),
        *problems("http://127.0.0.1:9/", headers={"x-own": "sk-canary0123456789abcdef"}),
        *problems("http://127.0.0.1:9/?api_key=canary-word-1"),
        *problems("https://joe:canary-word-1@127.0.0.1:9/"),
    ]
    assert len(refused) == 4
    assert not any("canary" in line for line in refused)


def test_what_is_wrong_is_known_before_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    here = "http://127.0.0.1:9/"
    assert problems(here) == []
    assert 'did you mean "input"' in problems(here, body={"q": "{imput}"})[0]
    assert "NO_SUCH" in problems(here, headers={"x-a": "$NO_SUCH"})[0]
    assert "not a header name" in problems(here, headers={"a b": "c"})[0]
    monkeypatch.setenv("BROKEN_KEY", "line\nbreak")
    [line] = problems(here, key_env="BROKEN_KEY")
    assert "BROKEN_KEY" in line
    assert "break" not in line


@pytest.mark.parametrize(
    ("path", "found"),
    [("a", [{"b": 1}]), ("a.0.b", 1), ("a.-1.b", 1), ("c.d", None)],
)
def test_paths(path: str, found: object) -> None:
    assert at_path({"a": [{"b": 1}], "c": {"d": None}}, path) == found


COUNTS = {
    "usage_input": "usage.prompt_tokens",
    "usage_output": "usage.completion_tokens",
    "usage_cached": "usage.cached",
    "usage_cache_write": "usage.written",
    "usage_reasoning": "usage.reasoning",
    "usage_total": "usage.total_tokens",
}


@pytest.mark.parametrize(
    ("text", "counts", "usage"),
    [
        ("a", {"prompt_tokens": 40, "completion_tokens": 8, "reasoning": 100, "cached": 10,
               "written": 6, "total_tokens": 148},
         Usage(40, 108, 10, 100, cache_write_tokens=6)),
        ("a", {"prompt_tokens": 0, "completion_tokens": 0}, None),
        ("a", {"prompt_tokens": 7, "completion_tokens": 0}, Usage(7)),
        ("", {"prompt_tokens": 7, "completion_tokens": 0}, Usage(7, 0)),
    ],
)  # fmt: skip
async def test_counts_are_read_as_those_of_a_model(
    text: str, counts: dict[str, int], usage: Usage | None
) -> None:
    body = msgspec.json.encode({"text": text, "usage": counts})
    with raw_server(saying(sized(body))) as server:
        async with opened(server.url, **COUNTS) as agent:
            assert (await agent.answer(ask())).usage == usage


@pytest.mark.parametrize(
    ("options", "model"),
    [
        ({}, None),
        ({"model": "given"}, "given"),
        ({"usage_model": "meta.model"}, "answered"),
        ({"usage_model": "meta.model", "model": "given"}, "answered"),
        ({"usage_model": "meta.none", "model": "given"}, "given"),
        ({"usage_model": "meta.tokens", "model": "given"}, "given"),
    ],
)
async def test_the_model_is_named_by_the_response_or_by_the_target(
    options: dict[str, str], model: str | None
) -> None:
    body = msgspec.json.encode({"text": "a", "meta": {"model": "answered", "tokens": 3}})
    with raw_server(saying(sized(body))) as server:
        async with opened(server.url, **options) as agent:
            assert (await agent.answer(ask())).model == model


def test_a_model_in_the_query_is_the_servers() -> None:
    spec = parse_agent("http://127.0.0.1:9/ask?model=theirs", base_dir=".")
    assert (check_agent(spec), named_model(spec)) == ([], None)
    spec = parse_agent("http?model=ours:http://127.0.0.1:9/ask?model=theirs", base_dir=".")
    assert (check_agent(spec), named_model(spec)) == ([], "ours")


@pytest.mark.parametrize(
    ("target", "model"),
    [
        ("openai:http://127.0.0.1:9/v1#org/small", "org/small"),
        ("anthropic?model=small:http://127.0.0.1:9", "small"),
        ("command:python a.py --color #fff", None),
        ("http://127.0.0.1:9/ask#part", None),
        ("replay:a#b.jsonl?answer=text", None),
    ],
)
def test_only_the_target_of_a_model_server_names_a_model(target: str, model: str | None) -> None:
    assert named_model(parse_agent(target, base_dir=".")) == model
