"""`anthropic:URL#MODEL`: a model behind the messages API."""

from __future__ import annotations

from agentbench_tui.agents.adapter import OpenContext
from agentbench_tui.agents.model_apis.endpoint import Endpoint
from agentbench_tui.agents.model_apis.model_call import ModelCall
from agentbench_tui.agents.model_apis.openai import (
    ModelOptions,
    OpenAIAgent,
    api_url,
    key_variable,
    model_problems,
    split_target,
)
from agentbench_tui.model.agent import AgentSpec

OWN_URL = "https://api.anthropic.com/v1"
OWN_KEY_ENV = "ANTHROPIC_API_KEY"
API_VERSION = "2023-06-01"
DEFAULT_MAX_TOKENS = 4096
"""The API requires a limit in every request."""
_OURS = frozenset({"model", "messages", "system", "tools", "stream"})


class Options(ModelOptions):
    """Options of `anthropic:` targets."""

    anthropic_version: str = API_VERSION


def check(spec: AgentSpec, options: Options) -> list[str]:
    """See `adapter`."""
    return model_problems(spec, options, _endpoint(spec, options), _OURS)


def open(spec: AgentSpec, options: Options, context: OpenContext) -> OpenAIAgent:  # noqa: A001, the contract's name
    """See `adapter`."""
    _, model = split_target(spec.target)
    fields = options.fields(max_tokens=options.max_tokens or DEFAULT_MAX_TOKENS)
    call = ModelCall("messages", model, fields, stream=options.stream)
    headers = {"anthropic-version": options.anthropic_version}
    return OpenAIAgent(_endpoint(spec, options), call, context, headers)


def _endpoint(spec: AgentSpec, options: Options) -> Endpoint:
    url = split_target(spec.target)[0] or OWN_URL
    key_env = key_variable(url, OWN_URL, OWN_KEY_ENV, options)
    call_url = api_url(url, "/messages") + options.url_query
    return Endpoint(call_url, options, ("x-api-key", ""), key_env)
