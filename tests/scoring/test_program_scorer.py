"""Unit tests of an answer's code, in a child process with limits."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentbench_tui.model.answer import Answer, Case, GraderFailure, Score
from agentbench_tui.scoring.code import program_child, program_guard
from agentbench_tui.scoring.registry import make_scorer

PROMPT = 'from typing import List\n\ndef total(xs: List[int]) -> int:\n    """Sum of xs."""\n'
CHECK = "def check(candidate):\n    assert candidate([1, 2]) == 3\n    assert candidate([]) == 0\n"


async def score(said: str, expected: Any = None, prompt: str = PROMPT, **options: Any) -> Score:
    scorer = make_scorer({"python_tests": {"timeout_s": 5, **options}})
    expected = expected or {"test": CHECK, "entry_point": "total"}
    result = scorer.score(Case("case", prompt, expected), Answer(said))
    assert not isinstance(result, Score)
    return await result


def in_child(program: str, folder: Path, wall: bool) -> dict[str, Any]:
    """The verdict on an answer without tests of its own, with or without the kernel's wall."""
    job = {
        "token": "t", "program": "f = 1", "continuations": [], "prompts": [], "helpers": [],
        "tests": [program],
        "entry_point": None, "cpu_s": 60, "memory_bytes": 1 << 30, "file_bytes": 1 << 20,
        "kernel_wall": wall,
    }  # fmt: skip
    ended = subprocess.run(
        [sys.executable, "-I", "-S", program_child.__file__],
        input=json.dumps(job), cwd=folder, env={"LC_ALL": "C.UTF-8"},
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    ready, verdict = ended.stdout.splitlines()
    assert ready == "ready"
    read: dict[str, Any] = json.loads(verdict)
    assert read.pop("token") == "t"
    return read


def has_landlock() -> bool:
    """Whether a process can be walled in here, tried in one of its own."""
    program = (
        "import sys, runpy; f = runpy.run_path(sys.argv[1])['wall_in']; sys.exit(not f('/tmp'))"
    )
    command = [sys.executable, "-c", program, program_guard.__file__]
    return subprocess.run(command, check=False).returncode == 0


@pytest.mark.parametrize(
    "said",
    [
        "    return sum(xs)\n",
        "return sum(xs)",
        "for x in xs:\n    pass\nreturn sum(xs)",
        "def total(xs: List[int]) -> int:\n    return sum(xs)",
        "Here you are:\n```python\ndef total(xs):\n    return sum(xs)\n```\nHope it helps.",
        "```\ndef total(xs):\n    return 1\n```\nBetter:\n```\ntotal = sum\n```",
        "```python\n    return sum(xs)\n```",
        "total = sum",
        PROMPT + "    return sum(xs)",
    ],
)
async def test_code_is_found_however_it_is_given(said: str) -> None:
    assert (await score(said)).correct


@pytest.mark.parametrize(
    "said",
    [
        "As asked:\n\n> ```python\n> def total(xs):\n>     return sum(xs)\n> ```\n\nDone.",
        ">```\n>def total(xs):\n>    return sum(xs)\n>```",
        "Here you are:\n\n    def total(xs):\n\n        return sum(xs)\n\nHope it helps.",
        "A first try:\n\n    def total(xs):\n        return 1\n\nBetter:\n\n    total = sum\n",
        "With a helper:\n\n\tdef add(xs):\n\t\treturn sum(xs)\n\nThen:\n\n\ttotal = add\n",
        "    def total(xs):\n        return sum(xs)\n",
        "\ufeffdef total(xs):\n    return sum(xs)",
        "\ufeff    return sum(xs)",
        "```python\n\ufeffdef total(xs):\n    return sum(xs)\n```",
    ],
)
async def test_code_in_a_quote_indented_or_after_a_byte_order_mark(said: str) -> None:
    assert (await score(said)).correct


@pytest.mark.parametrize(
    "said",
    [
        "Here you are:\n\ndef total(xs):\n    return sum(xs)\n\nIt adds what's there.",
        "First:\nfrom math import fsum\n\nThen:\n\ndef total(\n    xs,\n):\n    return fsum(xs)\n",
        "Sure!\ndef total(xs: List[int]):\n    return sum(xs)",  # the prompt imports List
        "<answer>\ndef total(xs):\n    return sum(xs)\n</answer>",
        "<pre><code>def total(xs):\n    return sum(xs)\n</code></pre>",
        "[PYTHON]\ndef total(xs):\n    return sum(xs)\n[/PYTHON]",
        "`def total(xs): return sum(xs)`",
        "````markdown\n```python\ndef total(xs):\n    return sum(xs)\n```\n````",
    ],
)
async def test_a_function_among_prose_without_a_fence(said: str) -> None:
    assert (await score(said)).correct


@pytest.mark.parametrize(
    "said",
    [
        "```python\ndef total(xs):\n    return sum(xs)\nprint 'done'\n```",
        "Here you are:\n\ndef total(xs):\n    return sum(xs\n\nDone.",
        "I cannot define total(xs).",
    ],
)
async def test_code_that_is_broken_stays_broken(said: str) -> None:
    assert (await score(said)).value == 0


async def test_fences_of_markdown_without_end_are_no_code() -> None:
    said = "````md\n```python\n" * 10_000
    assert "SyntaxError" in (await score(said)).reason


async def test_indented_code_without_an_entry_point() -> None:
    tests = ["assert double(2) == 4", "assert double(0) == 0"]
    said = "This doubles:\n\n    def double(x):\n        return 2 * x\n\nIt adds nothing."
    assert (await score(said, {"test": tests}, prompt="Write double.")).correct
    unindented = "def double(x):\n    return 2 * x\n\nclass Unused:\n\n    def double(self): ...\n"
    assert (await score(unindented, {"test": tests}, prompt="Write double.")).correct


async def test_a_body_with_a_function_of_the_same_name_stays_a_body() -> None:
    said = "    def total(ys):\n        return sum(ys)\n    return total(xs)\n"
    assert (await score(said)).correct


async def test_a_byte_order_mark_before_prompt_and_tests() -> None:
    expected = {"test": "\ufeff" + CHECK, "entry_point": "total"}
    assert (await score("    return sum(xs)", expected, "\ufeff" + PROMPT)).correct


async def test_prompt_that_is_prose_is_left_out() -> None:
    assert (await score("def total(xs):\n    return sum(xs)", prompt="Please write total.")).correct


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("    return None", "AssertionError at: assert candidate([1, 2]) == 3"),
        ("    return sum(xs", "SyntaxError"),
        ("    raise ValueError('no')", "ValueError: no"),
        ("    return total(xs)", "RecursionError"),
        ("    raise SystemExit(0)", "SystemExit"),
        ("    import os; os._exit(0)", "exited with code 0 before the tests ended"),
        ("    import os; os.abort()", "SIGABRT"),
        ("    return [0] * 10**9", "MemoryError"),
        ("    return int(input())", "EOFError"),
        ("    import numpy", "No module named 'numpy'"),
        ("    import socket; socket.socket()", "not allowed"),
        ("    import os; os.system('true')", "not allowed"),
        ("    import os; os.fork()", "not allowed"),
        ("    import subprocess; subprocess.run(['true'])", "not allowed"),
        ("    import ctypes; ctypes.CDLL(None)", "not allowed"),
    ],
)
async def test_reason_says_what_went_wrong(said: str, reason: str) -> None:
    result = await score(said)
    assert not result.correct
    assert reason in result.reason


