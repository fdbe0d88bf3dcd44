"""What each dialect makes of single events and bodies: marks of content, and counts of tokens."""

import tracemalloc
from collections.abc import Callable
from time import process_time
from typing import Any

import msgspec
import pytest
from bounded_work import bounded_work

from agentbench_tui.agents.model_apis.chat_completions import ChatCompletions
from agentbench_tui.agents.model_apis.messages_api import MessagesApi
from agentbench_tui.agents.model_apis.model_api import Dialect
from agentbench_tui.agents.model_apis.responses_api import ResponsesApi
from agentbench_tui.agents.model_apis.transcript import Transcript
from agentbench_tui.http.sse import SseEvent
from agentbench_tui.model.answer import Usage

CHAT = ChatCompletions("m", {}, stream=True)
RESPONSES = ResponsesApi("m", {}, stream=True)
MESSAGES = MessagesApi("m", {}, stream=True)


def streamed(dialect: Dialect, *events: dict[str, Any]) -> Transcript:
    """The k-th event is received at k ns, counted from 1."""
    transcript = Transcript({})
    for at, event in enumerate(events, start=1):
        data = msgspec.json.encode(event)
        transcript.received_bytes += len(data)
        dialect.read_event(SseEvent(data), at, transcript)
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


def part(ident: str | None, arguments: str, name: str | None = "f", **at: int) -> dict[str, Any]:
    """A part of a streamed call; `index=…` where the server gives one."""
    return {**at, "id": ident, "function": {"name": name, "arguments": arguments}}


def calls_of(*deltas: list[dict[str, Any]]) -> list[tuple[str | None, dict[str, Any]]]:
    transcript = streamed(CHAT, *(delta(tool_calls=parts) for parts in deltas))
    metadata: dict[str, Any] = {}
    calls = [(one.id, one.arguments) for one in transcript.tool_calls(metadata)]
    assert not metadata
    assert {one.name for one in transcript.tool_calls({})} == {"f"}
    return calls


A, B, C = ("a", {"x": 1}), ("b", {"x": 2}), ("c", {"x": 3})


@pytest.mark.parametrize("index", [{"index": 0}, {}])
def test_an_id_of_its_own_begins_a_call_where_the_index_tells_none_apart(
    index: dict[str, int],
) -> None:
    whole_parts = [part("a", '{"x":1}', **index)], [part("b", '{"x":2}', **index)]
    assert calls_of(*whole_parts) == [A, B]
    in_pieces = (
        [part("a", '{"x"', **index)],
        [part(None, ":1}", None, **index)],
        [part("b", '{"x"', **index)],
        [part("", ":2}", None, **index)],
    )
    assert calls_of(*in_pieces) == [A, B]
    taking_turns = (
        [part("a", '{"x"', **index)],
        [part("b", '{"x"', **index)],
        [part("a", ":1}", **index)],
        [part("b", ":2}", **index)],
    )
    assert calls_of(*taking_turns) == [A, B]


def test_calls_without_an_index_keep_their_order() -> None:
    first = [part("a", '{"x":1}'), part("b", '{"x":2}')]
    assert calls_of(first, [part("c", '{"x":3}')]) == [A, B, C]


def test_calls_with_an_index_are_sorted_by_it() -> None:
    assert calls_of([part("b", '{"x":2}', index=1)], [part("a", '{"x":1}', index=0)]) == [A, B]
    same = [part("a", '{"x":1}', index=0)], [part("a", '{"x":2}', index=1)]
    assert calls_of(*same) == [A, ("a", {"x": 2})]


def test_an_id_and_a_name_in_every_part_are_of_one_call() -> None:
    pieces = [[part("a", piece, index=0)] for piece in ('{"x"', ":", "1}")]
    assert calls_of(*pieces) == [A]


def test_an_id_that_comes_late_is_of_the_call_that_has_none() -> None:
    assert calls_of([part(None, '{"x"', index=0)], [part("a", ":1}", index=0)]) == [A]


@pytest.mark.parametrize(
    "part",
    [lambda nth: call(nth, "f"), lambda nth: call(0, f"f{nth}")],
    ids=["indexes", "ids"],
)
def test_a_stream_of_thousands_of_calls_costs_no_more_than_its_length(
    part: Callable[[int], dict[str, Any]],
) -> None:
    count = 20_000
    event = delta(tool_calls=[part(nth) for nth in range(count)])
    began = process_time()
    transcript = streamed(CHAT, event)
    assert process_time() - began < 2  # its square took 10 s and more
    assert len(transcript.tool_calls({})) == count


