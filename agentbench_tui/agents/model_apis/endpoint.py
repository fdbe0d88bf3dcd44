"""Common part of agents behind a URL: address, key, connections, and the meaning of errors.

Keys come from the environment when a session starts. They live in the headers that are sent and
in the list of what to mask, and go nowhere else.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Annotated, Literal
from urllib.parse import quote

import msgspec
from pydantic import Field

from agentbench_tui.agents.adapter import AgentOptions, JsonObject, OpenContext
from agentbench_tui.agents.model_apis.error_text import advice, error_text, is_final
from agentbench_tui.agents.model_apis.retry_after import retry_after_s, retry_after_words
from agentbench_tui.http.client import (
    MAX_BODY_BYTES,
    HttpClient,
    HttpRequest,
    HttpResponse,
    Timeouts,
    checked_url,
    place_of,
    read_body,
)
from agentbench_tui.model.answer import AgentFailure, Answer, FailureKind
from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.text.secrets import redact
from agentbench_tui.model.text.untrusted import one_line

_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))", re.ASCII)
_SECRET_HEADER = re.compile(r"auth|cookie|key|token|secret|passw|credential", re.IGNORECASE)
_SECRET_PARAMETER = re.compile(
    r"[?&][^=&]*(?:key|token|secret|passw|sig)[^=&]*=[^&]", re.IGNORECASE
)
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_DETAIL_CHARACTERS = 300

Seconds = Annotated[float, Field(gt=0)]


class EndpointOptions(AgentOptions):
    """Options of every agent behind a URL."""

    key_env: str | None = None
    """Environment variable that holds the key."""
    key_header: str | None = None
    """Header for the plain key, such as `api-key`. By default the API's usual header."""
    headers: JsonObject = Field(default_factory=dict)
    """Additional headers; `$NAME` in a value stands for an environment variable."""
    connect_timeout_s: Seconds = 10.0
    first_byte_timeout_s: Seconds = 300.0
    idle_timeout_s: Seconds = 120.0
    max_answer_bytes: Annotated[int, Field(gt=0)] = MAX_BODY_BYTES
    transport: Literal["own", "aiohttp"] = "own"
    """Agentbench's own HTTP client, which is the most accurate, or aiohttp's."""
    proxy: str | None = None
    """URL of an HTTP proxy, `$NAME` standing for an environment variable; aiohttp speaks to it."""


class Endpoint:
    """One URL with its headers and connections, for the duration of a session."""

    def __init__(
        self, url: str, options: EndpointOptions, key_header: tuple[str, str], key_env: str | None
    ) -> None:
        """`key_header` is the name of the key's header with the prefix of its value."""
        self.url = url
        self.place = place_of(url)
        self._options = options
        self._key_header = (
            key_header if options.key_header is None else (options.key_header.lower(), "")
        )
        self._key_env = key_env
        self.key_from = ""
        """The variables that keys were taken from, `$A, $B`; there from `start` on."""
        self._headers: dict[str, str] = {}
        self._secrets: tuple[str, ...] = ()
        self._client: HttpClient | None = None
        self._timeouts = Timeouts(
            options.connect_timeout_s, options.first_byte_timeout_s, options.idle_timeout_s
        )

    def start(self, own_headers: Mapping[str, str], context: OpenContext) -> None:
        """Read keys from the environment and create the pool, without connecting.

        Raises `AgentFailure` (`agent`) when a variable is missing: the run can't begin.
        """
        problems = list(self.problems())
        if problems:
            raise AgentFailure(FailureKind.AGENT, problems[0])
        headers = {"content-type": "application/json", **own_headers}
        secrets: list[str] = []
        for name, value in self._options.headers.items():
            headers[name.lower()] = _VARIABLE.sub(lambda found: _taken(found, secrets), value)
        names = [name for value in self._options.headers.values() for name in _variables(value)]
        if self._key_env is not None:
            names.append(self._key_env)
            key = os.environ[self._key_env].strip()
            secrets.append(key)
            headers[self._key_header[0]] = self._key_header[1] + key
        self.key_from = ", ".join(f"${name}" for name in dict.fromkeys(names))
        self._client = self._new_client(context, secrets)
        self._headers = headers
        longest_first = sorted(set(secrets), key=len, reverse=True)
        self._secrets = tuple(form for secret in longest_first for form in _forms(secret))

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers of every request, including keys; available after `start`."""
        return self._headers

    @property
    def options(self) -> EndpointOptions:
        """Return the time limits and bounds."""
        return self._options

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.close()

    def problems(self) -> Iterator[str]:
        """Return known problems before anything is sent, one per line, without secrets."""
        try:
            checked_url(self.url)
        except UsageError as error:
            yield str(error)
        if _SECRET_PARAMETER.search(self.url):
            yield (
                f"the URL of {self.place} seems to hold a key in its query, which would be stored: "
                "send it in a header, from an environment variable"
            )
        if self._key_env is not None:
            yield from _variable_problems(self._key_env, "the key")
        if self._options.key_header is not None:
            yield from self._key_header_problems(self._options.key_header)
        for name, value in self._options.headers.items():
            yield from _header_problems(name, value)
        if self._options.proxy is not None:
            yield from _proxy_problems(self._options.proxy)

    def _key_header_problems(self, name: str) -> Iterator[str]:
        if not _HEADER_NAME.fullmatch(name):
            yield f"key_header: not a header name: {name[:60]!r}"
        elif self._key_env is None:
            yield f"key_header: no key to send as {name}: name its variable with key_env=NAME"

    def send(self, body: bytes, *, method: str = "POST", query: str = "") -> _Sending:
        """Send and wait for the head of the answer; see `HttpClient.send`."""
        assert self._client is not None, "start() comes first"
        return self._client.send(
            HttpRequest(
                method,
                self.url + query,
                self._headers,
                body,
                self._timeouts,
                self._options.max_answer_bytes,
            )
        )

    async def refusal(self, response: HttpResponse) -> AgentFailure:
        """Return the failure for an answer with a status other than 2xx."""
        status = response.status
        if 300 <= status < 400:
            where = self.clean(response.headers.get("location", "nowhere"))
            return AgentFailure(
                FailureKind.SERVER,
                f"{self.place} redirects (HTTP {status}) to {where}: give that URL as the target",
                final=True,
            )
        try:
            _, body = await read_body(response)
        except AgentFailure:
            # The status alone says what happened; its explanation is lost.
            body = b""
        detail = f"HTTP {status} from {self.place}"
        said = self.clean(error_text(body))
        detail = f"{detail}: {said}" if said else detail
        detail += advice(status, self.url, self.key_from)
        kind = FailureKind.RATE_LIMITED if status == 429 else FailureKind.SERVER
        wait_s = retry_after_s(response.headers.get("retry-after"))
        return AgentFailure(
            kind,
            detail + retry_after_words(wait_s),
            retry_after_s=wait_s,
            final=is_final(status, wait_s),
        )

    def unreadable(self, what: str, body: bytes, response: HttpResponse) -> AgentFailure:
        """Return the failure for a complete answer in an unexpected form."""
        if not body:
            return AgentFailure(FailureKind.PARSE, f"{self.place} gave an empty answer")
        kind = self.clean(response.headers.get("content-type", "no content type"))
        start = self.clean(body[:8192].decode("utf-8", "replace"))[:120]
        return AgentFailure(FailureKind.PARSE, f"{self.place}: {what} ({kind}): {start}")

    def clean(self, text: str) -> str:
        """Return a server's text on one line, bounded, without any secret of this session."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return one_line(redact(text[: 20 * _DETAIL_CHARACTERS]), _DETAIL_CHARACTERS)

    def without_secrets(self, answer: Answer) -> Answer:
        """Return `answer` with the session's secrets masked, in case the server echoed one."""
        if not self._secrets:
            return answer
        written = msgspec.json.encode(answer).decode()
        if not any(secret in written for secret in self._secrets):
            return answer
        for secret in self._secrets:
            written = written.replace(secret, "***")
        return msgspec.json.decode(written, type=Answer)

    def _new_client(self, context: OpenContext, secrets: list[str]) -> HttpClient:
        proxy = self._options.proxy
        if proxy is None and self._options.transport == "own":
            from agentbench_tui.http.httptools_client import HttptoolsClient

            return HttptoolsClient()
        from agentbench_tui.http.aiohttp_client import AiohttpClient

        if proxy is not None:
            proxy = _VARIABLE.sub(lambda found: _taken(found, secrets), proxy)
        return AiohttpClient(context.concurrency, proxy=proxy)


