"""What each dialect makes of single events and bodies: marks of content, and counts of tokens."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from agentbench_tui.agents.chat_completions import ChatCompletions
from agentbench_tui.agents.messages_api import MessagesApi
from agentbench_tui.agents.model_api import Dialect
from agentbench_tui.agents.responses_api import ResponsesApi
from agentbench_tui.agents.transcript import Transcript
from agentbench_tui.http.sse import SseEvent
from agentbench_tui.model.answer import Usage

CHAT = ChatCompletions("m", {}, stream=True)
RESPONSES = ResponsesApi("m", {}, stream=True)
MESSAGES = MessagesApi("m", {}, stream=True)


def streamed(dialect: Dialect, *events: dict[str, Any]) -> Transcript:
    """The k-th event is received at k ns, counted from 1."""
    transcript = Transcript({})
    for at, event in enumerate(events, start=1):
        dialect.read_event(SseEvent(msgspec.json.encode(event)), at, transcript)
    return transcript


def delta(**said: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": said}]}


def call(index: int, name: str) -> dict[str, Any]:
    return {"index": index, "id": name, "function": {"name": name, "arguments": "{}"}}


@pytest.mark.parametrize(
    ("said", "marks", "output"),
    [
        ({"role": "assistant", "content": ""}, [], None),
        ({"content": "a"}, [1], 1),
        ({"content": "a", "refusal": "b"}, [1], 1),
        ({"reasoning_content": "r"}, [1], None),
        ({"reasoning": "r", "content": "a"}, [1], 1),
        ({"tool_calls": [call(0, "a"), call(1, "b")]}, [1], 1),
        ({"reasoning": "r", "content": "a", "tool_calls": [call(0, "a")]}, [1], 1),
    ],
)
def test_an_event_of_chat_completions_is_one_chunk_whatever_it_holds(
    said: dict[str, Any], marks: list[int], output: int | None
) -> None:
    transcript = streamed(CHAT, delta(**said))
    assert transcript.content_ns == marks
    assert transcript.first_output_ns == output
    assert transcript.text == said.get("content", "") + said.get("refusal", "")
    assert [one.name for one in transcript.tool_calls({})] == [
        one["id"] for one in said.get("tool_calls", ())
    ]


def test_an_event_of_the_responses_api_is_one_chunk() -> None:
    transcript = streamed(
        RESPONSES,
        {"type": "response.created", "response": {}},
        {"type": "response.reasoning_text.delta", "delta": "r"},
        {"type": "response.output_text.delta", "delta": "a"},
        {"type": "response.refusal.delta", "delta": "b"},
        {"type": "response.function_call_arguments.delta", "delta": "{}"},
        {"type": "response.completed", "response": {"status": "completed", "output": [
            {"type": "message", "content": [{"type": "output_text", "text": "a"}]},
            {"type": "function_call", "name": "f", "arguments": "{}"},
            {"type": "function_call", "name": "g", "arguments": "{}"},
        ]}},
    )  # fmt: skip
    assert transcript.content_ns == [2, 3, 4, 5]
    assert transcript.first_output_ns == 3
    assert [one.name for one in transcript.tool_calls({})] == ["f", "g"]


def test_an_event_of_the_messages_api_is_one_chunk() -> None:
    def of_block(**said: Any) -> dict[str, Any]:
        return {"type": "content_block_delta", "index": 0, "delta": said}

    transcript = streamed(
        MESSAGES,
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        of_block(type="thinking_delta", thinking="t"),
        of_block(type="text_delta", text="a"),
        {"type": "content_block_start", "index": 1, "content_block": {
            "type": "tool_use", "id": "1", "name": "f", "input": {},
        }},
        {"type": "message_stop"},
    )  # fmt: skip
    assert transcript.content_ns == [2, 3, 4]
    assert transcript.first_output_ns == 3


def chat_body(usage: bytes) -> bytes:
    return b'{"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}], "usage": %b}' % (
        usage.replace(b"IN", b"prompt_tokens").replace(b"OUT", b"completion_tokens")
    )


def responses_body(usage: bytes) -> bytes:
    part = b'{"type": "message", "content": [{"type": "output_text", "text": "a"}]}'
    return b'{"status": "completed", "output": [%b], "usage": %b}' % (
        part,
        usage.replace(b"IN", b"input_tokens").replace(b"OUT", b"output_tokens"),
    )


def messages_body(usage: bytes) -> bytes:
    return b'{"content": [{"type": "text", "text": "a"}], "stop_reason": "x", "usage": %b}' % (
        usage.replace(b"IN", b"input_tokens").replace(b"OUT", b"output_tokens")
    )


Body = Callable[[bytes], bytes]
BODIES = [(CHAT, chat_body), (RESPONSES, responses_body), (MESSAGES, messages_body)]


def whole(dialect: Dialect, body: bytes) -> Transcript:
    transcript = Transcript({})
    dialect.read_whole(body, transcript)
    transcript.received_bytes = len(body)
    return transcript


@pytest.mark.parametrize(("dialect", "body"), BODIES)
@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        (b'{"IN": 7, "OUT": 3}', Usage(7, 3)),
        (b'{"IN": 7, "OUT": -3}', Usage(7)),
        (b'{"IN": 7, "OUT": true}', Usage(7)),
        (b'{"IN": 7, "OUT": 2.5}', Usage(7)),
        (b'{"IN": 1%b, "OUT": 3}' % (b"0" * 18), Usage(None, 3)),
        (b'{"IN": 7, "OUT": 1%b}' % (b"0" * 5000), None),
        (b'{"IN": 1e999, "OUT": 3}', None),
        (b"[1, 2]", None),
        (b"null", None),
    ],
)
def test_what_is_wrong_in_the_usage_costs_the_counts_and_not_the_answer(
    dialect: Dialect, body: Body, usage: bytes, counts: Usage | None
) -> None:
    transcript = whole(dialect, body(usage))
    assert transcript.text == "a"
    assert transcript.counted() == counts


@pytest.mark.parametrize(("dialect", "body"), BODIES)
def test_more_tokens_than_an_answer_of_its_size_can_have_cost_are_not_believed(
    dialect: Dialect, body: Body
) -> None:
    hidden_reasoning, absurd = body(b'{"IN": 7, "OUT": 90000}'), body(b'{"IN": 7, "OUT": 900000}')
    assert 90 <= len(hidden_reasoning) <= len(absurd) < 900
    assert whole(dialect, hidden_reasoning).counted() == Usage(7, 90_000)
    assert whole(dialect, absurd).counted() == Usage(7)


def test_the_chunks_stand_in_for_a_count_that_cannot_be() -> None:
    usage = {"prompt_tokens": 7, "completion_tokens": 10**8}
    transcript = streamed(CHAT, delta(content="a"), delta(content="b"), {"usage": usage})
    transcript.received_bytes = 300
    assert transcript.counted() == Usage(7, 2, estimated=True)
