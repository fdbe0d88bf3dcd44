"""Connects the game to the engine: a case is a world, the answer the whole episode.

Everything that knows the truth stays in this process. Agents that run their own code play from
another process, or over HTTP; the built-in baselines, and models behind an API, are driven from
here.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from agentbench_tui.agents import registry
from agentbench_tui.agents.python.python_source import Origin
from agentbench_tui.agents.target import parse_target
from agentbench_tui.market.document import document_of
from agentbench_tui.market.judging.aggregate import add_metrics
from agentbench_tui.market.judging.metrics import measure
from agentbench_tui.market.outside.python_check import check_source
from agentbench_tui.market.play.clock import Pace
from agentbench_tui.market.play.game import Game, GameConfig
from agentbench_tui.market.play.match import Match
from agentbench_tui.market.play.seating import seat_of
from agentbench_tui.market.world.stage import (
    Pacing,
    attainable_of,
    open_stage,
    read_input,
    salted_input,
)
from agentbench_tui.market.world.world_file import truth_path
from agentbench_tui.model.access import Access
from agentbench_tui.model.answer import AgentFailure, FailureKind
from agentbench_tui.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentbench_tui.engine.run.context import StopSignal
    from agentbench_tui.market.play.seats import Seat
    from agentbench_tui.model.agent import AgentSpec
    from agentbench_tui.model.answer import Agent, Answer, Case, Request
    from agentbench_tui.model.suite import Benchmark

__all__ = ("accesses", "add_metrics", "check", "check_agent", "player", "salted")
ORACLES = frozenset({"market:oracle"})
"""Targets that are given the truth."""
PATIENCE_S = 1.0
"""A game that is in play when the run is interrupted has this long to come to its end."""


def check(benchmark: Benchmark) -> list[str]:
    """Return the problems of a market benchmark, in sentences."""
    problems = []
    if benchmark.prompt is not None or benchmark.system_prompt is not None:
        problems.append("`prompt`: what an agent gets to see of a world comes from the game")
    if benchmark.retries:
        problems.append("`retries`: an episode is played once; write `retries: 0`")
    if benchmark.iterations.warmup:
        problems.append("`iterations.warmup`: a warm-up would play whole episodes; write 0")
    cases = benchmark.dataset.cases if benchmark.dataset is not None else None
    for case in cases or ():
        try:
            read_input(case.get("input"))
        except UsageError as error:
            problems.append(f"case {case.get('id')}: {error}")
    return problems


def check_agent(spec: AgentSpec) -> list[str]:
    """Return known problems of an agent before it plays. Runs no code of the agent."""
    parsed = parse_target(spec.target)
    if parsed.scheme != "python":
        return registry.check_agent(spec)
    try:
        registry.open_agent(spec, memory_limit_mb=None, concurrency=1)  # for its options
    except UsageError as error:
        return str(error).splitlines()
    module, _, name = parsed.rest.rpartition(":")
    return check_source(Origin(module, name, spec.base_dir))


def accesses(case: Case) -> Iterator[Access]:
    """Return the files of a case's world, which may be malicious."""
    try:
        place, _ = read_input(case.input)
    except UsageError:
        yield Access("uses", "a world that this version cannot read")
        return
    if place.file:
        world = Path(place.file)
        yield Access("reads", f"{world} and {truth_path(world)}")


def salted(case: Case, salt: str) -> Case:
    """Return the case with the salt, if its world is generated and it names none."""
    if not isinstance(case.input, dict):
        return case
    given = salted_input(case.input, salt)
    return case if given is case.input else msgspec.structs.replace(case, input=given)


def player(agent: Agent, spec: AgentSpec, memory_limit_mb: float | None, stop: StopSignal) -> Agent:
    """Return an agent that plays the world of a case to its end."""
    knows_outcomes = spec.target in ORACLES
    return Player(seat_of(agent, spec, memory_limit_mb), stop, knows_outcomes=knows_outcomes)


class Player:
    """Plays one episode for each answer."""

    def __init__(
        self, seat: Seat, stop: StopSignal | None = None, *, knows_outcomes: bool = False
    ) -> None:
        """`knows_outcomes`: whether the agent receives the truth, which marks its episodes."""
        self._seat = seat
        self._stop = stop
        self._knows_outcomes = knows_outcomes

    @property
    def pids(self) -> tuple[int, ...]:
        """See `Agent`."""
        return self._seat.pids

    @property
    def peak_memory_mb(self) -> float | None:
        """See `Agent`."""
        return self._seat.peak_memory_mb

    @property
    def cpu_seconds(self) -> float | None:
        """See `Agent`."""
        return self._seat.cpu_seconds

    async def start(self) -> None:
        """See `Agent`."""
        await self._seat.start()

    async def close(self) -> None:
        """See `Agent`."""
        await self._seat.close()

    async def answer(self, request: Request) -> Answer:
        """Play the case and return the episode as `document_of` makes it. Raises AgentFailure."""
        try:
            place, pacing = read_input(request.case.input)
            stage = open_stage(place)
        except UsageError as error:
            raise AgentFailure(FailureKind.HARNESS, str(error)) from None
        game = Game(stage.world, stage.truth.outcomes, GameConfig(_pace(pacing)))
        match = Match(game, stage)
        try:
            taken = await self._played(match, request)
        finally:
            match.close()
        episode = game.episode()
        found = measure(episode, stage.world, stage.truth, attainable_of(stage))
        data = document_of(stage, episode, found)
        data["knows_outcomes"] = self._knows_outcomes
        data["metrics"] = {**found.values, **_spent(taken)}
        if "notice" in taken.metadata:
            data["notices"] = [taken.metadata["notice"]]
        if pacing.trajectory:
            from agentbench_tui.market.trajectory import keep_trajectory

            keep_trajectory(data, stage.world, episode, knows_outcomes=self._knows_outcomes)
        return msgspec.structs.replace(taken, text=taken.text or _told(found.values), data=data)

    async def _played(self, match: Match, request: Request) -> Answer:
        """Play the game to its end; it is canceled `PATIENCE_S` after an interruption of
        the run.
        """
        playing = asyncio.create_task(self._seat.play(match, request))
        watching = asyncio.create_task(self._cancel_late(playing))
        try:
            return await playing
        finally:
            watching.cancel()

    async def _cancel_late(self, playing: asyncio.Task[Answer]) -> None:
        if self._stop is not None:
            await self._stop.wait()
            if self._stop.interrupted:
                await asyncio.sleep(PATIENCE_S)
                playing.cancel()


def _spent(taken: Answer) -> dict[str, float]:
    """Return tokens and cost of the episode, as far as the agent reports them."""
    usage = taken.usage
    known = {
        "input_tokens": None if usage is None else usage.input_tokens,
        "output_tokens": None if usage is None else usage.output_tokens,
        "cost_usd": taken.cost_usd,
    }
    return {name: value for name, value in known.items() if value is not None}


def _told(values: dict[str, Any]) -> str:
    """Return the episode in one line, for lists of answers."""
    fair = values["optimality_fair"]
    share = "" if fair is None else f", {100 * fair:.1f}% of what was attainable"
    trades = values["share_trades"] + values["perp_trades"]
    return f"P&L {values['total_pnl']:+,.2f} USD{share}, {trades:,} trades"


def _pace(pacing: Pacing) -> Pace:
    if pacing.real_time is not None:
        return Pace("real-time", speed=pacing.real_time)
    if pacing.response_timeout_s is not None:
        return Pace("deadline", pacing.response_timeout_s)
    return Pace()
