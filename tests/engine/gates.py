"""Agents that answer when a test lets them: import this in an agent's file, in the same process."""

import asyncio
from collections import defaultdict


class Gates:
    """Every prompt that arrived, in order, and a gate for each."""

    def __init__(self) -> None:
        self.arrived: asyncio.Queue[str] = asyncio.Queue()
        self._gates: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)

    async def answer(self, prompt: str) -> str:
        self.arrived.put_nowait(prompt)
        await self._gates[prompt].wait()
        return prompt

    def open(self, *prompts: str) -> None:
        for prompt in prompts:
            self._gates[prompt].set()


current = Gates()


def renew() -> Gates:
    """New gates, all closed."""
    global current
    current = Gates()
    return current
