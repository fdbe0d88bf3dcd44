"""The protocol of an adapter: a module that opens agents of one scheme.

An adapter module has three names:

- `Options`: a subclass of `AgentOptions`, the options that its targets take. Values arrive as the
  suite's table gives them, or as text from a target's query string; pydantic turns text into
  numbers and booleans, `NameList` and `JsonObject` turn it into lists and tables.
- `check(spec, options) -> list[str]`: everything that is known to be wrong before running, one
  line each, saying what to do; empty when all is well. Opens no connection, starts no program.
- `open(spec, options, context) -> Agent`: a session that is not yet started. Raises nothing that
  `check` would have reported; cheap, since `start` does the work.

Heavy libraries are imported inside functions, so that listing schemes stays cheap. Adapters of
other distributions are such modules too, named by an entry point in group `agentbench.agents`.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Protocol

import msgspec
from pydantic import BaseModel, BeforeValidator, ConfigDict

from agentbench_tui.model.agent import AgentSpec
from agentbench_tui.model.answer import Agent


class AgentOptions(BaseModel):
    """Base of every adapter's options: rejects unknown names and converts text."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class OpenContext(msgspec.Struct, frozen=True):
    """What the engine provides to a session."""

    concurrency: int = 1
    """Highest number of `answer` calls in flight at once."""
    memory_limit_mb: float | None = None
    """Highest resident memory of the agent's own processes, in MB of 10^6 bytes; None is no
    limit. Agents without processes ignore it."""


class Adapter(Protocol):
    """A module that opens agents of one scheme, see above."""

    Options: type[AgentOptions]

    def check(self, spec: AgentSpec, options: Any) -> list[str]:
        """Return known problems before running, one per line."""

    def open(self, spec: AgentSpec, options: Any, context: OpenContext) -> Agent:
        """Return a session that is not yet started."""


def _split_names(value: Any) -> Any:
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return value


def _read_json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


NameList = Annotated[list[str], BeforeValidator(_split_names)]
"""A list of names; as text, separated by commas."""

JsonObject = Annotated[dict[str, Any], BeforeValidator(_read_json)]
"""A table; as text, a JSON object."""