_Sending = AbstractAsyncContextManager[HttpResponse]


class EndpointAgent:
    """Base of the agents behind a URL: the session is its endpoint, without processes."""

    def __init__(
        self, endpoint: Endpoint, own_headers: Mapping[str, str], context: OpenContext
    ) -> None:
        self._endpoint = endpoint
        self._own_headers = own_headers
        self._context = context

    async def start(self) -> None:
        """See `Agent.start`."""
        self._endpoint.start(self._own_headers, self._context)

    async def close(self) -> None:
        """See `Agent.close`."""
        await self._endpoint.close()

    @property
    def pids(self) -> tuple[int, ...]:
        """Return no processes: the server's are unknown."""
        return ()

    @property
    def peak_memory_mb(self) -> float | None:
        """Return None: the server's memory is unknown."""
        return None

    @property
    def cpu_seconds(self) -> float | None:
        """Return None: the server's CPU time is unknown."""
        return None


def _variables(text: str) -> list[str]:
    return [found[1] or found[2] for found in _VARIABLE.finditer(text)]


def _taken(found: re.Match[str], secrets: list[str]) -> str:
    value = os.environ[found[1] or found[2]].strip()
    secrets.append(value)
    return value


def _forms(secret: str) -> tuple[str, ...]:
    """Return the secret in the forms that servers may echo; short ones would mask common words."""
    if len(secret) < 6:
        return ()
    encoded = base64.b64encode(secret.encode()).decode().rstrip("=")
    return tuple(dict.fromkeys((secret, json.dumps(secret)[1:-1], quote(secret, safe=""), encoded)))


def _variable_problems(name: str, role: str) -> Iterator[str]:
    value = os.environ.get(name, "").strip()
    if not value:
        yield f"{role} is read from the environment variable {name}, which is not set"
    elif not value.isprintable() or not value.isascii():
        yield f"the environment variable {name} holds a character that no header can carry"


def _proxy_problems(proxy: str) -> Iterator[str]:
    variables = _variables(proxy)
    for variable in variables:
        yield from _variable_problems(variable, "the proxy")
    if variables:
        return
    try:
        checked_url(proxy)
    except UsageError as error:
        yield f"proxy: {error}"


def _header_problems(name: str, value: object) -> Iterator[str]:
    if not _HEADER_NAME.fullmatch(name):
        yield f"not a header name: {name[:60]!r}"
    elif not isinstance(value, str) or not value.isprintable() or not value.isascii():
        yield f"header {name}: its value must be printable ASCII text"
    elif variables := _variables(value):
        for variable in variables:
            yield from _variable_problems(variable, f"header {name}")
    elif _SECRET_HEADER.search(name) or redact(value) != value:
        yield (
            f"header {name} holds its secret in plain text, which would be stored: "
            f"put it into an environment variable and write $NAME"
        )
