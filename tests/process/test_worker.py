"""A worker answers, or fails in the right way and is whole again for the next call."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from agentbench_tui.model.answer import AgentFailure, FailureKind
from agentbench_tui.process.environment import child_environment
from agentbench_tui.process.worker import JsonLinesWorker

sys.path.insert(0, str(Path(__file__).parent))

from programs import ECHO, ESCAPEES, program


@asynccontextmanager
async def worker(code: str, **options: Any) -> AsyncIterator[JsonLinesWorker]:
    made = JsonLinesWorker(program(code), environment=child_environment(), **options)
    try:
        yield made
    finally:
        await made.close()


async def fails(made: JsonLinesWorker, kind: FailureKind, timeout_s: float = 60) -> str:
    """The detail of the failure of one call."""
    with pytest.raises(AgentFailure) as caught:
        await made.call({"input": "x"}, timeout_s)
    assert caught.value.kind == kind, caught.value
    return caught.value.detail


async def test_calls_are_answered_by_one_process_that_stays() -> None:
    async with worker(ECHO) as made:
        await made.start()
        assert made.hello["name"] == "test"
        replies = [await made.call({"input": str(n)}, 10) for n in range(50)]
        assert [reply["text"] for reply in replies] == [str(n) for n in range(50)]
        assert {reply["pid"] for reply in replies} == {made.pid}
        assert made.starts == 1


async def test_large_and_odd_texts_go_both_ways() -> None:
    async with worker(ECHO) as made:
        for text in ("x" * 1_000_000, "a\nb\r\u2028\x00\U0001f600", ""):
            assert (await made.call({"input": text}, 10))["text"] == text


async def test_a_program_that_exits_at_once_is_told_with_code_and_stderr() -> None:
    async with worker("sys.stderr.write('no license\\n'); sys.exit(3)") as made:
        detail = await fails(made, FailureKind.AGENT)
        assert "exited with code 3: no license" in detail
        await fails(made, FailureKind.AGENT)
        assert made.starts == 2


async def test_a_crash_in_a_call_is_told_and_the_next_call_is_answered() -> None:
    code = """
hello()
for task in tasks():
    if task["input"] == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    send({"id": task["id"], "text": "ok"})
"""
    async with worker(code) as made:
        with pytest.raises(AgentFailure, match="was ended by SIGSEGV"):
            await made.call({"input": "crash"}, 10)
        assert await made.call({"input": "x"}, 10) == {"text": "ok"}
        assert made.starts == 2


async def test_a_late_program_is_killed_and_its_late_answer_never_taken() -> None:
    code = """
hello()
for task in tasks():
    if task["input"] == "hang":
        signal.pause()
    send({"id": task["id"], "text": task["input"]})
"""
    async with worker(code) as made:
        await made.start()
        first = made.pid
        with pytest.raises(AgentFailure, match=r"no answer within 0\.05 s") as caught:
            await made.call({"input": "hang"}, 0.05)
        assert caught.value.kind == FailureKind.TIMEOUT
        assert (await made.call({"input": "next"}, 10))["text"] == "next"
        assert first is not None
        assert not psutil.pid_exists(first)


async def test_a_program_that_never_reads_times_out_whatever_is_sent() -> None:
    async with worker("hello()\nsignal.pause()") as made:
        with pytest.raises(AgentFailure) as caught:
            await made.call({"input": "x" * 1_000_000}, 0.1)
        assert caught.value.kind == FailureKind.TIMEOUT


async def test_a_program_that_never_says_hello_does_not_start() -> None:
    async with worker("signal.pause()", start_timeout_s=0.05) as made:
        with pytest.raises(AgentFailure) as caught:
            await made.start()
        assert caught.value.kind == FailureKind.TIMEOUT


@pytest.mark.parametrize(
    "said", ["Loading model…", "[]", '{"type": "hello", "protocol": 2}', '{"id": 1}', "{" * 100_000]
)
async def test_what_is_no_hello_is_a_parse_failure(said: str) -> None:
    async with worker(f"print({said!r}, flush=True); signal.pause()") as made:
        await fails(made, FailureKind.PARSE)


@pytest.mark.parametrize(
    "line", ["not json", '{"id": 1', "17", "null", '{"id": 99}', '{"text": "no id"}', ""]
)
async def test_a_malformed_line_is_a_parse_failure_and_the_worker_starts_again(line: str) -> None:
    code = f"hello()\nfor task in tasks():\n    print({line!r}, flush=True)"
    async with worker(code) as made:
        await fails(made, FailureKind.PARSE)
        await fails(made, FailureKind.PARSE)
        assert made.starts == 2


async def test_an_end_in_mid_line_is_truncated() -> None:
    code = """
hello()
sys.stdin.readline()
sys.stdout.write('{"id": 1, "text": "the ans'); sys.stdout.flush()
sys.exit(0)
"""
    async with worker(code) as made:
        detail = await fails(made, FailureKind.TRUNCATED)
        assert "broke off in mid-line" in detail
        assert "exited with code 0" in detail


async def test_a_program_that_closes_its_output_is_told_from_one_that_ended() -> None:
    async with worker("hello()\nsys.stdin.readline()\nos.close(1)\nsignal.pause()") as made:
        assert "closed its output" in await fails(made, FailureKind.AGENT)


async def test_a_flood_on_stderr_does_not_hold_up_answers() -> None:
    code = """
hello()
for task in tasks():
    sys.stderr.write("noise\\n" * 200_000)
    sys.stderr.flush()
    send({"id": task["id"], "text": "ok"})
