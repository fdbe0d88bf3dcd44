"""Appearance of a session, and whether one can be shown on this terminal.

Light to import: commands use it before they load anything heavy.
"""

from __future__ import annotations

import codecs
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping

USUAL_RATE_HZ = 4.0
NOTIFICATIONS = ("bell", "title", "osc9", "osc777")
"""How a terminal can report an alarm."""
FASTEST_HZ = 10.0
"""Maximum rate: numbers cannot be read faster, and the cost grows with it."""


class Look(msgspec.Struct, frozen=True):
    """User options for its appearance."""

    theme: str | None = None
    """By default the last chosen theme, initially the dark one; with NO_COLOR the terminal's
    own.
    """
    ascii_only: bool = False
    """Or as the terminal says."""
    mouse: bool = True
    """Without it the terminal's own selection works as usual."""
    rate_hz: float = USUAL_RATE_HZ
    """How often changing content is drawn; 0: when a key requests it."""
    notifications: tuple[str, ...] = ()
    """How the terminal reports alarms, of `NOTIFICATIONS`."""
    screenshots: Path = msgspec.field(default_factory=Path)
    """Folder that pictures are written to."""


def why_not(environment: Mapping[str, str] | None = None) -> str | None:
    """Return in a few words why the session cannot be shown here; None if it can."""
    variables = os.environ if environment is None else environment
    for stream, name in ((sys.stdin, "input"), (sys.stdout, "output"), (sys.stderr, "errors")):
        if stream is None or not stream.isatty():
            return f"standard {name} is no terminal"
    if variables.get("TERM") == "dumb":
        return "TERM=dumb says that this terminal cannot move its cursor"
    encoding = getattr(sys.stderr, "encoding", None) or "ascii"
    if not codecs.lookup(encoding).name.startswith("utf"):
        return f"this terminal's encoding is {encoding}, not UTF-8"
    return None
