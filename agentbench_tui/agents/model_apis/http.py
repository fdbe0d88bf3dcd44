"""`http:URL` and `https:URL`: any endpoint that accepts and returns JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any, Literal
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import msgspec
from pydantic import BeforeValidator

from agentbench_tui.agents.adapter import OpenContext
from agentbench_tui.agents.model_apis.endpoint import Endpoint, EndpointAgent, EndpointOptions
from agentbench_tui.agents.model_apis.error_text import error_message
from agentbench_tui.agents.model_apis.template import PLACEHOLDERS, fill, unknown_placeholders
from agentbench_tui.agents.model_apis.token_counts import TokenCounts, token_count, without_output
from agentbench_tui.http.client import HttpResponse, read_body
from agentbench_tui.model.agent import AgentSpec
from agentbench_tui.model.answer import AgentFailure, Answer, FailureKind, Request, Usage
from agentbench_tui.model.errors import did_you_mean
from agentbench_tui.model.text.not_json import NOT_JSON
from agentbench_tui.model.text.secrets import redact
from agentbench_tui.model.text.untrusted import one_line

USUAL_FIELDS = ("text", "output", "answer", "response")
"""Default fields of the answer's text."""


class _Missing(msgspec.Struct, frozen=True):
    """Raised for a path that does not exist."""

    at: str
    known: tuple[str, ...]


