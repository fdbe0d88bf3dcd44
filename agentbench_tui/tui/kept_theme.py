"""Stores the last chosen theme in the user's settings folder."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from agentbench_tui.tui.theme import THEMES

_LONGEST = 100


def kept_theme() -> str | None:
    """Return its name; None if none was stored, it cannot be read, or the theme no longer
    exists.
    """
    try:
        with _path().open(encoding="utf-8") as file:
            name = file.read(_LONGEST).strip()
    except (OSError, UnicodeDecodeError, RuntimeError):
        return None
    return name if name in THEMES else None


def keep_theme(name: str) -> None:
    """Store it. If the folder cannot be written, the choice applies only to this session."""
    with suppress(OSError, RuntimeError):
        path = _path()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{name}\n", encoding="utf-8")


def _path() -> Path:
    """Return the file. Raises RuntimeError for a user without a home folder."""
    from platformdirs import user_config_path

    return user_config_path("agentbench") / "theme"
