"""A `python:` agent of limited memory answers in a process of its own, as it would in ours."""

import os
from pathlib import Path

import pytest
from opening import ask, failure, opened

from agentbench_tui.agents.registry import open_agent
from agentbench_tui.agents.target import parse_agent
from agentbench_tui.model.answer import AgentFailure, Answer, FailureKind, Usage

CODE = """
import os
from agentbench_tui.model.answer import AgentFailure, Answer, FailureKind, Usage

def where(text):
    print("said on the way")
    return str(os.getpid())

def keeps(text):
    kept = bytearray(b"x") * int(text)
    return str(len(kept))

def ends(text):
    os._exit(3)

def leaves(text):
    raise SystemExit("enough")

def waits(text):
    raise AgentFailure(
        FailureKind.RATE_LIMITED,
        "later",
        retry_after_s=2.5,
        partial=Answer(text="so far"),
        final=True,
    )

async def whole(request):
    return Answer(
        text=f"{request.case.id} {request.seed} {request.parameters['n']} {request.case.metadata}",
        data={"large": 2**70, "half": "\\ud800!", "no numbers": [float("nan"), float("-inf")]},
        usage=Usage(input_tokens=4, output_tokens=2),
    )

def asks(text):
    try:
        return input("really? ")
    except EOFError:
        return "nobody answers"

def environment(text):
    return os.environ.get(text, "")

class Counter:
    def start(self):
        self.asked = 0

    async def answer(self, text):
        self.asked += 1
        return str(self.asked)

class Broken:
    def __init__(self):
        raise RuntimeError("no weights")
"""
LIMIT_MB = 150


@pytest.fixture
def base_dir(tmp_path: Path) -> Path:
    (tmp_path / "agent.py").write_text(CODE)
    return tmp_path


async def test_it_answers_in_its_own_process_whatever_it_prints(base_dir: Path) -> None:
    async with opened("python:./agent.py:where", base_dir, memory_limit_mb=LIMIT_MB) as agent:
        pid = int((await agent.answer(ask())).text)
        assert agent.pids == (pid,)
        assert pid != os.getpid()


async def test_files_of_the_current_folder_do_not_replace_modules_of_python(
    base_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("json", "queue", "types"):
        (base_dir / f"{name}.py").write_text("raise ImportError('not the one of Python')")
    monkeypatch.chdir(base_dir)
    async with opened("python:./agent.py:keeps", base_dir, memory_limit_mb=LIMIT_MB) as agent:
        assert (await agent.answer(ask("10"))).text == "10"


async def test_more_memory_than_the_limit_fails_the_case_and_no_other(base_dir: Path) -> None:
    async with opened("python:./agent.py:keeps", base_dir, memory_limit_mb=LIMIT_MB) as agent:
        assert (await agent.answer(ask("1000"))).text == "1000"
        caught = await failure(agent, ask("400000000"), FailureKind.LIMIT)
        assert caught.detail.endswith(f"MB of {LIMIT_MB} MB")
        assert (await agent.answer(ask("1000"))).text == "1000"


async def test_the_whole_request_goes_there_and_the_whole_answer_comes_back(base_dir: Path) -> None:
    async with opened("python:./agent.py:whole", base_dir, memory_limit_mb=LIMIT_MB) as agent:
        given = ask(id="c9", seed=11, parameters={"n": 5}, metadata={"level": 2})
        assert await agent.answer(given) == Answer(
            text="c9 11 5 {'level': 2}",
            data={"large": 2**70, "half": "\\ud800!", "no numbers": [None, None]},
            usage=Usage(input_tokens=4, output_tokens=2),
        )


async def test_what_it_raises_is_the_failure_that_it_would_be_in_our_process(
    base_dir: Path,
) -> None:
    async with opened("python:./agent.py:leaves", base_dir, memory_limit_mb=LIMIT_MB) as agent:
        assert "SystemExit: enough" in (await failure(agent, ask(), FailureKind.AGENT)).detail
    async with opened("python:./agent.py:waits", base_dir, memory_limit_mb=LIMIT_MB) as agent:
        caught = await failure(agent, ask(), FailureKind.RATE_LIMITED)
        assert (caught.detail, caught.retry_after_s) == ("later", 2.5)
        assert (caught.partial, caught.final) == (Answer(text="so far"), True)


async def test_an_end_of_its_process_fails_one_case(base_dir: Path) -> None:
    async with opened("python:./agent.py:ends", base_dir, memory_limit_mb=LIMIT_MB) as agent:
        for _ in range(2):
            assert "exited with code 3" in (await failure(agent, ask(), FailureKind.AGENT)).detail


async def test_a_class_is_made_and_started_once(base_dir: Path) -> None:
    async with opened("python:./agent.py:Counter", base_dir, memory_limit_mb=LIMIT_MB) as agent:
        assert [(await agent.answer(ask())).text for _ in range(3)] == ["1", "2", "3"]


async def test_a_class_that_cannot_be_made_does_not_start(base_dir: Path) -> None:
    spec = parse_agent("python:./agent.py:Broken", base_dir=str(base_dir))
    agent = open_agent(spec, memory_limit_mb=LIMIT_MB, concurrency=1)
    with pytest.raises(AgentFailure, match="RuntimeError: no weights"):
        await agent.start()
    await agent.close()


async def test_what_it_reads_from_standard_input_is_no_task(base_dir: Path) -> None:
    async with opened("python:./agent.py:asks", base_dir, memory_limit_mb=LIMIT_MB) as agent:
        for _ in range(2):
            assert (await agent.answer(ask(time_limit_s=60))).text == "nobody answers"


async def test_it_sees_the_environment_that_it_would_see_in_our_process(
    base_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_SETTING", "on")
    async with opened("python:./agent.py:environment", base_dir, memory_limit_mb=LIMIT_MB) as agent:
        assert (await agent.answer(ask("SOME_SETTING"))).text == "on"
