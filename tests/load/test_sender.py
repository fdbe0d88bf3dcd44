"""What a sender counts of sessions, over a transport and an agenda that a test holds by hand."""

from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

import pytest
from driving import constant, model_target, plan, request_type, rows_of, said

from agentbench_tui.http.client import timed_out
from agentbench_tui.load.sending.recorder import SampleRecorder
from agentbench_tui.load.sending.sample import FOLLOW_UP, NONE, STATUS_CODE
from agentbench_tui.load.sending.sender import Call, Reply, Sender
from agentbench_tui.model.answer import AgentFailure, FailureKind

HOUR_NS = 3600 * 10**9


class ByHand:
    """Transport and agenda: what was sent, and what is to be done later."""

    def __init__(self) -> None:
        self.sent: list[Call] = []
        self.later: list[tuple[int, Callable[[int], None]]] = []

    def send(self, call: Call) -> None:
        self.sent.append(call)

    def at(self, due_ns: int, action: Callable[[int], None]) -> None:
        self.later.append((due_ns, action))

    def clear(self) -> None:
        self.later.clear()


def sender_of(
    *texts: str, measuring: bool = True, **more: Any
) -> tuple[Sender, ByHand, SampleRecorder]:
    """A sender of sessions with these turns, in its window or in the warm-up before it."""
    by_hand, recorder = ByHand(), SampleRecorder(from_due=True)
    asked = plan(
        model_target("http://127.0.0.1:1/v1"),
        constant(50),
        workload=(request_type(said(*texts)),),
        **more,
    )
    held: Any = by_hand
    sender = Sender(asked, held, recorder, held, late_after_ns=0)
    if measuring:
        sender.measure(perf_counter_ns() - 3 * HOUR_NS)
    return sender, by_hand, recorder


def rows(recorder: SampleRecorder) -> list[dict[str, Any]]:
    return rows_of(recorder.take(sent=0, in_flight=0, waiting=0, oldest_s=None, at_s=0.0).samples)


def test_what_an_answer_makes_due_is_marked_and_never_late() -> None:
    sender, by_hand, recorder = sender_of("One.", "Two.")
    sender.begin(0, perf_counter_ns() - HOUR_NS)
    # It left an hour late. What its answer makes due leaves a little after the answer, as ever.
    sender.ended(by_hand.sent[0], Reply(0, perf_counter_ns(), text="Yes."))
    ((due_ns, go),) = by_hand.later
    go(due_ns)
    sender.ended(by_hand.sent[1], Reply(0, perf_counter_ns(), text="No."))

    assert (sender.offered, sender.sent, sender.late) == (2, 2, 1)
    assert [row["flags"] & FOLLOW_UP for row in rows(recorder)] == [0, FOLLOW_UP]


def test_no_more_wait_than_memory_is_set_aside_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentbench_tui.load.sending.sender.MOST_WAITING", 2)
    sender, by_hand, _ = sender_of("One.", max_in_flight=1)
    for index in range(5):
        sender.begin(index, perf_counter_ns())
    for number in range(3):
        sender.ended(by_hand.sent[number], Reply(0, perf_counter_ns()))

    # One went out, two waited and followed; two became due and were never sent.
    assert (sender.offered, sender.sent, sender.blocked) == (5, 3, 4)
    assert sender.is_idle


def test_times_beyond_71_minutes_are_kept_as_the_longest_that_can_be_told() -> None:
    sender, by_hand, recorder = sender_of("One.")
    for late_ns in (2 * HOUR_NS, 0):
        sender.begin(0, perf_counter_ns() - late_ns)
        call = by_hand.sent[-1]
        sender.ended(call, Reply(0, call.sent_ns + 2 * HOUR_NS, received_bytes=1 << 40))
    long, longer = rows(recorder)

    assert long["lag_us"] == long["e2e_us"] == longer["e2e_us"] == NONE - 1
    assert longer["lag_us"] < 60 * 10**6
    assert (long["received_bytes"], long["ttft_us"], long["output_tokens"]) == (
        NONE - 1,
        NONE,
        NONE,
    )
    assert long["due_us"] < longer["due_us"]