async def test_endless_code_ends_at_the_time_limit() -> None:
    async with asyncio.timeout(60):
        result = await score("    while True: pass", timeout_s=0.5)
    assert "did not end within 0.5 s" in result.reason


async def test_output_is_dropped_however_much_there_is() -> None:
    assert (await score("    for _ in range(10**5): print('x' * 100)\n    return sum(xs)")).correct


async def test_files_outside_the_folder_cannot_be_changed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("whole")
    for deed in (
        f"open({str(victim)!r}, 'w')",
        f"import os; os.remove({str(victim)!r})",
        f"import os; os.symlink({str(victim)!r}, 'link'); open('link', 'a')",
        f"import shutil; shutil.rmtree({str(tmp_path)!r})",
        f"import os; os.rename({str(victim)!r}, 'mine')",
    ):
        result = await score(f"    {deed}\n    return sum(xs)")
        assert "PermissionError" in result.reason, deed
    assert victim.read_text() == "whole"


DEEDS = """
import contextlib, dbm, logging, os, pathlib, shutil, sqlite3, sys, tempfile, urllib.parse
outside, inside = pathlib.Path(OUTSIDE), pathlib.Path("mine")
victim, new = outside / "victim", outside / "new"
inside.write_text("i")
fd = os.open(outside, os.O_RDONLY)
read = os.open(victim, os.O_RDONLY)
create = os.O_CREAT | os.O_WRONLY
memory = sqlite3.connect(":memory:")

def gnu():
    import _gdbm
    _gdbm.open(str(new), "c")

def history():
    import readline
    readline.write_history_file(str(new))

def shared():
    from multiprocessing import shared_memory
    shared_memory.SharedMemory(NAME, create=True, size=9)

def keys():
    import ssl
    ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).keylog_filename = str(new)

deeds = {
    "open": lambda: os.open("new", create, dir_fd=fd),
    "posix": lambda: __import__("posix").open("new", create, dir_fd=fd),
    "mkfifo": lambda: os.mkfifo(new),
    "mkfifo_at": lambda: os.mkfifo("new", dir_fd=fd),
    "mknod": lambda: os.mknod(new),
    "sqlite": lambda: sqlite3.connect(new).execute("create table t (a)"),
    "uri": lambda: sqlite3.connect(f"file:{new}?mode=rwc", uri=True).execute("create table t (a)"),
    "escaped": lambda: sqlite3.connect(
        "file:" + urllib.parse.quote(str(new)).replace("n", "%6e"), uri=True
    ).execute("create table t (a)"),
    "attach": lambda: memory.execute(f"attach '{new}' as n").execute("create table n.t (a)"),
    "vacuum": lambda: memory.execute(f"vacuum into '{new}'"),
    "link": lambda: os.link("mine", new),
    "link_at": lambda: os.link("mine", "new", dst_dir_fd=fd),
    "link_of": lambda: os.link("victim", "theirs", src_dir_fd=fd),
    "symlink": lambda: os.symlink("mine", "new", dir_fd=fd),
    "rename": lambda: os.rename("victim", "theirs", src_dir_fd=fd),
    "replace": lambda: os.replace("mine", "victim", dst_dir_fd=fd),
    "truncate": lambda: os.truncate(victim, 0),
    "mkdir": lambda: os.mkdir("new", dir_fd=fd),
    "remove": lambda: os.remove("victim", dir_fd=fd),
    "chmod": lambda: os.chmod(victim, 0),
    "chmod_at": lambda: os.chmod("victim", 0, dir_fd=fd),
    "fchmod": lambda: os.chmod(read, 0),
    "utime": lambda: os.utime(victim, (0, 0)),
    "futime": lambda: os.utime(read, (0, 0)),
    "xattr": lambda: os.setxattr(victim, "user.a", b"1"),
    "copy": lambda: shutil.copy("mine", new),
    "dbm": lambda: dbm.open(str(new), "c"),
    "gnu": gnu,
    "temporary": lambda: tempfile.mkstemp(dir=outside),
    "log": lambda: logging.FileHandler(new),
    "history": history,
    "shared": shared,
    "parent": lambda: open(f"/proc/{os.getppid()}/environ").read(),
    "parent_at": lambda: os.open(
        "environ", os.O_RDONLY, dir_fd=os.open(f"/proc/{os.getppid()}", os.O_RDONLY)
    ),
    "back": lambda: open(f"/proc/self/../{os.getppid()}/environ").read(),
    "keys": keys,
}
done = []
for name, deed in deeds.items():
    if name not in SKIPPED:
        with contextlib.suppress(Exception):
            deed()
            done.append(name)
assert not done, done
assert open("/proc/self/environ").read
"""


