"""One thread of linear algebra for a process, and the environment as before for its children."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ASK = """
import os
from agentbench_tui.process.blas_threads import load_numpy_with_one_thread
before = dict(os.environ)
load_numpy_with_one_thread()
import numpy as np
table = np.ones((600, 600))
table @ table  # threads are started at the latest now
print(len(os.listdir('/proc/self/task')), dict(os.environ) == before)
"""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are listed on Linux only")
@pytest.mark.parametrize(("asked", "threads"), [(None, "1"), ("3", "3")])
def test_one_thread_computes_unless_the_environment_asks_for_more(
    asked: str | None, threads: str
) -> None:
    given = {} if asked is None else {"OPENBLAS_NUM_THREADS": asked}
    environment = {name: value for name, value in os.environ.items() if "NUM_THREADS" not in name}
    ask = [sys.executable, "-c", ASK]
    said = subprocess.run(ask, env=environment | given, check=True, capture_output=True, text=True)
    found, is_unchanged = said.stdout.split()
    assert is_unchanged == "True"
    assert found == threads or (asked is not None and (os.cpu_count() or 1) < int(asked))


START = """
import os, sys
from agentbench_tui.cli import main
main._end = lambda code: print(os.environ.get("OPENBLAS_NUM_THREADS"))
main._run = lambda arguments: 0
main.run()
"""


@pytest.mark.parametrize(("command", "threads"), [("report", "1"), ("market", "None")])
def test_only_commands_that_measure_nothing_compute_with_one_thread(
    command: str, threads: str
) -> None:
    """Code of agents, which a measuring command runs, keeps the threads that it would have."""
    environment = {name: value for name, value in os.environ.items() if "NUM_THREADS" not in name}
    start = [sys.executable, "-c", START, command]
    said = subprocess.run(start, env=environment, check=True, capture_output=True, text=True)
    assert said.stdout.split()[-1] == threads
