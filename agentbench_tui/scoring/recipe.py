"""Definition of a scorer: its options, and a function that builds it.

A scorer module holds `RECIPES`, a mapping of scorer name to `Recipe`; an entry point of the
group `agentbench.scorers` is one `Recipe`. The registry finds both by name.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
from pydantic import BaseModel, ConfigDict

from agentbench_tui.model.answer import Agent, Scorer

OpenJudge = Callable[[Any], Awaitable[Agent]]
"""Opens a judge: takes a target string or an AgentSpec, gives a started agent session."""


class Options(BaseModel):
    """Base of a scorer's options: rejects unknown names, does not coerce values."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    keep_reasoning: bool = False
    """The answer's text includes the reasoning that it begins with (`<think>…</think>`)."""


class Context(msgspec.Struct, frozen=True):
    """What a scorer may use in addition to its options."""

    name: str
    """Label that its scores carry."""
    base_dir: Path = msgspec.field(default_factory=Path)
    """Folder that relative paths are relative to: the suite's."""
    open_judge: OpenJudge | None = None
    keep_reasoning: bool = False
    """The scorer's parts, if any, receive the answer with its reasoning."""


def always(options: Options) -> bool:  # noqa: ARG001  # whatever its options are
    """Return True: `Recipe.needs_expected` of scorers that always need an expected answer."""
    return True


def never(options: Options) -> bool:  # noqa: ARG001  # whatever its options are
    """Return False: `Recipe.needs_expected` of scorers that can work without an expected answer."""
    return False


class Recipe(msgspec.Struct, frozen=True):
    """How a scorer is created."""

    options: type[Options]
    build: Callable[[Any, Context], Scorer]
    """Takes the options and the context. Raises UsageError for what only it can check. If what
    it returns has an async method `close`, that is awaited when the benchmark ends."""
    has_parts: bool = False
    """The scorer passes the answer to other scorers, which remove the reasoning themselves."""
    needs_expected: Callable[[Any], bool] = never
    """Takes the options: whether the scorer fails on every case without `expected`."""
