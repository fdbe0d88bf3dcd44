"""Programs and Python functions play whole games on their standard streams."""

import asyncio
import os
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from playing import CONFIG, match, request

from agentbench_tui.agents.adapter import OpenContext
from agentbench_tui.agents.python.python_agent import Options, open  # noqa: A004
from agentbench_tui.agents.target import parse_agent
from agentbench_tui.market.outside.program import MOST_UNREAD_BYTES, ProcessSeat, _Requests
from agentbench_tui.market.play.clock import Pace
from agentbench_tui.market.play.seating import seat_of
from agentbench_tui.model.answer import AgentFailure, FailureKind
from agentbench_tui.process.environment import child_environment

PROGRAM = """
import sys
import time
from agentbench_tui.market.client import CallError, Market, play

def turn(market: Market) -> None:
    print("a stray print")
    tick = market.state["tick"]
    first = market.observation["predictions"]
    if tick == 0:
        market.call("a2a.buyShares", marketId="market-0", outcome="YES", amount=10)
        try:
            market.call("a2a.buyShares", marketId="market-0", outcome="MAYBE", amount=10)
        except CallError as error:
            assert error.code == -32602 and error.data["path"] == "outcome", error
    %s

if __name__ == "__main__":
    play(turn)
"""


def program(folder: Path, more: str = "pass") -> ProcessSeat:
    path = folder / "agent.py"
    path.write_text(PROGRAM % more)
    return ProcessSeat([sys.executable, str(path)], child_environment(), None, None)


async def test_a_program_plays_a_game_on_its_standard_streams(tmp_path: Path) -> None:
    game = match()
    seat = program(tmp_path)
    await seat.play(game, request())
    episode = game.game.episode()
    assert [(call.method, call.code) for call in episode.calls] == [
        ("a2a.buyShares", 0),
        ("a2a.buyShares", -32602),
    ]
    assert len(episode.turns_s) == CONFIG.ticks
    assert episode.trades[0].money == 10_000_000
    assert seat.pids == ()
    assert seat.cpu_seconds


async def test_a_program_that_ends_early_is_a_failure_of_the_agent(tmp_path: Path) -> None:
    with pytest.raises(AgentFailure, match="before the game was over") as failure:
        await program(tmp_path, "sys.exit(3) if tick == 2 else None").play(match(), request())
    assert failure.value.kind is FailureKind.AGENT
    assert "code 3" in failure.value.detail


async def test_a_request_that_is_too_long_is_told_as_that(tmp_path: Path) -> None:
    talk = 'market.call("a2a.createPost", content="x" * 3_000_000)'
    with pytest.raises(AgentFailure, match="a request of more than 1,048,576 bytes") as failure:
        await program(tmp_path, talk).play(match(), request())
    assert failure.value.kind is FailureKind.AGENT


AHEAD = """
import json, sys, threading
from agentbench_tui.market.client import play
look = {"jsonrpc": "2.0", "method": "observe"}
def ask(many, padding):
    for nth in range(many):
        sys.stdout.write(json.dumps({**look, "id": nth}) + padding + "\\n")
    sys.stdout.flush()
def hear(many):
    for nth in range(many):
        assert json.loads(sys.stdin.buffer.readline())["id"] == nth
"""


async def test_a_program_may_ask_ahead_of_what_it_reads(tmp_path: Path) -> None:
    """Megabytes of requests before it reads the first response, and meanwhile: none is lost."""
    asks = """
ask(800, "")  # more bytes of responses than wait for who does not read
hear(800)
asking = threading.Thread(target=ask, args=(200, " " * 20_000))
asking.start()
hear(200)
asking.join()
play(lambda market: None)
"""
    (tmp_path / "ahead.py").write_text(AHEAD + asks)
    game = match()
    command = [sys.executable, str(tmp_path / "ahead.py")]
    await ProcessSeat(command, child_environment(), None, None).play(game, request())
    assert len(game.game.episode().turns_s) == CONFIG.ticks


