"""Converts an agent's reply to an Answer, or to a failure of kind `parse` or `limit`.

Replies are untrusted: types are checked and sizes are bounded here, once for all local agents.
"""

from __future__ import annotations

from typing import Any

import msgspec

from agentbench_tui.agents.framework_answers import framework_answer, normalized_calls
from agentbench_tui.model.answer import (
    UNMEASURED,
    AgentFailure,
    Answer,
    FailureKind,
    Request,
    plain_turn,
)
from agentbench_tui.model.errors import did_you_mean

MAX_TEXT = 4 * 1024 * 1024
"""Characters of an answer's text."""

FIELDS = frozenset(Answer.__struct_fields__)
"""Fields of a reply."""


def answer_of(value: Any) -> Answer:
    """Convert what a Python function returned: an Answer, text, a dict, or a framework's result.

    A dict whose keys are all fields of Answer is one; any other dict is the answer's `data`, unless
    it seems to hold calls of tools, which would be lost. Raises AgentFailure.
    """
    if isinstance(value, str):  # of a subclass, the text alone: its methods are not trusted
        return Answer(text=_bounded(str.__str__(value)))
    if isinstance(value, Answer):
        return _checked(value)
    found = _of_framework(value)
    if found is not None:
        return _checked(found)
    if isinstance(value, dict):
        if value and FIELDS.issuperset(value):
            return answer_of_fields(value)
        if lost := sorted(_OF_CALLS & {str(key) for key in value}):
            raise AgentFailure(FailureKind.PARSE, _lost_calls(lost[0], value))
        return _of_data(value)
    raise AgentFailure(
        FailureKind.PARSE,
        f"returned {type(value).__name__}; expected Answer, str or dict, such as"
        " Answer(text=…, tool_calls=…)",
    )


_OF_CALLS = frozenset({"tool_calls", "intermediate_steps", "messages", "new_items", "steps"})
"""Keys of a dict that may hold calls of tools."""


def _lost_calls(key: str, value: dict[Any, Any]) -> str:
    others = [str(name) for name in value if name not in FIELDS]
    hint = f"; `{others[0]}` is no field of an answer" if key in FIELDS and others else ""
    return (
        f"cannot read `{key}` of the returned dict{hint}: return text, or"
        " Answer(text=…, data=…, tool_calls=(ToolCall(name, arguments), …))"
    )


def _of_framework(value: Any) -> Answer | None:
    try:
        return framework_answer(value)
    except AgentFailure:
        raise
    except Exception as error:  # noqa: BLE001  # of objects that only look like a framework's
        raise AgentFailure(
            FailureKind.PARSE,
            f"cannot read the returned {type(value).__name__}: {type(error).__name__}: {error};"
            " return text or an Answer",
        ) from None


def answer_of_fields(fields: dict[str, Any]) -> Answer:
    """Return the answer with these fields. Raises AgentFailure for unknown fields and wrong
    types.
    """
    for name in fields.keys() - FIELDS:
        hint = did_you_mean(str(name), FIELDS)
        raise AgentFailure(FailureKind.PARSE, f"the answer has no field `{name}`{hint}")
    if "tool_calls" in fields:
        fields = {**fields, "tool_calls": normalized_calls(fields["tool_calls"])}
    try:
        answer = msgspec.convert(fields, Answer)
    except (msgspec.ValidationError, RecursionError) as error:
        raise AgentFailure(FailureKind.PARSE, f"the answer has a wrong type: {error}") from None
    return _checked(answer)


def failure_of(reported: AgentFailure) -> AgentFailure:
    """Return the failure that an agent reported or raised, without claims that it cannot make, such
    as who caused it, and without an invalid partial answer.
    """
    if reported.kind in UNMEASURED:
        detail = f"reported an error of no known kind: {reported.detail}"
        return AgentFailure(FailureKind.PARSE, detail)
    if reported.partial is not None:
        try:
            reported.partial = _checked(reported.partial)
        except AgentFailure:
            reported.partial = None
    return reported


def task_of(request: Request) -> dict[str, Any]:
    """Return the request as it is written to a program's standard input."""
    case = request.case
    limit_s = request.time_limit_s
    return {
        "type": "task",
        "case_id": case.id,
        "input": case.input,
        "messages": [plain_turn(turn) for turn in case.messages],
        "tools": case.tools,
        "seed": request.seed,
        "parameters": dict(request.parameters),
        "time_limit_ms": None if limit_s is None else limit_s * 1000,
    }


def _of_data(value: dict[Any, Any]) -> Answer:
    return _checked(Answer(data=value))


def _checked(answer: Answer) -> Answer:
    """Return the answer after checking that every field has its type and fits into JSON."""
    try:
        plain = msgspec.to_builtins(answer, str_keys=True)
        checked = msgspec.convert(plain, Answer)
        _check_digits(checked)
    except (msgspec.ValidationError, TypeError, ValueError, RecursionError) as error:
        raise AgentFailure(FailureKind.PARSE, f"the answer is not plain data: {error}") from None
    _bounded(checked.text)
    return checked


def _check_digits(answer: Answer) -> None:
    """Raise ValueError for an integer with more digits than Python reads and writes."""
    try:
        msgspec.json.encode(answer)
    except UnicodeEncodeError:  # half a character, which is stored as visible text
        return
    except ValueError:
        raise ValueError("a whole number in it has more than 4,300 digits") from None


def _bounded(text: str) -> str:
    if len(text) > MAX_TEXT:
        raise AgentFailure(FailureKind.LIMIT, f"answered more than {MAX_TEXT} characters")
    return text
