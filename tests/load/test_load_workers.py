"""Load workers as processes, against a practice server: what is sent, and what is said of it."""

import asyncio
import os
import resource
import signal
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
import pytest_asyncio
from driving import (
    constant,
    heard,
    model_target,
    plan,
    practice_server,
    request_type,
    said,
    users,
)

from agentbench_tui.load.sending import worker_process
from agentbench_tui.load.sending.protocol import AgentTarget, Conversation, Turn
from agentbench_tui.load.sending.sample import (
    FOLLOW_UP,
    NEW_CONNECTION,
    NONE,
    STREAMED,
    TOKENS_COUNTED,
)
from agentbench_tui.load.sending.workers import LoadWorkers
from agentbench_tui.model.agent import AgentSpec
from agentbench_tui.model.answer import AgentFailure, FailureKind, Message


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def quick() -> AsyncIterator[str]:
    """Where a practice server answers at once, in five tokens."""
    async with practice_server(ttft="1ms", itl="1ms", tokens=5) as server:
        yield server.url


async def test_an_open_loop_sends_every_arrival_at_its_due_time(quick: str) -> None:
    found = await heard([plan(model_target(quick), constant(250), requests=50)])

    assert sorted(row["due_us"] for row in found.rows) == [4000 * nth for nth in range(50)]
    assert found.statuses() == {"ok": 50}
    (done,) = found.done
    assert (done.offered, done.sent, done.blocked) == (50, 50, 0)
    assert done.window_s == pytest.approx(0.2)


async def test_a_window_ends_with_its_requests_or_its_duration_whichever_is_first(
    quick: str,
) -> None:
    target = model_target(quick)
    by_count = await heard([plan(target, constant(200), requests=10, duration_s=600.0)])
    by_time = await heard([plan(target, constant(200), requests=9999, duration_s=0.1)])

    assert (by_count.done[0].sent, by_count.done[0].window_s) == (10, pytest.approx(0.05))
    assert (by_time.done[0].sent, by_time.done[0].window_s) == (20, pytest.approx(0.1))


async def test_streams_give_tokens_chunks_and_gaps(quick: str) -> None:
    found = await heard([plan(model_target(quick), constant(200), requests=20)])

    for row in found.rows:
        assert row["flags"] & STREAMED
        assert row["flags"] & TOKENS_COUNTED
        assert (row["output_tokens"], row["chunks"]) == (5, 5)
        assert row["input_tokens"] > 0
        assert 0 < row["ttft_us"] == row["ttfo_us"] <= row["e2e_us"]
        assert row["first_byte_us"] <= row["ttft_us"]
    assert len(found.gaps) == 20 * 4
    # The gaps of a stream lie between its first and its last token.
    assert sum(found.gaps) <= sum(row["e2e_us"] - row["ttft_us"] for row in found.rows)


async def test_an_answer_in_one_piece_has_tokens_but_no_first_token(quick: str) -> None:
    target = model_target(quick, stream=False)
    found = await heard([plan(target, constant(200), requests=10)])

    assert {row["ttft_us"] for row in found.rows} == {NONE}
    assert {(row["output_tokens"], row["chunks"]) for row in found.rows} == {(5, 0)}
    assert not found.gaps


async def test_workers_carry_out_one_plan_after_the_other(quick: str) -> None:
    sent: list[int] = []
    sent_then: list[int] = []
    target = model_target(quick)
    first = [plan(target, users(2), requests=6, worker=nth, workers=2) for nth in range(2)]
    further = [plan(target, constant(200), requests=10, worker=nth, workers=2) for nth in range(2)]
    async with LoadWorkers(first, lambda _, chunk: sent.append(chunk.rows)) as workers:
        pids = workers.pids
        done = [await workers.carry_out(), await workers.carry_out(further)]
        left = workers.leave()
    assert left.pids == pids, "who leaves them does not end them"
    try:
        left.take(further, lambda _, chunk: sent_then.append(chunk.rows))
        done.append(await left.carry_out())
        os.kill(pids[1], signal.SIGKILL)
        with pytest.raises(AgentFailure, match="a load worker was ended"):
            await left.carry_out(first)
    finally:
        await left.close()
    assert [sum(each.sent for each in one) for one in done] == [6, 10, 10]
    assert [sum(sent), sum(sent_then)] == [16, 10]


