"""Splits dialogues of a dataset into the turns before the question, the question, and the expected
answer.

Files in chat format, as used for fine-tuning, hold one dialogue a line under `messages`, whose last
message is the assistant's: the answer that is expected, which must not be sent to the agent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from agentbench_tui.engine.cases.record import RecordFault
from agentbench_tui.model.answer import Message
from agentbench_tui.model.errors import did_you_mean
from agentbench_tui.model.text.not_json import NOT_JSON

ROLES = ("system", "developer", "user", "assistant", "tool")
CONVERSATIONS = "conversations"
"""Key of the turns of a record in ShareGPT's form, `{from, value}` each."""
_SPEAKERS = {
    "human": "user",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "bard": "assistant",
    "bing": "assistant",
    "function_call": "assistant",
    "observation": "tool",
}
"""Speaker of a turn in ShareGPT's form → role; others keep their name."""


def split_dialogue(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a case with `messages` as the turns before the input.

    Without an `input` the last user's message is the question; an assistant's message after it is
    the expected answer (its tool calls, where it makes some). Turns that end with a tool's result
    are kept whole, and the last user's message in them is the input. Where `input` repeats the last
    user's message, the question and the answer are removed from the turns before it. Raises
    RecordFault.
    """
    messages = read_messages(values["messages"]) if values.get("messages") else ()
    fields = {**values, "messages": messages}
    if not messages:
        return fields
    answer = messages[-1] if messages[-1].role == "assistant" else None
    before = messages[:-1] if answer else messages
    question = before[-1].content if before and before[-1].role == "user" else None
    given = fields.get("input")
    if given is not None and given != question:
        return fields  # The dialogue is what happened before the question.
    if question is None and given is None and before and before[-1].role == "tool":
        question = _last_question(before)
        kept = before
    else:
        kept = before[:-1]
    if question is None:
        raise RecordFault("no `input`, and `messages` has no user's message for it at the end")
    fields |= {"input": question, "messages": kept}
    if answer is None:
        return fields
    expected = _expected(answer)
    if given is None and fields.get("expected") not in (None, expected):
        raise RecordFault(
            "`messages` ends with the assistant's answer, and `expected` is another one; remove one"
        )
    if fields.get("expected") is None:
        fields["expected"] = expected
    return fields


def _last_question(messages: tuple[Message, ...]) -> str | None:
    """Return the last message of a user; None without any."""
    return next((one.content for one in reversed(messages) if one.role == "user"), None)


def conversation_messages(turns: Any) -> list[dict[str, Any]]:
    """Return the turns of a recorded conversation as messages, from the first that is not an
    answer.

    Parts of longer conversations begin with an answer to a missing question. Raises RecordFault for
    an invalid conversation, and one without a user's turn.
    """
    if not isinstance(turns, list) or not all(isinstance(turn, Mapping) for turn in turns):
        raise RecordFault(f"`{CONVERSATIONS}` is not a list of turns")
    messages: list[dict[str, Any]] = []
    for turn in turns:
        speaker = turn.get("from", turn.get("role"))
        role = _SPEAKERS.get(str(speaker).lower(), speaker)
        if role == "assistant" and not any(message["role"] == "user" for message in messages):
            continue
        messages.append({"role": role, "content": turn.get("value", turn.get("content"))})
    if not any(message["role"] == "user" for message in messages):
        raise RecordFault(f"`{CONVERSATIONS}` has no user's turn")
    return messages


def read_messages(value: Any) -> tuple[Message, ...]:
    """Return the messages of a dialogue. Raises RecordFault for an invalid one."""
    if isinstance(value, list | tuple):
        value = [_plain(one) if isinstance(one, Mapping) else one for one in value]
    try:
        messages: tuple[Message, ...] = msgspec.convert(value, tuple[Message, ...])
    except msgspec.ValidationError as error:
        reason = str(error)
        raise RecordFault(f"`messages`: {reason[:1].lower()}{reason[1:]}") from None
    for place, message in enumerate(messages):
        if message.role not in ROLES:
            near = did_you_mean(message.role, ROLES) or f"; there are {', '.join(ROLES)}"
            raise RecordFault(f'`messages.{place}`: there is no role "{message.role}"{near}')
    return messages


def _plain(message: Mapping[str, Any]) -> dict[str, Any]:
    """Normalize a message of the chat completions API: text in parts, missing text, calls as
    functions.
    """
    plain = dict(message)
    content = plain.get("content", "")
    if content is None:
        plain["content"] = ""
    elif isinstance(content, list) and all(map(_is_text, content)):
        plain["content"] = "".join(part["text"] for part in content)
    calls = plain.get("tool_calls")
    if calls is None:
        plain.pop("tool_calls", None)
    elif isinstance(calls, list):
        plain["tool_calls"] = [_plain_call(call) for call in calls]
    return plain


def _is_text(part: Any) -> bool:
    return (
        isinstance(part, Mapping)
        and part.get("type") == "text"
        and isinstance(part.get("text"), str)
    )


def _plain_call(call: Any) -> Any:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        return call
    arguments = function.get("arguments", {})
    if isinstance(arguments, str):
        try:
            arguments = msgspec.json.decode(arguments or "{}")
        except NOT_JSON:
            raise RecordFault(
                f"the arguments of a tool call are not valid JSON: {arguments[:40]}"
            ) from None
    return {"name": function.get("name"), "arguments": arguments, "id": call.get("id")}


def _expected(answer: Message) -> Any:
    if answer.tool_calls:
        return [{"name": call.name, "arguments": call.arguments} for call in answer.tool_calls]
    return answer.content
