"""Messages between coordinator and load worker: framed data over any byte stream.

It does not depend on how a worker was started or where it runs. A frame is a length (4 bytes, big
endian) and that many bytes of msgpack. The worker receives, for each window: a `WorkerPlan`, a
`Start`, then any number of `Control`. It sends, for each: a `Ready`, `Chunk`s while it works, a
`Done` at the end, after which it waits for the next plan.
"""

from __future__ import annotations

import struct
from typing import Any, Literal

import msgspec

from agentbench_tui.agents.model_apis.model_call import ModelCall
from agentbench_tui.load.schedule.arrivals import Arrivals, Trace
from agentbench_tui.model.agent import AgentSpec
from agentbench_tui.model.answer import Message

_LENGTH = struct.Struct(">I")
MOST_FRAME_BYTES = 256 << 20


class HttpTarget(msgspec.Struct, frozen=True, tag="http"):
    """An endpoint that the worker calls directly, with the measuring client."""

    url: str
    headers: dict[str, str]
    """With keys: a plan goes through a private pipe and is stored nowhere."""
    call: ModelCall
    key_from: str = ""
    """Environment variables that keys were taken from, for messages."""
    connect_timeout_s: float | None = 10.0
    first_byte_timeout_s: float | None = 300.0
    idle_timeout_s: float | None = 120.0
    max_body_bytes: int = 8 << 20


class AgentTarget(msgspec.Struct, frozen=True, tag="agent"):
    """Any other agent, opened inside the worker."""

    spec: AgentSpec
    memory_limit_mb: float | None = None


class OpenLoop(msgspec.Struct, frozen=True, tag="open"):
    """Requests are due by the clock, independent of earlier ones."""

    arrivals: Arrivals | Trace


class ClosedLoop(msgspec.Struct, frozen=True, tag="closed"):
    """Each user sends its next request when the previous one has ended and its think time
    is over.
    """

    users: int
    """Limit of this worker."""
    think_time_ms: float = 0.0
    think_time: str = "constant"
    """`constant` or `exponential`, of that mean."""
    ramp_s: float = 0.0
    """The users begin evenly over so long."""


class RequestType(msgspec.Struct, frozen=True):
    """One kind of request in the mix; its content is drawn from the plan's seed."""

    name: str
    weight: float
    conversations: tuple[Conversation, ...]
    """Used in turn, so that every worker knows its own."""
    cancel_after_tokens: int | None = None
    """Cancel the answer after this many chunks with content."""
    recorded: RecordedLengths | None = None
    """If each arrival has a separate request of the length in a trace.

    The conversations are then a few examples.
    """


class RecordedLengths(msgspec.Struct, frozen=True):
    """Length in tokens of each request of a trace and its answer, by arrival."""

    seed: int
    input_tokens: tuple[int, ...]
    output_tokens: tuple[int, ...]
    blocks: tuple[tuple[int, ...], ...] = ()
    """Ids of each prompt's blocks of text; empty if unknown."""
    system_prompt: str | None = None


class Conversation(msgspec.Struct, frozen=True):
    """Content of one session; most have a single turn."""

    turns: tuple[Turn, ...]
    think_time_ms: float = 0.0
    """Between an answer and the next turn."""
    tools: tuple[dict[str, Any], ...] = ()
    tool_results: dict[str, str] = {}
    """By tool name: the tool's result when the model calls it, so that a loop can continue."""
    most_tool_rounds: int = 0
    sent_once: bool = False
    """Whether it was made for one arrival, so that nothing should be cached."""


class Turn(msgspec.Struct, frozen=True):
    """A user turn; earlier turns and answers are sent as history."""

    messages: tuple[Message, ...]
    """New messages of this turn."""
    output_tokens: int | None = None
    """Requested tokens; None leaves the length to the server."""
    case: dict[str, Any] | None = None
    """For agents that take a case rather than messages: JSON of model.answer.Case."""


class WorkerPlan(msgspec.Struct, frozen=True, tag="plan"):
    """One worker's part of one repeat of one execution."""

    target: HttpTarget | AgentTarget
    schedule: OpenLoop | ClosedLoop
    workload: tuple[RequestType, ...]
    seed: int
    worker: int
    """Which of `workers` this is: it sends every workers-th arrival."""
    workers: int
    duration_s: float | None
    requests: int | None
    """First requests of sessions of the whole plan, over all workers."""
    warmup_requests: int
    """Sent one after another before the window, by this worker."""
    max_in_flight: int | None
    """Limit of this worker."""
    time_limit_s: float | None
    """Time limit of one request, from sending."""
    drain_s: float
    """Grace period for in-flight requests after the last arrival."""
    realtime: Literal["no", "may", "must"] = "no"
    """Whether the worker has real-time priority."""


class Start(msgspec.Struct, frozen=True, tag="start"):
    """Begin the window."""

    at_ns: int
    """On the worker's own `time.perf_counter_ns`."""


