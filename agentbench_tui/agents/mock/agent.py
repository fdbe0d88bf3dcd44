"""`mock?ttft=50ms&itl=10ms&tokens=32`: the practice server, started for the session.

Its options are those of `agentbench mock`. What it answers is marked `simulated`, and no right
answer to anything.
"""

from __future__ import annotations

from typing import Literal

import msgspec
from pydantic import ConfigDict, model_validator

from agentbench_tui.agents.adapter import AgentOptions, OpenContext
from agentbench_tui.agents.mock.options import MockOptions, read_options
from agentbench_tui.agents.mock.process import MockServer, start_server
from agentbench_tui.agents.model_apis import openai
from agentbench_tui.agents.model_apis.endpoint import Endpoint
from agentbench_tui.agents.model_apis.model_call import ModelAgent, ModelCall
from agentbench_tui.agents.target import parse_target
from agentbench_tui.model.agent import AgentSpec
from agentbench_tui.model.answer import Answer, Request
from agentbench_tui.model.errors import UsageError


class Options(AgentOptions):
    """Options of the client; all other options are the server's."""

    model_config = ConfigDict(extra="allow")

    api: Literal["chat", "responses"] = "chat"
    stream: bool = True

    @model_validator(mode="after")
    def _can_be_read(self) -> Options:
        try:
            self.server()
        except UsageError as error:
            raise ValueError(str(error)) from None
        return self

    def server(self) -> MockOptions:
        """Return the server's options. Raises UsageError."""
        return read_options(self.model_extra or {})


def check(spec: AgentSpec, options: Options) -> list[str]:  # noqa: ARG001  # the contract's signature
    """See `adapter`. Invalid options were rejected when they were created."""
    parsed = parse_target(spec.target)
    if parsed.rest or parsed.fragment:
        return [f"`{spec.target}`: `mock` takes nothing but options, such as mock?ttft=50ms"]
    return []


def open(spec: AgentSpec, options: Options, context: OpenContext) -> MockAgent:  # noqa: A001, the contract's name
    """See `adapter`."""
    return MockAgent(spec, options, context)


class MockAgent(ModelAgent):
    """A separate server process, and a model agent that calls it."""

    def __init__(self, spec: AgentSpec, options: Options, context: OpenContext) -> None:
        self._spec = spec
        self._options = options
        self._context = context
        self._server: MockServer | None = None
        self._agent: openai.OpenAIAgent | None = None

    @property
    def endpoint(self) -> Endpoint:
        """See `ModelAgent`."""
        assert self._agent is not None, "start() comes first"
        return self._agent.endpoint

    @property
    def call(self) -> ModelCall:
        """See `ModelAgent`."""
        assert self._agent is not None, "start() comes first"
        return self._agent.call

    @property
    def server(self) -> MockServer:
        """Return the server, which stress tests may kill and restart."""
        assert self._server is not None, "start() comes first"
        return self._server

    @property
    def pids(self) -> tuple[int, ...]:
        """Return the server's process."""
        return () if self._server is None else self._server.pids

    @property
    def peak_memory_mb(self) -> float | None:
        """Return the server's peak memory."""
        return None if self._server is None else self._server.peak_memory_mb

    @property
    def cpu_seconds(self) -> float | None:
        """Return the server's CPU time."""
        return None if self._server is None else self._server.cpu_seconds

    async def start(self) -> None:
        """Start the server. Raises AgentFailure."""
        options = self._options.server()
        # Nobody asks for its truth, and memory that grew by it would look like a leak.
        self._server = await start_server(
            options, memory_limit_mb=self._context.memory_limit_mb, keeps_truth=False
        )
        target = f"openai:{self._server.url}#{options.model}"
        spec = msgspec.structs.replace(self._spec, target=target, options={})
        asked = openai.Options(api=self._options.api, stream=self._options.stream)
        self._agent = openai.open(spec, asked, self._context)
        await self._agent.start()

    async def answer(self, request: Request) -> Answer:
        """See `Agent.answer`."""
        assert self._agent is not None, "start() comes first"
        answer = await self._agent.answer(request)
        return msgspec.structs.replace(answer, simulated=True)

    async def close(self) -> None:
        """Close the connections and end the server. Idempotent."""
        if self._agent is not None:
            await self._agent.close()
            self._agent = None
        if self._server is not None:
            await self._server.close()
