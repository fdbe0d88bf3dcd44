"""The keyword agent: answers by the usual meaning of cue words.

Run as `python -m agentbench_tui.agents.quickstart.keyword`. It does not read sentences, knows one
way to write a date, and makes at most one tool call.
"""

from __future__ import annotations

import json

from agentbench_tui.agents.quickstart.cues import call_by_words, labelled_values, reckon
from agentbench_tui.agents.worker import Reply, Task, serve


def answer(task: Task) -> Reply:
    """Answer by cue words."""
    if task.tools:
        return Reply(tool_calls=[call_by_words(task.text, task.tools)])
    keys, _, document = task.text.partition("\n\n")
    if "JSON" in keys:
        data = labelled_values(document)
        return Reply(text=json.dumps(data), data=data)
    return Reply(text=reckon(task.text))


if __name__ == "__main__":
    serve(answer, name="keyword", version="1")