class Control(msgspec.Struct, frozen=True, tag="control"):
    """Change a running window; before the window there is nothing to change."""

    wish: Literal["stop", "pace", "users"]
    """`stop`: send nothing new, and let in-flight requests finish.

    `pace`: from `at_ns` on, `to` times the rate of the schedule. `users`: number of users of this
    worker.
    """
    to: float = 0.0
    at_ns: int = 0
    """On the worker's own `time.perf_counter_ns`; a stop is at once."""


class Ready(msgspec.Struct, frozen=True, tag="ready"):
    """The plan is read and the warm-up is over; no measured request has been sent."""

    pid: int
    problem: str | None = None
    """Why the worker cannot begin; it ends after this."""
    failure_kind: str | None = None


class Spent(msgspec.Struct, frozen=True):
    """Token usage of the requests of a chunk, including failed ones."""

    requests: int
    """With any token known; the tokens are sums over these."""
    input_tokens: int
    cached_tokens: int
    cache_write_tokens: int
    cache_write_1h_tokens: int
    output_tokens: int


class Chunk(msgspec.Struct, frozen=True, tag="chunk"):
    """Requests that ended since the last chunk, and the worker's state."""

    rows: int
    samples: bytes
    """`sample.pack_rows`; empty if there are none."""
    gaps: bytes
    e2e_histogram: bytes
    """`analysis.histogram` of `e2e_ms` (from due in an open loop) of the answered."""
    ttft_histogram: bytes
    sent: int
    """So far."""
    in_flight: int
    waiting: int
    """Requests that are due but wait for an in-flight slot."""
    failed: int
    """Total so far; canceled requests are neither failed nor answered."""
    answered: int
    """Answered requests of these rows."""
    tokens: int
    """Output tokens of the answered of these rows."""
    spent: Spent
    oldest_s: float | None
    """Age of the oldest request in flight."""
    at_s: float
    """When all this was so: seconds since the window began."""
    failures: tuple[tuple[str, str], ...] = ()
    """Kind and detail of the first few failures of each kind."""


class Lateness(msgspec.Struct, frozen=True):
    """Lateness of a timer that fires a hundred times a second in the sender's own loop, in ms."""

    p50_ms: float
    p99_ms: float
    max_ms: float
    n: int


class Done(msgspec.Struct, frozen=True, tag="done"):
    """Data of the window that the samples do not contain."""

    offered: int
    """Requests that became due."""
    sent: int
    window_s: float
    """From the start to the end of its time; where its requests end it, until one more would have
    been due."""
    drained_s: float
    """From then to the last answer."""
    cpu_s: float
    """User and system time of the worker's process in the window."""
    connections: int | None
    """Opened connections, including those of the warm-up, since they are used in the window.

    None, as the next three, if the target's own adapter does the transport.
    """
    resent: int | None
    """Requests sent again because the used connection that they took was closed unanswered."""
    sent_bytes: int | None
    received_bytes: int | None
    most_in_flight: int
    blocked: int
    """Requests that had to wait for a place in flight."""
    late: int
    """Arrivals that left later than max(1 ms, 5% of the mean gap) though a place was free."""
    lateness: Lateness | None
    run_queue_wait_ms: float | None
    gc_pause_ms: float
    gc_pause_max_ms: float
    peak_rss_mb: float
    stopped: bool
    """Whether it was stopped before its end."""
    realtime: bool = False
    """Whether it had real-time priority."""
    probed_s: float = 0.0
    """Seconds over which CPU time and waits were measured: longer than the window if that
    overran.
    """

    @property
    def cpu_share(self) -> float:
        """Return the share of a core while it was measured; 0 for no time."""
        return self._share(self.cpu_s)

    @property
    def run_queue_share(self) -> float | None:
        """Return the share of the measured time in which the worker waited for a core; 0 for no
        time.
        """
        wait_ms = self.run_queue_wait_ms
        return None if wait_ms is None else self._share(wait_ms / 1e3)

    def _share(self, part_s: float) -> float:
        seconds = max(self.window_s, self.probed_s)
        return part_s / seconds if seconds > 0 else 0.0


ToWorker = WorkerPlan | Start | Control
FromWorker = Ready | Chunk | Done

_encode = msgspec.msgpack.Encoder().encode
decode_to_worker = msgspec.msgpack.Decoder(ToWorker).decode
decode_from_worker = msgspec.msgpack.Decoder(FromWorker).decode


def frame(message: ToWorker | FromWorker) -> bytes:
    """Encode a message for the stream."""
    body = _encode(message)
    return _LENGTH.pack(len(body)) + body


class Frames:
    """Splits bytes into whole frames, for streams that are read in pieces."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """Return the frames that `data` completes. Raises ValueError if it is not a stream of
        frames.
        """
        self._buffer += data
        whole = []
        while len(self._buffer) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._buffer)
            if length > MOST_FRAME_BYTES:
                raise ValueError(f"a frame of {length} bytes: not a load worker's stream")
            end = _LENGTH.size + length
            if len(self._buffer) < end:
                break
            whole.append(bytes(self._buffer[_LENGTH.size : end]))
            del self._buffer[:end]
        return whole
