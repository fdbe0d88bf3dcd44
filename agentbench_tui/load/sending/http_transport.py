"""Load on model APIs by the measuring HTTP client, without a task or future per request."""

from __future__ import annotations

import resource
from array import array
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.agents.model_apis.error_text import advice, error_text
from agentbench_tui.agents.model_apis.model_api import ErrorObject, wire_tools
from agentbench_tui.agents.model_apis.retry_after import retry_after_s, retry_after_words
from agentbench_tui.agents.model_apis.text_deltas import TextDeltas
from agentbench_tui.agents.model_apis.transcript import Transcript
from agentbench_tui.http.client import Timeouts
from agentbench_tui.http.exchange import Exchange, Head, Packet, is_event_stream
from agentbench_tui.http.pool import Pool
from agentbench_tui.http.sse import SseEvent, SseParser
from agentbench_tui.http.wire import Origin, request_bytes
from agentbench_tui.load.sending.sample import (
    CANCELLED,
    NEW_CONNECTION,
    NONE,
    RESENT,
    STATUS_CODE,
    STREAMED,
)
from agentbench_tui.load.sending.sender import Reply, Traffic
from agentbench_tui.model.answer import AgentFailure, FailureKind
from agentbench_tui.model.text.not_json import NOT_JSON

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from agentbench_tui.load.sending.protocol import HttpTarget, WorkerPlan
    from agentbench_tui.load.sending.sender import Call
    from agentbench_tui.model.answer import Message

_OK = STATUS_CODE["ok"]
_SAID_CHARACTERS = 6_000
"""Characters of a server's message that are kept unmasked.

Masking happens before any further cut, because half a key would not be recognized.
"""
MOST_FILES = 1 << 17
"""Requested limit of open files: a connection for each user of the largest plan."""
_MOST_CACHED_BYTES = 64 << 20
"""Maximum size of cached wire-format requests, which are sent again unchanged."""


class HttpTransport:
    """See `load.sending.sender.Transport`."""

    def __init__(
        self, plan: WorkerPlan, target: HttpTarget, loop: asyncio.AbstractEventLoop
    ) -> None:
        self.target = target
        self.dialect = target.call.dialect()
        self._cancel_after = [kind.cancel_after_tokens for kind in plan.workload]
        self._wires: dict[int, bytes] = {}
        """By the identity of the conversation, which the plan keeps alive."""
        self._cached_bytes = 0
        self.free: list[_Exchange] = []
        """Those whose answers are over, to be used again."""
        self.pool = Pool(
            Origin.of(target.url),
            loop,
            timeouts=Timeouts(
                target.connect_timeout_s,
                target.first_byte_timeout_s,
                target.idle_timeout_s,
                plan.time_limit_s,
            ),
            max_body_bytes=target.max_body_bytes,
            on_resent=_mark_resent,
        )
        self.ended: Callable[..., None] = _nobody
        """Called for each finished call: `Sender.ended`."""

    @property
    def traffic(self) -> Traffic:
        """See `Transport`."""
        pool = self.pool
        return Traffic(pool.opened, pool.resent, pool.sent_bytes, pool.received_bytes)

    async def open(self, ended: Callable[..., None]) -> None:
        """See `Transport`."""
        allow_files(MOST_FILES)
        self.ended = ended

    async def close(self) -> None:
        """See `Transport`."""
        self.pool.close()
        await self.pool.wait_closed()

    def send(self, call: Call) -> None:
        """See `Transport`."""
        wire = self._wires.get(id(call.conversation)) if call.script is None else None
        if wire is None:
            wire = self._written(call)
        exchange = self.free.pop() if self.free else _Exchange(self)
        cancel_after = self._cancel_after[call.kind]
        exchange.begin(call, cancel_after)
        call.exchange = exchange
        if self.pool.send(wire, exchange, can_wait=cancel_after is None):
            exchange.flags |= NEW_CONNECTION

    def cancel(self, call: Call) -> None:
        """See `Transport`."""
        assert isinstance(call.exchange, _Exchange), "only what was sent is broken off"
        self.pool.cancel(call.exchange)

    def transcript(self, call: Call) -> Transcript:
        """Return an empty transcript; sessions with tools need the tools' original names."""
        names = wire_tools(call.conversation.tools)[1] if call.script is not None else {}
        return Transcript(names)

    def _written(self, call: Call) -> bytes:
        """Return the request as bytes for the wire."""
        conversation = call.conversation
        turns: tuple[Message, ...]
        if call.script is None:
            turns = conversation.turns[0].messages
            limit = conversation.turns[0].output_tokens
        else:
            turns = call.script.next_messages()
            limit = call.script.output_tokens
        body = self.dialect.body(turns, wire_tools(conversation.tools)[0])
        if limit is not None:
            body[self.target.call.token_limit_field] = limit
        wire = request_bytes(
            "POST", self.target.url, self.target.headers, msgspec.json.encode(body)
        )
        is_reused = call.script is None and not conversation.sent_once
        if is_reused and self._cached_bytes + len(wire) <= _MOST_CACHED_BYTES:
            self._cached_bytes += len(wire)
            self._wires[id(conversation)] = wire
        return wire