@pytest.mark.parametrize("index", [{"index": 0}, {}])
def test_an_id_without_a_name_continues_a_call(index: dict[str, int]) -> None:
    # Older vLLM gives every part an id of its own.
    first = [part("1", "", **index)], [part("2", '{"x":', None, **index)]
    assert calls_of(*first, [part("3", "1}", None, **index)]) == [("1", {"x": 1})]
    second = [part("4", "", **index)], [part("5", '{"x":2}', None, **index)]
    calls = calls_of(*first, [part("3", "1}", None, **index)], *second)
    assert calls == [("1", {"x": 1}), ("4", {"x": 2})]


def test_calls_whose_parts_have_ids_of_their_own_are_separated_by_the_index() -> None:
    parts = (
        part(str(2 * at + more), arguments, name, index=at)
        for at, number in enumerate((1, 2))
        for more, (arguments, name) in enumerate((("", "f"), (f'{{"x":{number}}}', None)))
    )
    assert calls_of(*([one] for one in parts)) == [("0", {"x": 1}), ("2", {"x": 2})]


@pytest.mark.parametrize("index", [{"index": 0}, {}])
def test_named_calls_with_complete_arguments_need_no_id(index: dict[str, int]) -> None:
    first, second = part(None, '{"x":1}', **index), part("", '{"x":2}', **index)
    assert calls_of([first], [second]) == [(None, {"x": 1}), (None, {"x": 2})]
    assert calls_of([first, second]) == [(None, {"x": 1}), (None, {"x": 2})]
    objects = [{**one, "function": {"name": "f", "arguments": {"x": 1}}} for one in (first, second)]
    assert calls_of(objects[:1], objects[1:]) == [(None, {"x": 1})] * 2
    assert calls_of(objects) == [(None, {"x": 1})] * 2
    empty = part(None, "", **index)
    assert calls_of([empty, empty]) == [(None, {}), (None, {})]


def test_calls_without_index_and_id_keep_their_order() -> None:
    parts = [part(None, f'{{"x":{number}}}') for number in range(4)]
    calls = calls_of(parts[:1], parts[1:2], parts[2:])
    assert calls == [(None, {"x": number}) for number in range(4)]


@pytest.mark.parametrize("index", [{"index": 0}, {}])
@pytest.mark.parametrize(
    "pieces",
    [
        ["", '{"x":1}'],
        ['{"x"', ":1}"],
        ['{"x"', ":", "1}", ""],
        ['{"x": {}', ',"y": "}', '{"}'],
    ],
)
def test_a_name_in_every_part_of_a_call_without_id_is_of_one_call(
    pieces: list[str], index: dict[str, int]
) -> None:
    parts = [[part(None, piece, **index)] for piece in pieces]
    assert calls_of(*parts) == [(None, msgspec.json.decode("".join(pieces)))]


def test_a_name_without_arguments_after_complete_ones_begins_a_call_once_more_arrive() -> None:
    parts = [[part(None, *said, index=0)] for said in (
        ("", "f"), ('{"x":1}', None), ("", "f"), ('{"x":', None), ("2}", None), ("", "f"),
    )]  # fmt: skip
    assert calls_of(*parts) == [(None, {"x": 1}), (None, {"x": 2})]


def test_another_name_begins_a_call() -> None:
    deltas = (delta(tool_calls=[part(None, "", name, index=0)]) for name in ("f", "g"))
    assert [one.name for one in streamed(CHAT, *deltas).tool_calls({})] == ["f", "g"]


def test_a_part_with_a_known_id_needs_no_index() -> None:
    first = [part("a", '{"x"', index=0), part("b", '{"x"', index=1)]
    assert calls_of(first, [part("b", ":2}", None)], [part("a", ":1}", None)]) == [A, B]


def test_numbers_as_ids_and_texts_as_indexes_are_read() -> None:
    pieces: list[dict[str, Any]] = [
        {"index": "0", "id": 1, "function": {"name": "f", "arguments": ""}},
        {"index": 0.0, "id": 1, "function": {"arguments": '{"x":1}'}},
        {"index": "1", "id": 2, "function": {"name": "f", "arguments": '{"x":2}'}},
        {"index": "?", "id": 3, "function": {"name": "f", "arguments": '{"x":3}'}},
    ]
    expected = [("1", {"x": 1}), ("2", {"x": 2}), ("3", {"x": 3})]
    assert calls_of(*([piece] for piece in pieces)) == expected
    choices = [{"index": str(at), "delta": {"content": text}} for at, text in enumerate("ab")]
    assert streamed(CHAT, {"choices": choices}).text == "a"


