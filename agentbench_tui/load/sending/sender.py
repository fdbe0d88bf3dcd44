"""Common part of all senders: the in-flight limit, follow-up requests of sessions, recording.

A schedule calls `begin` when a session is due. A `Transport` sends one request and receives its
answer: the measuring HTTP client, or any agent.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple, Protocol

import msgspec

from agentbench_tui.load.sending.protocol import HttpTarget
from agentbench_tui.load.sending.sample import NONE, STATUS_CODE, TOKENS_COUNTED, UNFINISHED
from agentbench_tui.load.workload.conversation import Mix, Script
from agentbench_tui.model.answer import AgentFailure, FailureKind
from agentbench_tui.model.clock import perf_counter_ns

if TYPE_CHECKING:
    from array import array
    from collections.abc import Callable

    from agentbench_tui.load.schedule.agenda import Agenda
    from agentbench_tui.load.sending.protocol import Conversation, WorkerPlan
    from agentbench_tui.load.sending.recorder import SampleRecorder
    from agentbench_tui.model.answer import ToolCall, Usage

LATE_NS = 1_000_000
"""An arrival that leaves this late though it had a place is late, or 5% of the mean gap."""
MOST_WAITING = 1_000_000
"""Requests that may wait for a place in flight, about 125 bytes each."""
_OK = STATUS_CODE["ok"]


class Call(msgspec.Struct, eq=False, gc=False):
    """One request in flight. Compared by identity."""

    kind: int
    """Place of its type in the workload."""
    conversation: Conversation
    script: Script | None
    """For sessions with more than one request."""
    due_ns: int
    sent_ns: int = 0
    turn: int = 0
    is_follow_up: bool = False
    """Whether it became due because of an answer, not by the clock."""
    exchange: object = None
    """State of the transport for it."""


class Reply(msgspec.Struct, gc=False):
    """Result of a call with times on `perf_counter_ns`; 0 if missing."""

    status: int
    ended_ns: int
    first_byte_ns: int = 0
    first_token_ns: int = 0
    first_output_ns: int = 0
    chunks: int = 0
    gaps: array[int] | None = None
    output_tokens: int = NONE
    input_tokens: int = NONE
    cached_tokens: int = NONE
    cache_write_tokens: int = NONE
    cache_write_1h_tokens: int = NONE
    received_bytes: int = 0
    flags: int = 0
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    """Text and calls only if a session continues with them."""

    def count(self, usage: Usage) -> None:
        """Store the token usage of an answer."""
        made, given = usage.output_tokens, usage.input_tokens
        if made is not None and 0 <= made < NONE:
            self.output_tokens = made
        if given is not None and 0 <= given < NONE:
            self.input_tokens = given
        if usage.cached_tokens is not None:
            self.cached_tokens = _believed(usage.cached_tokens)
        if usage.cache_write_tokens is not None:
            self.cache_write_tokens = _believed(usage.cache_write_tokens)
        if usage.cache_write_1h_tokens is not None:
            self.cache_write_1h_tokens = _believed(usage.cache_write_1h_tokens)
        if not usage.estimated:
            self.flags |= TOKENS_COUNTED


def _believed(count: int | None) -> int:
    return count if count is not None and 0 <= count < NONE else NONE


class Traffic(NamedTuple):
    """Network traffic so far; None if unknown."""

    connections: int | None = None
    """Opened."""
    resent: int | None = None
    """Requests sent again because the used connection that they took was closed unanswered."""
    sent_bytes: int | None = None
    """Heads included, as in the next."""
    received_bytes: int | None = None


class Transport(Protocol):
    """A way to send a request to the target."""

    @property
    def traffic(self) -> Traffic:
        """Return the traffic so far, including the warm-up."""

    def send(self, call: Call) -> None:
        """Send and return immediately; `Sender.ended` is called later with the reply."""

    def cancel(self, call: Call) -> None:
        """Cancel a call without calling `Sender.ended`."""

    async def open(self, ended: Callable[[Call, Reply], None]) -> None:
        """Prepare for sending. Raises AgentFailure."""

    async def close(self) -> None:
        """Close connections and sessions."""


class Sender:
    """Sends due requests within the in-flight limit, and counts them."""

    def __init__(
        self,
        plan: WorkerPlan,
        transport: Transport,
        recorder: SampleRecorder,
        agenda: Agenda,
        *,
        late_after_ns: int | None,
    ) -> None:
        """`late_after_ns` is None if nothing is due by the clock (closed loop)."""
        self._transport = transport
        self._recorder = recorder
        self._agenda = agenda
        self._mix = Mix(plan.workload, plan.seed)
        self._is_model = isinstance(plan.target, HttpTarget)
        self._cap = plan.max_in_flight or (1 << 62)
        self._late_after_ns = late_after_ns
        self._start_ns = 0
        self._active: dict[Call, None] = {}
        self._waiting: deque[Call] = deque()
        self.session_ended: Callable[[AgentFailure | None], None] = lambda _: None
        """Called when a session is over, with the failure that ended it; the schedule's."""
        self.ran_empty: Callable[[], None] = lambda: None
        """Called when the end of a request leaves none in flight."""
        self._following = 0
        """Turns that are still to come, of sessions that have begun."""
        self.accepting = False
        """Whether sessions take further turns: not in the warm-up, nor after the window."""
        self.measuring = False
        self.offered = self.sent = self.blocked = self.late = self.most_in_flight = 0
        self.refused = 0
        """In the warm-up: failures of connection, and answers that refuse the request itself
        (HTTP 4xx, but for 429)."""
        self.unreachable = False
        """Whether, in the warm-up, there was a failure of connection."""
        self.last_failure: AgentFailure | None = None
        """Last failure of the warm-up."""

    @property
    def in_flight(self) -> int:
        return len(self._active)

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    @property
    def is_idle(self) -> bool:
        """Return whether nothing is in flight, waiting, or still to follow."""
        return not self._active and not self._waiting and not self._following

    def oldest_s(self) -> float | None:
        """Return the age of the oldest in-flight request in seconds."""
        for call in self._active:
            return (perf_counter_ns() - call.sent_ns) / 1e9
        return None

    def since_start_s(self) -> float:
        """Return the seconds since the window began."""
        return (perf_counter_ns() - self._start_ns) / 1e9

    def measure(self, start_ns: int) -> None:
        """Start the window: count everything from now on."""
        self._start_ns = start_ns
        self.measuring = self.accepting = True
        self.offered = self.sent = self.blocked = self.late = self.most_in_flight = 0

    def begin(self, index: int, due_ns: int) -> None:
        """Begin the session of this arrival."""
        kind, conversation = self._mix.pick(index)
        # Other agents than models call their tools themselves.
        goes_on = len(conversation.turns) > 1 or (self._is_model and conversation.tools)
        script = Script(conversation) if goes_on else None
        self._offer(Call(kind, conversation, script, due_ns))

    def _offer(self, call: Call) -> None:
        self.offered += 1
        if len(self._active) >= self._cap:
            self.blocked += 1
            if len(self._waiting) < MOST_WAITING:  # else it was offered and is never sent
                self._waiting.append(call)
            return
        self._send(call)
        late_after_ns = None if call.is_follow_up else self._late_after_ns
        if late_after_ns is not None and call.sent_ns - call.due_ns > late_after_ns:
            self.late += 1

    def _send(self, call: Call) -> None:
        active = self._active
        active[call] = None
        self.sent += 1
        if len(active) > self.most_in_flight:
            self.most_in_flight = len(active)
        call.sent_ns = perf_counter_ns()
        self._transport.send(call)

    def ended(self, call: Call, reply: Reply, failure: AgentFailure | None = None) -> None:
        """Handle the end of a request, called by the transport."""
        del self._active[call]
        if failure is not None:
            self._note(failure)
        if self.measuring:
            self._recorder.record(call, reply, self._start_ns)
        if self._waiting:
            self._send(self._waiting.popleft())
        script = call.script
        if (
            script is not None
            and reply.status == _OK
            and self.accepting
            and script.take(reply.text, reply.tool_calls)
        ):
            self._follow(call, reply.ended_ns + int(script.think_time_ms * 1e6))
        else:
            self.session_ended(failure)
        if not self._active:
            self.ran_empty()

    def _follow(self, call: Call, due_ns: int) -> None:
        self._following += 1

        def go(due: int) -> None:
            self._following -= 1
            turn = call.script.turn if call.script is not None else 0
            self._offer(
                Call(call.kind, call.conversation, call.script, due, turn=turn, is_follow_up=True)
            )

        self._agenda.at(due_ns, go)

    def _note(self, failure: AgentFailure) -> None:
        if self.measuring:
            self._recorder.detail(failure.kind, failure.detail)
            return
        self.last_failure = failure
        unreachable = failure.kind is FailureKind.CONNECTION or (
            failure.kind is FailureKind.TIMEOUT and failure.detail.startswith("connect")
        )
        # Being told to come later is what some loads are about.
        refused = failure.kind is FailureKind.SERVER and failure.detail.startswith("HTTP 4")
        self.unreachable |= unreachable
        self.refused += refused or unreachable

    def cut(self) -> None:
        """End all sessions after their current request, including waiting ones."""
        self.accepting = False
        self._agenda.clear()
        self._following = 0

    def stop(self) -> bool:
        """Send nothing more; return whether this drops anything that was started."""
        goes_on = self.accepting and any(call.script is not None for call in self._active)
        left_out = bool(self._waiting or self._following or goes_on)
        self._waiting.clear()
        self.cut()
        return left_out

    def abort(self) -> None:
        """Cancel in-flight requests, and drop waiting ones."""
        self.stop()
        now = perf_counter_ns()
        for call in list(self._active):
            self._transport.cancel(call)
            del self._active[call]
            if self.measuring:
                reply = Reply(STATUS_CODE[UNFINISHED], now)
                self._recorder.record(call, reply, self._start_ns)
