"""A Python function or class of the user's, whatever it does, gives an answer or a failure."""

import asyncio
import sys
import threading
from pathlib import Path

import pytest

from agentbench_tui.agents.python.daemon_pool import DaemonPool, PoolExhausted
from agentbench_tui.agents.registry import open_agent
from agentbench_tui.agents.target import parse_agent
from agentbench_tui.model.answer import (
    AgentFailure,
    Answer,
    FailureKind,
    Request,
    ToolCall,
    Usage,
)

sys.path.insert(0, str(Path(__file__).parent))

from opening import ask, failure, opened

SOURCE = """
import asyncio, functools, threading
from agentbench_tui.model.answer import Answer, AgentFailure, FailureKind, Request

def text(given): return f"got {given}"
async def later(given):
    await asyncio.sleep(0)
    return f"got {given}"
def whole(request): return f"{request.case.id} {request.seed}"
async def annotated(asked: Request): return asked.case.id
def quoted(asked: "Request"): return asked.case.id
def full(given): return Answer(text="t", data={"a": 1})
def fields(given):
    calls = [{"name": "f", "arguments": {"x": 1}}]
    return {"text": "t", "usage": {"input_tokens": 3}, "tool_calls": calls}
def table(given): return {"text": "t", "city": "Rome"}
def nothing(given): return None
def number(given): return 7
def not_plain(given): return {"when": object()}
def wrong_type(given): return Answer(text=5)
def wrong_field_type(given): return {"text": ["no"]}
def huge(given): return "x" * 5_000_000
def raises(given): raise ValueError("bad \\x1b[2J value")
def deep(given):
    import json
    return json.loads("{")
def exits(given): raise SystemExit(3)
def stops(given): raise StopIteration
async def async_exits(given): raise SystemExit(3)
def interrupts(given): raise KeyboardInterrupt
async def async_interrupts(given): raise KeyboardInterrupt
async def async_closes(given): raise GeneratorExit
class Outcome(BaseException): pass
async def async_outcome(given): raise Outcome("no")
def many_digits(given): return 10**5000
def many_digits_within(given): return {"data": {"n": 10**5000}}
def many_digits_raised(given): raise ValueError(10**5000)
async def cancels_itself(given): raise asyncio.CancelledError
def limited(given): raise AgentFailure(FailureKind.RATE_LIMITED, "slow down", retry_after_s=2.0)
def thread(given): return threading.current_thread().name
def lazy(given): return later(given)
def blocks(given):
    given.wait()
    return "late"

class Agent:
    made = 0
    closed = 0
    def __init__(self): Agent.made += 1
    async def start(self): self.word = "ready"
    def answer(self, given): return f"{self.word} {given}"
    def close(self): Agent.closed += 1

class Callable:
    async def __call__(self, given): return f"called {given}"
called = Callable()
partial = functools.partial(later)
class Broken:
    def __init__(self): raise RuntimeError("no weights")
    def answer(self, given): return ""
"""


def place(code: str) -> str:
    """File and line of a piece of the source."""
    return f"agent.py:{SOURCE[: SOURCE.index(code)].count(chr(10)) + 1}"


@pytest.fixture
def base_dir(tmp_path: Path) -> Path:
    (tmp_path / "agent.py").write_text(SOURCE)
    return tmp_path


async def answer(base_dir: Path, name: str, given: object = "q", options: str = "") -> Answer:
    async with opened(f"python:./agent.py:{name}{options}", base_dir) as agent:
        return await agent.answer(ask(given))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("text", Answer(text="got q")),
        ("later", Answer(text="got q")),
        ("lazy", Answer(text="got q")),
        ("partial", Answer(text="got q")),
        ("called", Answer(text="called q")),
        ("whole", Answer(text="c1 7")),
        ("annotated", Answer(text="c1")),
        ("quoted", Answer(text="c1")),
        ("full", Answer(text="t", data={"a": 1})),
        (
            "fields",
            Answer(text="t", usage=Usage(input_tokens=3), tool_calls=(ToolCall("f", {"x": 1}),)),
        ),
        ("table", Answer(data={"text": "t", "city": "Rome"})),
        ("Agent", Answer(text="ready q")),
    ],
)
@pytest.mark.parametrize("options", ["", "?inline=true"])
async def test_what_a_function_returns_becomes_an_answer(
    base_dir: Path, name: str, expected: Answer, options: str
) -> None:
    assert await answer(base_dir, name, options=options) == expected


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("nothing", FailureKind.PARSE, "returned NoneType; expected Answer, str or dict"),
        ("number", FailureKind.PARSE, "returned int"),
        ("not_plain", FailureKind.PARSE, "not plain data"),
        ("wrong_type", FailureKind.PARSE, "Expected `str`, got `int` - at `$.text`"),
        ("wrong_field_type", FailureKind.PARSE, "Expected `str`"),
        ("huge", FailureKind.LIMIT, "more than 4194304 characters"),
        ("raises", FailureKind.AGENT, f"ValueError: bad \\x1b[2J value ({place('def raises')})"),
        ("deep", FailureKind.AGENT, place("json.loads")),
        ("exits", FailureKind.AGENT, "SystemExit: 3"),
        ("stops", FailureKind.AGENT, "StopIteration"),
        ("async_exits", FailureKind.AGENT, "SystemExit: 3"),
        ("cancels_itself", FailureKind.AGENT, "CancelledError"),
        ("interrupts", FailureKind.AGENT, "KeyboardInterrupt"),
        ("async_interrupts", FailureKind.AGENT, "KeyboardInterrupt"),
        ("async_closes", FailureKind.AGENT, "GeneratorExit"),
        ("async_outcome", FailureKind.AGENT, "Outcome: no"),
        ("many_digits", FailureKind.PARSE, "returned int"),
        ("many_digits_within", FailureKind.PARSE, "more than 4,300 digits"),
        ("many_digits_raised", FailureKind.AGENT, "its message cannot be shown"),
        ("limited", FailureKind.RATE_LIMITED, "slow down"),
    ],
)
@pytest.mark.parametrize("options", ["", "?inline=true"])
async def test_whatever_a_function_does_wrong_is_a_failure_of_its_kind(
    base_dir: Path, name: str, kind: FailureKind, said: str, options: str
) -> None:
    async with opened(f"python:./agent.py:{name}{options}", base_dir) as agent:
        caught = await failure(agent, ask(), kind)
        assert said in caught.detail
        assert "Traceback" not in caught.detail