def test_numbers_as_ids_of_the_other_apis_are_read() -> None:
    block = {"type": "tool_use", "id": 7, "name": "f", "input": {}}
    piece = {"type": "input_json_delta", "partial_json": '{"x":1}'}
    transcript = streamed(
        MESSAGES,
        {"type": "content_block_start", "index": "1", "content_block": block},
        {"type": "content_block_delta", "index": 1, "delta": piece},
    )
    assert [(one.id, one.arguments) for one in transcript.tool_calls({})] == [("7", {"x": 1})]
    item = {"type": "function_call", "name": "f", "call_id": 7, "arguments": "{}"}
    body = msgspec.json.encode({"status": "completed", "output": [item]})
    assert [one.id for one in whole(RESPONSES, body).tool_calls({})] == ["7"]


def test_hostile_parts_of_a_call_cost_bounded_time() -> None:
    opening, piece = part(None, '{"x": "', index=0), part(None, "{" + "~" * 50 + "}", index=0)
    with bounded_work():
        transcript = streamed(
            CHAT, delta(tool_calls=[opening]), *[delta(tool_calls=[piece])] * 10_000
        )
        assert len(transcript.calls) == 1


def test_a_whole_message_lists_each_call_once() -> None:
    calls = [part(None, '{"x":1}', index=0), part(None, '{"x":2}', index=0)]
    body = {"choices": [{"message": {"tool_calls": calls}, "finish_reason": "tool_calls"}]}
    transcript = whole(CHAT, msgspec.json.encode(body))
    assert [one.arguments for one in transcript.tool_calls({})] == [{"x": 1}, {"x": 2}]


def test_blocks_of_the_messages_api_that_share_an_index_are_calls_of_their_own() -> None:
    events = []
    for ident, arguments in (("a", '{"x":1}'), ("b", '{"x":2}')):
        block = {"type": "tool_use", "id": ident, "name": "f", "input": {}}
        events += [
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0,
             "delta": {"type": "input_json_delta", "partial_json": arguments}},
        ]  # fmt: skip
    calls = streamed(MESSAGES, *events).tool_calls({})
    assert [(one.id, one.arguments) for one in calls] == [A, B]


def choice(index: int, text: str, finish: str | None = None) -> dict[str, Any]:
    return {"index": index, "delta": {"content": text}, "finish_reason": finish}


def test_of_several_choices_the_first_is_the_answer() -> None:
    lines = (
        [choice(1, "Lon")],
        [choice(0, "Par")],
        [choice(1, "don", "length"), choice(0, "is")],
        [choice(0, "", "stop")],
    )
    usage = {"prompt_tokens": 7, "completion_tokens": 9}
    events: list[dict[str, Any]] = [{"choices": choices} for choices in lines]
    transcript = streamed(CHAT, *events)
    assert transcript.text == "Paris"
    assert transcript.content_ns == [2, 3]
    assert transcript.finish_reason == "stop"
    assert transcript.counted() == Usage(None, 4, estimated=True)  # of the whole, as a server's
    assert streamed(CHAT, *events, {"choices": [], "usage": usage}).counted() == Usage(7, 9)
    assert not streamed(CHAT, {"choices": [choice(1, "x", "stop")]}).complete


def test_of_several_choices_of_a_whole_answer_the_first_is_the_answer() -> None:
    choices = [
        {"index": at, "message": {"content": text}, "finish_reason": "stop"}
        for at, text in ((1, "London"), (0, "Paris"))
    ]
    assert whole(CHAT, msgspec.json.encode({"choices": choices})).text == "Paris"


CHAT_NAMES = ("prompt_tokens", "completion_tokens")
RESPONSES_NAMES = ("input_tokens", "output_tokens")


@pytest.mark.parametrize(
    ("dialect", "names", "body"),
    [(CHAT, CHAT_NAMES, chat_body), (RESPONSES, RESPONSES_NAMES, responses_body)],
)
@pytest.mark.parametrize(
    ("counts", "output", "reasoning"),
    [
        # xAI counts reasoning apart: 40 + 8 + 100 = 148.
        ((40, 8, 100, 148), 108, 100),
        ((40, 200, 100, 340), 300, 100),
        # OpenAI counts it as a part: 2,000 + 300 = 2,300.
        ((2000, 300, 120, 2300), 300, 120),
        # Without a total, more reasoning than output can only be apart.
        ((40, 8, 100, None), 108, 100),
        ((40, 200, 100, None), 200, 100),
        # Neither a part nor apart: not believed.
        ((40, 8, 100, 48), 8, None),
        ((40, 8, 0, 48), 8, 0),
    ],
)
def test_reasoning_that_is_counted_apart_is_output(
    dialect: Dialect,
    names: tuple[str, str],
    body: Body,
    counts: tuple[int, int, int, int | None],
    output: int,
    reasoning: int | None,
) -> None:
    given, made, thought, total = counts
    usage = {
        names[0]: given,
        names[1]: made,
        "total_tokens": total,
        f"{names[0]}_details": {"cached_tokens": 10, "cache_write_tokens": 6},
        f"{names[1]}_details": {"reasoning_tokens": thought},
    }
    transcript = whole(dialect, body(msgspec.json.encode(usage)))
    assert transcript.counted() == Usage(given, output, 10, reasoning, cache_write_tokens=6)


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        # Gemini tells its thinking by the total alone: 20 + 198 + 405 = 623.
        ({"total_tokens": 623}, Usage(20, 603, None, 405, estimated=True)),
        ({"total_tokens": 218}, Usage(20, 198)),
        ({"total_tokens": 100}, Usage(20, 198)),
        # A total that has what an input without its cache leaves out.
        (
            {"total_tokens": 233, "prompt_tokens_details": {"cached_tokens": 15}},
            Usage(20, 198, 15),
        ),
    ],
)
def test_what_a_total_has_beyond_input_and_output_is_output(
    usage: dict[str, Any], counts: Usage
) -> None:
    known = {"prompt_tokens": 20, "completion_tokens": 198}
    assert whole(CHAT, chat_body(msgspec.json.encode(known | usage))).counted() == counts


