"""Code of the user's that ends, forks or leaves the process is a failure of that code."""

import json
from pathlib import Path

import pytest
from processes import Place, make_place

RUN = ("run", "suite.json", "--no-ui", "--format", "json")
AGENT = ("--agent", "echo=python:agents.py:echo")
ENDS = {
    "exit": "os._exit(0)",
    "exec": "os.execvp('true', ['true'])",
    "posix": "__import__('posix')._exit(0)",
    "status": "sys.exit(0)",
    "key": "raise KeyboardInterrupt",
    "close": "raise GeneratorExit",
    "base": "raise type('Failed', (BaseException,), {})",
}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_place(tmp_path)


def ending(place: Place, what: str) -> None:
    """Write `ending.py`: an agent, a scorer and cases that do it at the second case."""
    (place.folder / "ending.py").write_text(
        "import os, sys\n"
        f"def end():\n    {what}\n"
        "def agent(prompt):\n    if prompt == '1': end()\n    return prompt\n"
        "async def async_agent(prompt):\n    return agent(prompt)\n"
        "def scorer(case, answer):\n    if case.id == 'c1': end()\n    return True\n"
        "def cases():\n    yield {'id': 'c0', 'input': '0', 'expected': '0'}\n    end()\n"
    )


@pytest.mark.parametrize("name", ["agent", "async_agent"])
@pytest.mark.parametrize("what", ENDS.values(), ids=list(ENDS))
def test_an_agent_that_ends_the_process_has_failed_one_case(
    place: Place, what: str, name: str
) -> None:
    ending(place, what)
    place.suite(3)
    ended = place.run(*RUN, "--agent", f"it=python:ending.py:{name}", "--fail-on", "accuracy>=0.9")
    assert ended.returncode == 1, ended.stderr
    document = json.loads(ended.stdout)
    assert document["status"] == "complete"
    assert document["executions"][0]["failures"] == {"agent": 1}
    assert document["executions"][0]["cases"]["correct"] == 2


STOPS = {
    "stop": "asyncio.get_event_loop().stop()",
    "running": "asyncio.get_running_loop().stop()",
}


@pytest.mark.parametrize("what", STOPS.values(), ids=list(STOPS))
def test_an_agent_that_stops_the_event_loop_has_failed_one_case(place: Place, what: str) -> None:
    ending(place, f"import asyncio; {what}")
    place.suite(3)
    ended = place.run(*RUN, "--agent", "it=python:ending.py:async_agent")
    assert ended.returncode == 0, ended.stderr
    document = json.loads(ended.stdout)
    assert document["status"] == "complete"
    assert document["executions"][0]["failures"] == {"agent": 1}
    assert document["executions"][0]["cases"]["correct"] == 2


def test_an_agent_that_cancels_all_tasks_ends_the_run_without_a_traceback(place: Place) -> None:
    ending(place, "import asyncio; [task.cancel() for task in asyncio.all_tasks()]")
    place.suite(3)
    ended = place.run(*RUN, "--agent", "it=python:ending.py:async_agent")
    assert ended.returncode == 3, ended.stderr
    assert "Traceback" not in ended.stderr
    assert "an agent or a scorer cancelled the tasks of agentbench" in ended.stderr
    assert "`agentbench resume " in ended.stderr


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("asyncio.get_running_loop().stop()", "stopped the event loop"),
        ("[task.cancel() for task in asyncio.all_tasks()]", "cancelled all tasks"),
    ],
)
def test_an_agent_that_ends_its_sender_of_a_load_is_named(
    place: Place, what: str, words: str
) -> None:
    (place.folder / "ending.py").write_text(
        f"import asyncio\nasync def agent(prompt):\n    {what}\n    await asyncio.sleep(0)\n"
    )
    if "stop" in words:
        pytest.importorskip("uvloop", reason="asyncio's own loop refuses to be stopped")
    limits = ("--concurrency", "1", "--duration", "1s")
    ended = place.run("load", "python:ending.py:agent", *limits, "--no-ui")
    assert ended.returncode == 3, ended.stderr
    assert words in ended.stdout
    assert "File " not in ended.stdout


def test_a_loop_that_is_stopped_later_goes_on(place: Place) -> None:
    ending(place, "import asyncio; loop = asyncio.get_running_loop(); loop.call_soon(loop.stop)")
    place.suite(3)
    ended = place.run(*RUN, "--agent", "it=python:ending.py:async_agent")
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["executions"][0]["cases"]["correct"] == 3


@pytest.mark.parametrize("stream", ["None", "object()"])
@pytest.mark.parametrize("name", ["agent", "async_agent"])
def test_an_agent_that_replaces_the_streams_leaves_the_result(
    place: Place, name: str, stream: str
) -> None:
    ending(place, f"sys.stdout = sys.stderr = {stream}")
    place.suite(3)
    ended = place.run(*RUN, "--agent", f"it=python:ending.py:{name}", "--fail-on", "accuracy>=0.9")
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["executions"][0]["cases"]["correct"] == 3


@pytest.mark.parametrize("what", ENDS.values(), ids=list(ENDS))
def test_a_scorer_that_ends_the_process_could_not_grade_one_answer(place: Place, what: str) -> None:
    ending(place, what)
    place.suite(3, scorers=["python:ending.py:scorer"])
    ended = place.run(*RUN, *AGENT)
    assert ended.returncode == 3, ended.stderr
    document = json.loads(ended.stdout)
    assert document["status"] == "complete"
    assert document["executions"][0]["failures"] == {"grader": 1}


@pytest.mark.parametrize("command", [("suites", "validate", "suite.json"), (*RUN, *AGENT)])
@pytest.mark.parametrize("what", ENDS.values(), ids=list(ENDS))
def test_a_generator_that_ends_the_process_is_a_fault_of_the_suite(
    place: Place, what: str, command: tuple[str, ...]
) -> None:
    ending(place, what)
    place.suite(3, dataset={"data_source": "python:ending:cases"})
    ended = place.run(*command)
    assert ended.returncode == 2, ended.stderr
    assert "the generator raised" in ended.stdout + ended.stderr


def test_a_module_that_ends_the_process_cannot_be_imported(place: Place) -> None:
    (place.folder / "ending.py").write_text("import os\nos._exit(0)\n")
    checked = place.run("agents", "check", "python:ending.py:answer")
    assert checked.returncode == 2, checked.stderr
    assert "os._exit() at ending.py:2" in checked.stdout + checked.stderr


@pytest.mark.parametrize("keyword", ["", "async "])
def test_a_forked_copy_of_the_process_does_not_go_on_with_the_run(
    place: Place, keyword: str
) -> None:
    (place.folder / "forking.py").write_text(
        f"import os\n{keyword}def answer(prompt):\n"
        "    child = os.fork()\n"
        "    if child == 0:\n        return 'child'\n"
        "    os.waitpid(child, 0)\n    return prompt\n"
    )
    place.suite(3)
    ended = place.run(*RUN, "--agent", "forking=python:forking.py:answer")
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["executions"][0]["cases"]["correct"] == 3
    assert place.rows("SELECT COUNT(*) FROM answers") == [(3,)]
