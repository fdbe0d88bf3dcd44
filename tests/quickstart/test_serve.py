"""The loop that makes a Python function an agent: a real program, spoken to line by line."""

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

PROGRAM = textwrap.dedent(
    """
    import sys
    from agentbench_tui.agents.worker import Reply, Task, serve

    def answer(task: Task):
        if task.text == "fail":
            raise ValueError("no idea")
        if task.text == "print":
            print("this must not reach the harness")
            sys.stdout.flush()
        if task.text == "unsendable":
            return Reply(data={1, 2})
        if task.text == "all":
            return Reply(
                text="done",
                data={"n": 1},
                tool_calls=[{"name": "t", "arguments": {}}],
                messages=[{"role": "assistant", "content": "x"}],
                spans=[{"name": "s", "start_ms": 0.0, "duration_ms": 1.0}],
                usage={"input_tokens": 3},
                api_calls=2,
                cost_usd=0.5,
            )
        return f"{task.id} {task.text} {task.seed} {len(task.tools)}"

    serve(answer, name="sample", version="7")
    """
)
HELLO = {"type": "hello", "protocol": 1}


def task(number: int, given: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "task", "id": number, "case_id": "c", "input": given, **fields}


def talk(tmp_path: Path, *lines: dict[str, Any] | str) -> subprocess.CompletedProcess[str]:
    """Send all lines, end the input, and give what came of it."""
    program = tmp_path / "sample.py"
    program.write_text(PROGRAM, encoding="utf-8")
    sent = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    return subprocess.run(
        [sys.executable, str(program)],
        input=sent,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


def replies(finished: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in finished.stdout.splitlines()]


def test_greets_answers_and_ends_with_its_input(tmp_path: Path) -> None:
    finished = talk(tmp_path, HELLO, task(1, "hé", seed=5, tools=[{"name": "t"}]), task(2, "b"))
    assert replies(finished) == [
        {"type": "hello", "protocol": 1, "name": "sample", "version": "7"},
        {"id": 1, "text": "1 hé 5 1", "api_calls": 1},
        {"id": 2, "text": "2 b 0 0", "api_calls": 1},
    ]
    assert finished.returncode == 0
    assert finished.stderr == ""


def test_structured_input_is_text_as_json(tmp_path: Path) -> None:
    (reply,) = replies(talk(tmp_path, task(1, {"a": [1]})))
    assert reply["text"] == '1 {"a": [1]} 0 0'


def test_every_field_of_a_reply_is_sent(tmp_path: Path) -> None:
    (reply,) = replies(talk(tmp_path, task(1, "all")))
    assert reply == {
        "id": 1,
        "text": "done",
        "data": {"n": 1},
        "tool_calls": [{"name": "t", "arguments": {}}],
        "messages": [{"role": "assistant", "content": "x"}],
        "spans": [{"name": "s", "start_ms": 0.0, "duration_ms": 1.0}],
        "usage": {"input_tokens": 3},
        "api_calls": 2,
        "cost_usd": 0.5,
    }


@pytest.mark.parametrize(
    ("given", "said"), [("fail", "ValueError: no idea"), ("unsendable", "TypeError")]
)
def test_an_exception_is_the_answer_of_that_task_alone(
    tmp_path: Path, given: str, said: str
) -> None:
    first, second = replies(talk(tmp_path, task(1, given), task(2, "b")))
    assert first["error"]["kind"] == "agent"
    assert first["error"]["detail"].startswith(said)
    assert second["text"] == "2 b 0 0"


def test_what_is_printed_does_not_reach_the_protocol(tmp_path: Path) -> None:
    finished = talk(tmp_path, task(1, "print"))
    assert [reply["id"] for reply in replies(finished)] == [1]
    assert "this must not reach the harness" in finished.stderr


@pytest.mark.parametrize("line", ["{not json", "[]", '{"type": "task"}', "3"])
def test_an_unreadable_line_is_told_and_the_next_is_read(tmp_path: Path, line: str) -> None:
    first, second = replies(talk(tmp_path, line, task(2, "b")))
    assert first["id"] is None
    assert first["error"]["kind"] == "parse"
    assert second["text"] == "2 b 0 0"


def test_nothing_but_the_standard_library_is_imported() -> None:
    code = (
        "import sys; before = set(sys.modules); import agentbench_tui.agents.worker; "
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}; "
        "print(sorted(new - sys.stdlib_module_names))"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True
    )
    assert said.stdout.strip() == "['agentbench_tui']"
