"""A target's server as a child: waited for, killed, started again, limited, and gone at the end."""

import shlex
import socket
import subprocess
import sys
from contextlib import closing

import psutil
import pytest
from proxied import come_true

from agentbench_tui.agents.mock.agent import MockAgent
from agentbench_tui.agents.registry import open_agent
from agentbench_tui.agents.target import parse_agent
from agentbench_tui.model.answer import AgentFailure, Case, Request
from agentbench_tui.model.errors import UsageError
from agentbench_tui.stress.budget import Stopped
from agentbench_tui.stress.stand.served import Served, owned_by, words_of

SERVER = """
import os, signal, socket, sys
listening = socket.socket()
listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listening.bind(("127.0.0.1", int(sys.argv[1])))
if os.fork() == 0:
    signal.pause()
listening.listen()
if os.environ.get("EATS_MB"):
    held = bytearray(int(os.environ["EATS_MB"]) * 1000000)
while True:
    connection, _ = listening.accept()
    connection.sendall(str(os.getpid()).encode())
    connection.close()
"""
"""Tells its pid to whoever connects; has a child, and more memory where it is told to."""

LATE = """
import socket, sys, threading
threading.Event().wait(0.2)
listening = socket.create_server(("127.0.0.1", int(sys.argv[1])))
listening.accept()[0].close()
while True:
    listening.accept()
"""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def command(code: str, port: int) -> str:
    return "{python} -I -S -c " + f"{shlex.quote(code)} {port}"


def served(code: str = SERVER, **environment: str) -> tuple[Served, int]:
    port = free_port()
    url = f"http://127.0.0.1:{port}/v1/chat"
    return Served(command(code, port), url, environment=environment), port


def told_pid(port: int) -> int:
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        return int(connection.recv(100))


async def test_it_answers_in_the_block_and_is_gone_after_it() -> None:
    server, port = served()
    async with server:
        pids = server.pids
        assert len(pids) == 2  # it has its child before it answers
        assert told_pid(port) in pids
        assert server.ending is None
    assert server.pids == ()
    assert not any(psutil.pid_exists(pid) for pid in pids)
    with pytest.raises(ConnectionRefusedError):
        told_pid(port)


async def test_killed_and_started_again_on_its_port() -> None:
    server, port = served()
    async with server:
        first = told_pid(port)
        pids = server.pids
        await server.kill()
        assert server.pids == ()
        assert not any(psutil.pid_exists(pid) for pid in pids)
        assert str(server.ending).startswith("was ended by SIGKILL")
        with pytest.raises(ConnectionRefusedError):
            told_pid(port)
        await server.restart()
        assert told_pid(port) not in {first, *pids}
        assert server.ending is None


async def test_a_port_that_opens_late_is_waited_for() -> None:
    server, port = served(LATE)
    async with server:
        with socket.create_connection(("127.0.0.1", port), timeout=60):
            assert len(server.pids) == 1


async def test_a_memory_limit_ends_it_and_says_so() -> None:
    server, _ = served(EATS_MB="120")
    async with server:
        await come_true(lambda: sum(resident_mb(pid) for pid in server.pids) > 120)
        assert server.over_limit is None
        server.limit_memory(100)
        await come_true(lambda: server.pids == ())
        assert "of 100 MB" in str(server.over_limit)
        server.limit_memory(None)
        await server.restart()
        assert server.over_limit is None
        assert len(server.pids) == 2


def resident_mb(pid: int) -> float:
    try:
        return float(psutil.Process(pid).memory_info().rss) / 1e6
    except psutil.Error:
        return 0.0


async def test_a_program_that_ends_is_told_with_its_last_words() -> None:
    server, _ = served("import sys; sys.exit('no model here')")
    with pytest.raises(AgentFailure, match="exited with code 1: no model here"):
        async with server:
            pass
    assert server.pids == ()


async def test_nobody_waits_for_a_program_that_does_not_listen_when_the_run_is_to_end() -> None:
    port = free_port()
    reasons = iter([None, None, "interrupted"])
    code = "import signal; signal.pause()"
    server = Served(command(code, port), f"http://127.0.0.1:{port}", why_end=lambda: next(reasons))
    with pytest.raises(Stopped, match="interrupted"):
        async with server:
            pass
    assert server.pids == ()


async def test_another_program_on_its_port_is_told_before_anything_starts() -> None:
    server, port = served()
    with (
        socket.create_server(("127.0.0.1", port)),
        pytest.raises(UsageError, match=f"port {port} .* already"),
    ):
        async with server:
            pass
    assert server.pids == ()


@pytest.mark.parametrize(
    ("text", "said"), [("", "names no program"), ("serve 'it", "No closing quotation")]
)
def test_what_is_no_command(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        words_of(text)


async def test_the_server_of_a_mock_agent_is_ours_too() -> None:
    agent = open_agent(
        parse_agent("mock?ttft=1ms&itl=0ms&tokens=1", base_dir=""),
        memory_limit_mb=None,
        concurrency=1,
    )
    assert isinstance(agent, MockAgent)
    request = Request(Case("1", "Six times seven?"), seed=0, time_limit_s=20.0)
    try:
        await agent.start()
        owned = owned_by(agent, None)
        assert owned is agent.server
        (first,), url = agent.pids, agent.server.url
        await agent.answer(request)
        used_s = agent.server.cpu_seconds
        await owned.kill()
        assert agent.pids == ()
        with pytest.raises(AgentFailure):
            await agent.answer(request)
        await owned.restart()
        assert agent.server.url == url
        assert agent.pids not in {(), (first,)}
        assert (await agent.answer(request)).simulated
        assert agent.server.cpu_seconds > used_s
        owned.limit_memory(1)
        await come_true(lambda: agent.pids == ())
        assert "of 1 MB" in str(owned.over_limit)
    finally:
        await agent.close()
    assert agent.pids == ()


async def test_a_server_elsewhere_is_not_ours() -> None:
    agent = open_agent(
        parse_agent("openai:http://127.0.0.1:9/v1#m", base_dir=""),
        memory_limit_mb=None,
        concurrency=1,
    )
    assert owned_by(agent, None) is None
    assert owned_by(None, None) is None
    server, _ = served()
    assert owned_by(agent, server) is server


RUN = """
import asyncio, sys
from agentbench_tui.stress.stand.served import Served

async def main():
    command = " ".join(sys.argv[1:-1])
    async with Served(command, f"http://127.0.0.1:{sys.argv[-1]}") as served:
        await served.restart()
        print(*served.pids, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


def test_a_run_that_is_killed_leaves_no_server_behind() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    command = [shlex.quote("{python}"), "-c", shlex.quote(SERVER), str(port)]
    with subprocess.Popen(
        [sys.executable, "-c", RUN, *command, str(port)], stdout=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout is not None
        servers = [psutil.Process(int(pid)) for pid in run.stdout.readline().split()]
        run.kill()
    assert len(servers) == 2
    gone, left = psutil.wait_procs(servers, timeout=60)
    assert not left
    assert len(gone) == 2
