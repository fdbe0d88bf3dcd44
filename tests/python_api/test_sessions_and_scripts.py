"""Where users call the API: in a notebook, whose loop runs, and in scripts without a guard."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SUITE = """
SUITE = {
    "suite_id": "capitals",
    "benchmarks": [{
        "benchmark_id": "names",
        "scorers": ["exact"],
        "iterations": {"warmup": 0, "measured": 1},
        "dataset": {"cases": [
            {"id": "j", "input": "Japan", "expected": "Tokyo"},
            {"id": "p", "input": "Peru", "expected": "Lima"},
        ]},
    }],
}
"""
PATIENCE_S = 90


def python(code: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run code as a script, or Python with other arguments."""
    (folder / "script.py").write_text(code)
    arguments = arguments or ("script.py",)
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=os.environ | {"AGENTBENCH_DB": str(folder / "runs.db")},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


NOTEBOOK = (
    SUITE
    + '''
import asyncio

CELLS = ["""
import agentbench_tui as agentbench
client = asyncio.get_running_loop()  # as of an HTTP client that belongs to the notebook's loop
""", """
async def answer(question):
    assert asyncio.get_running_loop() is client
    return {"Japan": "Tokyo"}.get(question, "?")
""", """
awaited = await agentbench.run_async(SUITE, answer)
print(awaited.executions[0].agent_id, awaited.executions[0].metrics["accuracy"].value)
""", """
blocking = agentbench.run(SUITE, lambda question: "Lima")
print(blocking.executions[0].agent_id, blocking.executions[0].metrics["accuracy"].value)
""", """
print(blocking._repr_html_()[:5], len(agentbench.open_store().runs().runs))
print(agentbench.compare("answer", "lambda").verdict)
"""]


async def kernel():
    """What a notebook's kernel does: each cell is compiled with top-level await and runs in one
    namespace, on a loop that runs all the time."""
    import __main__, ast, inspect

    for number, cell in enumerate(CELLS):
        code = compile(cell, f"<cell {number}>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        result = eval(code, vars(__main__))
        if inspect.iscoroutine(result):
            await result

asyncio.run(kernel())
'''
)


def test_a_notebook_session_runs_awaits_and_compares(tmp_path: Path) -> None:
    done = python("", tmp_path, "-c", NOTEBOOK)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["answer 0.5", "lambda 0.5", "<div> 2", "tie"]


def test_a_script_without_a_main_guard_runs_once(tmp_path: Path) -> None:
    """Nothing imports the script again to find the function in it."""
    code = SUITE + (
        "import agentbench_tui as agentbench\n"
        "print('started')\n"
        "def answer(question): return 'Lima'\n"
        "result = agentbench.run(SUITE, answer)\n"
        "print(result.executions[0].metrics['accuracy'].value)\n"
    )
    done = python(code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["started", "0.5"]


LOAD = """
import agentbench_tui as agentbench
def answer(question): return 'Lima'
def main():
    result = agentbench.load(answer, concurrency=1, requests=3, warmup_requests=0)
    print(result.status, [one.requests.ok for one in result.points])
    for failure in result.failures:
        print(failure.detail)
"""


def test_a_guarded_script_puts_load_on_its_own_function(tmp_path: Path) -> None:
    done = python(LOAD + "if __name__ == '__main__':\n    main()\n", tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["complete [3]"]


def test_a_program_run_by_its_module_name_puts_load_on_its_own_function(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(LOAD + "if __name__ == '__main__':\n    main()\n")
    done = python("", tmp_path, "-m", "program")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["complete [3]"]


def test_a_script_without_a_guard_is_told_to_have_one_before_it_starts_itself_again(
    tmp_path: Path,
) -> None:
    done = python(LOAD + "main()\n", tmp_path)
    assert done.stdout.splitlines()[0] == "incomplete []"
    assert "agentbench.load() was called while script.py is imported" in done.stdout
    assert 'if __name__ == "__main__":' in done.stdout


def test_a_function_that_only_the_session_knows_is_refused_by_load(tmp_path: Path) -> None:
    code = "import agentbench_tui as agentbench\nagentbench.load(lambda question: 'x')\n"
    done = python(code, tmp_path)
    assert done.returncode == 1
    assert "other processes send the requests and cannot import <lambda>" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_an_interrupt_keeps_what_was_measured_and_is_raised(tmp_path: Path) -> None:
    code = SUITE + (
        "import os, signal\n"
        "import agentbench_tui as agentbench\n"
        "SUITE['benchmarks'][0]['dataset']['cases'] = [\n"
        "    {'id': str(n), 'input': str(n), 'expected': 'Lima'} for n in range(3000)]\n"
        "asked = []\n"
        "def answer(question):\n"
        "    if not asked:\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    asked.append(question)\n"
        "    return 'Lima'\n"
        "try:\n"
        "    agentbench.run(SUITE, answer)\n"
        "except KeyboardInterrupt:\n"
        "    (run,) = agentbench.open_store().runs().runs\n"
        "    print(run.status, run.answered)\n"
    )
    done = python(code, tmp_path)
    assert done.returncode == 0, done.stderr
    status, answered = done.stdout.split()
    assert status == "interrupted"
    assert int(answered) >= 1
