"""Agents of a call: targets, Python callables, or both by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from agentbench_tui.model.agent import AgentSpec
from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.identity import is_name
from agentbench_tui.python_api.callables import named_callable, source_version

if TYPE_CHECKING:
    from agentbench_tui.agents.python.session_objects import Place, SessionObject
    from agentbench_tui.python_api.callables import NamedCallable

AgentLike: TypeAlias = "str | AgentSpec | Callable[..., Any] | object"
"""One agent: a target string such as `openai:URL#MODEL`, a function or async function of the
question, or a class or object with a method `answer`."""
AgentsLike: TypeAlias = "AgentLike | Sequence[AgentLike] | Mapping[str, AgentLike]"
"""One agent, several, or several by name: `{"id": agent}` or `{"id@version": agent}`."""


def given_agents(
    agents: AgentsLike | None, objects: dict[Place, SessionObject]
) -> tuple[str | AgentSpec, ...]:
    """Read the agents of a call, as `RunOptions.agents`; callables are added to `objects`.

    Raises UsageError for a name that no agent can have, and for what is no agent.
    """
    found: list[str | AgentSpec] = []
    for key, value in _pairs(agents):
        if isinstance(value, str):
            found.append(value if key is None else f"{key}={value}")
        elif isinstance(value, AgentSpec):
            found.append(value)
        else:
            named = named_callable(_checked(value), objects)
            found.append(_spec(key, named))
            objects[named.place] = named.object
    _check_different([one.id for one in found if not isinstance(one, str)])
    return tuple(found)


def _check_different(ids: Sequence[str]) -> None:
    for name in ids:
        if ids.count(name) > 1:
            raise UsageError(
                f"two agents have the id '{name}'; name them by a mapping, such as"
                f' {{"{name}-1": …, "{name}-2": …}}'
            )


def _pairs(agents: AgentsLike | None) -> Sequence[tuple[str | None, AgentLike]]:
    if agents is None:
        return ()
    if isinstance(agents, Mapping):
        return [(str(key), value) for key, value in agents.items()]
    if isinstance(agents, Sequence) and not isinstance(agents, str):
        return [(None, one) for one in agents]
    return [(None, agents)]


def _checked(value: object) -> object:
    if callable(value) or callable(getattr(value, "answer", None)):
        return value
    raise UsageError(
        f"{value!r} is not an agent: give a target such as 'openai:URL#MODEL', a function,"
        " or an object with a method `answer`"
    )


def _spec(key: str | None, named: NamedCallable) -> AgentSpec:
    from agentbench_tui.agents.target import parse_agent

    agent_id, _, version = (key or _id_of(named.name)).partition("@")
    for what, text in (("agent id", agent_id), *([("version", version)] if version else [])):
        if not is_name(text):
            raise UsageError(
                f"{what} '{text}': up to 64 letters, digits, '.', '_' and '-', beginning with a"
                " letter or digit"
            )
    if not named.object.is_importable:
        version = version or source_version(named.object.value) or ""
    at = f"@{version}" if version else ""
    return parse_agent(f"{agent_id}{at}={named.target}", base_dir=named.base_dir)


def _id_of(name: str) -> str:
    clean = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._")[:64]
    return clean if is_name(clean) else "python"
