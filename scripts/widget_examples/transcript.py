"""An example of `transcript`; its data are made up."""

from __future__ import annotations

from agentbench_tui.model.answer import Message, ToolCall
from agentbench_tui.tui.pages.cases.reading import Transcript, beside
from agentbench_tui.tui.widgets.transcript import TranscriptView


def demo() -> TranscriptView:
    """An example."""
    question = (
        Message("system", "You are an example. Answer with a number."),
        Message("user", "A train leaves at 9:40 and arrives at 11:05. How many minutes is that?"),
    )
    call = ToolCall("subtract", {"from": "11:05", "what": "9:40"}, result="1:25")
    view = TranscriptView()
    view.show(
        beside(
            Transcript(
                "example-atlas",
                (
                    *question,
                    Message("assistant", "I ask the clock.\x1b[31m", (call,)),
                    Message("assistant", "1 hour and 25 minutes are\n85 minutes."),
                ),
            ),
            Transcript(
                "example-swift",
                (*question, Message("assistant", "1 hour and 25 minutes are\n95 minutes.")),
            ),
        )
    )
    return view