@pytest.mark.parametrize("wall", [True, False], ids=["kernel", "hook"])
def test_nothing_outside_is_changed_and_no_other_process_read(tmp_path: Path, wall: bool) -> None:
    if wall and not has_landlock():
        pytest.skip("this kernel has no Landlock")
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.mkdir()
    inside.mkdir()
    victim = outside / "victim"
    victim.write_text("whole")
    victim.chmod(0o640)
    before = victim.stat()
    # The hook alone does not see what the TLS library writes.
    names = {
        "OUTSIDE": str(outside),
        "SKIPPED": () if wall else ("keys",),
        "NAME": f"t{os.getpid()}",
    }
    program = "".join(f"{name} = {value!r}\n" for name, value in names.items()) + DEEDS

    assert in_child(program, inside, wall) == {"passed": 1, "total": 1}

    assert [path.name for path in outside.iterdir()] == ["victim"]
    assert not Path(f"/dev/shm/t{os.getpid()}").exists()
    after = victim.stat()
    assert (after.st_mode, after.st_mtime, after.st_nlink) == (0o100640, before.st_mtime, 1)
    assert victim.read_text() == "whole"


@pytest.mark.parametrize("wall", [True, False], ids=["kernel", "hook"])
def test_everything_can_be_written_inside(tmp_path: Path, wall: bool) -> None:
    program = """
import dbm, os, pathlib, shutil, sqlite3, tempfile
with tempfile.TemporaryDirectory() as folder:
    pathlib.Path(folder, "deep").mkdir()
    pathlib.Path(folder, "deep", "note").write_text("3")
fd = os.open(".", os.O_RDONLY)
os.close(os.open("a", os.O_CREAT | os.O_WRONLY, dir_fd=fd))
os.rename("a", "b", src_dir_fd=fd, dst_dir_fd=fd)
os.mkfifo("pipe")
base = sqlite3.connect("base.db")
base.execute("attach 'other.db' as o").execute("create table o.t (a)")
base.execute("vacuum")
base.execute("vacuum into 'copy.db'")
sqlite3.connect(":memory:").execute("vacuum")
with dbm.open("names", "c") as names:
    names["a"] = "1"
with open(os.devnull, "w") as nothing:
    nothing.write("x")
with tempfile.TemporaryFile() as file:
    file.write(b"x")
    file.truncate(0)
os.mkdir("tree")
shutil.rmtree("tree")
assert sorted(os.listdir())[:5] == ["b", "base.db", "copy.db", *sorted(os.listdir())[3:5]]
assert not os.path.exists("tree")
"""
    assert in_child(program, tmp_path, wall) == {"passed": 1, "total": 1}


