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
    "files": "os.closerange(3, 1000)",
}
CANCELS = {
    "at once": "asyncio.current_task().cancel()",
    "later": "asyncio.get_running_loop().call_soon(asyncio.current_task().cancel)",
}
"""A coroutine that cancels the task that it runs in, as a faulty timeout does."""
ODD_ANSWERS = {
    "text": "type('T', (str,), {'__len__': lambda self: -1})('1')",
    "keys": "type('D', (dict,), {'__iter__': lambda self: end()})(text='1')",
}
"""Answers whose class has methods that fail, or that end the process."""


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


def cancelling(place: Place, what: str) -> None:
    """Write `cancelling.py`: an agent and a scorer that do it at the second case."""
    (place.folder / "cancelling.py").write_text(
        "import asyncio\n"
        "async def agent(prompt):\n"
        f"    if prompt == '1':\n        {what}\n        await asyncio.sleep(1)\n"
        "    return prompt\n"
        "async def scorer(case, answer):\n    return await agent(case.input) == answer.text\n"
    )


@pytest.mark.parametrize("what", CANCELS.values(), ids=list(CANCELS))
def test_an_agent_that_cancels_its_own_task_has_failed_one_case(place: Place, what: str) -> None:
    cancelling(place, what)
    place.suite(3)
    ended = place.run(*RUN, "--agent", "it=python:cancelling.py:agent")
    assert ended.returncode == 0, ended.stderr
    document = json.loads(ended.stdout)
    assert document["status"] == "complete"
    assert document["executions"][0]["failures"] == {"agent": 1}
    assert document["executions"][0]["cases"]["correct"] == 2


@pytest.mark.parametrize("what", CANCELS.values(), ids=list(CANCELS))
def test_a_scorer_that_cancels_its_own_task_could_not_grade_one_answer(
    place: Place, what: str
) -> None:
    cancelling(place, what)
    place.suite(3, scorers=["python:cancelling.py:scorer"])
    ended = place.run(*RUN, *AGENT)
    assert ended.returncode == 3, ended.stderr
    document = json.loads(ended.stdout)
    assert document["status"] == "complete"
    assert document["executions"][0]["failures"] == {"grader": 1}


@pytest.mark.parametrize("what", ["sys.exit(0)", "raise KeyboardInterrupt"])
def test_an_answer_whose_methods_end_the_process_is_a_failed_case(place: Place, what: str) -> None:
    (place.folder / "odd.py").write_text(
        f"import sys\ndef end():\n    {what}\n"
        f"ODD = {{'1': {ODD_ANSWERS['text']}, '2': {ODD_ANSWERS['keys']}}}\n"
        "def agent(prompt):\n    return ODD.get(prompt, prompt)\n"
    )
    place.suite(4)
    ended = place.run(*RUN, "--agent", "it=python:odd.py:agent")
    assert ended.returncode == 0, ended.stderr
    document = json.loads(ended.stdout)
    assert document["status"] == "complete"
    assert document["executions"][0]["failures"] == {"agent": 1}
    assert document["executions"][0]["cases"]["correct"] == 3


def test_a_record_whose_methods_end_the_process_is_read_as_a_dict(place: Place) -> None:
    (place.folder / "ending.py").write_text(
        "import sys\n"
        "class Odd(dict):\n"
        "    def __getitem__(self, key): sys.exit(0)\n"
        "    def __iter__(self): sys.exit(0)\n"
        "def cases():\n    yield Odd(id='c0', input='0', expected='0')\n"
    )
    place.suite(1, dataset={"data_source": "python:ending:cases"})
    ended = place.run(*RUN, "--agent", "echo=python:agents.py:other")
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["executions"][0]["cases"]["observed"] == 1


def test_a_fault_after_user_code_ran_says_that_it_ran_in_the_process(place: Place) -> None:
    ending(place, "import json; json.dumps = json.loads = None")
    place.suite(3)
    ended = place.run(*RUN, "--agent", "it=python:ending.py:agent", TMPDIR=str(place.folder))
    assert ended.returncode == 70, ended.stderr
    assert "Code of yours ran in the same process (last: " in ended.stderr
    assert "run it as `worker:` or `command:`" in ended.stderr


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
    assert "an agent or a scorer canceled the tasks of agentbench" in ended.stderr
    assert "`agentbench resume " in ended.stderr


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("asyncio.get_running_loop().stop()", "stopped the event loop"),
        ("[task.cancel() for task in asyncio.all_tasks()]", "canceled all tasks"),
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
