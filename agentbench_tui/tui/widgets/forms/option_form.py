"""The lines of a command's options, validated while the user types."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual.containers import VerticalScroll
from textual.message import Message

from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.tui.pages.new_run.choice import FieldSpec, field_of_fault, typed_fault
from agentbench_tui.tui.pages.new_run.suite_shelf import parameter_fault
from agentbench_tui.tui.widgets.forms.field_line import FieldLine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.engine.suite.loading import LoadedSuite


_LEAST_LABEL, _LONGEST_LABEL = 15, 23
"""Cells."""


class OptionForm(VerticalScroll, can_focus=False):
    """Reports the typed values; an error of the plan is shown at the line it belongs to."""

    DEFAULT_CSS: ClassVar[str] = """
    OptionForm { scrollbar-size-vertical: 1; scrollbar-background: $background; }
    """

    class Changed(Message):
        """A value has changed."""

        def __init__(self, option: str, value: str) -> None:
            super().__init__()
            self.option = option
            self.value = value

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._specs: dict[str, FieldSpec] = {}
        self._loaded: LoadedSuite | None = None
        self._filling = asyncio.Lock()

    @property
    def lines(self) -> dict[str, FieldLine]:
        """Return the lines by option."""
        return {line.option: line for line in self.query(FieldLine)}

    async def fill(self, specs: Sequence[FieldSpec], loaded: LoadedSuite | None) -> None:
        """Show other lines, all empty; `loaded`: the suite whose parameters are among them."""
        longest = max((cell_len(one_line(spec.label, _LONGEST_LABEL)) for spec in specs), default=0)
        cells = max(_LEAST_LABEL, longest + 1)
        # One after the other: a second call would mount its lines among those of the first.
        async with self._filling:
            self._specs = {spec.option: spec for spec in specs}
            self._loaded = loaded
            await self.remove_children()
            await self.mount_all(
                FieldLine(spec.option, spec.label, spec.placeholder, spec.words, label_cells=cells)
                for spec in specs
            )

    def on_field_line_typed(self, event: FieldLine.Typed) -> None:
        event.stop()
        event.line.tell(self._fault_of(event.line))
        self.post_message(self.Changed(event.line.option, event.value))

    def on_field_line_entered(self, event: FieldLine.Entered) -> None:
        """Enter moves to the next line."""
        event.stop()
        self.screen.focus_next()

    def tell(self, fault: str) -> None:
        """Show the plan's message at its line; at others only errors of the value itself."""
        lines = self.lines
        for line in lines.values():
            line.tell(self._fault_of(line))
        at = field_of_fault(fault, list(lines)) if fault else None
        if at is not None and not lines[at].fault:
            lines[at].tell(re.sub("^Invalid value for '[^']*': ", "", fault))

    def faulty(self) -> FieldLine | None:
        """Return the first line with a fault."""
        return next((line for line in self.lines.values() if line.fault), None)

    def _fault_of(self, line: FieldLine) -> str:
        if line.option.startswith("--set ") and self._loaded is not None:
            return parameter_fault(self._loaded, line.option.removeprefix("--set "), line.value)
        return typed_fault(self._specs[line.option], line.value)
