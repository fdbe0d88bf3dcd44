"""The line for typing another agent, validated while the user types."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual.message import Message
from textual.widgets import Input

from agentbench_tui.agents.target import parse_agent
from agentbench_tui.model.errors import AgentbenchError
from agentbench_tui.model.text.secrets import redact
from agentbench_tui.tui.pages.new_run.plan import asked, refusal
from agentbench_tui.tui.widgets.forms.field_line import FieldLine

_HINT = "python:module:function, openai:URL#MODEL, …"
_PAUSE_S = 0.4
"""After the last key, before it is looked into whether the agent could be run."""


class TypedAgent(FieldLine):
    """Enter accepts it."""

    DEFAULT_CSS: ClassVar[str] = "TypedAgent { padding: 0 1 0 2; }"

    class Taken(Message):
        """The typed agent was accepted."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__("--agent", "another agent", _HINT, id=id)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Check its form immediately; the rest after a pause."""
        event.stop()
        event.prevent_default()
        value = self.value
        fault = self._form_fault() if value else ""
        self.tell(fault)
        if value and not fault:
            self.set_timer(_PAUSE_S, lambda: self._look_into(value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        event.prevent_default()
        fault = self._form_fault()
        if fault:
            self.tell(fault)
            return
        self.post_message(self.Taken(self.value))
        self.value = ""

    def _form_fault(self) -> str:
        try:
            parse_agent(self.value, base_dir=str(Path.cwd()))
        except AgentbenchError as error:
            return redact(str(error))
        return ""

    def _look_into(self, value: str) -> None:
        if self.value == value:
            self.run_worker(lambda: self._check(value), thread=True, group="check")

    def _check(self, value: str) -> None:
        """Check it in a separate process, because its module may be imported."""
        said = asked("agents", "check", value)
        fine = said.returncode == 0
        words = "enter adds it" if fine else redact(refusal(said.stderr))
        self.app.call_from_thread(self._checked, value, words, fine)

    def _checked(self, value: str, words: str, fine: bool) -> None:
        if self.is_attached and self.value == value:
            self.tell(words, fine=fine)
