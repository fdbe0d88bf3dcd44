"""An agent's adapter: answers in capitals."""

from typing import Any

from agentbench_tui.agents.adapter import AgentOptions, OpenContext
from agentbench_tui.model.agent import AgentSpec
from agentbench_tui.model.answer import Answer, Request


class Options(AgentOptions):
    mark: str = "!"


def check(spec: AgentSpec, options: Options) -> list[str]:
    return []


def open(spec: AgentSpec, options: Options, context: OpenContext) -> Any:  # noqa: A001
    return Shouting(options.mark)


class Shouting:
    pids: tuple[int, ...] = ()
    peak_memory_mb = None
    cpu_seconds = None

    def __init__(self, mark: str) -> None:
        self._mark = mark

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    async def answer(self, request: Request) -> Answer:
        return Answer(request.text().upper() + self._mark)
