"""What a load worker is told and what it says: plain data, framed, over any byte stream.

Nothing here knows how a worker was started or where it runs. A frame is a length (4 bytes, big
endian) and that many bytes of msgpack. To the worker, for each window: a `WorkerPlan`, a `Start`,
then any number of `Control`. From it, for each: a `Ready`, `Chunk`s while it works, a `Done` at the
end, after which it waits for the next plan.
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
    """An endpoint that the worker talks to by itself, over the measuring client."""

    url: str
    headers: dict[str, str]
    """With keys: a plan goes through a private pipe and is stored nowhere."""
    call: ModelCall
    key_from: str = ""
    """The variables that keys were taken from, to be told of."""
    connect_timeout_s: float | None = 10.0
    first_byte_timeout_s: float | None = 300.0
    idle_timeout_s: float | None = 120.0
    max_body_bytes: int = 8 << 20


class AgentTarget(msgspec.Struct, frozen=True, tag="agent"):
    """Any other agent, opened inside the worker."""

    spec: AgentSpec
    memory_limit_mb: float | None = None


class OpenLoop(msgspec.Struct, frozen=True, tag="open"):
    """Requests are due by the clock, whatever became of those before."""

    arrivals: Arrivals | Trace


class ClosedLoop(msgspec.Struct, frozen=True, tag="closed"):
    """Each user sends its next request when the last one has ended and it has thought."""

    users: int
    """Of this worker."""
    think_time_ms: float = 0.0
    think_time: str = "constant"
    """`constant` or `exponential`, of that mean."""
    ramp_s: float = 0.0
    """The users begin evenly over so long."""


class RequestType(msgspec.Struct, frozen=True):
    """One kind of request in the mix; what it asks is drawn from the plan's seed."""

    name: str
    weight: float
    conversations: tuple[Conversation, ...]
    """Taken in turn, so that every worker knows which of them are its own."""
    cancel_after_tokens: int | None = None
    """Break the answer off after so many content-bearing chunks."""
    recorded: RecordedLengths | None = None
    """Where each arrival has a request of its own, as long as in a trace. The conversations are
    then a few of them, as examples."""


class RecordedLengths(msgspec.Struct, frozen=True):
    """How long each request of a trace and its answer were, in tokens, by arrival."""

    seed: int
    input_tokens: tuple[int, ...]
    output_tokens: tuple[int, ...]
    blocks: tuple[tuple[int, ...], ...] = ()
    """Ids of each prompt's blocks of text; empty where they are not known."""
    system_prompt: str | None = None


class Conversation(msgspec.Struct, frozen=True):
    """What one session says; most have a single turn."""

    turns: tuple[Turn, ...]
    think_time_ms: float = 0.0
    """Between an answer and the next turn."""
    tools: tuple[dict[str, Any], ...] = ()
    tool_results: dict[str, str] = {}
    """By tool name: what the tool gives when the model calls it, so that a loop can go on."""
    most_tool_rounds: int = 0
    sent_once: bool = False
    """Whether it was made for one arrival, so that nothing of it is worth keeping."""


class Turn(msgspec.Struct, frozen=True):
    """What the user says in one turn; the answers before it are sent along as history."""

    messages: tuple[Message, ...]
    """New messages of this turn."""
    output_tokens: int | None = None
    """Tokens to ask for; None leaves it to the server."""
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
    """First requests of sessions, of the whole plan, all workers together."""
    warmup_requests: int
    """Sent one after another before the window, by this worker."""
    max_in_flight: int | None
    """Of this worker."""
    time_limit_s: float | None
    """Time limit of one request, from sending."""
    drain_s: float
    """How long what is in flight may take after the last arrival."""
    realtime: Literal["no", "may", "must"] = "no"
    """Whether the worker goes before everything else on its machine."""


class Start(msgspec.Struct, frozen=True, tag="start"):
    """Begin the window."""

    at_ns: int
    """On the worker's own `time.perf_counter_ns`."""


class Control(msgspec.Struct, frozen=True, tag="control"):
    """Change what goes on in the window; before it there is nothing to change."""

    wish: Literal["stop", "pace", "users"]
    """`stop`: send nothing new, and let what is in flight come to its end. `pace`: from `at_ns` on
    ask for `to` times what the schedule asks for. `users`: so many of this worker."""
    to: float = 0.0
    at_ns: int = 0
    """On the worker's own `time.perf_counter_ns`; a stop is at once."""


class Ready(msgspec.Struct, frozen=True, tag="ready"):
    """The plan is read, the warm-up is over, nothing measured was sent yet."""

    pid: int
    problem: str | None = None
    """Why the worker cannot begin; it ends after this."""
    failure_kind: str | None = None


class Spent(msgspec.Struct, frozen=True):
    """What the requests of a chunk have used, failed ones too."""

    requests: int
    """With any token known; the tokens are sums over these."""
    input_tokens: int
    cached_tokens: int
    cache_write_tokens: int
    cache_write_1h_tokens: int
    output_tokens: int


class Chunk(msgspec.Struct, frozen=True, tag="chunk"):
    """What ended since the last chunk, and where the worker stands."""

    rows: int
    samples: bytes
    """`sample.pack_rows`; empty when there are none."""
    gaps: bytes
    e2e_histogram: bytes
    """`analysis.histogram` of `e2e_ms` (from due in an open loop) of the answered."""
    ttft_histogram: bytes
    sent: int
    """So far."""
    in_flight: int
    waiting: int
    """Due and not yet sent, for want of a place in flight."""
    failed: int
    """So far; what the plan broke off is neither failed nor answered."""
    answered: int
    """Of these rows."""
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
    """Of a timer that fires a hundred times a second in the sender's own loop, in ms."""

    p50_ms: float
    p99_ms: float
    max_ms: float
    n: int


class Done(msgspec.Struct, frozen=True, tag="done"):
    """What the samples do not tell of the window."""

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
    """Opened, those of the warm-up included: they are used in the window. None, as the next three,
    where the target's own adapter talks and they are not seen."""
    resent: int | None
    """Requests sent again because the used connection that they took was closed unanswered."""
    sent_bytes: int | None
    received_bytes: int | None
    most_in_flight: int
    blocked: int
    """Requests that had to wait for a place in flight."""
    late: int
    """Arrivals that left later than max(1 ms, 5 % of the mean gap) though a place was free."""
    lateness: Lateness | None
    run_queue_wait_ms: float | None
    gc_pause_ms: float
    gc_pause_max_ms: float
    peak_rss_mb: float
    stopped: bool
    """Whether it was told to stop before its end."""
    realtime: bool = False
    """Whether it went before everything else on its machine."""
    probed_s: float = 0.0
    """Over which CPU time and waits were taken: longer than the window where that overran."""

    @property
    def cpu_share(self) -> float:
        """Of a core, while it was probed; 0 of no time at all."""
        return self._share(self.cpu_s)

    @property
    def run_queue_share(self) -> float | None:
        """Of the time in which it was probed that it waited for a core; 0 of no time at all."""
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
    """The message as it goes over the stream."""
    body = _encode(message)
    return _LENGTH.pack(len(body)) + body


class Frames:
    """Bytes in, whole frames out; for streams that are read piece by piece."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """The frames that `data` completes. ValueError when it is no stream of frames."""
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