async def test_what_the_agent_asks_for_is_kept(base_dir: Path) -> None:
    async with opened("python:./agent.py:limited", base_dir) as agent:
        assert (await failure(agent, ask(), FailureKind.RATE_LIMITED)).retry_after_s == 2.0


async def test_a_module_is_found_in_the_suites_folder(base_dir: Path) -> None:
    (base_dir / "folder_module.py").write_text("def f(given): return 'found'")
    async with opened("python:folder_module:f", base_dir) as agent:
        assert (await agent.answer(ask())).text == "found"


async def test_a_class_is_made_and_closed_once_a_session(base_dir: Path) -> None:
    async with opened("python:./agent.py:Agent", base_dir) as agent:
        made = sys.modules[_module_of(base_dir)].Agent
        for _ in range(3):
            await agent.answer(ask())
        assert (made.made, made.closed) == (1, 0)
    assert (made.made, made.closed) == (1, 1)


def _module_of(base_dir: Path) -> str:
    return next(
        name
        for name, module in sys.modules.items()
        if getattr(module, "__file__", None) == str(base_dir / "agent.py")
    )


async def test_a_class_that_cannot_be_made_does_not_start(base_dir: Path) -> None:
    spec = parse_agent("python:./agent.py:Broken", base_dir=str(base_dir))
    agent = open_agent(spec, memory_limit_mb=None, concurrency=1)
    with pytest.raises(AgentFailure, match="RuntimeError: no weights"):
        await agent.start()
    await agent.close()


async def test_sync_functions_run_in_threads_unless_inline(base_dir: Path) -> None:
    own = threading.current_thread().name
    assert (await answer(base_dir, "thread")).text != own
    assert (await answer(base_dir, "thread", options="?inline=true")).text == own


async def test_sync_calls_run_side_by_side_up_to_the_concurrency(base_dir: Path) -> None:
    together = threading.Barrier(3, timeout=10)
    async with opened("python:./agent.py:blocks", base_dir, concurrency=3) as agent:
        answers = await asyncio.gather(*(agent.answer(_asking(together)) for _ in range(3)))
    assert [one.text for one in answers] == ["late"] * 3


async def test_a_call_that_hangs_costs_its_deadline_and_nothing_else(base_dir: Path) -> None:
    release = threading.Event()
    async with opened("python:./agent.py:blocks", base_dir) as agent:
        for _ in range(3):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(agent.answer(_asking(release)), 0.02)
        release.set()
        assert (await asyncio.wait_for(agent.answer(_asking(release)), 10)).text == "late"


async def test_a_canceled_async_call_is_canceled(base_dir: Path) -> None:
    (base_dir / "hang.py").write_text(
        "import asyncio\nasync def f(given): await asyncio.Event().wait()"
    )
    async with opened("python:./hang.py:f", base_dir) as agent:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(agent.answer(ask()), 0.02)


def _asking(given: object) -> Request:
    return ask(given)


async def test_a_pool_full_of_stuck_calls_takes_no_more() -> None:
    pool, release = DaemonPool(1, "test"), threading.Event()
    for _ in range(64):
        call = asyncio.create_task(pool.run(release.wait))
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    with pytest.raises(PoolExhausted, match="64 calls"):
        await pool.run(release.wait)
    release.set()
    async with asyncio.timeout(10):
        while True:
            try:
                assert await pool.run(threading.get_ident) != threading.get_ident()
                break
            except PoolExhausted:
                await asyncio.sleep(0)
    pool.close()


async def test_a_pool_keeps_its_threads() -> None:
    pool = DaemonPool(2, "test")
    threads = {await pool.run(threading.get_ident) for _ in range(10)}
    assert len(threads) == 1
    pool.close()