async def test_several_workers_share_one_schedule(quick: str) -> None:
    target = model_target(quick)
    found = await heard(
        [
            plan(target, constant(300), duration_s=0.2, worker=worker, workers=3)
            for worker in range(3)
        ]
    )

    expected = [round(nth * 1_000_000 / 300) for nth in range(60)]
    due = sorted(row["due_us"] for row in found.rows)
    assert all(abs(one - other) <= 1 for one, other in zip(due, expected, strict=True))
    assert sorted(done.offered for done in found.done) == [20, 20, 20]


async def test_a_closed_loop_has_as_many_in_flight_as_users_and_ends_with_its_requests(
    quick: str,
) -> None:
    found = await heard([plan(model_target(quick), users(4), requests=40)])

    assert found.statuses() == {"ok": 40}
    assert found.done[0].most_in_flight == 4
    assert found.done[0].connections <= 5


async def test_users_of_a_closed_loop_are_shared_out_over_the_workers(quick: str) -> None:
    target = model_target(quick)
    plans = [plan(target, users(2), requests=21, worker=nth, workers=2) for nth in range(2)]
    found = await heard(plans)

    assert sorted(done.sent for done in found.done) == [10, 11]


async def test_what_exceeds_the_cap_waits_and_its_lag_counts_from_the_due_time() -> None:
    async with practice_server(ttft="20ms", itl="0ms", tokens=1) as server:
        found = await heard(
            [plan(model_target(server.url), constant(500), requests=20, max_in_flight=2)]
        )

    (done,) = found.done
    assert (done.sent, done.most_in_flight) == (20, 2)
    assert done.blocked >= 10
    # Two at a time of 20 ms each: the last pair of 20 is sent when nine pairs are through, at
    # 180 ms or later, and was due at 38 ms or before.
    assert max(row["lag_us"] for row in found.rows) >= 140_000
    # Waiting is no fault of the sender's.
    assert done.late < done.blocked


async def test_connections_are_used_again(quick: str) -> None:
    found = await heard([plan(model_target(quick), users(3), requests=60)])

    opened = sum(bool(row["flags"] & NEW_CONNECTION) for row in found.rows)
    # The warm-up opened one, which the first of three users takes.
    assert (opened, found.done[0].connections) == (2, 3)


async def test_failures_are_samples_with_their_kind() -> None:
    async with practice_server(ttft="1ms", itl="1ms", error_rate=1) as server:
        found = await heard(
            [plan(model_target(server.url), constant(200), requests=10, warmup_requests=0)]
        )

    assert found.statuses() == {"server": 10}
    assert 1 <= len(found.failures) <= 3
    assert found.failures[0][0] == "server"
    assert "HTTP 500" in found.failures[0][1]


async def test_a_plan_may_break_answers_off_after_so_many_tokens() -> None:
    kind = request_type(cancel_after_tokens=3)
    async with practice_server(ttft="1ms", itl="5ms", tokens=50) as server:
        found = await heard(
            [
                plan(
                    model_target(server.url),
                    constant(100),
                    requests=10,
                    workload=(kind,),
                    warmup_requests=0,
                )
            ]
        )

    assert found.statuses() == {"cancelled": 10}
    assert all(3 <= row["chunks"] < 50 for row in found.rows)


async def test_what_is_in_flight_when_the_drain_ends_is_unfinished() -> None:
    async with practice_server(ttft="30s", itl="0ms", tokens=1) as server:
        found = await heard(
            [
                plan(
                    model_target(server.url),
                    constant(100),
                    requests=5,
                    warmup_requests=0,
                    drain_s=0.05,
                )
            ]
        )

    assert found.statuses() == {"unfinished": 5}


async def test_a_request_over_its_time_limit_is_a_timeout() -> None:
    async with practice_server(ttft="30s", itl="0ms", tokens=1) as server:
        found = await heard(
            [
                plan(
                    model_target(server.url),
                    constant(100),
                    requests=5,
                    warmup_requests=0,
                    time_limit_s=0.1,
                )
            ]
        )

    assert found.statuses() == {"timeout": 5}


