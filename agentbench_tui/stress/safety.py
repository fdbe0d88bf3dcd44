"""Hosts that may be stress-tested: this machine's loopback, and hosts that the user confirms.

An agent that is a local program or function counts as local. The services that it calls itself are
unknown; `upstream` names such a service.
"""

from __future__ import annotations

import ipaddress
import os
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from agentbench_tui.agents.schemes import BUILT_IN, INSIDE
from agentbench_tui.agents.target import parse_target
from agentbench_tui.load.schedule.shape import is_local
from agentbench_tui.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentbench_tui.engine.run.plan import Plan
    from agentbench_tui.model.agent import AgentSpec
    from agentbench_tui.stress.spec import StressSpec

_HERE = INSIDE | {"mock", "command", "worker"}
"""Schemes that always run on this machine."""


def check_consent(plan: Plan) -> None:
    """Raise UsageError if a stress benchmark of the plan would target an unconfirmed host, or
    starts a server for an agent without a URL.
    """
    from agentbench_tui.stress.spec import StressSpec

    for group in plan.groups:
        if group.benchmark["kind"] == "stress":
            spec = StressSpec.model_validate(group.resolved().stress)
            for execution in group.executions:
                require_consent(execution.agent, spec)
                _require_url(execution.agent, spec)


def require_consent(agent: AgentSpec, spec: StressSpec) -> None:
    """Raise UsageError unless every host that the stress would reach is this machine's own or
    allowed by name."""
    strange = strange_hosts(agent, spec)
    if strange:
        hosts = ", ".join(strange)
        are = "is" if len(strange) == 1 else "are"
        raise UsageError(
            f"stress on {agent.id}: {hosts} {are} not this machine; if the target is yours, say"
            f" --i-own-this-target (agentbench stress), or allow it in the suite:"
            f" allowed_hosts: [{hosts}]"
        )


def strange_hosts(agent: AgentSpec, spec: StressSpec) -> tuple[str, ...]:
    """Return the hosts that would be reached, are not this machine's loopback, and are not
    allowed.
    """
    allowed = {_plain(host) for host in spec.allowed_hosts}
    found = dict.fromkeys((*_of_agent(agent), *_of_url(spec.upstream)))
    return tuple(host for host in found if _plain(host) not in allowed)


def _require_url(agent: AgentSpec, spec: StressSpec) -> None:
    target = parse_target(agent.target)
    if spec.serve is not None and (target.scheme in _HERE or "://" not in target.rest):
        raise UsageError(
            f"stress on {agent.id}: `serve` starts the server of a target with a URL, such as"
            f" openai:http://127.0.0.1:8000/v1#MODEL; `{target.scheme}` has none"
        )


def _of_agent(agent: AgentSpec) -> Iterator[str]:
    parsed = parse_target(agent.target)
    if parsed.scheme in _HERE:
        return
    if "://" in parsed.rest:
        yield from _of_url(parsed.rest)
    elif parsed.scheme in BUILT_IN:
        yield from _of_url(_own_url(parsed.scheme))
    else:
        yield f"{parsed.scheme}:"  # a plug-in, which may ask anybody
    proxy = agent.options.get("proxy")
    if proxy is not None:
        yield from _of_url(os.path.expandvars(str(proxy)))


def _own_url(scheme: str) -> str:
    """Return the default URL of a model API, for targets without one."""
    from agentbench_tui.agents.model_apis import anthropic, openai

    return {"openai": openai.OWN_URL, "anthropic": anthropic.OWN_URL}[scheme]


def _of_url(url: str | None) -> Iterator[str]:
    if url is not None and not is_local(url):
        yield urlsplit(url).hostname or url


def _plain(host: str) -> str:
    """Normalize a host for comparison: without case, final dot and brackets, addresses in one
    form.
    """
    name = host.strip().strip("[]").rstrip(".").lower()
    try:
        return str(ipaddress.ip_address(name))
    except ValueError:
        return name
