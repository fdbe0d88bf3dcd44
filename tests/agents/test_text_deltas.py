"""Parts that are read without being decoded say what they say when they are decoded."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.agents.model_apis.chat_completions import ChatCompletions
from agentbench_tui.agents.model_apis.messages_api import MessagesApi
from agentbench_tui.agents.model_apis.model_api import Dialect
from agentbench_tui.agents.model_apis.responses_api import ResponsesApi
from agentbench_tui.agents.model_apis.text_deltas import TextDeltas
from agentbench_tui.agents.model_apis.transcript import Transcript
from agentbench_tui.http.sse import SseParser

CHAT = ChatCompletions("m", {}, stream=True)
MESSAGES = MessagesApi("m", {"max_tokens": 9}, stream=True)
BEFORE = b'data: {"id":"a","model":"m","choices":[{"index":0,"delta":{"content":"'
BEHIND = b'"},"finish_reason":null}]}\n\n'


def chat(text: str, **others: Any) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": None}
    event = {"id": "a", "model": "m", "choices": [choice], **others}
    return (
        b"data: " + json.dumps(event, separators=(",", ":"), ensure_ascii=False).encode() + b"\n\n"
    )


def messages(text: str) -> bytes:
    delta = {"type": "text_delta", "text": text}
    event = {"type": "content_block_delta", "index": 0, "delta": delta}
    return b"event: content_block_delta\ndata: " + msgspec.json.encode(event) + b"\n\n"


def responses(text: str, number: int = 4) -> bytes:
    event = {"type": "response.output_text.delta", "delta": text, "sequence_number": number}
    return b"data: " + msgspec.json.encode(event) + b"\n\n"


def decoded(part: bytes, dialect: Dialect) -> str:
    parser, found = SseParser(), Transcript({})
    for event in parser.feed(part):
        dialect.read_event(event, 1, found)
    return found.text


class Stream:
    """Of which a part with that text has been read."""

    def __init__(self, part: bytes, text: str, dialect: Dialect = CHAT) -> None:
        self.read = Transcript({})
        self.deltas = TextDeltas(dialect, self.read)
        self.read.add_text(text, 1)
        self.deltas.learn(part, text)

    def text(self, part: bytes) -> str | None:
        """What is put into the transcript for `part`; None where it must be read the whole way."""
        before = len(self.read.texts)
        if not self.deltas.take([(7, part)], 0):
            assert len(self.read.texts) == len(self.read.content_ns) == before
            return None
        assert self.read.content_ns[before:] == [7]
        return "".join(self.read.texts[before:])


@pytest.mark.parametrize(
    ("dialect", "write"),
    [
        (CHAT, chat),
        (MESSAGES, messages),
        (ResponsesApi("m", {}, stream=True), responses),
    ],
)
def test_a_part_that_differs_in_its_text_alone_is_that_text(dialect: Dialect, write: Any) -> None:
    stream = Stream(write(" the"), " the", dialect)
    for text in (" cat", "a", "für", "猫", "a/b", "{}", "~0"):
        assert stream.text(write(text)) == text == decoded(write(text), dialect)


def test_nothing_is_known_before_a_part_was_looked_at() -> None:
    assert TextDeltas(CHAT, Transcript({})).take([(7, chat("cat"))], 0) == 0


def test_parts_are_taken_up_to_the_first_that_says_more_each_with_its_time() -> None:
    stream = Stream(chat(" the"), " the")
    parts = [(number, chat(text)) for number, text in enumerate(("x", "a", "b", '"', "c"))]
    assert stream.deltas.take(parts, 1) == 3
    assert stream.read.texts == [" the", "a", "b"]
    assert stream.read.content_ns == [1, 1, 2]
    assert stream.deltas.take(parts, 4) == 5
    assert stream.read.texts[3:] == ["c"]


@given(middle=st.binary(max_size=12) | st.text(max_size=12).map(lambda text: text.encode()))
def test_what_is_taken_for_a_text_is_what_decoding_gives(middle: bytes) -> None:
    part = BEFORE + middle + BEHIND
    text = Stream(chat("the"), "the").text(part)
    if text is not None:
        assert text
        assert text == decoded(part, CHAT)


@given(st.text(alphabet='"\\\n\r\t\x00\x1f abé猫', min_size=1, max_size=8))
def test_a_text_with_escapes_is_left_to_the_decoder(text: str) -> None:
    part = chat(text)
    plain = not set(text) & set('"\\\n\r\t\x00\x1f')
    assert Stream(chat("the"), "the").text(part) == (text if plain else None)


@pytest.mark.parametrize(
    "part",
    [
        BEFORE + b'","tool_calls":[{"index":0}],"x":"' + BEHIND,
        BEFORE + BEHIND,  # says nothing
        BEFORE + b"\xff" + BEHIND,  # no UTF-8
        BEFORE[:-1] + b'"' + BEHIND[1:],  # one quote for both
        chat("cat") + b"data: [DONE]\n\n",
        chat("cat")[:-1],
        chat("cat", usage={"prompt_tokens": 1, "completion_tokens": 2}),
        chat("cat", id="b"),
    ],
)
def test_a_part_that_says_anything_else_is_left_to_the_decoder(part: bytes) -> None:
    assert Stream(chat("the"), "the").text(part) is None


@pytest.mark.parametrize(
    ("part", "text"),
    [
        # The same bytes stand elsewhere first, where another text would mean something else.
        (chat("a", id="a"), "a"),
        (chat("~0", id="~0"), "~0"),
        # What comes along must be read each time.
        (chat("the", usage={"prompt_tokens": 1, "completion_tokens": 2}), "the"),
        (chat("the") + b"data: [DONE]\n\n", "the"),
        (chat("one") + chat("two"), "two"),
        (chat("the") + b"data: {", "the"),
        # Written with an escape, so that it is not found.
        (chat("the").replace(b"the", rb"\u0074he"), "the"),
    ],
)
def test_a_part_that_cannot_be_told_by_its_text_teaches_nothing(part: bytes, text: str) -> None:
    assert Stream(part, text).text(part) is None


def test_another_event_beside_a_text_is_read_each_time() -> None:
    # It says nothing in a stream that has told no counts yet, and something in one that has.
    counts = b'data: {"type":"message_delta","usage":{"cache_read_input_tokens":3}}\n\n'
    part = counts + messages("the")
    assert Stream(part, "the", MESSAGES).text(part) is None


def test_a_stream_whose_parts_always_differ_is_given_up() -> None:
    stream = Stream(responses("the", 0), "the", ResponsesApi("m", {}, stream=True))
    for number in (1, 2, 3):
        assert stream.text(responses("cat", number)) is None
        stream.deltas.learn(responses("the", number), "the")
    assert stream.text(responses("cat", 3)) is None


def test_of_several_choices_the_first_alone_is_taken() -> None:
    second = chat("the").replace(b'"index":0', b'"index":1')
    assert Stream(chat("the"), "the").text(second) is None
    assert Stream(second, "the").text(second) is None
    assert decoded(second, CHAT) == ""


def of_choice(index: int | str | None, **said: Any) -> dict[str, Any]:
    choice = {"delta": said, "finish_reason": None}
    return choice if index is None else {"index": index, **choice}


def event(*choices: dict[str, Any]) -> bytes:
    return b"data: " + msgspec.json.encode({"id": "a", "choices": choices}) + b"\n\n"


words = st.sampled_from(["a", " the", "cat", "x", '"', "猫"])
indexes = st.sampled_from([None, 0, 1, "0", "1"])
calls = st.builds(
    lambda index, ident, name, arguments: {
        **index, "id": ident, "function": {"name": name, "arguments": arguments},
    },
    st.sampled_from([{}, {"index": 0}, {"index": 1}, {"index": "1"}]),
    st.sampled_from([None, "", "call_a", "call_b", 1]),
    st.sampled_from([None, "f", "g"]),
    words | st.sampled_from(["", "{}", '{"x":', "1}"]),
)  # fmt: skip
choices = st.builds(lambda index, text: of_choice(index, content=text), indexes, words) | st.builds(
    lambda index, parts: of_choice(index, tool_calls=parts),
    indexes,
    st.lists(calls, min_size=1, max_size=2),
)


@given(st.lists(st.lists(choices, min_size=1, max_size=2), max_size=12))
def test_a_stream_of_choices_and_calls_is_what_decoding_gives(stream: list[Any]) -> None:
    quick, whole = Transcript({}), Transcript({})
    deltas, parser = TextDeltas(CHAT, quick), SseParser()
    for at, said in enumerate(stream, start=1):
        part = event(*said)
        for each in SseParser().feed(part):
            CHAT.read_event(each, at, whole)
        if not deltas.take([(at, part)], 0):  # as a load reads it
            texts = len(quick.texts)
            for each in parser.feed(part):
                CHAT.read_event(each, at, quick)
            if len(quick.texts) > texts:
                deltas.learn(part, quick.texts[-1])
    assert quick.text == whole.text
    assert quick.content_ns == whole.content_ns
    assert quick.other_chunks == whole.other_chunks
    assert quick.first_output_ns == whole.first_output_ns
    assert quick.calls == whole.calls