async def test_sessions_send_their_history_along(quick: str) -> None:
    kind = request_type(said("One.", "Two.", "Three."))
    found = await heard([plan(model_target(quick), constant(50), requests=4, workload=(kind,))])

    by_turn: dict[int, set[int]] = {}
    for row in found.rows:
        by_turn.setdefault(row["turn"], set()).add(row["input_tokens"])
    assert sorted(by_turn) == [0, 1, 2]
    # The server counts words: one, then that with the five words answered and one more, ….
    assert [sizes.pop() for _, sizes in sorted(by_turn.items())] == [1, 7, 13]
    assert found.done[0].offered == 12
    # The clock made four of them due, answers the others.
    assert [row["turn"] > 0 for row in found.rows] == [
        bool(row["flags"] & FOLLOW_UP) for row in found.rows
    ]


async def test_a_port_where_nobody_listens_is_told_before_the_window() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
        with pytest.raises(AgentFailure) as caught:
            await heard([plan(model_target(url), constant(10), requests=10)])
    assert caught.value.kind is FailureKind.CONNECTION


async def test_any_agent_can_be_put_under_load(tmp_path: Path) -> None:
    module = tmp_path / "echoing.py"
    module.write_text(
        "import sys\n"
        "def answer(case):\n"
        "    print('noise on standard output')\n"
        "    return case['input'] if isinstance(case, dict) else str(case)\n"
    )
    spec = AgentSpec("echo", "1", f"python:{module}:answer", base_dir=str(tmp_path))
    found = await heard([plan(AgentTarget(spec), constant(200), requests=20)])

    assert found.statuses() == {"ok": 20}
    assert {row["ttft_us"] for row in found.rows} == {NONE}
    done = found.done[0]  # what its adapter sends is not seen: no zero stands for it
    assert (done.connections, done.resent, done.sent_bytes, done.received_bytes) == (None,) * 4


async def test_a_stopped_window_ends_early_and_keeps_what_was_measured(quick: str) -> None:
    chunks = []
    first = asyncio.Event()

    def take(_: int, chunk: object) -> None:
        chunks.append(chunk)
        if chunk.rows:  # type: ignore[attr-defined]
            first.set()

    asked = plan(model_target(quick), constant(100), duration_s=600.0)
    async with asyncio.timeout(30), LoadWorkers([asked], take) as workers:
        await workers.ready()
        workers.start()
        await first.wait()
        workers.stop()
        (done,) = await workers.done()

    assert done.stopped
    assert done.window_s < 600
    assert sum(chunk.rows for chunk in chunks) == done.sent > 0