async def test_files_inside_the_folder_can_be_written() -> None:
    code = (
        "    with open('note', 'w') as f: f.write('3')\n"
        "    return sum(xs) + int(open('note').read()) - 3"
    )
    assert (await score(code)).correct


async def test_environment_is_not_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "hush")
    code = "    import os\n    return sum(xs) + ('SOME_API_KEY' in os.environ)"
    assert (await score(code)).correct


async def test_verdict_cannot_be_written_by_the_code() -> None:
    forged = (
        "    import os\n    for n in range(3, 10):\n        try:\n"
        '            os.write(n, b\'{"passed": 1, "total": 1}\\n\')\n        except OSError: pass\n'
        "    os._exit(0)"
    )
    assert not (await score(forged)).correct


async def test_each_piece_of_a_list_of_tests_counts() -> None:
    tests = ["assert total([1]) == 1", "assert total([2]) == 1", "assert total([]) == 0"]
    assert (await score("    return len(xs)", {"test": tests, "entry_point": "total"})).correct
    result = await score("    return sum(xs)", {"test": tests, "entry_point": "total"})
    assert result.value == pytest.approx(2 / 3)
    assert result.metadata == {"passed": 2, "total": 3}
    assert "assert total([2]) == 1" in result.reason


async def test_missing_entry_point_is_the_answers_fault() -> None:
    result = await score("def sum_up(xs):\n    return sum(xs)", prompt="Write total.")
    assert "does not define total" in result.reason


