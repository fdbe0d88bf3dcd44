"""A target behind a proxy, or whose upstream is behind one."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.agents.target import parse_target
from agentbench_tui.load.sending.protocol import AgentTarget, HttpTarget
from agentbench_tui.load.sending.worker_process import end_ahead

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agentbench_tui.model.agent import AgentSpec

HTTPS = "faults cannot be put before https: the certificate is the target's; name a plain http URL"
NO_URL = "the agent is not a server: faults can be injected only before its `upstream`"


def url_of(target: HttpTarget | AgentTarget) -> str | None:
    """Return the target's URL; None for agents without one URL."""
    if isinstance(target, HttpTarget):
        return target.url
    rest = parse_target(target.spec.target).rest
    return rest if rest.startswith(("http://", "https://")) else None


def why_not_behind(target: HttpTarget | AgentTarget) -> str | None:
    """Return why no proxy can be placed in front of it; None if it is possible."""
    url = url_of(target)
    if url is None:
        return NO_URL
    return HTTPS if url.startswith("https:") else None


def behind(
    target: HttpTarget | AgentTarget, through: Callable[[str], str]
) -> HttpTarget | AgentTarget:
    """Return the same target at the address `through(URL)`."""
    url = url_of(target)
    if url is None:
        return target
    if isinstance(target, HttpTarget):
        return msgspec.structs.replace(target, url=through(url))
    spec = msgspec.structs.replace(
        target.spec, target=target.spec.target.replace(url, through(url), 1)
    )
    return msgspec.structs.replace(target, spec=spec)


def told_of_upstream(spec: AgentSpec, variable: str) -> AgentSpec:
    """Return the agent with an additional environment variable, if it is a program."""
    if parse_target(spec.target).scheme not in {"command", "worker"}:
        return spec
    named = spec.options.get("env") or []
    names = named.split(",") if isinstance(named, str) else list(named)
    return msgspec.structs.replace(spec, options={**spec.options, "env": [*names, variable]})


@contextmanager
def environment_with(variable: str, value: str) -> Iterator[None]:
    """Set an environment variable for this process, and so for load workers that start in the
    meantime.
    """
    before = os.environ.get(variable)
    end_ahead()  # it has the environment of before
    os.environ[variable] = value
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(variable, None)
        else:
            os.environ[variable] = before
