"""Agents that nobody starts come to an address and play: by JSON-RPC, and by the A2A protocol."""

import asyncio
import json
import socket
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from playing import CONFIG, match, request

from agentbench_tui.agents.registry import check_agent, open_agent
from agentbench_tui.agents.target import parse_agent
from agentbench_tui.cli.main import _run
from agentbench_tui.market.client import CallError, Market, http, play
from agentbench_tui.market.outside.outsider import Outsider
from agentbench_tui.market.outside.rpc_server import url_of
from agentbench_tui.model.answer import AgentFailure, FailureKind


def lines_until(process: "subprocess.Popen[str]", words: str) -> str:
    """The first line of its standard error that begins so, and what follows."""
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith(words):
            return line.removeprefix(words).strip()
    raise AssertionError(f"never said {words}")


def begin_anew(game: Market) -> None:
    """The game before may just be over, or none be there yet."""
    while not game.state or game.state["over"]:
        with suppress(CallError):
            game.begin()


def test_a_served_world_is_played_and_ends_as_a_run_does(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "agentbench_tui", "market", "serve", "--duration=10"]
    command += ["--markets=2", "--perpetuals=1", "--seed=7", "--worlds=2", "--agent-id=me"]
    command += ["--save-trajectories", "--output=out", "--db=a.db", "--format=json"]
    process = subprocess.Popen(
        command, cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with process:
        try:
            with http(lines_until(process, "serving by jsonrpc at ")) as send:
                for nth in range(2):
                    game = Market(send)
                    begin_anew(game)
                    game.call("a2a.buyShares", marketId="market-0", outcome="NO", amount=10 + nth)
                    while not game.state["over"]:
                        game.end_turn()
            out, _ = process.communicate()
        finally:
            process.kill()
    assert process.returncode == 0
    episodes = json.loads(out)["episodes"]
    assert [(one["agent_id"], one["world"]) for one in episodes] == [
        ("me", "seed-7"),
        ("me", "seed-8"),
    ]
    assert [one["metrics"]["share_trades"] for one in episodes] == [1, 1]
    lines = (tmp_path / "out" / "trajectories.jsonl").read_text().splitlines()
    assert [len(json.loads(line)["steps"]) for line in lines] == [10, 10]
    assert (tmp_path / "out" / "me" / "seed-8" / "run-1" / "timeline.html").is_file()


async def test_one_address_serves_one_game_after_the_other(
    capfd: pytest.CaptureFixture[str],
) -> None:
    spec = parse_agent("market:outsider?port=0", base_dir="")
    assert check_agent(spec) == []
    seat: Any = open_agent(spec, memory_limit_mb=None, concurrency=1)
    await seat.start()
    url = capfd.readouterr().err.removeprefix("serving by jsonrpc at ").strip()
    try:
        with http(url) as send:
            with pytest.raises(CallError, match="no game is played here"):
                await asyncio.to_thread(Market(send).begin)
            for _ in range(2):
                game = match()
                playing = asyncio.create_task(seat.play(game, request()))
                await asyncio.sleep(0)
                await asyncio.to_thread(play, lambda _: None, send)
                await playing
                assert len(game.game.episode().turns_s) == CONFIG.ticks
    finally:
        await seat.close()
    with pytest.raises(AgentFailure, match="plays markets"):
        await seat.answer(request())


async def test_games_at_one_address_wait_for_each_other(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """A benchmark may ask for several at once: each is played to its end before the next comes."""
    seat = Outsider("jsonrpc", "127.0.0.1", 0)
    await seat.start()
    url = capfd.readouterr().err.removeprefix("serving by jsonrpc at ").strip()
    games = [match(), match()]
    playing = [asyncio.create_task(seat.play(game, request())) for game in games]
    try:
        with http(url) as send:
            for task in playing:
                await asyncio.sleep(0)  # for the game to be laid out
                await asyncio.to_thread(play, lambda _: None, send)
                await task
    finally:
        await seat.close()
    assert [len(game.game.episode().turns_s) for game in games] == [CONFIG.ticks] * 2


async def test_a_client_of_the_sdk_plays_a_served_game(capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("a2a", reason="the extra a2a is not installed")
    pytest.importorskip("uvicorn", reason="the extra a2a is not installed")
    from a2a.client import ClientConfig, ClientFactory
    from test_a2a import ask

    seat = Outsider("a2a", "127.0.0.1", 0)
    await seat.start()
    url = capfd.readouterr().err.removeprefix("serving by a2a at ").strip()
    client = await ClientFactory(ClientConfig(streaming=False)).create_from_url(url)
    try:
        assert (await ask(client, "observe"))["error"]["message"].startswith("no game")
        game = match()
        playing = asyncio.create_task(seat.play(game, request()))
        await asyncio.sleep(0)
        state = (await ask(client, "observe"))["result"]
        while not state["over"]:
            state = (await ask(client, "endTurn", tick=state["tick"]))["result"]
        await playing
    finally:
        await client.close()
        await seat.close()
    assert len(game.game.episode().turns_s) == CONFIG.ticks


async def test_a_port_that_is_taken_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(AgentFailure, match="cannot listen on") as failure:
            await Outsider("jsonrpc", "127.0.0.1", port).start()
        assert failure.value.kind is FailureKind.HARNESS
        code = await asyncio.to_thread(_run, ["market", "serve", f"--port={port}"])
        assert code == 2
        assert f"cannot listen on 127.0.0.1:{port}" in capfd.readouterr().err
    assert await asyncio.to_thread(_run, ["market", "serve", "--detach"]) == 2
    assert "--port" in capfd.readouterr().err


def test_options_of_outsiders_are_not_those_of_baselines() -> None:
    spec = parse_agent("market:hold?port=80", base_dir="")
    assert check_agent(spec) == ["option `port` is one of market:outsider"]
    assert url_of("::1", 80) == "http://[::1]:80/"