@pytest.mark.parametrize("expected", [{"test": "assert ("}, {"entry_point": "total"}, [1]])
async def test_tests_that_cannot_run_are_the_graders_failure(expected: Any) -> None:
    with pytest.raises(GraderFailure):
        await score("    return sum(xs)", expected)


async def test_interpreter_that_does_not_start_is_the_graders_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.executable", "/nonexistent/python")
    with pytest.raises(GraderFailure, match="could not be started"):
        await score("    return sum(xs)")


async def test_canceling_ends_the_child() -> None:
    def children() -> set[str]:
        me = os.getpid()
        return set(Path(f"/proc/{me}/task/{me}/children").read_text().split())

    before = children()
    task = asyncio.create_task(score("    while True: pass", timeout_s=60))
    async with asyncio.timeout(10):
        while children() == before:  # noqa: ASYNC110 - the kernel offers no event for it
            await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert children() == before


PROSE = "Write total(xs)."


IN_LIST = """\
1. Sum them:

   ```python
   def total(xs):
       return sum(xs)
   ```

2. Done.
"""
DEEPER_THAN_ITS_FENCE = """\
- Sum them:
  ```python
    def total(xs):
        return sum(xs)
  ```
"""
TILDES = """\
Here:
~~~python
def total(xs):
    return sum(xs)
~~~
"""
FOUR_BACKTICKS = """\
````python
def total(xs):
    '''
```
>>> total([])
```
    '''
    return sum(xs)
````
"""
ONLY_CLOSED = """\
def total(xs):
    return sum(xs)
```

It adds them up.
"""


@pytest.mark.parametrize(
    "said", [IN_LIST, DEEPER_THAN_ITS_FENCE, TILDES, FOUR_BACKTICKS, ONLY_CLOSED]
)
async def test_block_is_read_as_markdown_has_it(said: str) -> None:
    assert (await score(said, prompt=PROSE)).correct


ADD = "```python\ndef add(x, y):\n    return x + y\n```\n"
TOTAL = (
    "```python\ndef total(xs):\n    result = START\n    for x in xs:\n"
    "        result = add(result, x)\n    return result\n```\n"
)
START = "```python\nfrom decimal import Decimal\nSTART = int(Decimal(0))\n```\n"


@pytest.mark.parametrize(
    "said",
    [
        f"A helper:\n{ADD}A constant:\n{START}Then:\n{TOTAL}",
        f"{START}{TOTAL}where\n{ADD}",
        f"{START}```python\ndef add(x, y):\n    return 0\n```\nNo:\n{ADD}{TOTAL}",
        f"{ADD}{START}{TOTAL}Use:\n```python\nn = total([int(input())])\nprint(n)\n```",
        f"{ADD}{START}```bash\npip install add\n```\n{TOTAL}Output:\n```\n3\n```\n",
        f"{ADD}{START}```python\nx = add(1, total([2]))\n1 / 0\n```\n{TOTAL}",
        f"{START}{ADD}```python\ndef total(xs):\n    return None\n```\nBetter:\n{TOTAL}",
    ],
    ids=[
        "helper and constant before",
        "helper after",
        "corrected helper",
        "example after",
        "shell and output",
        "example before",
        "corrected program",
    ],
)
async def test_program_gets_what_it_uses_from_other_blocks(said: str) -> None:
    assert (await score(said, prompt=PROSE)).correct


async def test_name_that_no_block_defines_stays_undefined() -> None:
    result = await score(f"```python\nSTART = nothing()\n```\n{ADD}{TOTAL}", prompt=PROSE)
    assert "name 'START' is not defined" in result.reason


