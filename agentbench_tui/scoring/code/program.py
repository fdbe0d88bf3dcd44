"""The scorer `python_tests`: runs the code of an answer against unit tests in a child process.

The child has limits of CPU time, memory, file size and open files, may start no process or
thread as an ordinary user, has an empty environment and a temporary folder, and its whole process
tree is ended afterwards. An audit hook refuses network, processes, native code and writing outside
the folder, which the kernel refuses too where it has Landlock. That stops accidents and what models
write in good faith. It is no wall against an attacker: code can read the files that you can read,
and somebody who works at it gets past a hook inside their own process. Run untrusted agents in a
container or virtual machine.
"""

from __future__ import annotations

import asyncio
import math
import os
import secrets
import sys
import tempfile
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
from pydantic import Field

from agentbench_tui.model.answer import Answer, Case, GraderFailure, Score, Scorer
from agentbench_tui.model.text.secrets import redact
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.process.child import SpawnError
from agentbench_tui.process.single import Finished, run_program
from agentbench_tui.scoring.code.answer_code import AnswerCode, answer_code, unclosed_code
from agentbench_tui.scoring.reading import answer_text, expected_of
from agentbench_tui.scoring.recipe import Context, Options, Recipe, always

_CHILD = Path(__file__).with_name("program_child.py")
_FILE_BYTES = 16 * 1024 * 1024
"""Largest file that tested code may write."""


class ProgramOptions(Options):
    """Options of `python_tests`."""

    timeout_s: Annotated[float, Field(gt=0, le=600)] = 10.0
    """Wall time for one answer and all its tests."""
    memory_mb: Annotated[int, Field(ge=64)] = 512
    """Address space of the child."""
    concurrency: Annotated[int, Field(ge=1, le=256)] | None = None
    """Maximum child processes; by default the number of cores."""
    site_packages: bool = False
    """Installed packages can be imported, not only the standard library."""


@dataclass(frozen=True, slots=True)
class _Job:
    """The job of one case."""

    tests: list[str]
    entry_point: str | None
    prompt: str


def python_tests(options: ProgramOptions, context: Context) -> Scorer:
    """Return a scorer that is right if the answer's code passes every test; value = passed ÷ all
    tests.

    `expected` is the test code, a list of pieces that each count as one test, or a table {test,
    entry_point, prompt}; entry_point and prompt may stand in the case's metadata, and a text
    input is the prompt otherwise. A test that defines `check` has it called with the entry point,
    as HumanEval does (Chen et al. 2021, arXiv:2107.03374). The answer may be the whole function,
    which can use what a prompt of code defines, or only what follows the prompt.
    """
    name = context.name
    children = asyncio.Semaphore(options.concurrency or _cores())

    async def score(case: Case, answer: Answer) -> Score:
        job = _read_job(case)
        opened = unclosed_code(job.prompt)
        code = answer_code(answer_text(answer), job.entry_point, inside=opened is not None)
        prompt = job.prompt if opened is None else opened
        token = secrets.token_hex(16)
        async with children:
            finished = await _run(job, code, prompt, options, token)
        return _verdict(name, finished, options, token)

    return score


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _read_job(case: Case) -> _Job:
    expected = expected_of(case)
    table: dict[str, Any] = expected if isinstance(expected, dict) else {"test": expected}
    tests = table.get("test", table.get("tests"))
    if isinstance(tests, str):
        tests = [tests]
    if not isinstance(tests, list) or not tests or not all(isinstance(t, str) for t in tests):
        raise GraderFailure(f"case {case.id}: `expected` holds no test code")
    entry = table.get("entry_point", case.metadata.get("entry_point"))
    prompt = table.get("prompt", case.metadata.get("prompt"))
    if prompt is None and isinstance(case.input, str):
        prompt = case.input
    # Python refuses a byte order mark, which files leave at the beginning.
    tests = [test.removeprefix("\ufeff") for test in tests]
    return _Job(tests, str(entry) if entry else None, str(prompt or "").removeprefix("\ufeff"))


def continuations(code: str, prompt: str) -> list[str]:
    """Return programs in which the code continues the prompt, most likely first: unchanged, or
    indented.
    """
    return [
        f"{prompt}{code}\n",
        f"{prompt}\n{code}\n",
        f"{prompt}\n{textwrap.indent(textwrap.dedent(code), '    ')}\n",
    ]


async def _run(
    job: _Job,
    code: AnswerCode,
    prompt: str,
    options: ProgramOptions,
    token: str,
) -> Finished:
    request = {
        "token": token,
        "program": code.program,
        "continuations": continuations(code.program, prompt),
        "definitions": code.definitions,
        # A prompt that ends in the head of a function is code only with a body.
        "prompts": [f"{prompt}\n    pass\n", f"{prompt}\n"],
        "helpers": code.helpers,
        "tests": job.tests,
        "entry_point": job.entry_point,
        "cpu_s": math.ceil(options.timeout_s) + 1,
        "memory_bytes": options.memory_mb * 1_000_000,
        "file_bytes": _FILE_BYTES,
    }
    flags = ["-I"] if options.site_packages else ["-I", "-S"]
    with tempfile.TemporaryDirectory(prefix="agentbench-", ignore_cleanup_errors=True) as folder:
        try:
            return await run_program(
                [sys.executable, *flags, str(_CHILD)],
                environment={"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8"},
                data=msgspec.json.encode(request),
                cwd=folder,
                timeout_s=options.timeout_s,
                memory_limit_mb=options.memory_mb,
                max_output_bytes=64 * 1024,
            )
        except SpawnError as error:
            raise GraderFailure(f"the tests could not be started: {error}") from error


def _verdict(name: str, finished: Finished, options: ProgramOptions, token: str) -> Score:
    ready, _, report = finished.output.partition(b"\n")
    if ready != b"ready":
        raise GraderFailure(f"the test process did not get ready: it {finished.ending[-300:]}")
    if finished.timed_out:
        return Score(name, 0.0, False, f"did not end within {options.timeout_s:g} s")
    if finished.over_limit is not None:
        return Score(name, 0.0, False, f"memory: {finished.over_limit}")
    try:
        verdict = msgspec.json.decode(report)
        if verdict["token"] != token:
            raise ValueError("not the verdict of our child")
        passed, total = int(verdict["passed"]), int(verdict["total"])
    except (msgspec.DecodeError, KeyError, TypeError, ValueError):
        return Score(
            name, 0.0, False, f"the process {finished.ending[-300:]} before the tests ended"
        )
    if "fault" in verdict:
        raise GraderFailure(one_line(str(verdict["fault"]), 300))
    counts = {"passed": passed, "total": total}
    if passed == total:
        return Score(name, 1.0, True, metadata=counts)
    where = "the answer" if verdict.get("where") == "answer" else "a test"
    reason = f"{where}: {_error_text(verdict.get('error'))}"
    return Score(name, passed / total, False, reason, metadata=counts)


def _error_text(error: object) -> str:
    """Return the error and its line: secrets are masked before either is shortened."""
    said, line = error if isinstance(error, list) and len(error) == 2 else (error, "")
    place = f" at: {one_line(redact(str(line)), 200)}" if line else ""
    return one_line(one_line(redact(str(said)), 220) + place, 320)


RECIPES = {"python_tests": Recipe(ProgramOptions, python_tests, needs_expected=always)}