async def test_what_a_program_asks_and_never_reads_does_not_pile_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentbench_tui.market.outside.program._CLOSE_GRACE_S", 0.01)
    asks = """
batch = json.dumps([{**look, "id": nth} for nth in range(100)])
while True:
    print(batch, flush=True)
"""
    (tmp_path / "flood.py").write_text(AHEAD + asks)
    seat = ProcessSeat(
        [sys.executable, str(tmp_path / "flood.py")], child_environment(), None, None
    )
    playing = asyncio.create_task(seat.play(match(), request()))
    longest = 0
    try:
        async with asyncio.timeout(60):
            while longest <= MOST_UNREAD_BYTES:
                await asyncio.sleep(0.01)
                longest = max([0, *(child.unsent_bytes for child in seat._running.values())])
        (child,) = seat._running.values()
        for _ in range(100):
            await asyncio.sleep(0.001)
            longest = max(longest, child.unsent_bytes)
    finally:
        playing.cancel()
        with suppress(asyncio.CancelledError):
            await playing
    assert longest < 1.5 * MOST_UNREAD_BYTES  # and one response


async def test_the_example_of_the_documentation_plays_to_the_end(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs/market.md").read_text()
    code = page.split("```python\n")[1].split("```")[0]
    assert code.startswith("# my_agent.py")
    (tmp_path / "my_agent.py").write_text(code.replace("< 0.2", "< 2").replace("=50", "=900"))
    spec = parse_agent(f"python:{tmp_path}/my_agent.py:turn", base_dir=str(tmp_path))
    game = match()
    await seat_of(open(spec, Options(), OpenContext()), spec, None).play(game, request())
    codes = {call.code for call in game.game.episode().calls}
    assert 0 in codes
    assert -32014 in codes  # as many shares as one may hold


async def test_a_program_that_hangs_loses_its_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentbench_tui.market.outside.program._CLOSE_GRACE_S", 0.01)
    game = match(Pace("deadline", 0.05))
    path = tmp_path / "agent.py"
    path.write_text(
        "from threading import Event\n"
        "from agentbench_tui.market.client import play\n"
        "play(lambda market: Event().wait())\n"
    )
    seat = ProcessSeat([sys.executable, str(path)], child_environment(), None, None)
    await seat.play(game, request())
    assert game.game.is_over
    assert game.game.episode().timeouts == tuple(range(CONFIG.ticks))


async def test_python_agents_play_in_a_process_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import os, pathlib\n"
        "def turn(market):\n"
        "    pathlib.Path(__file__).with_name('pid').write_text(str(os.getpid()))\n"
        "    market.call('a2a.submitForecast', marketId='market-1', probability=0.3)"
        " if market.state['tick'] == 0 else None\n"
    )
    spec = parse_agent(f"python:{tmp_path}/mine.py:turn", base_dir=str(tmp_path))
    seat = seat_of(open(spec, Options(), OpenContext()), spec, None)
    assert isinstance(seat, ProcessSeat)
    game = match()
    await seat.play(game, request())
    assert [one.probability for one in game.game.episode().forecasts] == [0.3]
    assert int((tmp_path / "pid").read_text()) != os.getpid()


class Source:
    """Notes whether it is to speak."""

    def __init__(self) -> None:
        self.speaks = True

    def pause_output(self) -> None:
        self.speaks = False

    def resume_output(self) -> None:
        self.speaks = True


async def test_who_asks_more_than_is_answered_is_not_heard_until_all_is() -> None:
    requests, source = _Requests(), Source()
    requests.source = source  # type: ignore[assignment]
    line = b"x" * 1_023 + b"\n"
    requests.take(line * 1_024)
    assert source.speaks
    requests.take(line * 2)
    for _ in range(1_026):
        assert not source.speaks
        assert await requests.next() == line[:-1]
    assert source.speaks