@pytest.mark.parametrize(
    "said",
    [
        "    return sum(xs)\n```",
        "    return sum(xs)\n```\n\nIt adds them up.",
        "def total(xs):\n    return sum(xs)\n```\nUse it:\n```python\nprint(total([1]))\n```",
        "```python\ndef total(xs):\n    return sum(xs)\n```",
        "Here is the code:\n```\ndef total(xs):\n    return sum(xs)\n```",
    ],
)
async def test_prompt_opens_the_block_that_the_answer_closes(said: str) -> None:
    prompt = "Complete this function:\n```python\nfrom typing import List\n\ndef total(xs):\n"
    assert (await score(said, prompt=prompt)).correct


async def test_without_an_entry_point_blocks_of_other_languages_and_output_are_left_out() -> None:
    said = f"{START}{ADD}{TOTAL}```sh\npython t.py\n```\nIt prints:\n```\nThe sum is 3.\n```\n"
    assert (await score(said, expected="assert total([1, 2]) == 3", prompt=PROSE)).correct


DOUBLE: dict[str, Any] = {"entry_point": "double", "test": ["assert double(2) == 4"]}
BARE = "def double(x):\n    return 2 * x\n"


@pytest.mark.parametrize(
    "question",
    [
        "double",
        "请编写函数",
        "Task: double",
        "Doubling",
        "answer = double(x)",
        "double(x)",
        "2 * x",
    ],
)
@pytest.mark.parametrize(
    "said",
    [
        BARE,
        f"```python\n{BARE}```",
        f"Here:\n```\n{BARE}```\nIt doubles x.",
        "double = lambda x: 2 * x",
        "from operator import add\n\nif add:\n    def double(x):\n        return add(x, x)",
        "    def double(x):\n        return 2 * x",
        f"from __future__ import annotations\n\n{BARE}",
    ],
    ids=["bare", "fenced", "fenced in prose", "lambda", "nested", "indented", "future import"],
)
async def test_question_that_is_valid_python_does_not_spoil_a_whole_function(
    question: str, said: str
) -> None:
    assert (await score(said, DOUBLE, prompt=question)).correct


async def test_wrong_function_stays_wrong_where_the_question_is_valid_python() -> None:
    result = await score("def double(x):\n    return x", DOUBLE, prompt="Task: double")
    assert "assert double(2) == 4" in result.reason
    result = await score("def twice(x):\n    return 2 * x", DOUBLE, prompt="double")
    assert "does not define double" in result.reason


HELPED = """\
from __future__ import annotations

import math
import no_such_module

class Box:
    def __init__(self, value: Unknown) -> None:
        self.value = value

FACTOR = 2
FACTOR += 0

def times(a: Unknown, b):
    return a * b

def double(x):
"""


FENCED_HELPER = """\
```python
def times(a, b):
    return b * a
```
```python
def double(x):
    return times(x, FACTOR)
```
"""


@pytest.mark.parametrize("stub", [HELPED, f'{HELPED}    """Twice x."""\n'])
@pytest.mark.parametrize(
    "said",
    [
        "    return times(FACTOR, Box(math.floor(x)).value)",
        "def double(x: Unknown):\n    return times(FACTOR, Box(math.floor(x)).value)",
        FENCED_HELPER,
    ],
    ids=["continuation", "whole", "fenced"],
)
async def test_answer_uses_what_the_prompt_defines(stub: str, said: str) -> None:
    stub = stub.replace("import no_such_module\n", "") if said.startswith(" ") else stub
    assert (await score(said, DOUBLE, prompt=stub)).correct


async def test_tests_use_what_the_prompt_defines() -> None:
    expected = {"entry_point": "double", "test": ["assert double(2) == times(2, FACTOR)"]}
    prompt = HELPED.replace("import no_such_module\n", "")
    assert (await score(BARE, expected, prompt=prompt)).correct
