"""Specification of an agent: its target, options and version."""

from __future__ import annotations

from typing import Any

import msgspec


class AgentSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """An agent as a plan holds it. Plain data: opening it is `agents.registry.open_agent`."""

    id: str
    """Short name, `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`."""
    version: str
    """Given by the user (`id@version`), or 12 hex digits of the hash of target and options."""
    target: str
    """`SCHEME:REST`, such as `openai:http://127.0.0.1:8000/v1#my-model`."""
    options: dict[str, Any] = msgspec.field(default_factory=dict)
    """From the target's query string and the suite's table, validated by the adapter."""
    name: str = ""
    """For people; the id when empty."""
    hourly_price_usd: float | None = None
    simulated: bool = False
    """True for reference agents and other simulations: never ranked with measured ones."""
    recorded: bool = False
    """True when answers are read from a recording: its times are not the agent's and are left
    out."""
    base_dir: str = ""
    """Folder that relative paths of the target are relative to."""
