"""The answers of both sides to one case, with the question and the messages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec

from agentbench_tui.model.answer import Message, ToolCall
from agentbench_tui.store.queries.answers import case_of
from agentbench_tui.store.queries.executions import find_execution

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

Row = dict[str, Any]


def answer_to_case(
    connection: sqlite3.Connection, execution_ids: Sequence[str], case_id: str, *, right: bool
) -> Row | None:
    """Return one answer of these executions to the case, as `queries.case_of` returns it.

    Takes the first right (or wrong) answer, or the first of any kind if there is none; None if the
    case was not asked.
    """
    for execution_id in execution_ids:
        key = find_execution(connection, execution_id)
        rows = [] if key is None else case_of(connection, key, case_id)
        if rows:
            return next((row for row in rows if (row["correct"] == 1) is right), rows[0])
    return None


def conversation(row: Row) -> tuple[Message, ...]:
    """Return the messages of an observation (of `queries.case_of`): from the case's input to the
    answer or failure.
    """
    kept = [_message(one) for one in row["messages"]]
    asked = _text(row["case"].get("input"))
    if not any(one.role == "user" for one in kept):
        kept.insert(_systems(kept), Message("user", asked))
    answer = row["answer"] or {}
    text = str(answer.get("text") or "")
    said = kept[-1].content if kept and kept[-1].role == "assistant" else None
    if row["failure_kind"]:
        details = [one["detail"] for one in row["failures"] if one["detail"]]
        why = f": {details[-1]}" if details else ""
        kept.append(Message("failure", f"{row['failure_kind']}{why}"))
    elif text != said and (text or answer.get("tool_calls") or answer.get("data") is not None):
        calls = msgspec.convert(answer.get("tool_calls") or [], tuple[ToolCall, ...])
        named = {call.name for one in kept for call in one.tool_calls}
        new = tuple(call for call in calls if call.name not in named)
        kept.append(Message("assistant", text or _text(answer.get("data") or ""), new))
    return tuple(kept)


def _systems(messages: Sequence[Message]) -> int:
    return next((at for at, one in enumerate(messages) if one.role != "system"), len(messages))


def _message(row: Row) -> Message:
    calls = json.loads(row["tool_calls"]) if row["tool_calls"] else []
    return Message(
        row["role"],
        row["content"],
        msgspec.convert(calls, tuple[ToolCall, ...]),
        row["tool_call_id"],
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
