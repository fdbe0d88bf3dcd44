"""The process of a `python:` agent whose memory is limited.

`python -m agentbench_tui.agents.python.python_host MODULE NAME FOLDER` opens the same session as
our own process would, and serves it on standard streams in the protocol of `process.worker`: a task
has the whole request, a reply the fields of an Answer or an `error`.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import re
import sys
from typing import Any, BinaryIO

import msgspec

from agentbench_tui.agents.python.python_session import PythonAgent
from agentbench_tui.agents.python.python_source import Origin
from agentbench_tui.model.answer import AgentFailure, Request
from agentbench_tui.process.event_loop import run_shared
from agentbench_tui.process.worker import PROTOCOL


class _Task(msgspec.Struct):
    id: int
    request: Request


async def _serve(agent: PythonAgent, tasks: BinaryIO, replies: BinaryIO) -> int:
    """Answer tasks until there are no more; return 2 if the session cannot be opened."""
    try:
        await agent.start()
    except AgentFailure as failure:
        sys.stderr.write(f"{failure.detail}\n")
        return 2
    await _next_line(tasks)  # the other side's hello
    _send(replies, {"type": "hello", "protocol": PROTOCOL})
    while line := await _next_line(tasks):
        task = msgspec.json.decode(line, type=_Task)
        _send(replies, {"id": task.id, **await _answered(agent, task.request)})
    await agent.close()
    return 0


async def _next_line(tasks: BinaryIO) -> bytes:
    # In a thread, so that what the agent left on the event loop goes on between two tasks.
    return await asyncio.to_thread(tasks.readline)


async def _answered(agent: PythonAgent, request: Request) -> dict[str, Any]:
    try:
        answer = await agent.answer(request)
    except AgentFailure as failure:
        error = {
            "kind": failure.kind,
            "detail": failure.detail,
            "retry_after_s": failure.retry_after_s,
            "final": failure.final,
            "partial": failure.partial and msgspec.to_builtins(failure.partial),
        }
        return {"error": error}
    fields: dict[str, Any] = msgspec.to_builtins(answer)
    return fields


def _send(replies: BinaryIO, message: dict[str, Any]) -> None:
    text = json.dumps(_without_nan(message), ensure_ascii=False)
    # Half a character cannot be sent: it becomes visible text, as in the store.
    text = re.sub("[\ud800-\udfff]", lambda half: f"\\\\u{ord(half[0]):04x}", text)
    replies.write(text.encode() + b"\n")
    replies.flush()


def _without_nan(value: Any) -> Any:
    """Return the value with null for every number that is not finite, as the store writes them."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _without_nan(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    return value


def main(module: str, name: str, folder: str) -> int:
    """Answer tasks of one agent until the input ends."""
    # Before the agent's module can read or print, it gets other streams: no input, and stderr.
    tasks, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    # One task at a time, in the main thread; a deadline ends the whole process.
    agent = PythonAgent(Origin(module, name, folder), inline=True, concurrency=1)
    return run_shared(_serve(agent, tasks, replies))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
