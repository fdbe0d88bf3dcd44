"""Agents that are no HTTP model under load: functions, programs, endpoints of any form."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from loads import is_gone, leave_calibration_out, load, load_each

sys.path.insert(0, str(Path(__file__).parents[1] / "servers"))

from openai_process import RunningServer, running_openai_server

PYTHON = """
import asyncio, json, os, time
from pathlib import Path

async def answer(request):
    with (Path(__file__).parent / "asked").open("a") as log:
        log.write(json.dumps([m.content for m in request.case.messages] + [request.case.input]))
        log.write("\\n")
    if request.case.input == "boom":
        raise ValueError("no such thing")
    if request.case.input == "hang":
        await asyncio.Event().wait()
    return f"re: {request.case.input}"

async def exiting(prompt):
    os._exit(3)

async def blocking(prompt):
    time.sleep(0.03)
    return prompt
"""
# Both protocols of programs: a process for each request, and one that stays.
PROGRAM = """
import json, os, signal, sys
with open("pids", "a") as log:
    log.write(f"{os.getpid()}\\n")
for line in sys.stdin:
    task = json.loads(line)
    if task["type"] == "hello":
        reply = {"type": "hello", "protocol": 1, "name": "p", "version": "1"}
    else:
        if task["input"] == "hang":
            signal.pause()
        if "id" not in task and task["input"] == "boom":
            sys.exit(3)
        before = [turn["content"] for turn in task["messages"]]
        with open("asked", "a") as log:
            log.write(json.dumps(before + [task["input"]]) + "\\n")
        reply = {"text": "re: " + task["input"]}
        if "id" in task:
            reply["id"] = task["id"]
            if task["input"] == "boom":
                reply = {"id": task["id"], "error": {"detail": "no such thing"}}
    print(json.dumps(reply), flush=True)
"""


@pytest.fixture(autouse=True)
def _without_calibration(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_calibration_out(monkeypatch)


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_openai_server() as running:
        yield running


@pytest.fixture
def agents(tmp_path: Path, server: RunningServer) -> dict[str, dict[str, Any]]:
    """An agent of each kind; what it is asked says how it behaves: `boom` fails, `hang` hangs."""
    (tmp_path / "function.py").write_text(PYTHON)
    (tmp_path / "program.py").write_text(PROGRAM)
    return {
        "function": {"target": "python:function.py:answer"},
        "program": {"target": "command:{python} -I -S program.py"},
        "staying": {"target": "worker:{python} -I -S program.py"},
        "endpoint": {
            "target": f"{server.url}/ask",
            # That server takes its behavior from the model's name.
            "options": {"body": {"model": "{text}", "input": "{text}"}},
        },
    }


def pids(folder: Path) -> set[int]:
    """Of all programs that were started, each of which must have ended."""
    found = {int(line) for line in (folder / "pids").read_text().split()}
    assert all(is_gone(pid) for pid in found)
    return found


def asked(folder: Path) -> list[list[str]]:
    """What was said before, and the question, of every request."""
    return [json.loads(line) for line in (folder / "asked").read_text().splitlines()]


@pytest.mark.parametrize(
    "schedule", [{"rate": 40, "max_in_flight": 3}, {"concurrency": 3}], ids=["open", "closed"]
)
async def test_answers_and_failures_are_counted(
    schedule: dict[str, Any], agents: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    prompts = {"prompts": ["fine", "boom", "well"]}
    block = {**schedule, "requests": 12, "warmup_requests": 0, "workload": [prompts]}
    here = {name: agent for name, agent in agents.items() if name != "endpoint"}

    found = await load_each(tmp_path, here, block)

    for name, one in found.items():
        assert one.execution["status"] == "complete", name
        assert (one.requests["sent"], one.requests["ok"]) == (12, 8), name
        assert one.requests["failed"] == {"agent": 4}, name
        assert one.metric("e2e_ms")["n"] == 8, name
        assert one.metric("ttft_ms")["n"] == 0, name
        assert one.load["harness"]["most_in_flight"] <= 3, name
        if "rate" in schedule:
            assert (one.requests["asked_per_s"], one.requests["offered"]) == (40, 12), name
    # Twelve that were started for a request, and one that stays for each place.
    assert len(pids(tmp_path)) == 12 + 3


async def test_an_endpoint_of_any_form_fails_as_its_server_does(
    agents: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    prompts = {"prompts": ["fine", "status:503", "rate-limited", "well"]}
    block = {"rate": 100, "requests": 20, "workload": [prompts]}
    agents["endpoint"]["options"]["usage_output"] = "tokens.out"

    found = (await load_each(tmp_path, {"endpoint": agents["endpoint"]}, block))["endpoint"]

    assert found.requests["ok"] == 10
    assert found.requests["failed"] == {"server": 5, "rate_limited": 5}
    assert found.metric("output_tokens")["mean"] == 1.0


async def test_what_hangs_is_a_timeout_and_nothing_of_it_is_left(
    agents: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    agents["endpoint"]["options"] = {"headers": {"x-behavior": "silent"}}
    block = {
        "rate": 100,
        "requests": 4,
        "max_in_flight": 4,
        "warmup_requests": 0,
        "workload": [{"prompts": ["hang"]}],
    }

    found = await load_each(tmp_path, agents, block, constraints={"time_limit_ms": 100})

    assert len(found) == 4
    for name, one in found.items():
        assert one.requests["failed"] == {"timeout": 4}, name
        assert one.requests["ok"] == 0, name
        assert one.metric("e2e_ms")["mean"] is None, name
    pids(tmp_path)


@pytest.mark.parametrize("name", ["function", "staying"])
async def test_sessions_give_agents_what_was_said_before(
    name: str, agents: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    session = {"prompts": ["one", "two", "three"], "turns": 3}
    block = {"concurrency": 1, "requests": 2, "warmup_requests": 0, "workload": [session]}

    found = (await load_each(tmp_path, {name: agents[name]}, block))[name]

    talk = ["one", "re: one", "two", "re: two", "three"]
    assert found.requests["ok"] == 6
    assert asked(tmp_path) == [talk[:1], talk[:3], talk] * 2


async def test_programs_without_number_are_not_started(
    agents: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    block = {"rate": 10, "requests": 5}

    found = (await load_each(tmp_path, {"staying": agents["staying"]}, block))["staying"]

    assert found.execution["status"] == "incomplete"
    assert "say how many (`max_in_flight`, --max-in-flight)" in found.execution["stop_reason"]
    assert not (tmp_path / "pids").exists()


async def test_an_agent_that_ends_its_process_is_told(
    agents: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    block = {"concurrency": 1, "requests": 5, "warmup_requests": 0}

    found = await load(tmp_path, "python:function.py:exiting", block)

    assert found.execution["status"] == "incomplete"
    assert found.execution["stop_reason"].endswith("a load worker exited with code 3")


async def test_an_agent_that_blocks_its_sender_shows(
    agents: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    # 30 ms each, one after another, are 33 a second; asked for are 100.
    found = await load(
        tmp_path, "python:function.py:blocking", {"rate": 100, "requests": 30, "warmup_requests": 0}
    )

    assert found.requests["ok"] == 30
    # Every answer but the first waited for those before it.
    assert found.metric("e2e_ms")["p50"] > 2 * 30
    assert found.load["verdict"] != "clean"
    assert "the agent runs inside the sender" in found.told
    assert found.load["limit"] == "none"
    assert "the agent or the sender that it runs in was the limit" in found.told
