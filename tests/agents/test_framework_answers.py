"""What agent frameworks return is read by its shape, or refused with what to return instead.

The shapes are those of langchain-core 1.8, langgraph 1.2, openai-agents 0.24, pydantic-ai 2.68 and
smolagents 1.26, whose objects are stood in for by plain ones with the same attributes.
"""

from types import SimpleNamespace as Object
from typing import Any

import pytest

from agentbench_tui.agents.reply import answer_of, answer_of_fields
from agentbench_tui.model.answer import AgentFailure, FailureKind, ToolCall, Usage

ADD = ToolCall("add", {"a": 1, "b": 2}, "c1", "3")


def ai(content: Any, calls: list[Any] | None = None, tokens: int | None = None) -> Object:
    usage = None if tokens is None else {"input_tokens": tokens, "output_tokens": 1}
    about = {"model_name": "small-1"}
    return Object(
        type="ai",
        content=content,
        tool_calls=calls or [],
        usage_metadata=usage,
        response_metadata=about,
    )


LANGCHAIN_CALL = {"name": "add", "args": {"a": 1, "b": 2}, "id": "c1", "type": "tool_call"}
OPENAI_CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "add", "arguments": '{"a": 1, "b": 2}'},
}


def test_a_state_of_langgraph_has_the_calls_of_the_last_turn_with_their_results() -> None:
    earlier = [
        Object(type="human", content="0+0"),
        ai("", [{"name": "sub", "args": {}, "id": "x"}]),
    ]
    turn = [
        Object(type="human", content="1+2"),
        ai("", [LANGCHAIN_CALL], tokens=10),
        Object(type="tool", content="3", tool_call_id="c1"),
        ai([{"type": "text", "text": "It is "}, {"type": "text", "text": "3."}], tokens=20),
    ]
    answer = answer_of({"messages": [*earlier, *turn]})
    assert (answer.text, answer.tool_calls, answer.model) == ("It is 3.", (ADD,), "small-1")
    assert answer.usage == Usage(30, 2)


def test_structured_output_of_a_state_is_data() -> None:
    class Sum:
        def model_dump(self, mode: str) -> dict[str, int]:
            assert mode == "json"
            return {"sum": 3}

    state = {"messages": [ai("done")], "structured_response": Sum()}
    assert answer_of(state).data == {"sum": 3}


def test_messages_in_chat_format_are_read_alike() -> None:
    messages = [
        {"role": "user", "content": "1+2"},
        {"role": "assistant", "content": None, "tool_calls": [OPENAI_CALL]},
        {"role": "tool", "content": "3", "tool_call_id": "c1"},
        {"role": "assistant", "content": "3"},
    ]
    for value in ({"messages": messages}, messages):
        answer = answer_of(value)
        assert (answer.text, answer.tool_calls) == ("3", (ADD,))


def test_a_single_message_of_langchain_is_an_answer() -> None:
    assert answer_of(ai("3", tokens=5)).text == "3"
    assert answer_of(ai("", [LANGCHAIN_CALL])).tool_calls == (ToolCall("add", ADD.arguments, "c1"),)


def test_steps_of_an_agent_executor_are_calls() -> None:
    action = Object(tool="add", tool_input={"a": 1, "b": 2}, log="…")
    search = Object(tool="search", tool_input="sums", log="…")
    value = {"input": "1+2", "output": "3", "intermediate_steps": [(action, "3"), (search, "…")]}
    answer = answer_of(value)
    assert answer.text == "3"
    assert [(one.name, one.arguments, one.result) for one in answer.tool_calls] == [
        ("add", {"a": 1, "b": 2}, "3"),
        ("search", {"input": "sums"}, "…"),
    ]


def test_a_run_of_the_openai_agents_sdk() -> None:
    call = Object(name="add", arguments='{"a": 1, "b": 2}', call_id="c1", type="function_call")
    items = [
        Object(type="tool_call_item", raw_item=call),
        Object(type="tool_call_output_item", raw_item={"call_id": "c1"}, output="3"),
        Object(type="message_output_item", raw_item=Object()),
    ]
    usage = Object(usage=Object(input_tokens=9, output_tokens=4))
    answer = answer_of(Object(final_output="3", new_items=items, context_wrapper=usage))
    assert (answer.text, answer.tool_calls, answer.usage) == ("3", (ADD,), Usage(9, 4))


def test_a_run_of_pydantic_ai() -> None:
    call = Object(
        part_kind="tool-call", tool_name="add", args='{"a": 1, "b": 2}', tool_call_id="c1"
    )
    result = Object(part_kind="tool-return", tool_name="add", content="3", tool_call_id="c1")
    text = Object(part_kind="text", content="3")
    messages = [Object(parts=[call]), Object(parts=[result]), Object(parts=[text])]
    usage = Object(input_tokens=9, output_tokens=4)
    for given in (usage, lambda: usage):
        value = Object(output={"sum": 3}, new_messages=lambda: messages, usage=given)
        answer = answer_of(value)
        assert (answer.data, answer.tool_calls, answer.usage) == ({"sum": 3}, (ADD,), Usage(9, 4))


def test_a_run_of_smolagents_is_without_the_tool_that_ends_it() -> None:
    end = {"id": "c2", "type": "function", "function": {"name": "final_answer", "arguments": {}}}
    steps = [
        {"task": "1+2"},
        {"tool_calls": [OPENAI_CALL], "observations": "3"},
        {"tool_calls": [end], "observations": None},
    ]
    tokens = Object(input_tokens=9, output_tokens=4)
    answer = answer_of(Object(output=3, state="success", steps=steps, token_usage=tokens))
    assert (answer.text, answer.tool_calls, answer.usage) == ("3", (ADD,), Usage(9, 4))


def test_a_chat_completion_is_an_answer() -> None:
    call = Object(id="c1", type="function", function=Object(name="add", arguments="{}"))
    message = Object(role="assistant", content="3", tool_calls=[call])
    usage = Object(prompt_tokens=7, completion_tokens=2)
    value = Object(choices=[Object(message=message)], model="small-1", usage=usage)
    answer = answer_of(value)
    assert (answer.text, answer.tool_calls) == ("3", (ToolCall("add", {}, "c1"),))
    assert answer.usage == Usage(7, 2)


@pytest.mark.parametrize("call", [LANGCHAIN_CALL, OPENAI_CALL])
def test_calls_of_an_answer_may_be_written_as_frameworks_do(call: dict[str, Any]) -> None:
    expected = (ToolCall("add", ADD.arguments, "c1"),)
    assert answer_of({"text": "3", "tool_calls": [call]}).tool_calls == expected
    assert answer_of_fields({"text": "3", "tool_calls": [call]}).tool_calls == expected


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"answer": "3", "tool_calls": [OPENAI_CALL]}, "`answer` is no field of an answer"),
        ({"result": "3", "steps": []}, "cannot read `steps` of the returned dict"),
        ({"messages": [{"role": "user", "content": "?"}]}, "no message of the assistant"),
        (Object(), "expected Answer, str or dict"),
        (Object(output="3", new_messages=lambda: None, usage=None), "cannot read the returned"),
    ],
)
def test_what_would_lose_calls_is_refused_with_what_to_return(value: Any, words: str) -> None:
    with pytest.raises(AgentFailure, match="return") as raised:
        answer_of(value)
    assert raised.value.kind is FailureKind.PARSE
    assert words in raised.value.detail


def test_other_dicts_are_data() -> None:
    assert answer_of({"total": 12.5}).data == {"total": 12.5}
    assert answer_of({"output": "3"}).data == {"output": "3"}
