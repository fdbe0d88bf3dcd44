"""Local programs as agents: one process a case, and workers that stay."""

import asyncio
import sys
from pathlib import Path

import psutil
import pytest

from agentbench_tui.agents.registry import open_agent
from agentbench_tui.agents.target import parse_agent
from agentbench_tui.model.answer import (
    AgentFailure,
    Answer,
    FailureKind,
    Message,
    Span,
    ToolCall,
    Usage,
)

sys.path.insert(0, str(Path(__file__).parent))

from opening import ask, failure, opened


def task(tmp_path: Path, code: str) -> str:
    """Target of a program that reads its request into `request`, then does as `code` says."""
    (tmp_path / "task.py").write_text(
        f"import json, os, signal, sys\nrequest = json.loads(sys.stdin.readline())\n{code}"
    )
    return "command:{python} -I -S task.py"


def worker(tmp_path: Path, code: str) -> str:
    """Target of a worker that runs `code` for each `request`."""
    body = "\n".join(f"    {line}" for line in code.strip().splitlines())
    (tmp_path / "work.py").write_text(f"""
import json, os, signal, sys
def send(**fields): print(json.dumps(fields), flush=True)
sys.stdin.readline()
send(type="hello", protocol=1)
for line in iter(sys.stdin.readline, ""):
    request = json.loads(line)
    id = request["id"]
{body}
""")
    return "worker:{python} -I -S work.py"


SENT = ask(
    {"a": [1, "é"]},
    id="case-7",
    messages=(Message("system", "Be brief."),),
    tools=({"name": "f", "parameters": {}},),
    seed=99,
    parameters={"depth": 2},
    time_limit_s=5.0,
)
RECEIVED = {
    "type": "task",
    "case_id": "case-7",
    "input": {"a": [1, "é"]},
    "messages": [{"role": "system", "content": "Be brief."}],
    "tools": [{"name": "f", "parameters": {}}],
    "seed": 99,
    "parameters": {"depth": 2},
    "time_limit_ms": 5000.0,
}


async def test_a_program_gets_the_whole_request_as_one_line_and_then_the_end(
    tmp_path: Path,
) -> None:
    target = task(tmp_path, "print(json.dumps({'data': [request, sys.stdin.read()]}))")
    async with opened(target, tmp_path) as agent:
        assert (await agent.answer(SENT)).data == [RECEIVED, ""]


async def test_a_program_gets_the_calls_of_tools_and_their_results(tmp_path: Path) -> None:
    call = ToolCall("track", {"parcel": 17}, id="a")
    turns = (Message("assistant", "", (call,)), Message("tool", "in Oslo", tool_call_id="a"))
    target = task(tmp_path, "print(json.dumps({'data': request['messages']}))")
    async with opened(target, tmp_path) as agent:
        assert (await agent.answer(ask("Where?", messages=turns))).data == [
            {"role": "assistant", "content": "",
             "tool_calls": [{"name": "track", "arguments": {"parcel": 17}, "id": "a"}]},
            {"role": "tool", "content": "in Oslo", "tool_call_id": "a"},
        ]  # fmt: skip


async def test_a_worker_gets_the_whole_request_and_an_id(tmp_path: Path) -> None:
    async with opened(worker(tmp_path, "send(id=id, data=request)"), tmp_path) as agent:
        for number in (1, 2):
            assert (await agent.answer(SENT)).data == {**RECEIVED, "id": number}


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        ("Rome", Answer(text="Rome")),
        ("  two\nlines \n", Answer(text="two\nlines")),
        ("", Answer()),
        ('{"text": "Rome", "usage": {"output_tokens": 2}}', Answer("Rome", usage=Usage(None, 2))),
        ('{"city": "Rome"}', Answer(text='{"city": "Rome"}')),
        ('{"text": "Ro', Answer(text='{"text": "Ro')),
        ("[1]", Answer(text="[1]")),
        ("{}", Answer(text="{}")),
    ],
)
async def test_output_is_an_answer_object_or_text(
    tmp_path: Path, output: str, answer: Answer
) -> None:
    async with opened(task(tmp_path, f"sys.stdout.write({output!r})"), tmp_path) as agent:
        assert await agent.answer(ask()) == answer


async def test_a_worker_may_fill_in_every_field(tmp_path: Path) -> None:
    code = """
send(id=id, text="t", tool_calls=[{"name": "f", "arguments": {"x": 1}}],
     usage={"input_tokens": 1, "cached_tokens": 1}, ttft_ms=3.5, cost_usd=0.01, api_calls=2,
     spans=[{"name": "plan", "start_ms": 0, "duration_ms": 4}], model="m", finish_reason="stop")
"""
    async with opened(worker(tmp_path, code), tmp_path) as agent:
        assert await agent.answer(ask()) == Answer(
            text="t",
            tool_calls=(ToolCall("f", {"x": 1}),),
            usage=Usage(input_tokens=1, cached_tokens=1),
            ttft_ms=3.5,
            cost_usd=0.01,
            api_calls=2,
            spans=(Span("plan", 0, 4),),
            model="m",
            finish_reason="stop",
        )


