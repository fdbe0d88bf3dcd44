"""Reads what agent frameworks return, by its shape: nothing of them is imported.

Known are messages of LangChain and states of LangGraph (`{"messages": [...]}`, also in OpenAI's
chat format), results of LangChain's AgentExecutor (`output` with `intermediate_steps`), run results
of the OpenAI Agents SDK, pydantic-ai and smolagents, and chat completions of the OpenAI client.
The calls are those of the whole turn, in order, with the results of tools that the framework ran.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from agentbench_tui.model.answer import AgentFailure, Answer, FailureKind, ToolCall, Usage
from agentbench_tui.model.text.not_json import NOT_JSON

_ASSISTANT = frozenset({"assistant", "ai", "AIMessageChunk"})
_USER = frozenset({"user", "human"})
_TOOL = frozenset({"tool", "function"})
_MESSAGE_FIELDS = ("role", "type", "content", "tool_calls", "tool_call_id", "usage_metadata",
                   "response_metadata")  # fmt: skip
_FINAL_ANSWER = "final_answer"
"""The tool by which smolagents' agents answer."""


def framework_answer(value: Any) -> Answer | None:
    """Return the answer in what a framework returned; None for any other value.

    Raises AgentFailure for a conversation without an answer.
    """
    if isinstance(value, Mapping):
        return _of_mapping(value)
    if isinstance(value, list):
        return _of_messages(value) if value and all(map(_is_message, value)) else None
    if _has(value, "final_output", "new_items"):
        return _of_openai_agents(value)
    if _has(value, "output", "new_messages"):
        return _of_pydantic_ai(value)
    if _has(value, "output", "steps", "token_usage"):
        return _of_smolagents(value)
    if _has(value, "choices", "model"):
        return _of_messages([value.choices[0].message], _usage(getattr(value, "usage", None)))
    if _has(value, "content", "tool_calls"):
        return _of_messages([value])
    return None


def normalized_calls(calls: Any) -> Any:
    """Return tool calls with the names of agentbench for their parts; anything else as it is."""
    if not isinstance(calls, list | tuple):
        return calls
    return [_call(one) if isinstance(one, Mapping) else one for one in calls]


def _of_mapping(value: Mapping[Any, Any]) -> Answer | None:
    messages = value.get("messages")
    if isinstance(messages, list | tuple) and not value.keys() & {"text", "data", "tool_calls"}:
        if not messages or not all(map(_is_message, messages)):
            return None
        answer = _of_messages(messages)
        structured = value.get("structured_response")
        if structured is None:
            return answer
        return msgspec.structs.replace(answer, data=_plain(structured))
    if "output" in value and isinstance(value.get("intermediate_steps"), list | tuple):
        steps = [_step(one) for one in value["intermediate_steps"]]
        return _answer(value["output"], steps)
    choices = value.get("choices")
    if isinstance(choices, list) and choices and _part(choices[0], "message") is not None:
        return _of_messages([choices[0]["message"]], _usage(value.get("usage")))
    return None


def _of_messages(messages: Sequence[Any], usage: Usage | None = None) -> Answer:
    """Return the answer of the last turn: everything after the last message of the user."""
    turns = list(messages)
    for place in range(len(turns) - 1, -1, -1):
        if _role(turns[place]) in _USER:
            turns = turns[place + 1 :]
            break
    said = [one for one in turns if _role(one) in _ASSISTANT]
    if not said:
        raise AgentFailure(
            FailureKind.PARSE,
            "the returned messages have no message of the assistant after the user's last one",
        )
    results = {
        str(_part(one, "tool_call_id")): _text(_part(one, "content"))
        for one in turns
        if _role(one) in _TOOL
    }
    calls = [
        _with_result(_call(call), results)
        for one in said
        for call in _part(one, "tool_calls") or ()
    ]
    counted = usage or _sum(_usage(_part(one, "usage_metadata")) for one in said)
    about = _part(said[-1], "response_metadata") or {}
    return _answer(_text(_part(said[-1], "content")), calls, counted, about.get("model_name"))


def _of_openai_agents(value: Any) -> Answer:
    results: dict[str, Any] = {}
    calls = []
    for item in value.new_items:
        raw = _part(item, "raw_item")
        if _part(item, "type") == "tool_call_item" and _part(raw, "name"):
            calls.append(_call(raw))
        elif _part(item, "type") == "tool_call_output_item":
            results[str(_part(raw, "call_id"))] = _plain(_part(item, "output"))
    usage = _usage(_part(_part(value, "context_wrapper"), "usage"))
    return _answer(value.final_output, [_with_result(one, results) for one in calls], usage)


def _of_pydantic_ai(value: Any) -> Answer:
    parts = [part for message in value.new_messages() for part in _part(message, "parts") or ()]
    results = {
        str(part.tool_call_id): _plain(part.content)
        for part in parts
        if _part(part, "part_kind") == "tool-return"
    }
    calls = [
        _with_result(_call(part), results)
        for part in parts
        if _part(part, "part_kind") == "tool-call"
    ]
    usage = _usage(value.usage)
    if usage is None and callable(value.usage):  # a method before version 2
        usage = _usage(value.usage())
    return _answer(value.output, calls, usage)


