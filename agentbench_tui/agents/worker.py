"""Turns a Python function into an agent that agentbench runs as a persistent program.

    from agentbench_tui.agents.worker import Reply, Task, serve

    def answer(task: Task) -> Reply:
        return Reply(text=str(len(task.input)))

    if __name__ == "__main__":
        serve(answer, name="counter", version="1")

The program is started once and asked many times: one JSON object a line on standard input, one a
line on standard output (protocol 1):

    → {"type": "hello", "protocol": 1}
    ← {"type": "hello", "protocol": 1, "name": "counter", "version": "1"}
    → {"type": "task", "id": 1, "case_id": "a", "input": "…", "messages": [{"role", "content"}],
       "tools": [{"name", "description", "parameters"}], "seed": 7, "parameters": {},
       "time_limit_ms": 1000}
    ← {"id": 1, "text": "…"}            and any other field of `Reply`
    ← {"id": 1, "error": {"kind": "agent", "detail": "ValueError: …"}}

The end of standard input ends the program. Only the standard library is imported, so that a
program starts quickly; other languages can speak the same protocol without this module.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, BinaryIO

PROTOCOL = 1


@dataclass(frozen=True, slots=True)
class Task:
    """One question as received from the harness."""

    id: int
    """Number of the question in this session; repeated in the reply."""
    input: Any
    """The question: text, or any JSON value."""
    case_id: str = ""
    messages: tuple[dict[str, Any], ...] = ()
    """Turns before the input: `role` and `content`."""
    tools: tuple[dict[str, Any], ...] = ()
    """Tools that may be called: `name`, `description`, `parameters` (a JSON schema)."""
    seed: int = 0
    parameters: dict[str, Any] = field(default_factory=dict)
    """The parameter point of the execution."""
    time_limit_ms: float | None = None

    @property
    def text(self) -> str:
        """Return the input as text; structured input as JSON."""
        return self.input if isinstance(self.input, str) else json.dumps(self.input)


@dataclass(slots=True)
class Reply:
    """One answer. Fields with default values are not sent."""

    text: str = ""
    data: Any = None
    """Structured output."""
    tool_calls: list[dict[str, Any]] = field(default_factory=list)
    """Requested calls: `name`, `arguments`."""
    messages: list[dict[str, Any]] = field(default_factory=list)
    """Turns between input and answer, such as calls of tools that the agent ran itself."""
    spans: list[dict[str, Any]] = field(default_factory=list)
    """Phases of the work: `name`, `start_ms` since the task came, `duration_ms`."""
    usage: dict[str, int] | None = None
    """The known fields of `model.answer.Usage`: `input_tokens`, `output_tokens`, …"""
    api_calls: int = 1
    """Requests to a model or server that the answer took."""
    cost_usd: float | None = None

    def to_wire(self) -> dict[str, Any]:
        """Return the reply as the fields of its line."""
        optional = {
            name: getattr(self, name)
            for name in ("data", "tool_calls", "messages", "spans", "usage", "cost_usd")
        }
        given = {name: value for name, value in optional.items() if value not in (None, [])}
        return {"text": self.text, **given, "api_calls": self.api_calls}


def serve(answer: Callable[[Task], Reply | str], *, name: str, version: str = "1") -> None:
    """Answer tasks from standard input until it ends.

    `answer` may return text instead of a `Reply`. What it raises becomes the error of that one
    task, and the next task is read. While serving, whatever is printed goes to standard error,
    so that a stray `print` cannot break the protocol. Returns at the end of the input, or when
    nobody reads the output any more.
    """
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    sys.stdout.flush()
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        for line in sys.stdin.buffer:
            if line.strip():
                replies.write(_reply_to(line, answer, name, version))
                replies.flush()
    except BrokenPipeError:
        _abandon(replies)
    else:
        replies.close()


def _reply_to(line: bytes, answer: Callable[[Task], Reply | str], name: str, version: str) -> bytes:
    """Return the line to send back for one line."""
    try:
        message = json.loads(line)
        if message["type"] == "hello":
            hello = {"type": "hello", "protocol": PROTOCOL, "name": name, "version": version}
            return _line(hello)
        task = _read_task(message)
    except (ValueError, KeyError, TypeError) as error:
        return _error(None, "parse", f"unreadable line: {error!r}")
    try:
        reply = answer(task)
        wire = (Reply(reply) if isinstance(reply, str) else reply).to_wire()
        return _line({"id": task.id, **wire})
    except Exception as error:  # noqa: BLE001 - whatever the agent raises is its answer
        return _error(task.id, "agent", f"{type(error).__name__}: {error}")


def _error(task_id: int | None, kind: str, detail: str) -> bytes:
    # The text of an exception may hold what no line can carry.
    sendable = detail.encode("utf-8", "replace").decode()
    return _line({"id": task_id, "error": {"kind": kind, "detail": sendable}})


def _line(value: dict[str, Any]) -> bytes:
    """Encode a line. Raises ValueError for NaN and lone surrogates, TypeError for invalid JSON."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode() + b"\n"


def _read_task(message: dict[str, Any]) -> Task:
    return Task(
        id=message["id"],
        input=message["input"],
        case_id=message.get("case_id", ""),
        messages=tuple(message.get("messages") or ()),
        tools=tuple(message.get("tools") or ()),
        seed=message.get("seed") or 0,
        parameters=message.get("parameters") or {},
        time_limit_ms=message.get("time_limit_ms"),
    )


def _abandon(stream: BinaryIO) -> None:
    """Close a stream without a reader, without the warning about unsent bytes."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    stream.close()
