"""Capabilities of the terminal, as far as it reports them."""

from __future__ import annotations

import os
import sys
from typing import Literal

import msgspec

Colors = Literal["none", "16", "256", "16 million"]


class Terminal(msgspec.Struct, frozen=True, kw_only=True):
    """The terminal of this process; unknown values are None."""

    term: str | None
    """The variable TERM."""
    program: str | None
    """The variable TERM_PROGRAM: the emulator's own name, if it sets one."""
    interactive: bool
    """Whether the output goes to a terminal."""
    columns: int | None
    lines: int | None
    colors: Colors
    encoding: str | None
    """Encoding of the standard output."""


def read_terminal() -> Terminal:
    """Read the environment and the three standard streams."""
    size = _size()
    return Terminal(
        term=os.environ.get("TERM") or None,
        program=os.environ.get("TERM_PROGRAM") or None,
        interactive=sys.stdout is not None and sys.stdout.isatty(),
        columns=size.columns if size else None,
        lines=size.lines if size else None,
        colors=_colors(),
        encoding=getattr(sys.stdout, "encoding", None),
    )


def _colors() -> Colors:
    term = os.environ.get("TERM", "")
    if os.environ.get("NO_COLOR") or term in {"", "dumb"}:
        return "none"
    if os.environ.get("COLORTERM") in {"truecolor", "24bit"} or "direct" in term:
        return "16 million"
    return "256" if "256" in term else "16"


def _size() -> os.terminal_size | None:
    """Return the size of the first of output, errors and input that is a terminal."""
    for descriptor in (1, 2, 0):
        try:
            size = os.get_terminal_size(descriptor)
        except OSError:
            continue
        if size.columns and size.lines:
            return size
    return None
