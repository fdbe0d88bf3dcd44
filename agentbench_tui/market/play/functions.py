"""Lets models play by tool calls: each turn is a short conversation with the methods as
functions.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from agentbench_tui.agents.model_apis.model_api import wire_tool_name
from agentbench_tui.market.play.actions import METHODS, MethodError
from agentbench_tui.market.play.seats import AgentSeat
from agentbench_tui.model.answer import (
    AgentFailure,
    Answer,
    Case,
    Message,
    Usage,
)
from agentbench_tui.model.text.reasoning import split_reasoning

if TYPE_CHECKING:
    from agentbench_tui.market.play.match import Match
    from agentbench_tui.model.answer import Agent, Request, ToolCall

MOST_ROUNDS = 8
"""Answers of the model in one turn; after the last one the turn ends."""
MOST_CALLS = 16
"""Calls of one answer that are carried out; further ones are refused."""
_NOTES = 3
"""Turns whose last words are shown again."""
_WAITS_S = (0.5, 2.0, 8.0)
"""Waits before retries of an answer that failed for a transient reason."""
_LONGEST_WAIT_S = 60.0
_RULES = """\
You trade in a simulated world: prediction markets, perpetual futures, a feed of posts and group \
chats. Your aim is the highest equity at the end. A winning share pays 1 dollar when its market \
resolves; perpetuals can be leveraged, pay funding and fees, and are liquidated when the margin is \
used up. Authors differ in how often they are right, which you can learn.
Time goes on in ticks. At each you get what there is to see, and act by calling functions; when \
you call none, your turn ends. State your probabilities with submitForecast. What you write at the \
end of a turn is shown to you in the next ones."""
_GO_ON = "These are the results. Call further functions, or end your turn with a short note."

_encode = msgspec.json.Encoder().encode
_Number = TypeVar("_Number", int, float)


def tools() -> tuple[dict[str, Any], ...]:
    """The methods as function definitions, under names that every API takes."""
    return tuple(
        {
            "name": wire_tool_name(method.name),
            "description": f"{method.description} Gives {method.result}.",
            "parameters": method.schema(),
        }
        for method in METHODS.values()
    )


_METHOD_OF = {wire_tool_name(name): name for name in METHODS}


class ModelSeat(AgentSeat):
    """A model behind an API that calls tools."""

    def __init__(self, agent: Agent) -> None:
        super().__init__(agent)
        self._tools = tools()

    async def play(self, match: Match, request: Request) -> Answer:
        """Call the model at every tick. Raises AgentFailure, with the use until then."""
        spent = Spent()
        notes: list[str] = []
        game = match.game
        match.game.note(Message("system", _RULES))
        try:
            while not game.is_over:
                tick = game.tick
                try:
                    async with asyncio.timeout(None) as limit:
                        state = match.observe()
                        if game.due is not None:
                            loop = asyncio.get_running_loop()
                            limit.reschedule(loop.time() + game.due - game.config.now())
                        note = await self._turn(match, request, state, notes, spent)
                except TimeoutError:
                    if not limit.expired():
                        raise
                    game.expire()
                else:
                    notes = [*notes, f"tick {tick}: {note}"][-_NOTES:] if note else notes
                    await match.end_turn(tick)
        except AgentFailure as failure:
            failure.partial = spent.answer()
            raise
        return spent.answer()

    async def _turn(
        self, match: Match, request: Request, state: dict[str, Any], notes: list[str], spent: Spent
    ) -> str:
        """One turn; the model's last words."""
        game, tick = match.game, match.game.tick
        told = _encode(state["observation"]).decode()
        if notes:
            told = f"Your notes:\n{chr(10).join(notes)}\n\n{told}"
        said = told
        turns: tuple[Message, ...] = ()
        for _ in range(MOST_ROUNDS):
            game.note(Message("user", said))
            case = Case(
                f"market-{tick}",
                said,
                messages=(Message("system", _RULES), *turns),
                tools=self._tools,
            )
            answer = await self._ask(msgspec.structs.replace(request, case=case))
            spent.add(answer)
            reply = Message("assistant", answer.text, _named(answer.tool_calls))
            game.note(reply)
            if not answer.tool_calls or game.tick != tick:
                return split_reasoning(answer.text).answer
            results = _carried_out(match, reply.tool_calls)
            for result in results:
                game.note(result)
            turns = (*turns, Message("user", said), reply, *results)
            said = _GO_ON
            if game.is_over or game.tick != tick:
                break
        return ""

    async def _ask(self, request: Request) -> Answer:
        """Return one answer, with retries: a transient failure must not lose a whole episode."""
        for wait_s in _WAITS_S:
            try:
                return await self._agent.answer(request)
            except AgentFailure as failure:
                if not failure.may_pass:
                    raise
                asked_s = failure.retry_after_s
                await asyncio.sleep(wait_s if asked_s is None else min(asked_s, _LONGEST_WAIT_S))
        return await self._agent.answer(request)


class Spent:
    """Total token usage of an episode."""

    def __init__(self) -> None:
        self._answers: list[Answer] = []

    def add(self, answer: Answer) -> None:
        """Count one answer."""
        # What it said is in the game's record; only its figures are kept here.
        self._answers.append(msgspec.structs.replace(answer, text="", tool_calls=(), messages=()))

    def answer(self) -> Answer:
        """Return the sums; None for values that some answer does not report."""
        those = self._answers
        usages = [one.usage or Usage() for one in those]
        usage = Usage(
            _sum([one.input_tokens for one in usages]),
            _sum([one.output_tokens for one in usages]),
            _sum([one.cached_tokens for one in usages]),
            _sum([one.reasoning_tokens for one in usages]),
            estimated=any(one.estimated for one in usages),
            cache_write_tokens=_sum([one.cache_write_tokens for one in usages]),
            cache_write_1h_tokens=_sum([one.cache_write_1h_tokens for one in usages]),
        )
        return Answer(
            usage=None if usage.total is None else usage,
            model=next((one.model for one in reversed(those) if one.model), None),
            api_calls=sum(one.api_calls for one in those),
            cost_usd=_sum([one.cost_usd for one in those]),
            simulated=any(one.simulated for one in those),
        )


def _sum(values: list[_Number | None]) -> _Number | None:
    """Return the sum; None if any is unknown."""
    known = [value for value in values if value is not None]
    return sum(known[1:], known[0]) if known and len(known) == len(values) else None


def _named(calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
    """Return the calls, each with an id that its result can refer to."""
    return tuple(
        call if call.id else msgspec.structs.replace(call, id=f"call_{nth}")
        for nth, call in enumerate(calls)
    )


def _carried_out(match: Match, calls: tuple[ToolCall, ...]) -> list[Message]:
    """Return the results of one answer's calls, or why they were refused, as sent to the model."""
    tick, told = match.game.tick, []
    last = min(len(calls), MOST_CALLS) - 1
    for nth, call in enumerate(calls):
        if nth > last:
            said = f"refused: at most {MOST_CALLS} calls in one answer"
        elif match.game.tick != tick:
            said = "refused: the turn is over"  # what it saw is no longer so
        else:
            said = _result(match, call, more=nth < last)
        told.append(Message("tool", said, tool_call_id=call.id))
    return told


def _result(match: Match, call: ToolCall, *, more: bool) -> str:
    name = _METHOD_OF.get(call.name, call.name)
    try:
        result: Any = match.game.call(name, call.arguments, more=more)
    except MethodError as error:
        result = {"error": error.document()}
    return _encode(result).decode()
