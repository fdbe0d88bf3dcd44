"""What a session sends turn by turn, and which request an arrival gets."""

from collections import Counter
from itertools import pairwise
from math import sqrt
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.agents.model_apis.chat_completions import ChatCompletions
from agentbench_tui.load.sending.protocol import Conversation, RequestType, Turn
from agentbench_tui.load.workload.conversation import Mix, Script
from agentbench_tui.model.answer import Message, ToolCall

WEATHER = {"name": "weather", "parameters": {"type": "object"}}


def user(text: str) -> Message:
    return Message("user", text)


def session(*questions: str, **given: Any) -> Conversation:
    turns = tuple(
        Turn((user(question),), output_tokens=10 * place)
        for place, question in enumerate(questions, start=1)
    )
    return Conversation(turns, **given)


def begin(conversation: Conversation) -> Script:
    return Script(conversation)


def sent(script: Script) -> list[dict[str, Any]]:
    """The next messages as chat completions have them."""
    body = ChatCompletions("m", {}, stream=False).body(script.next_messages(), [])
    messages: list[dict[str, Any]] = body["messages"]
    return messages


def test_a_session_of_one_turn_is_over_with_its_answer() -> None:
    script = begin(session("One?"))
    assert sent(script) == [{"role": "user", "content": "One?"}]
    assert script.output_tokens == 10
    assert script.take("1") is False


def test_each_turn_sends_the_real_answers_before_it() -> None:
    script = begin(session("One?", "Two?", "Three?", think_time_ms=250.0))
    assert script.take("first answer")
    assert (script.turn, script.output_tokens, script.think_time_ms) == (1, 20, 250.0)
    assert sent(script) == [
        {"role": "user", "content": "One?"},
        {"role": "assistant", "content": "first answer"},
        {"role": "user", "content": "Two?"},
    ]
    assert script.take("second answer")
    assert sent(script) == [
        {"role": "user", "content": "One?"},
        {"role": "assistant", "content": "first answer"},
        {"role": "user", "content": "Two?"},
        {"role": "assistant", "content": "second answer"},
        {"role": "user", "content": "Three?"},
    ]
    assert not script.take("third answer")


def test_a_call_is_answered_with_the_result_of_its_tool() -> None:
    conversation = session(
        "Rain in Oslo?",
        tools=(WEATHER,),
        tool_results={"weather": '{"rain": true}'},
        most_tool_rounds=1,
    )
    script = begin(conversation)
    assert script.take("Let me see.", (ToolCall("weather", {"city": "Oslo"}, id="abc"),))
    assert (script.turn, script.think_time_ms) == (0, 0.0)
    assert sent(script) == [
        {"role": "user", "content": "Rain in Oslo?"},
        {
            "role": "assistant",
            "content": "Let me see.",
            "tool_calls": [
                {
                    "id": "abc",
                    "type": "function",
                    "function": {"name": "weather", "arguments": '{"city":"Oslo"}'},
                }
            ],
        },
        {"role": "tool", "content": '{"rain": true}', "tool_call_id": "abc"},
    ]
    assert not script.take("Yes, rain.")


def test_calls_at_once_get_a_result_each_and_unknown_tools_an_empty_object() -> None:
    conversation = session(
        "Rain?", tools=(WEATHER,), tool_results={"weather": "wet"}, most_tool_rounds=1
    )
    script = begin(conversation)
    calls = (ToolCall("weather", id="a"), ToolCall("stocks", id="b"), ToolCall("weather", id="c"))
    assert script.take("", calls)
    assert sent(script)[2:] == [
        {"role": "tool", "content": "wet", "tool_call_id": "a"},
        {"role": "tool", "content": "{}", "tool_call_id": "b"},
        {"role": "tool", "content": "wet", "tool_call_id": "c"},
    ]


def test_calls_without_ids_get_ids_that_come_once_in_a_session() -> None:
    script = begin(session("Rain?", tools=(WEATHER,), most_tool_rounds=3))
    for _ in range(3):
        assert script.take("", (ToolCall("weather"), ToolCall("weather")))
    messages = sent(script)
    called = [call["id"] for message in messages for call in message.get("tool_calls", ())]
    answered = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
    assert called == answered
    assert len(set(called)) == 6