"""
    async with worker(code) as made:
        for _ in range(3):
            assert await made.call({"input": "x"}, 10) == {"text": "ok"}


async def test_a_flood_on_stdout_is_cut_off_at_the_limit() -> None:
    code = "hello()\nsys.stdin.readline()\nwhile True: sys.stdout.write('x' * 65536)"
    async with worker(code, max_reply_bytes=100_000) as made:
        assert "more than 100000 bytes" in await fails(made, FailureKind.LIMIT)


async def test_a_flood_between_calls_is_cut_off_too() -> None:
    code = """
hello()
if not os.path.exists(sys.argv[1]):
    open(sys.argv[1], "w").close()
    try:
        while True:
            sys.stdout.write("x" * 65536)
    except BrokenPipeError:
        os._exit(0)
for task in tasks():
    send({"id": task["id"], "text": "ok"})
"""
    # The first life floods, the second answers.
    async with _flooding(code) as made:
        await made.start()
        process = psutil.Process(made.pid)
        async with asyncio.timeout(60):
            # Another process ends here, which nothing announces.
            while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:  # noqa: ASYNC110
                await asyncio.sleep(0.005)
        assert await made.call({"input": "x"}, 10) == {"text": "ok"}
        assert made.starts == 2


@asynccontextmanager
async def _flooding(code: str) -> AsyncIterator[JsonLinesWorker]:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        made = JsonLinesWorker(
            [*program(code), f"{folder}/flooded"],
            environment=child_environment(),
            max_reply_bytes=100_000,
        )
        try:
            yield made
        finally:
            await made.close()


async def test_a_broken_memory_limit_fails_the_call_that_broke_it() -> None:
    code = """
hello()
for task in tasks():
    held = b"x" * int(task["input"])
    del held
    send({"id": task["id"], "text": "ok"})
"""
    async with worker(code, memory_limit_mb=100) as made:
        assert await made.call({"input": "1000000"}, 10) == {"text": "ok"}
        with pytest.raises(AgentFailure, match=r"memory: used \d+ MB of 100 MB") as caught:
            await made.call({"input": "150000000"}, 10)
        assert caught.value.kind == FailureKind.LIMIT
        assert await made.call({"input": "1000000"}, 10) == {"text": "ok"}
        assert (made.peak_memory_mb or 0) > 100


async def test_a_memory_hog_that_never_answers_is_stopped() -> None:
    code = """
hello()
sys.stdin.readline()
held = []
while sum(map(len, held)) < 2_000_000_000:
    held.append(b"x" * 10_000_000)
    time.sleep(0.005)
signal.pause()
"""
    async with worker(code, memory_limit_mb=100) as made:
        detail = await fails(made, FailureKind.LIMIT, timeout_s=20)
        used = float(detail.split()[2])
        assert 100 < used < 1000


async def test_a_canceled_call_kills_the_program_and_the_next_is_answered() -> None:
    code = """
hello()
for task in tasks():
    if task["input"] == "hang":
        signal.pause()
    send({"id": task["id"], "text": "ok"})
"""
    async with worker(code) as made:
        await made.start()
        call = asyncio.create_task(made.call({"input": "hang"}, None))
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert await made.call({"input": "x"}, 10) == {"text": "ok"}
        assert made.starts == 2


async def test_a_second_call_at_once_is_refused() -> None:
    async with worker("hello()\nfor task in tasks(): signal.pause()") as made:
        await made.start()
        call = asyncio.create_task(made.call({"input": "x"}, None))
        await asyncio.sleep(0)
        with pytest.raises(RuntimeError, match="one call at a time"):
            await made.call({"input": "y"}, None)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call


@pytest.mark.parametrize("payload", [{"input": object()}, {"input": "\ud800"}])
async def test_what_json_cannot_carry_is_the_harness_fault_and_harms_nobody(
    payload: dict[str, Any],
) -> None:
    async with worker(ECHO) as made:
        await made.start()
        with pytest.raises(AgentFailure) as caught:
            await made.call(payload, 10)
        assert caught.value.kind == FailureKind.HARNESS
        assert (await made.call({"input": "x"}, 10))["text"] == "x"
        assert made.starts == 1


@pytest.mark.skipif(sys.platform != "linux", reason="needs subreapers")
async def test_close_ends_everything_that_the_program_started() -> None:
    code = ESCAPEES + "hello()\nfor task in tasks(): send({'id': task['id'], 'pids': spawn()})"
    async with worker(code) as made:
        pids = (await made.call({"input": "x"}, 10))["pids"]
        assert all(psutil.pid_exists(pid) for pid in pids)
        await made.close(grace_s=5)
        assert not any(psutil.pid_exists(pid) for pid in pids)


async def test_a_call_in_flight_when_it_is_closed_is_a_failure() -> None:
    async with worker("hello()\nfor task in tasks(): signal.pause()") as made:
        await made.start()
        call = asyncio.create_task(made.call({"input": "x"}, None))
        await asyncio.sleep(0)
        await made.close()
        with pytest.raises(AgentFailure, match="was ended by SIGKILL"):
            await call


async def test_cpu_time_adds_up_over_restarts() -> None:
    code = """
hello()
for task in tasks():
    while time.process_time() < 0.15: pass
    sys.exit(1)
"""
    async with worker(code) as made:
        await fails(made, FailureKind.AGENT)
        await fails(made, FailureKind.AGENT)
        await made.close()
        assert 0.28 <= made.cpu_seconds <= 0.8