@pytest.mark.parametrize(
    ("code", "kind", "said"),
    [
        ("send(id=id, txt='x')", FailureKind.PARSE, 'no field `txt` (did you mean "text"?)'),
        ("send(id=id, text=7)", FailureKind.PARSE, "Expected `str`, got `int` - at `$.text`"),
        ("print('debug', flush=True)", FailureKind.PARSE, "not a JSON object: debug"),
        ("send(id=id, error={'kind': 'timeout', 'detail': 'd'})", FailureKind.TIMEOUT, "d"),
        ("send(id=id, error={'detail': 'ValueError: x'})", FailureKind.AGENT, "ValueError: x"),
        ("send(id=id, error='went wrong')", FailureKind.AGENT, "went wrong"),
        ("send(id=id, error={'kind': 'harness'})", FailureKind.PARSE, "no known kind"),
        ("send(id=id, error={'kind': ['odd']})", FailureKind.PARSE, "no known kind"),
        ("sys.exit(3)", FailureKind.AGENT, "exited with code 3"),
        ("signal.pause()", FailureKind.TIMEOUT, "no answer within 0.3 s"),
    ],
)
async def test_what_a_worker_does_wrong_is_a_failure_and_the_next_case_is_asked(
    tmp_path: Path, code: str, kind: FailureKind, said: str
) -> None:
    target = worker(tmp_path, f"if request['input'] == 'bad':\n    {code}\nsend(id=id, text='ok')")
    async with opened(target, tmp_path) as agent:
        limit = 0.3 if "pause" in code else 60.0
        caught = await failure(agent, ask("bad", time_limit_s=limit), kind)
        assert said in caught.detail
        if "error" not in code and "text=" not in code and "txt" not in code:
            assert (await agent.answer(ask())).text == "ok"


async def test_an_interrupted_start_ends_the_programs(tmp_path: Path) -> None:
    (tmp_path / "mute.py").write_text("import sys; sys.stdin.read()")
    spec = parse_agent("worker:{python} mute.py", base_dir=str(tmp_path))
    agent = open_agent(spec, memory_limit_mb=None, concurrency=2)
    starting = asyncio.create_task(agent.start())
    while len(agent.pids) < 2:  # noqa: ASYNC110 (nothing tells when a program has been started)
        await asyncio.sleep(0)
    programs = [psutil.Process(pid) for pid in agent.pids]
    starting.cancel()
    await asyncio.gather(starting, return_exceptions=True)
    assert not any(program.is_running() for program in programs)


async def test_a_worker_may_ask_for_time(tmp_path: Path) -> None:
    code = "send(id=id, error={'kind': 'rate_limited', 'retry_after_s': request['input']})"
    async with opened(worker(tmp_path, code), tmp_path) as agent:
        for asked, kept in ((1.5, 1.5), (-1, None), ("soon", None), (True, None)):
            caught = await failure(agent, ask(asked), FailureKind.RATE_LIMITED)
            assert caught.retry_after_s == kept


@pytest.mark.parametrize(("given", "may_pass"), [("True", False), ("False", True), ("1", True)])
async def test_a_worker_may_say_that_a_failure_is_final(
    tmp_path: Path, given: str, may_pass: bool
) -> None:
    code = f"send(id=id, error={{'kind': 'server', 'final': {given}}})"
    async with opened(worker(tmp_path, code), tmp_path) as agent:
        assert (await failure(agent, ask(), FailureKind.SERVER)).may_pass is may_pass


@pytest.mark.parametrize(
    ("code", "kind", "said"),
    [
        ("sys.stderr.write('no license'); sys.exit(3)", FailureKind.AGENT, "code 3: no license"),
        ("os.kill(os.getpid(), 11)", FailureKind.AGENT, "was ended by SIGSEGV"),
        ("signal.pause()", FailureKind.TIMEOUT, "no answer within 0.3 s"),
        ("print('{\"text\": 5}')", FailureKind.PARSE, "Expected `str`, got `int`"),
        ("sys.stdout.write('x' * 5_000_000)", FailureKind.LIMIT, "more than 4194304 bytes"),
    ],
)
async def test_what_a_program_does_wrong_is_a_failure(
    tmp_path: Path, code: str, kind: FailureKind, said: str
) -> None:
    async with opened(task(tmp_path, code), tmp_path) as agent:
        limit = 0.3 if kind == FailureKind.TIMEOUT else 10.0
        assert said in (await failure(agent, ask(time_limit_s=limit), kind)).detail
        assert agent.pids == ()


READ = """
import array, fcntl, termios, time
unread = array.array("i", [1])
while unread[0]:
    time.sleep(0.001)
    fcntl.ioctl(1, termios.FIONREAD, unread)
"""
"""Wait until what was printed has been read: whoever ends before may be gone before it is seen."""


