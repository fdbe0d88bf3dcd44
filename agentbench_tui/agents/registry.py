"""Finds the adapter of an agent, checks the agent before a run, and opens its session."""

from __future__ import annotations

import importlib
from typing import Any, cast
from urllib.parse import quote

import msgspec
from pydantic import ValidationError

from agentbench_tui.agents.adapter import Adapter, AgentOptions, OpenContext
from agentbench_tui.agents.schemes import adapter_path
from agentbench_tui.agents.secret_names import keys_on_command_lines, named_variables
from agentbench_tui.agents.target import parse_target
from agentbench_tui.model.agent import AgentSpec
from agentbench_tui.model.answer import Agent
from agentbench_tui.model.errors import UsageError, did_you_mean
from agentbench_tui.model.text.secrets import declare_secrets


def check_agent(spec: AgentSpec) -> list[str]:
    """Return every known problem of an agent before it runs, one per line.

    May import an agent's Python module; opens no connection and starts no program. Never raises
    for a wrong agent.
    """
    try:
        adapter = _load_adapter(spec)
        options = _read_options(adapter, spec)
        _declare_secrets(spec)
    except UsageError as error:
        return str(error).splitlines()
    return adapter.check(spec, options)


def open_agent(spec: AgentSpec, *, memory_limit_mb: float | None, concurrency: int) -> Agent:
    """Return a session with the agent that is not yet started. Raises UsageError for what
    `check_agent` reports of its scheme and options.
    """
    adapter = _load_adapter(spec)
    options = _read_options(adapter, spec)
    _declare_secrets(spec)
    context = OpenContext(concurrency=concurrency, memory_limit_mb=memory_limit_mb)
    return adapter.open(spec, options, context)


def _declare_secrets(spec: AgentSpec) -> None:
    """Mask the secrets that the agent is about to receive from now on."""
    declare_secrets(named_variables(msgspec.to_builtins(spec)), keys_on_command_lines(spec.target))


def _load_adapter(spec: AgentSpec) -> Adapter:
    scheme = parse_target(spec.target).scheme
    path = adapter_path(scheme)
    try:
        module = importlib.import_module(path)
    except ImportError as error:
        raise UsageError(f'agents of scheme "{scheme}" cannot be loaded: {error}') from error
    return cast(Adapter, module)


def _read_options(adapter: Adapter, spec: AgentSpec) -> AgentOptions:
    try:
        return adapter.Options.model_validate(spec.options)
    except ValidationError as error:
        known = [
            name
            for field, info in adapter.Options.model_fields.items()
            for name in (info.alias or field,)
        ]
        lines = [_explain(dict(problem), known) for problem in error.errors(include_url=False)]
        raise UsageError("\n".join(lines)) from None


def _explain(problem: dict[str, Any], known: list[str]) -> str:
    path = [str(part) for part in problem["loc"]]
    name = ".".join(path)
    if problem["type"] == "extra_forbidden":
        hint = did_you_mean(path[0], known) or f"; known are {', '.join(sorted(known)) or 'none'}"
        if "query" in known:
            hint += f"; a field of the URL's query is given as query={quote(name)}%3D…"
        return f"no option `{name}`{hint}"
    if problem["type"] == "missing":
        return f"option `{name}` is required"
    message = str(problem["msg"]).removeprefix("Value error, ")
    return f"option `{name}`: {message[:1].lower()}{message[1:]}" if name else message