def _of_smolagents(value: Any) -> Answer:
    calls = []
    for step in value.steps or ():
        made = [_call(one) for one in _part(step, "tool_calls") or ()]
        observed = _part(step, "observations")
        result = {} if observed is None or len(made) != 1 else {str(made[0]["id"]): observed}
        calls += [_with_result(one, result) for one in made if one["name"] != _FINAL_ANSWER]
    return _answer(value.output, calls, _usage(value.token_usage))


def _answer(
    output: Any, calls: Sequence[Mapping[str, Any]], usage: Usage | None = None, model: Any = None
) -> Answer:
    """Return an answer with a final output of any type."""
    is_text = isinstance(output, str | int | float) or output is None
    return Answer(
        text="" if output is None else str(output) if is_text else "",
        data=None if is_text else _plain(output),
        tool_calls=tuple(msgspec.convert(one, ToolCall) for one in calls),
        usage=usage,
        model=model if isinstance(model, str) else None,
    )


def _step(step: Any) -> dict[str, Any]:
    """Return a step of AgentExecutor, a pair of an action and what the tool returned."""
    action, result = step if isinstance(step, list | tuple) and len(step) == 2 else (step, None)
    given = _part(action, "tool_input")
    arguments = given if isinstance(given, Mapping) else {"input": given}
    return {
        "name": str(_part(action, "tool")),
        "arguments": _plain(arguments),
        "result": _plain(result),
    }


def _call(call: Any) -> dict[str, Any]:
    """Return a tool call, as any of the frameworks writes it, with agentbench's names."""
    inner = _part(call, "function")
    source = inner if inner is not None and not isinstance(inner, str) else call
    name = _part(source, "name") or _part(source, "tool_name")
    arguments: Any = next(
        (given for key in ("arguments", "args") if (given := _part(source, key)) is not None), {}
    )
    if isinstance(arguments, str):
        try:
            arguments = msgspec.json.decode(arguments) if arguments.strip() else {}
        except NOT_JSON:
            arguments = {"input": arguments}
    if not isinstance(arguments, Mapping):
        arguments = {"input": arguments}
    ident = next(
        (given for key in ("call_id", "tool_call_id", "id") if (given := _part(call, key))), None
    )
    found: dict[str, Any] = {"name": name, "arguments": _plain(arguments), "id": ident}
    result = _part(call, "result")
    return found if result is None else found | {"result": result}


def _with_result(call: dict[str, Any], results: Mapping[str, Any]) -> dict[str, Any]:
    result = results.get(str(call["id"]))
    return call if result is None else call | {"result": result}


def _is_message(value: Any) -> bool:
    return _role(value) is not None and (
        not isinstance(value, Mapping) or bool(value.keys() & set(_MESSAGE_FIELDS[2:]))
    )


def _role(message: Any) -> str | None:
    for key in ("role", "type"):
        found = _part(message, key)
        if isinstance(found, str):
            return found
    return None


def _text(content: Any) -> str:
    """Return the text of a message, whose content may be a list of blocks."""
    if isinstance(content, str):
        return content
    return "".join(_texts(content))


def _texts(blocks: Any) -> Iterator[str]:
    for block in blocks if isinstance(blocks, list | tuple) else ():
        if isinstance(block, str):
            yield block
        elif isinstance(text := _part(block, "text"), str):
            yield text


def _usage(given: Any) -> Usage | None:
    """Return the tokens of a framework's count, or of OpenAI's; None without any."""
    if given is None:
        return None
    read = next((n for key in _INPUT if isinstance(n := _part(given, key), int)), None)
    made = next((n for key in _OUTPUT if isinstance(n := _part(given, key), int)), None)
    return None if read is None and made is None else Usage(read, made)


_INPUT = ("input_tokens", "prompt_tokens")
_OUTPUT = ("output_tokens", "completion_tokens")


def _sum(counts: Iterator[Usage | None]) -> Usage | None:
    """Return the sum over the messages of a turn; None if one of them has no count."""
    known = list(counts)
    if not known or any(one is None for one in known):
        return None
    found = [one for one in known if one is not None]
    return Usage(
        sum(one.input_tokens or 0 for one in found), sum(one.output_tokens or 0 for one in found)
    )


def _part(value: Any, name: str) -> Any:
    """Return a field of a table or an attribute of an object; None without it."""
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _has(value: Any, *names: str) -> bool:
    return not isinstance(value, type) and all(hasattr(value, name) for name in names)


def _plain(value: Any) -> Any:
    """Return plain data: models of pydantic become tables, unknown objects their text."""
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        value = dump(mode="json")
    try:
        return msgspec.to_builtins(value, str_keys=True, enc_hook=str)
    except (TypeError, ValueError, RecursionError):
        return str(value)
