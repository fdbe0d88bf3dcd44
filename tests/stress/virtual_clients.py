"""Polite clients on the clock of a simulated stand."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from simulated_stand import SimulatedStand

from agentbench_tui.stress.scenarios import rate_limiting
from agentbench_tui.stress.stand.retry_after_clients import Outcome, PoliteClients, Try


def polite_as(
    monkeypatch: pytest.MonkeyPatch,
    stand: SimulatedStand,
    told_s: float | None,
    refuses: Callable[[], bool],
) -> None:
    """Let each ask once a second, which is as long as it waits where it is told to.

    `refuses`: whether a request now is refused; `told_s`: what a refusal says.
    """
    stand.agent = object()

    @asynccontextmanager
    async def clients(*_: Any, **__: Any) -> AsyncIterator[PoliteClients]:
        log = PoliteClients(lambda: stand.now_s)
        began_s = stand.now_s
        waited: list[float | None] = [None] * rate_limiting.CLIENTS

        def ask(at_s: float) -> None:
            refused = refuses()
            outcome: Outcome = "refused" if refused else "served"
            told = told_s if refused else None
            for client, wait_s in enumerate(waited):
                log.keep(Try(at_s - began_s, outcome, told, wait_s))
                waited[client] = told

        stand.every_second = ask
        yield log
        stand.every_second = lambda _: None

    monkeypatch.setattr(rate_limiting, "polite_clients", clients)