class _Exchange(Exchange):
    """One request to a model, as reported by the pool (`http.connection.Exchange`)."""

    __slots__ = (
        "_body",
        "_cancel_after",
        "_deltas",
        "_first_byte_ns",
        "_last_ns",
        "_location",
        "_parser",
        "_read_event",
        "_retry_after_s",
        "_status",
        "_transcript",
        "_transport",
        "call",
        "flags",
    )

    def __init__(self, transport: HttpTransport) -> None:
        self._transport = transport
        self._read_event = transport.dialect.read_event

    def begin(self, call: Call, cancel_after: int | None) -> None:
        """Start with the next request."""
        self.call = call
        self.flags = 0
        self._cancel_after = cancel_after
        self._first_byte_ns = 0

    def _make_ready(self) -> None:
        """Prepare for an answer that may arrive in parts."""
        self._status = self._last_ns = 0
        self._location = ""
        self._retry_after_s: float | None = None
        self._body: list[bytes] = []
        self._parser: SseParser | None = None
        self._transcript = self._transport.transcript(self.call)
        self._deltas = TextDeltas(self._transport.dialect, self._transcript)

    def on_sent(self, sent_ns: int) -> None:
        self.call.sent_ns = sent_ns

    def on_answer(self, head: Head, body: bytes, received_ns: int) -> None:
        transport, call = self._transport, self.call
        usage = None
        if head.status == 200 and call.script is None and not head.is_event_stream:
            try:
                usage = transport.dialect.plain_usage(body)
            except Exception:  # noqa: BLE001  # the long way will say what is wrong
                usage = None
        if usage is None:
            super().on_answer(head, body, received_ns)
            return
        reply = Reply(_OK, received_ns, received_ns, received_bytes=len(body), flags=self.flags)
        reply.count(usage)
        transport.free.append(self)
        transport.ended(call, reply)

    def on_head(self, status: int, headers: list[tuple[bytes, bytes]], received_ns: int) -> None:
        self._make_ready()
        self._status = status
        self._first_byte_ns = received_ns
        if 200 <= status < 300:
            if is_event_stream(headers):
                self._parser = SseParser()
                self.flags |= STREAMED
        elif 300 <= status < 400:
            for name, value in headers:
                if name.lower() == b"location":
                    self._location = value.decode("utf-8", "replace")
        elif status >= 400:
            for name, value in headers:
                if name.lower() == b"retry-after":
                    self._retry_after_s = retry_after_s(value.decode("latin-1"))

    def on_body(self, part: bytes, received_ns: int) -> None:
        transcript = self._transcript
        transcript.received_bytes += len(part)
        self._last_ns = received_ns
        parser = self._parser
        if parser is None:
            self._body.append(part)
            return
        was_between = parser.is_between
        if not (was_between and self._deltas.take(((received_ns, part),), 0)):
            texts = len(transcript.texts)
            self._read(parser.feed(part), received_ns)
            if was_between and parser.is_between and len(transcript.texts) > texts:
                self._deltas.learn(part, transcript.texts[-1])
        if self._cancel_after and len(transcript.content_ns) >= self._cancel_after:
            self._transport.pool.cancel(self)
            self._finish(STATUS_CODE[CANCELLED], received_ns)

    def take(self, parts: list[Packet], place: int) -> int:
        parser = self._parser
        if parser is None or not parser.is_between or self._cancel_after:
            return place
        end = self._deltas.take(parts, place)
        if end > place:
            taken = parts[place:end]
            self._transcript.received_bytes += sum([len(part) for _, part in taken])
            self._last_ns = taken[-1][0]
        return end

    def on_end(self, received_ns: int) -> None:
        try:
            self._complete(received_ns)
        except AgentFailure as failure:
            self._finish(STATUS_CODE[failure.kind], received_ns, failure)
        except Exception as error:  # noqa: BLE001  # our fault; whoever waits must not wait for ever
            fault = AgentFailure(
                FailureKind.HARNESS, f"{type(error).__name__} while an answer was read"
            )
            self._finish(STATUS_CODE[fault.kind], received_ns, fault)
        else:
            self._finish(_OK, received_ns)

    def on_failure(self, failure: AgentFailure, received_ns: int) -> None:
        if not self._first_byte_ns:
            self._make_ready()  # no head came
        # Some servers break off after the last event instead of ending the body, or leave it open.
        kind = failure.kind
        if (kind is FailureKind.TRUNCATED and self._is_whole()) or (
            kind is FailureKind.TIMEOUT and self._transcript.ended and not self._transcript.is_empty
        ):
            self._finish(_OK, self._last_ns)
        else:
            self._finish(STATUS_CODE[failure.kind], received_ns, failure)

    def _read(self, events: list[SseEvent], received_ns: int) -> None:
        try:
            for event in events:
                self._read_event(event, received_ns, self._transcript)
        except ErrorObject as error:
            raise self._failure(FailureKind.SERVER, f"broke off with an error: {error}") from None
        except NOT_JSON as error:
            start = event.data[:_SAID_CHARACTERS].decode("utf-8", "replace")
            raise self._failure(
                FailureKind.PARSE, f"an event cannot be read, {error}: {start}"
            ) from None

    def _is_whole(self) -> bool:
        """Return whether the answer is complete by its content, though its body broke off."""
        if self._parser is not None:
            return self._transcript.complete and not self._transcript.is_empty
        with suppress(Exception):  # that it broke off is the better reason
            self._complete(self._last_ns)
            return True
        return False

    def _complete(self, received_ns: int) -> None:
        """Read the rest. Raises AgentFailure if it is not a valid answer."""
        if not 200 <= self._status < 300:
            raise self._refusal()
        if self._parser is not None:
            self._read(self._parser.finish(), received_ns)
            if not self._transcript.complete:
                raise self._failure(
                    FailureKind.TRUNCATED, "ended its stream before the answer's end"
                )
            if self._transcript.is_empty:
                raise self._failure(
                    FailureKind.TRUNCATED,
                    "ended its stream, but the answer is empty: no content and no finish_reason",
                )
            return
        body = self._body[0] if len(self._body) == 1 else b"".join(self._body)
        try:
            self._transport.dialect.read_whole(body, self._transcript)
        except ErrorObject as error:
            raise self._failure(FailureKind.SERVER, f"answered with an error: {error}") from None
        except NOT_JSON as error:
            start = body[:_SAID_CHARACTERS].decode("utf-8", "replace")
            raise self._failure(
                FailureKind.PARSE, f"the answer cannot be read, {error}: {start}"
            ) from None
        if self._transcript.is_empty:
            raise self._failure(
                FailureKind.PARSE, "the answer is empty: no content and no finish_reason"
            )

    def _refusal(self) -> AgentFailure:
        if 300 <= self._status < 400:
            where = self._location[:_SAID_CHARACTERS] or "nowhere"
            return self._failure(
                FailureKind.SERVER,
                f"redirects (HTTP {self._status}) to {where}: give that URL as the target",
            )
        kind = FailureKind.RATE_LIMITED if self._status == 429 else FailureKind.SERVER
        said = error_text(b"".join(self._body))[:_SAID_CHARACTERS].strip()
        detail = f"HTTP {self._status} from {self._transport.pool.place}"
        detail = f"{detail}: {said}" if said else detail
        target = self._transport.target
        detail += advice(self._status, target.url, target.key_from)
        detail += retry_after_words(self._retry_after_s)
        return AgentFailure(kind, detail, retry_after_s=self._retry_after_s)

    def _failure(self, kind: FailureKind, what: str) -> AgentFailure:
        return AgentFailure(kind, f"{self._transport.pool.place} {what[:_SAID_CHARACTERS]}")

    def _finish(self, status: int, ended_ns: int, failure: AgentFailure | None = None) -> None:
        transcript = self._transcript
        times = transcript.content_ns
        reply = Reply(status, ended_ns, self._first_byte_ns)
        reply.received_bytes = transcript.received_bytes
        if times:
            reply.first_token_ns = times[0]
            reply.first_output_ns = transcript.first_output_ns or 0
            reply.chunks = len(times)
            if len(times) > 1:
                gaps = [(later - earlier) // 1000 for earlier, later in pairwise(times)]
                try:
                    reply.gaps = array("I", gaps)
                except OverflowError:  # a gap of more than 71 minutes
                    reply.gaps = array("I", [min(gap, NONE - 1) for gap in gaps])
        usage = transcript.counted()
        if usage is not None:
            reply.count(usage)
        reply.flags |= self.flags
        if self.call.script is not None and status == _OK:
            reply.text = transcript.text
            reply.tool_calls = transcript.tool_calls({})
        self._transport.free.append(self)
        self._transport.ended(self.call, reply, failure)


def _mark_resent(exchange: Exchange) -> None:
    if isinstance(exchange, _Exchange):
        exchange.flags |= RESENT | NEW_CONNECTION


def allow_files(count: int) -> None:
    """Raise this process's limit of open files to this number, or as far as allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = count if hard == resource.RLIM_INFINITY else min(count, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        with suppress(OSError, ValueError):  # macOS has a lower bound of its own
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _nobody(*_: object) -> None:
    """Placeholder until `open` sets the callback."""