async def test_a_worker_that_falls_silent_is_not_waited_for_for_ever(
    quick: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentbench_tui.load.sending.workers.SILENCE_LIMIT_S", 0.5)
    asked = plan(model_target(quick), constant(10), duration_s=600.0)
    async with asyncio.timeout(30), LoadWorkers([asked], lambda *_: None) as workers:
        await workers.ready()
        workers.start()
        os.kill(workers.pids[0], signal.SIGSTOP)
        with pytest.raises(AgentFailure, match="has reported nothing for") as caught:
            await workers.done()
    assert caught.value.kind is FailureKind.HARNESS


async def test_a_fault_of_whoever_takes_chunks_is_raised_where_the_worker_is_waited_for(
    quick: str,
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    asked = plan(model_target(quick), constant(50), requests=5)
    with pytest.raises(ZeroDivisionError):
        async with LoadWorkers([asked], broken) as workers:
            await workers.carry_out()


def may_go_first() -> bool:
    """Whether this user may ask for real-time priority."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except OSError:
        return False
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    return True


@pytest.mark.skipif(not hasattr(os, "sched_setscheduler"), reason="no such thing here")
async def test_a_sender_goes_first_where_it_may_and_says_so_where_it_may_not(quick: str) -> None:
    asked = plan(model_target(quick), constant(10), requests=1, realtime="must")
    async with LoadWorkers([asked], lambda *_: None) as workers:
        if may_go_first():
            await workers.ready()
            (pid,) = workers.pids
            reset = os.SCHED_RESET_ON_FORK
            assert os.sched_getscheduler(pid) & ~reset == os.SCHED_RR
        else:
            with pytest.raises(AgentFailure, match="leave --realtime out"):
                await workers.ready()


async def test_no_worker_outlives_whoever_started_it(quick: str) -> None:
    asked = plan(model_target(quick), constant(10), duration_s=600.0)
    async with LoadWorkers([asked], lambda *_: None) as workers:
        await workers.ready()
        workers.start()
        (pid,) = workers.pids
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_a_fault_while_sending_ends_the_worker_and_says_what_it_was() -> None:
    spec = AgentSpec("echo", "1", "command:cat")
    turn = Turn((Message("user", "Hello"),), case={"id": 3})  # a case's id is a text
    asked = plan(
        AgentTarget(spec),
        constant(100),
        duration_s=600.0,
        max_in_flight=1,
        warmup_requests=0,
        workload=(request_type(Conversation((turn,))),),
    )
    with pytest.raises(AgentFailure, match=r"(?s)a load worker .*ValidationError") as caught:
        await heard([asked])

    assert caught.value.kind is FailureKind.HARNESS


async def test_more_connections_than_files_may_be_open_at_first() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    async with practice_server(ttft="500ms", tokens=1) as server:
        # Workers begin with the limits of whoever starts them.
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
        try:
            asked = plan(model_target(server.url), users(96), requests=96)
            found = await heard([asked])
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    assert found.statuses() == {"ok": 96}
    assert found.done[0].connections >= 96


def test_plans_survive_the_pipe() -> None:
    from agentbench_tui.load.sending.protocol import Frames, decode_to_worker, frame

    asked = plan(model_target("http://127.0.0.1:1/v1", max_tokens=3), constant(10), requests=1)
    sent = frame(asked) + frame(asked)
    frames = Frames()
    bodies = [body for place in range(len(sent)) for body in frames.feed(sent[place : place + 1])]
    assert [decode_to_worker(body) for body in bodies] == [asked, asked]
    assert msgspec.msgpack.decode(bodies[0])["type"] == "plan"


async def test_a_worker_without_a_part_in_the_plan_ends_at_once(quick: str) -> None:
    asked = [
        plan(model_target(quick), constant(200), requests=2, worker=nth, workers=3)
        for nth in range(3)
    ]
    found = await heard(asked)

    assert [done.sent for done in found.done] == [1, 1, 0]
    assert found.statuses() == {"ok": 2}


async def test_figures_of_a_window_leave_the_warm_up_out(quick: str) -> None:
    asked = plan(model_target(quick), users(1), requests=2)
    few, many = [
        (await heard([msgspec.structs.replace(asked, warmup_requests=count)])).done[0]
        for count in (1, 9)
    ]

    assert few.sent_bytes == many.sent_bytes > 0
    assert many.received_bytes < 1.5 * few.received_bytes


async def test_a_worker_ends_with_whoever_started_it_also_while_it_warms_up() -> None:
    from agentbench_tui.load.sending.protocol import frame

    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        worker = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "agentbench_tui.load.sending.worker",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert worker.stdin is not None
        worker.stdin.write(frame(plan(model_target(url), constant(10), requests=1)))
        await worker.stdin.drain()
        asked, _ = await asyncio.to_thread(silent.accept)
        with asked:
            worker.stdin.close()
            async with asyncio.timeout(30):
                out, _ = await worker.communicate()

    assert (worker.returncode, out) == (0, b"")


async def test_a_worker_that_was_started_ahead_takes_the_first_plan(quick: str) -> None:
    worker_process.start_ahead()
    asked = plan(model_target(quick), constant(50), requests=2)
    async with LoadWorkers([asked, asked], lambda *_: None) as workers:
        await workers.ready()
        assert worker_process.take_ahead() is None
        workers.start()
        assert [done.sent for done in await workers.done()] == [2, 2]
        pids = workers.pids
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_a_worker_that_was_started_ahead_for_nothing_is_ended() -> None:
    worker_process.start_ahead()
    ahead = worker_process.take_ahead()
    assert ahead is not None
    worker_process._ahead.append(ahead)
    worker_process.end_ahead()
    assert ahead.popen.returncode is not None
    assert worker_process.take_ahead() is None