@pytest.mark.parametrize(("dialect", "body"), BODIES)
def test_a_usage_of_zeros_is_none(dialect: Dialect, body: Body) -> None:
    assert whole(dialect, body(b'{"IN": 0, "OUT": 0, "total_tokens": 0}')).counted() is None
    assert whole(dialect, body(b'{"IN": 7, "OUT": 0}')).counted() == Usage(7)
    assert whole(dialect, body(b'{"IN": 0, "OUT": 3}')).counted() == Usage(None, 3)


def test_a_usage_of_zeros_leaves_the_chunks_of_a_stream() -> None:
    usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    transcript = streamed(
        CHAT, *(delta(content=text) for text in "Paris"), {"choices": [], "usage": usage}
    )
    assert transcript.counted() == Usage(None, 5, estimated=True)


def test_an_answer_that_says_nothing_has_no_tokens() -> None:
    usage = {"prompt_tokens": 7, "completion_tokens": 0}
    ended = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": usage}
    assert streamed(CHAT, ended).counted() == Usage(7, 0)


def messages_events(*usages: dict[str, Any]) -> list[dict[str, Any]]:
    """A stream of two words, with what it counts at its start and at its end."""
    start, end = usages
    words = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
        for text in ("a", "b")
    ]
    return [
        {"type": "message_start", "message": {"model": "m", "usage": start}},
        *words,
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": end},
        {"type": "message_stop"},
    ]


@pytest.mark.parametrize(
    ("start", "end", "usage"),
    [
        (
            {"input_tokens": 20, "cache_creation_input_tokens": 10_000,
             "cache_read_input_tokens": 5_000, "output_tokens": 1},
            {"output_tokens": 500},
            Usage(15_020, 500, 5_000, cache_write_tokens=10_000),
        ),
        (
            {"input_tokens": 20, "cache_creation_input_tokens": 10_000, "output_tokens": 1,
             "cache_creation": {"ephemeral_5m_input_tokens": 6_000,
                                "ephemeral_1h_input_tokens": 4_000}},
            {"input_tokens": 20, "output_tokens": 500},
            Usage(10_020, 500, cache_write_tokens=10_000, cache_write_1h_tokens=4_000),
        ),
        # All of the input from the cache.
        (
            {"input_tokens": 0, "cache_read_input_tokens": 50, "output_tokens": 1},
            {"output_tokens": 9},
            Usage(50, 9, 50),
        ),
        # Servers that know the input at the end only, that forget it there, that never count.
        ({"input_tokens": 0, "output_tokens": 0}, {"input_tokens": 30, "output_tokens": 9},
         Usage(30, 9)),
        ({"input_tokens": 30, "output_tokens": 1}, {"input_tokens": 0, "output_tokens": 9},
         Usage(30, 9)),
        ({"input_tokens": 0, "output_tokens": 0}, {"input_tokens": 0, "output_tokens": 0},
         Usage(None, 2, estimated=True)),
    ],
)  # fmt: skip
def test_counts_of_the_messages_api_are_joined(
    start: dict[str, Any], end: dict[str, Any], usage: Usage
) -> None:
    assert streamed(MESSAGES, *messages_events(start, end)).counted() == usage


def test_usage_of_any_length_is_read_and_does_not_fill_the_memory() -> None:
    chat = ChatCompletions("m", {}, stream=False)
    tracemalloc.start()
    try:
        for nth in range(20):
            usage = b'{"IN": 7, "OUT": 3, "more": "%b%d"}' % (b"x" * 500_000, nth)
            found = chat.plain_usage(chat_body(usage))
            assert found is not None
            assert (found.input_tokens, found.output_tokens) == (7, 3)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 3_000_000
