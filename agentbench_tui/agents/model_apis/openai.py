"""`openai:URL#MODEL`: a model behind chat completions or the responses API."""

from __future__ import annotations

import json
from datetime import date
from typing import Annotated, Any, Literal
from urllib.parse import parse_qsl, urlencode, urlsplit

from pydantic import BeforeValidator, Field

from agentbench_tui.agents.adapter import JsonObject, OpenContext
from agentbench_tui.agents.model_apis.endpoint import Endpoint, EndpointAgent, EndpointOptions
from agentbench_tui.agents.model_apis.model_api import ask
from agentbench_tui.agents.model_apis.model_call import ModelAgent, ModelCall
from agentbench_tui.model.agent import AgentSpec
from agentbench_tui.model.answer import Answer, Request

OWN_URL = "https://api.openai.com/v1"
OWN_KEY_ENV = "OPENAI_API_KEY"
_PATHS = {"chat": "/chat/completions", "responses": "/responses"}
_OURS = frozenset({"model", "messages", "input", "tools", "stream", "stream_options"})


def _read_query(value: Any) -> Any:
    """Parse a table of fields, a query string or a JSON object."""
    if isinstance(value, str) and not value.lstrip().startswith("{"):
        return dict(parse_qsl(value, keep_blank_values=True, strict_parsing=True))
    fields = json.loads(value) if isinstance(value, str) else value
    if not isinstance(fields, dict):
        return fields
    return {name: _read_text(field) for name, field in fields.items()}


def _read_text(value: Any) -> Any:
    """Convert what YAML reads as a date or a number back to text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float | date) else value


class ModelOptions(EndpointOptions):
    """Options that every model API accepts."""

    query: Annotated[dict[str, str], BeforeValidator(_read_query)] = Field(default_factory=dict)
    """Query of the URL, which cannot be part of the target: parameters after its `?` are
    options.
    """
    api_version: Annotated[str, BeforeValidator(_read_text)] | None = Field(
        default=None, alias="api-version"
    )
    """`api-version` of the query, which Azure requires."""

    stream: bool = True
    temperature: Annotated[float, Field(ge=0)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    max_tokens: Annotated[int, Field(gt=0)] | None = None
    extra: JsonObject = Field(default_factory=dict)
    """Further fields of the request, as the server knows them."""

    @property
    def url_query(self) -> str:
        """Return the suffix of the URL of every request: empty, or starting with `?`."""
        version = {} if self.api_version is None else {"api-version": self.api_version}
        fields = self.query | version
        return f"?{urlencode(fields)}" if fields else ""

    def fields(self, **more: Any) -> dict[str, Any]:
        """Return the request fields that the options set."""
        given = {"temperature": self.temperature, "top_p": self.top_p, **more}
        return {name: value for name, value in given.items() if value is not None} | self.extra


class Options(ModelOptions):
    """Options of `openai:` targets."""

    api: Literal["chat", "responses"] = "chat"
    seed: int | Literal["request"] | None = None
    """A number, or `request` for a seed of each observation's own; not sent when left out."""


class OpenAIAgent(EndpointAgent, ModelAgent):
    """One model, called for every case."""

    def __init__(
        self,
        endpoint: Endpoint,
        call: ModelCall,
        context: OpenContext,
        own_headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(endpoint, own_headers or {}, context)
        self._call = call
        self._dialect = call.dialect()

    @property
    def endpoint(self) -> Endpoint:
        """See `ModelAgent`."""
        return self._endpoint

    @property
    def call(self) -> ModelCall:
        """See `ModelAgent`."""
        return self._call

    async def answer(self, request: Request) -> Answer:
        """See `Agent.answer`. Tool calls of the model are returned as its answer, not executed."""
        return await ask(self._endpoint, self._dialect, request, seeded=self._call.seeded)


def check(spec: AgentSpec, options: Options) -> list[str]:
    """See `adapter`."""
    return model_problems(spec, options, _endpoint(spec, options), _OURS)


def open(spec: AgentSpec, options: Options, context: OpenContext) -> OpenAIAgent:  # noqa: A001, the contract's name
    """See `adapter`."""
    _, model = split_target(spec.target)
    limit = "max_tokens" if options.api == "chat" else "max_output_tokens"
    seed = options.seed if isinstance(options.seed, int) else None
    fields = options.fields(seed=seed, **{limit: options.max_tokens})
    call = ModelCall(
        options.api, model, fields, stream=options.stream, seeded=options.seed == "request"
    )
    return OpenAIAgent(_endpoint(spec, options), call, context)


def split_target(target: str) -> tuple[str, str]:
    """Return URL and model of `SCHEME:URL#MODEL`; either may be empty."""
    url, _, model = target.partition(":")[2].partition("#")
    return url, model


def api_url(url: str, path: str) -> str:
    """Return the URL of an API call:

    `path` after the base, which gets `/v1` if it has no path. A URL that already includes the call
    is unchanged.
    """
    base = url.rstrip("/")
    try:
        has_path = bool(urlsplit(base).path)
    except ValueError:
        return url
    if base.endswith(path):
        return base
    return base + path if has_path else f"{base}/v1{path}"


def key_variable(url: str, own_url: str, own_variable: str, options: EndpointOptions) -> str | None:
    """Return the environment variable that holds the key.

    The usual variable is for the API's own host alone: a key is not sent to a host that it was
    not given for, unless the user says so.
    """
    if options.key_env is not None:
        return options.key_env
    try:
        is_own = urlsplit(url).hostname == urlsplit(own_url).hostname
    except ValueError:
        return None
    return own_variable if is_own else None


def model_problems(
    spec: AgentSpec, options: ModelOptions, endpoint: Endpoint, ours: frozenset[str]
) -> list[str]:
    """Return the problems with a model's target and options, one per line."""
    problems = list(endpoint.problems())
    if not split_target(spec.target)[1]:
        scheme = spec.target.partition(":")[0]
        problems.append(f"name the model after a #: {scheme}:URL#MODEL")
    taken = sorted(ours & set(options.extra))
    if taken:
        problems.append(f"extra: {', '.join(taken)} is set by agentbench itself")
    return problems


def _endpoint(spec: AgentSpec, options: Options) -> Endpoint:
    url = split_target(spec.target)[0] or OWN_URL
    key_env = key_variable(url, OWN_URL, OWN_KEY_ENV, options)
    header = ("authorization", "Bearer ")
    call_url = api_url(url, _PATHS[options.api]) + options.url_query
    return Endpoint(call_url, options, header, key_env)