def _read_body(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


class Options(EndpointOptions):
    """Options of `http:` and `https:` targets."""

    method: Literal["POST", "PUT", "PATCH", "GET"] = "POST"
    """GET sends the body's fields as the query string."""
    body: Annotated[Any, BeforeValidator(_read_body)] = {"input": "{input}"}  # noqa: RUF012, pydantic copies it
    """Template of the request, see `template`."""
    response: str | None = None
    """Dotted path to the answer in the response (`choices.0.message.content`)."""
    model: str | None = None
    """Name of the model behind the endpoint, for its price."""
    usage_model: str | None = None
    """Dotted path to the name of the model that answered. If it does not exist, `model` is used."""
    usage_input: str | None = None
    """Dotted path to the number of input tokens."""
    usage_output: str | None = None
    """Dotted path to the number of output tokens."""
    usage_cached: str | None = None
    """Dotted path to the number of input tokens read from a cache."""
    usage_cache_write: str | None = None
    """Dotted path to the number of input tokens written to a cache."""
    usage_reasoning: str | None = None
    """Dotted path to the number of reasoning tokens."""
    usage_total: str | None = None
    """Dotted path to the total number of tokens, which shows whether the output tokens include
    reasoning.
    """


class HttpAgent(EndpointAgent):
    """One endpoint, called for every case."""

    def __init__(self, endpoint: Endpoint, options: Options, context: OpenContext) -> None:
        super().__init__(endpoint, {"accept": "application/json"}, context)
        self._options = options

    async def answer(self, request: Request) -> Answer:
        """See `Agent.answer`."""
        filled = fill(self._options.body, request)
        body, query = msgspec.json.encode(filled), ""
        if self._options.method == "GET":
            mark = "&" if urlsplit(self._endpoint.url).query else "?"
            body, query = b"", mark + _query(filled)
        async with self._endpoint.send(body, method=self._options.method, query=query) as response:
            if not 200 <= response.status < 300:
                raise await self._endpoint.refusal(response)
            _, received = await read_body(response)
            answer = self._answer(received, response)
        return self._endpoint.without_secrets(answer)

    def _answer(self, body: bytes, response: HttpResponse) -> Answer:
        content_type = response.headers.get("content-type", "").lower()
        if self._options.response is None and content_type.startswith("text/plain"):
            return Answer(text=body.decode("utf-8", "replace"))
        try:
            value = msgspec.json.decode(body)
        except NOT_JSON:
            failure = self._endpoint.unreadable("the answer is not JSON", body, response)
        else:
            return self._answer_of(value)
        raise failure

    def _answer_of(self, value: Any) -> Answer:
        path = self._options.response
        if path is not None:
            found = at_path(value, path)
            if isinstance(found, _Missing):
                said = error_message(value.get("error")) if isinstance(value, dict) else ""
                raise self._without_answer(path, found, said)
        else:
            found = self._usual_field(value)
        usage = _usage(value, self._options)
        if usage is not None and usage.output_tokens == 0 and found not in (None, "", [], {}):
            usage = without_output(usage)
        model = self._model(value)
        if isinstance(found, str):
            return Answer(text=found, usage=usage, model=model)
        text = msgspec.json.encode(found).decode()
        return Answer(text=text, data=found, usage=usage, model=model)

    def _model(self, value: Any) -> str | None:
        path = self._options.usage_model
        named = None if path is None else at_path(value, path)
        return named if isinstance(named, str) and named else self._options.model

    def _usual_field(self, value: Any) -> Any:
        if isinstance(value, dict):
            for name in USUAL_FIELDS:
                if name in value:
                    return value[name]
            if said := error_message(value.get("error")):
                raise self._error(said)
        return value

    def _error(self, said: str) -> AgentFailure:
        detail = f"{self._endpoint.place} answered with an error: {self._endpoint.clean(said)}"
        return AgentFailure(FailureKind.SERVER, detail)

    def _without_answer(self, path: str, missing: _Missing, said: str) -> AgentFailure:
        if said:
            return self._error(said)
        place = self._endpoint.place
        known = self._endpoint.clean(", ".join(missing.known)) or "nothing"
        hint = did_you_mean(missing.at, missing.known)
        return AgentFailure(
            FailureKind.PARSE,
            f"{place}: the answer has no `{path}`: no `{missing.at}`{hint}, there is {known}",
        )


def check(spec: AgentSpec, options: Options) -> list[str]:
    """See `adapter`."""
    endpoint = _endpoint(spec, options)
    problems = [*endpoint.problems(), *_misplaced_options(endpoint.url, options)]
    for name in sorted(set(unknown_placeholders(options.body))):
        known = ", ".join(PLACEHOLDERS)
        hint = did_you_mean(name, PLACEHOLDERS)
        problems.append(f"body: no placeholder `{{{name}}}`{hint}; known are {known}")
    if options.method == "GET" and not isinstance(options.body, dict):
        problems.append("body: a GET request needs a table, whose fields become the query")
    return problems


def open(spec: AgentSpec, options: Options, context: OpenContext) -> HttpAgent:  # noqa: A001, the contract's name
    """See `adapter`."""
    return HttpAgent(_endpoint(spec, options), options, context)


def _misplaced_options(url: str, options: Options) -> Iterator[str]:
    """Find options written into the URL, whose query is sent to the server unchanged.

    A key that is meant for the server is accepted if the option of its name is also given, and so
    is `model`, which many servers have as a field.
    """
    try:
        parts = urlsplit(url)
        query = parse_qsl(parts.query, keep_blank_values=True)
    except ValueError:
        return  # no URL at all, which is told already
    for name, value in query:
        passes = name == "model" or name in options.model_fields_set
        if name in Options.model_fields and not passes:
            shown = "…" if name == "headers" else quote(one_line(redact(value), 60), safe="…*.,/")
            yield (
                f"`{name}` in the URL's query would go to the server: options go after the scheme:"
                f" {parts.scheme}?{name}={shown}:URL; where it is meant for the server, give both"
            )


def at_path(value: Any, path: str) -> Any:
    """Return the item of `value` at a dotted path of names and indexes, or what is missing
    there.
    """
    for step in path.split("."):
        if isinstance(value, dict):
            if step not in value:
                return _Missing(step, tuple(map(str, value)))
            value = value[step]
        elif isinstance(value, list):
            try:
                value = value[int(step)]
            except (ValueError, IndexError):
                return _Missing(step, (f"a list of {len(value)}",))
        else:
            return _Missing(step, (f"a {type(value).__name__}",))
    return value


def _usage(value: Any, options: Options) -> Usage | None:
    def count(path: str | None) -> int | None:
        return None if path is None else token_count(at_path(value, path))

    return TokenCounts(
        given=count(options.usage_input),
        made=count(options.usage_output),
        cached=count(options.usage_cached),
        written=count(options.usage_cache_write),
        reasoning=count(options.usage_reasoning),
        total=count(options.usage_total),
    ).usage()


def _query(fields: dict[str, Any]) -> str:
    texts = {
        name: value if isinstance(value, str) else msgspec.json.encode(value).decode()
        for name, value in fields.items()
    }
    return urlencode(texts)


def _endpoint(spec: AgentSpec, options: Options) -> Endpoint:
    target = spec.target
    url = target if target.startswith(("http://", "https://")) else target.partition(":")[2]
    return Endpoint(url, options, ("authorization", "Bearer "), options.key_env)