async def test_a_program_over_its_memory_limit_fails_that_case_only(tmp_path: Path) -> None:
    code = f"held = b'x' * request['input']\nprint('ok', flush=True)\n{READ}"
    async with opened(task(tmp_path, code), tmp_path, memory_limit_mb=100) as agent:
        caught = await failure(agent, ask(150_000_000), FailureKind.LIMIT)
        assert caught.detail.startswith("memory: used 1")
        assert (await agent.answer(ask(1))).text == "ok"
        assert (agent.peak_memory_mb or 0) > 100
        assert (agent.cpu_seconds or 0) > 0


async def test_a_worker_over_its_memory_limit_fails_that_case_only(tmp_path: Path) -> None:
    code = "held = b'x' * request['input']\nsend(id=id, text='ok')"
    async with opened(worker(tmp_path, code), tmp_path, memory_limit_mb=100) as agent:
        assert (await agent.answer(ask(1))).text == "ok"
        await failure(agent, ask(150_000_000), FailureKind.LIMIT)
        assert (await agent.answer(ask(1))).text == "ok"


async def test_as_many_workers_as_calls_in_flight(tmp_path: Path) -> None:
    code = "send(id=id, data=os.getpid())"
    async with opened(worker(tmp_path, code), tmp_path, concurrency=3) as agent:
        assert len(set(agent.pids)) == 3
        pids = agent.pids
        answers = await asyncio.gather(*(agent.answer(ask()) for _ in range(9)))
        assert {answer.data for answer in answers} <= set(pids)
        assert agent.pids == pids
        await agent.close()
        assert agent.pids == ()
        assert not any(psutil.pid_exists(pid) for pid in pids)


async def test_a_worker_that_does_not_start_says_why(tmp_path: Path) -> None:
    (tmp_path / "work.py").write_text("raise SystemExit('cannot find the weights')")
    spec = parse_agent("worker:{python} -I -S work.py", base_dir=str(tmp_path))
    agent = open_agent(spec, memory_limit_mb=None, concurrency=2)
    with pytest.raises(AgentFailure, match="exited with code 1: cannot find the weights"):
        await agent.start()
    assert agent.pids == ()
    await agent.close()


async def test_environment_and_folder_are_as_the_options_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_API_KEY", "secret-1")
    monkeypatch.setenv("OTHER_API_KEY", "secret-2")
    (tmp_path / "sub").mkdir()
    code = "print(json.dumps({'data': [os.getcwd(), dict(os.environ)]}))"
    target = task(tmp_path, code).replace("task.py", str(tmp_path / "task.py"))
    async with opened(target, tmp_path, env=["MY_API_KEY"], cwd="sub") as agent:
        folder, environment = (await agent.answer(ask())).data
    assert folder == str(tmp_path / "sub")
    assert environment["MY_API_KEY"] == "secret-1"
    assert "OTHER_API_KEY" not in environment
    assert environment["PATH"]


async def test_no_shell_reads_the_command(tmp_path: Path) -> None:
    (tmp_path / "task.py").write_text("import sys, json; print(json.dumps({'data': sys.argv[1:]}))")
    target = "command:{python} -I -S task.py '$HOME' 'a  b' ; rm *"
    async with opened(target, tmp_path) as agent:
        assert (await agent.answer(ask())).data == ["$HOME", "a  b", ";", "rm", "*"]


async def test_the_mode_option_makes_a_command_a_worker(tmp_path: Path) -> None:
    target = worker(tmp_path, "send(id=id, data=os.getpid())").replace(
        "worker:", "command?mode=worker:"
    )
    async with opened(target, tmp_path) as agent:
        assert (await agent.answer(ask())).data == (await agent.answer(ask())).data


async def test_the_worker_loop_that_ships_speaks_the_protocol(tmp_path: Path) -> None:
    """And says what no line can carry without ending, so that the next case finds it ready."""
    root = Path(__file__).parents[2]
    (tmp_path / "mine.py").write_text(f"""
import math, os, sys
sys.path.insert(0, {str(root)!r})
from agentbench_tui.agents.worker import Reply, serve
def answer(task):
    if task.input == "half":
        return chr(0xd83d)
    if task.input == "raises half":
        raise ValueError(chr(0xd83d))
    if task.input == "nan":
        return Reply(data=math.nan)
    return Reply(text=task.input.upper(), data=os.getpid())
serve(answer, name="mine", version="1")
""")
    async with opened("worker:{python} mine.py", tmp_path) as agent:
        first = await agent.answer(ask("abc"))
        assert first.text == "ABC"
        said = [await failure(agent, ask(given), FailureKind.AGENT) for given in (
            "half", "raises half", "nan",
        )]  # fmt: skip
        assert [one.detail.partition(":")[0] for one in said] == [
            "UnicodeEncodeError", "ValueError", "ValueError",
        ]  # fmt: skip
        assert (await agent.answer(ask("abc"))).data == first.data
