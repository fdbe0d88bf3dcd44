"""What each dialect makes of single events and bodies: marks of content, and counts of tokens."""

from typing import Any

import msgspec
import pytest

from agentbench_tui.agents.chat_completions import ChatCompletions
from agentbench_tui.agents.messages_api import MessagesApi
from agentbench_tui.agents.model_api import Dialect
from agentbench_tui.agents.responses_api import ResponsesApi
from agentbench_tui.agents.transcript import Transcript
from agentbench_tui.http.sse import SseEvent

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
