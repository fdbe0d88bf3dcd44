"""The rule agent: reads quantities, labels and requests by fixed rules, one step at a time.

Run as `python -m agentbench_tui.agents.quickstart.rules`. It knows no units, tables or calendar,
and makes at most one tool call.
"""

from __future__ import annotations

import json
import time

from agentbench_tui.agents.quickstart.arithmetic import solve
from agentbench_tui.agents.quickstart.documents import read_document
from agentbench_tui.agents.quickstart.language import plain
from agentbench_tui.agents.quickstart.requests import read_request
from agentbench_tui.agents.worker import Reply, Task, serve


def answer(task: Task) -> Reply:
    """Answer by the first rule that fits."""
    began = time.perf_counter()
    reply = _answer(task)
    taken = (time.perf_counter() - began) * 1000
    reply.spans.append({"name": "rules", "start_ms": 0.0, "duration_ms": taken})
    return reply


def _answer(task: Task) -> Reply:
    if task.tools:
        call = read_request(task.text, task.tools)
        return Reply(tool_calls=[call] if call else [])
    request, _, document = task.text.partition("\n\n")
    if "JSON" in request:
        data = read_document(request, document)
        return Reply(text=json.dumps(data), data=data)
    value = solve(task.text)
    return Reply(text="" if value is None else plain(value))


if __name__ == "__main__":
    serve(answer, name="rules", version="1")
