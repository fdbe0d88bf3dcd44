"""What a target is given when it is put on its stand: limits, a session, a way to its upstream."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from staged import on_stand

from agentbench_tui.load.sending import target as load_target
from agentbench_tui.model.answer import Agent, AgentFailure, Case, FailureKind, Request
from agentbench_tui.stress.stand.measured import Measured
from agentbench_tui.stress.stand.stand import Stand
from agentbench_tui.stress.stand.window_plan import WindowPlan

EATER = """
held = bytearray(90_000_000)
held[::4096] = b"x" * len(held[::4096])
input()
print("full")
"""


@pytest.mark.parametrize(("limit_mb", "failures"), [(None, {}), (60.0, {"limit": 2})])
async def test_a_program_is_under_the_memory_limit_of_the_scenario(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    limit_mb: float | None,
    failures: dict[str, int],
) -> None:
    found: list[Measured] = []

    async def act(stand: Stand, *_: Any) -> None:
        found.append(await stand.hold(WindowPlan(20.0, users=1, requests=2), phase="one"))

    (tmp_path / "eater.py").write_text(EATER)
    command = f"command:{shlex.quote(sys.executable)} {tmp_path / 'eater.py'}"
    await on_stand(
        tmp_path, monkeypatch, act, command, scenario="memory_pressure", memory_limit_mb=limit_mb
    )
    assert found[0].failures == failures


async def test_a_server_with_a_form_of_its_own_is_asked_beside_the_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(
            b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 7\r\ncontent-length: 0\r\n"
            b"connection: close\r\n\r\n"
        )
        writer.close()

    told: list[AgentFailure] = []

    async def act(stand: Stand, *_: Any) -> None:
        assert stand.agent is not None
        with pytest.raises(AgentFailure) as raised:
            await stand.agent.answer(Request(Case("a", "b"), 1, time_limit_s=5.0))
        told.append(raised.value)

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        target = f"http://127.0.0.1:{port}/ask"
        await on_stand(tmp_path, monkeypatch, act, target, scenario="spike_load")
    finally:
        server.close()
    assert [(one.kind, one.retry_after_s) for one in told] == [(FailureKind.RATE_LIMITED, 7)]


@pytest.mark.parametrize("named", [None, "MODELS_AT"])
async def test_an_agent_finds_its_upstream_behind_the_proxy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str | None
) -> None:
    variable = named or "OPENAI_BASE_URL"
    monkeypatch.setenv(variable, "http://127.0.0.1:9/v1")
    seen: list[str] = []

    async def act(stand: Stand, *_: Any) -> None:
        assert stand.proxy is not None
        assert os.environ[variable] == stand.proxy.through("http://127.0.0.1:9/v1")
        seen.append(os.environ[variable])

    (tmp_path / "mine.py").write_text("def answer(text):\n    return text\n")
    block = {"scenario": "rate_limiting", "upstream": "http://127.0.0.1:9/v1"}
    target = f"python:{tmp_path / 'mine.py'}:answer"
    await on_stand(tmp_path, monkeypatch, act, target, **block, upstream_env=named)
    assert seen
    assert seen[0] != os.environ[variable] == "http://127.0.0.1:9/v1"


async def test_a_target_that_does_not_start_in_time_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Slow:
        async def start(self) -> None:
            await asyncio.Event().wait()

    monkeypatch.setattr(load_target, "START_LIMIT_S", 0.01)
    with pytest.raises(AgentFailure, match=r"did not start within 0\.01 s") as told:
        await load_target.start(cast(Agent, Slow()))
    assert told.value.kind is FailureKind.TIMEOUT
