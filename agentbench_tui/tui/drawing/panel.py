"""Panels: widgets in a titled frame. Titles may be untrusted."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from rich.text import Text

from agentbench_tui.model.text.untrusted import one_line

if TYPE_CHECKING:
    from textual.widget import Widget

    Panel = TypeVar("Panel", bound=Widget)

_LONGEST = 200


def panel(widget: Panel, title: str) -> Panel:
    """Return the widget in a frame with this title."""
    widget.add_class("panel")
    entitle(widget, title)
    return widget


def entitle(widget: Widget, title: str) -> None:
    """Set the title of its frame, without markup."""
    widget.border_title = Text(one_line(title, _LONGEST))
