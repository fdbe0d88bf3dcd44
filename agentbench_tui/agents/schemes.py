"""The adapter module of each scheme."""

from __future__ import annotations

from agentbench_tui.model.errors import UsageError, did_you_mean

ENTRY_POINT_GROUP = "agentbench.agents"

BUILT_IN: dict[str, str] = {
    "python": "agentbench_tui.agents.python.python_agent",
    "command": "agentbench_tui.agents.programs.command",
    "worker": "agentbench_tui.agents.programs.command",
    "http": "agentbench_tui.agents.model_apis.http",
    "https": "agentbench_tui.agents.model_apis.http",
    "openai": "agentbench_tui.agents.model_apis.openai",
    "anthropic": "agentbench_tui.agents.model_apis.anthropic",
    "replay": "agentbench_tui.agents.recorded.replay",
    "reference": "agentbench_tui.agents.recorded.reference",
    "mock": "agentbench_tui.agents.mock.agent",
    "variant": "agentbench_tui.agents.variant",
    "market": "agentbench_tui.market.outside.baseline_agent",
    "a2a": "agentbench_tui.market.outside.a2a_agent",
}
"""Scheme → dotted path of its adapter module (see `adapter`)."""

SIMULATED = frozenset({"reference", "mock"})
"""Schemes that simulate an agent: never ranked with measured ones."""

SIMULATED_TARGETS = frozenset({"market:oracle"})
"""The same of single targets: it knows what no agent can know."""

LISTENING = frozenset({"market:outsider"})
"""Targets that open an address here for others to come to."""

WITHOUT_REST = frozenset({"mock", "variant"})
"""Schemes that are a target by their name alone."""

INSIDE = frozenset({"python", "reference", "replay", "market", "variant"})
"""Schemes whose agents run in the calling process."""

OF_MODELS = frozenset({"openai", "anthropic", "mock"})
"""Schemes that the senders of a load call by their own HTTP client."""

RECORDED = frozenset({"replay"})
"""Schemes that read answers from a recording, whose times are not the agent's."""


def known_schemes() -> tuple[str, ...]:
    """Return every available scheme, agentbench's own first."""
    from importlib import metadata  # which imports a parser of mail

    found = [point.name for point in metadata.entry_points(group=ENTRY_POINT_GROUP)]
    return (*BUILT_IN, *sorted(set(found) - set(BUILT_IN)))


def adapter_path(scheme: str) -> str:
    """Return the dotted path of the module that opens `scheme`. Raises UsageError with the nearest
    name.
    """
    if scheme in BUILT_IN:
        return BUILT_IN[scheme]
    from importlib import metadata

    for point in metadata.entry_points(group=ENTRY_POINT_GROUP, name=scheme):
        return point.value
    known = known_schemes()
    raise UsageError(
        f'no agent scheme "{scheme}"{did_you_mean(scheme, known)}: '
        f"a target begins with one of {', '.join(name + ':' for name in known)}"
    )