def test_after_the_last_round_of_calls_the_turn_is_over() -> None:
    script = begin(session("Rain?", tools=(WEATHER,), most_tool_rounds=2))
    call = (ToolCall("weather"),)
    assert [script.take("", call) for _ in range(3)] == [True, True, False]


def test_each_turn_has_its_own_rounds_and_calls_beyond_leave_no_trace() -> None:
    script = begin(
        session("Rain?", "Snow?", tools=(WEATHER,), most_tool_rounds=1, think_time_ms=40.0)
    )
    call = (ToolCall("weather", id="a"),)
    assert script.take("", call)
    assert script.think_time_ms == 0
    assert script.take("I ask again.", call)
    assert (script.turn, script.think_time_ms) == (1, 40.0)
    assert sent(script)[-2:] == [
        {"role": "assistant", "content": "I ask again."},
        {"role": "user", "content": "Snow?"},
    ]
    assert script.take("", call)
    assert not script.take("", call)


def test_without_tools_calls_are_no_reason_to_go_on() -> None:
    assert not begin(session("Rain?")).take("", (ToolCall("weather"),))


def mix(*types: tuple[str, float, int], seed: int = 42) -> Mix:
    """Of types by name, weight and number of conversations."""
    return Mix(
        [
            RequestType(name, weight, tuple(session(f"{name} {n}") for n in range(count)))
            for name, weight, count in types
        ],
        seed,
    )


def question(conversation: Conversation) -> str:
    return conversation.turns[0].messages[0].content


def test_conversations_of_the_only_type_are_taken_in_turn() -> None:
    picked = [mix(("a", 3.0, 3)).pick(index) for index in range(7)]
    assert [question(conversation) for _, conversation in picked] == [
        f"a {n}" for n in (0, 1, 2, 0, 1, 2, 0)
    ]
    assert {kind for kind, _ in picked} == {0}


def test_arrivals_before_the_window_begin_at_the_other_end() -> None:
    only = mix(("a", 1.0, 10))
    assert [question(only.pick(index)[1]) for index in (-1, -2, 0)] == ["a 9", "a 8", "a 0"]


def test_types_come_in_proportion_to_their_weights() -> None:
    n = 100_000
    three = mix(("a", 6.0, 2), ("b", 3.0, 2), ("c", 1.0, 2))
    counts = Counter(three.pick(index)[0] for index in range(n))
    for kind, share in enumerate((0.6, 0.3, 0.1)):
        assert abs(counts[kind] - n * share) < 4 * sqrt(n * share * (1 - share))


def test_types_of_neighboring_arrivals_are_independent() -> None:
    n = 100_000
    two = mix(("a", 1.0, 1), ("b", 1.0, 1))
    kinds = [two.pick(index)[0] for index in range(n + 1)]
    pairs = Counter(pairwise(kinds))
    assert all(abs(count - n / 4) < 4 * sqrt(n * 3 / 16) for count in pairs.values())
    assert len(pairs) == 4


def test_all_conversations_of_every_type_have_their_turn() -> None:
    two = mix(("a", 1.0, 7), ("b", 3.0, 7))
    picked = {question(two.pick(index)[1]) for index in range(1000)}
    assert picked == {f"{name} {n}" for name in "ab" for n in range(7)}


def test_seeds_give_other_mixes() -> None:
    one, same, other = (mix(("a", 1.0, 1), ("b", 1.0, 1), seed=seed) for seed in (1, 1, 2))
    kinds = [[some.pick(index)[0] for index in range(64)] for some in (one, same, other)]
    assert kinds[0] == kinds[1] != kinds[2]


@given(st.integers(0, 2**63), st.integers(-1000, 2**40), st.integers(1, 64))
def test_the_request_of_an_arrival_depends_on_seed_and_arrival_alone(
    seed: int, index: int, workers: int
) -> None:
    one = mix(("a", 1.0, 3), ("b", 2.0, 5), seed=seed)
    other = mix(("a", 1.0, 3), ("b", 2.0, 5), seed=seed)
    for earlier in range(workers):
        other.pick(earlier)
    assert one.pick(index) == other.pick(index)
