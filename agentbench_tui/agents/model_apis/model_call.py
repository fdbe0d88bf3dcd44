"""A model request as plain data, so that another process can send it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

import msgspec

if TYPE_CHECKING:
    from agentbench_tui.agents.model_apis.endpoint import Endpoint
    from agentbench_tui.agents.model_apis.model_api import Dialect

Api = Literal["chat", "responses", "messages"]

_DIALECTS: dict[Api, tuple[str, str]] = {
    "chat": ("agentbench_tui.agents.model_apis.chat_completions", "ChatCompletions"),
    "responses": ("agentbench_tui.agents.model_apis.responses_api", "ResponsesApi"),
    "messages": ("agentbench_tui.agents.model_apis.messages_api", "MessagesApi"),
}
_TOKEN_LIMIT: dict[Api, str] = {
    "chat": "max_tokens",
    "responses": "max_output_tokens",
    "messages": "max_tokens",
}


class ModelCall(msgspec.Struct, frozen=True):
    """The constant part of every request to a model."""

    api: Api
    model: str
    fields: dict[str, Any]
    """Sent with every request as they are."""
    stream: bool
    seeded: bool = False
    """Whether each request also sends the seed of its observation."""

    def dialect(self) -> Dialect:
        """Return the reader and writer of this API."""
        module, name = _DIALECTS[self.api]
        dialect: Dialect = getattr(import_module(module), name)(
            self.model, self.fields, stream=self.stream
        )
        return dialect

    @property
    def token_limit_field(self) -> str:
        """Return the request field that limits the tokens of the answer."""
        return _TOKEN_LIMIT[self.api]


class ModelAgent(ABC):
    """A session with a model that another process can call too."""

    @property
    @abstractmethod
    def endpoint(self) -> Endpoint:
        """Return the endpoint; ready after `start`."""

    @property
    @abstractmethod
    def call(self) -> ModelCall:
        """Return how to call the model."""
