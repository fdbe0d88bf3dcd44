"""Creates the request of an arrival, and the next turn of a session, in the worker."""

from __future__ import annotations

from bisect import bisect
from itertools import accumulate
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agentbench_tui.load.workload.recorded import RecordedSessions
from agentbench_tui.model.answer import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.load.sending.protocol import Conversation, RequestType
    from agentbench_tui.model.answer import ToolCall

_NO_RESULT = "{}"
_64_BITS = (1 << 64) - 1


class Script:
    """One running session: its turns in order, with the earlier answers."""

    def __init__(self, conversation: Conversation) -> None:
        self.turn = 0
        """The turn that the next request belongs to, from 0."""
        self.think_time_ms = 0.0
        """Between the answer that was taken last and the next request; none before the results
        of tools."""
        self._conversation = conversation
        self._messages = conversation.turns[0].messages
        self._tool_rounds = 0

    @property
    def output_tokens(self) -> int | None:
        """Return the tokens to request next; None leaves the length to the server."""
        return self._conversation.turns[self.turn].output_tokens

    def next_messages(self) -> tuple[Message, ...]:
        """Return all messages of the next request: the session so far, and the new turn."""
        return self._messages

    def take(self, text: str, tool_calls: tuple[ToolCall, ...] = ()) -> bool:
        """Continue from this answer; return whether another request of the session follows.

        Tool calls are answered with the conversation's results, for at most `most_tool_rounds`
        rounds in each turn. After these, calls are left out of the history, since no API accepts
        calls without results.
        """
        conversation = self._conversation
        if tool_calls and self._tool_rounds < conversation.most_tool_rounds:
            self._tool_rounds += 1
            self._messages += self._with_results(text, tool_calls)
            self.think_time_ms = 0.0
            return True
        if self.turn + 1 == len(conversation.turns):
            return False
        self.turn += 1
        self._tool_rounds = 0
        answer = Message("assistant", text)
        self._messages += (answer, *conversation.turns[self.turn].messages)
        self.think_time_ms = conversation.think_time_ms
        return True

    def _with_results(self, text: str, calls: tuple[ToolCall, ...]) -> tuple[Message, ...]:
        """Return the answer with its calls, and a message with the result of each."""
        # Not every server gives its calls ids, and an id must not come twice in a session.
        number = len(self._messages)
        named = tuple(
            call if call.id else replace(call, id=f"call_{number}_{place}")
            for place, call in enumerate(calls)
        )
        results = self._conversation.tool_results
        return (
            Message("assistant", text, tool_calls=named),
            *(
                Message("tool", results.get(call.name, _NO_RESULT), tool_call_id=call.id)
                for call in named
            ),
        )


class Mix:
    """Returns the same request for an arrival whichever worker sends it."""

    def __init__(self, workload: Sequence[RequestType], seed: int) -> None:
        self._types = tuple(workload)
        self._sessions: list[Sequence[Conversation]] = [
            RecordedSessions(request_type.recorded)
            if request_type.recorded is not None
            else request_type.conversations
            for request_type in workload
        ]
        self._only = self._sessions[0] if len(workload) == 1 else None
        weights = list(accumulate(request_type.weight for request_type in workload))
        self._bounds = [weight / weights[-1] for weight in weights[:-1]]
        """Upper end of each type's part of 0..1, but for the last one's."""
        self._key = _mixed(seed & _64_BITS)

    def pick(self, arrival_index: int) -> tuple[int, Conversation]:
        """Return the index of the request type in the workload, and the conversation.

        The type is drawn in proportion to the weights by a hash of seed and arrival, so that no
        order of calls matters; the conversations of a type are taken in turn by arrival.
        Warm-up may take arrivals below 0: their conversations come from the other end.
        """
        kind, sessions = 0, self._only
        if sessions is None:
            share = (_mixed(self._key ^ (arrival_index & _64_BITS)) >> 11) * 2.0**-53
            kind = bisect(self._bounds, share)
            sessions = self._sessions[kind]
        return kind, sessions[arrival_index % len(sessions)]


def _mixed(value: int) -> int:
    """Return 64 bits, each of which depends on each bit of `value`.

    The finalizer of SplitMix64 (Steele, Lea and Flood, Fast splittable pseudorandom number
    generators, OOPSLA 2014), of a counter with its odd increment.
    """
    value = (value * 0x9E3779B97F4A7C15 + 0x9E3779B97F4A7C15) & _64_BITS
    value = ((value ^ value >> 30) * 0xBF58476D1CE4E5B9) & _64_BITS
    value = ((value ^ value >> 27) * 0x94D049BB133111EB) & _64_BITS
    return value ^ value >> 31