def test_failures_of_the_warm_up_are_no_part_of_the_window() -> None:
    sender, by_hand, recorder = sender_of("One.", measuring=False)
    failures = [
        AgentFailure(FailureKind.SERVER, "HTTP 404 from 127.0.0.1:1"),
        AgentFailure(FailureKind.RATE_LIMITED, "HTTP 429 from 127.0.0.1:1"),
        AgentFailure(FailureKind.SERVER, "HTTP 503 from 127.0.0.1:1"),
        AgentFailure(FailureKind.CONNECTION, "closed"),
    ]
    for failure in failures:
        sender.begin(0, perf_counter_ns())
        reply = Reply(STATUS_CODE[failure.kind], perf_counter_ns())
        sender.ended(by_hand.sent[-1], reply, failure)

    assert sender.refused == 2  # 404, and no connection
    assert sender.unreachable
    assert sender.last_failure is failures[-1]
    sender.measure(perf_counter_ns())
    sender.begin(0, perf_counter_ns())
    sender.ended(by_hand.sent[-1], Reply(STATUS_CODE["server"], perf_counter_ns()), failures[2])
    chunk = recorder.take(sent=0, in_flight=0, waiting=0, oldest_s=None, at_s=0.0)
    assert chunk.failures == (("server", "HTTP 503 from 127.0.0.1:1"),)
    assert (chunk.rows, chunk.failed) == (1, 1)


@pytest.mark.parametrize(
    ("kind", "detail", "refused", "unreachable"),
    [
        (FailureKind.CONNECTION, "cannot connect to h:1: Connection refused", 1, True),
        (FailureKind.TIMEOUT, timed_out("connect", 0.5, "https://h:1/v1").detail, 1, True),
        (FailureKind.TIMEOUT, timed_out("first byte", 0.5, "https://h:1/v1").detail, 0, False),
        (FailureKind.SERVER, "HTTP 404 from h:1", 1, False),
    ],
)
def test_a_connection_that_takes_too_long_is_as_good_as_none(
    kind: FailureKind, detail: str, refused: int, unreachable: bool
) -> None:
    sender, by_hand, _ = sender_of("One.", measuring=False)
    sender.begin(0, perf_counter_ns())
    failure = AgentFailure(kind, detail)
    sender.ended(by_hand.sent[0], Reply(STATUS_CODE[kind], perf_counter_ns()), failure)

    assert (sender.refused, sender.unreachable) == (refused, unreachable)


def test_what_the_plan_broke_off_is_neither_answered_nor_failed() -> None:
    sender, by_hand, recorder = sender_of("One.")
    for status in ("ok", "cancelled", "server", "ok"):
        sender.begin(0, perf_counter_ns())
        sender.ended(by_hand.sent[-1], Reply(STATUS_CODE[status], perf_counter_ns()))
    chunk = recorder.take(sent=4, in_flight=0, waiting=0, oldest_s=None, at_s=0.0)
    assert (chunk.rows, chunk.answered, chunk.failed) == (4, 2, 1)
    # Failures so far, answers since the chunk before.
    chunk = recorder.take(sent=4, in_flight=0, waiting=0, oldest_s=None, at_s=0.0)
    assert (chunk.rows, chunk.answered, chunk.failed) == (0, 0, 1)


def test_a_stop_says_whether_it_leaves_anything_out() -> None:
    sender, by_hand, _ = sender_of("One.", max_in_flight=1)
    sender.begin(0, perf_counter_ns())
    sender.begin(1, perf_counter_ns())  # waits
    assert sender.stop()
    assert not sender.stop()
    sender.ended(by_hand.sent[0], Reply(0, perf_counter_ns()))
    assert (sender.offered, sender.sent, sender.waiting) == (2, 1, 0)

    # A session of which a turn is still to come, and one that has had its last.
    sender, by_hand, _ = sender_of("One.", "Two.")
    sender.begin(0, perf_counter_ns())
    assert sender.stop()
    sender.ended(by_hand.sent[0], Reply(0, perf_counter_ns(), text="Yes."))
    assert by_hand.later == []
    assert not sender.stop()
