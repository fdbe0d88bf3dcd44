"""Whole numbers keep every digit on their way from an agent; too many digits are its failure."""

import json
from pathlib import Path

import pytest
from opening import ask, failure, opened
from raw_server import raw_server, saying_once

from agentbench_tui.model.answer import FailureKind, ToolCall

ID = 9512292042121000001
"""Beyond 2^63, so beyond what SQLite holds as a whole number."""


def response(kind: bytes, body: bytes) -> bytes:
    length = str(len(body)).encode()
    return b"HTTP/1.1 200 OK\r\ncontent-type: %b\r\ncontent-length: %b\r\n\r\n%b" % (
        kind,
        length,
        body,
    )


def streamed(*pieces: str) -> bytes:
    deltas = [
        {"index": 0, "id": "c1", "function": {"name": "get", "arguments": ""}},
        *({"index": 0, "function": {"arguments": piece}} for piece in pieces),
    ]
    chunks = [{"choices": [{"index": 0, "delta": {"tool_calls": [one]}}]} for one in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
    return response(b"text/event-stream", body.encode())


async def test_streamed_arguments_keep_the_digits_of_an_id() -> None:
    with raw_server(saying_once(streamed('{"id": 95122920421', "21000001}"))) as server:
        async with opened(f"openai:{server.url}v1#m") as agent:
            got = await agent.answer(ask())
    assert got.tool_calls == (ToolCall("get", {"id": ID}, "c1"),)


async def test_streamed_arguments_of_too_many_digits_are_an_answer_without_arguments() -> None:
    with raw_server(saying_once(streamed('{"id": ', "1" * 5000, "}"))) as server:
        async with opened(f"openai:{server.url}v1#m") as agent:
            got = await agent.answer(ask())
    assert got.tool_calls == (ToolCall("get", {}, "c1"),)
    assert got.metadata["invalid_arguments"] == {"0": '{"id": ' + "1" * 5000 + "}"}


async def test_json_of_an_endpoint_keeps_the_digits_of_an_id() -> None:
    body = b'{"answer": {"id": %d}}' % ID
    with raw_server(saying_once(response(b"application/json", body))) as server:
        async with opened(f"http:{server.url}") as agent:
            assert (await agent.answer(ask())).data == {"id": ID}


async def test_json_of_an_endpoint_with_too_many_digits_is_a_failure() -> None:
    body = b'{"answer": {"id": ' + b"1" * 5000 + b"}}"
    with raw_server(saying_once(response(b"application/json", body))) as server:
        async with opened(f"http:{server.url}") as agent:
            await failure(agent, ask(), FailureKind.PARSE)


@pytest.mark.parametrize(
    "said",
    [
        "{'data': {'n': HUGE}}",
        "{'text': 'x', 'tool_calls': [{'name': 'f', 'arguments': {'n': HUGE}}]}",
        "{'text': 'x', 'tool_calls': [{'name': 'f', 'result': HUGE}]}",
        "{'text': 'x', 'metadata': {'n': HUGE}}",
        "{'text': 'x', 'usage': {'input_tokens': HUGE}}",
    ],
)
async def test_python_agent_that_gives_too_many_digits_failed(said: str, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(f"HUGE = 10**5000\ndef answer(text): return {said}\n")
    async with opened("python:agent.py:answer", tmp_path) as agent:
        failed = await failure(agent, ask(), FailureKind.PARSE)
    assert "more than 4,300 digits" in failed.detail
