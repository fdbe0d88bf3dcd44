"""Writes the task files: `python -m agentbench_tui.datasets.quickstart FOLDER [SEED]`."""

from __future__ import annotations

import sys
from pathlib import Path

from agentbench_tui.datasets.quickstart.extraction import extraction
from agentbench_tui.datasets.quickstart.multi_step import multi_step
from agentbench_tui.datasets.quickstart.tool_requests import tool_requests
from agentbench_tui.datasets.quickstart.word_problems import word_problems
from agentbench_tui.datasets.task_files import Generators, write_tasks

SEED = 2026
"""The seed of the files that ship."""

GENERATORS: Generators = {
    "word-problems": word_problems,
    "extraction": extraction,
    "tool-calls": tool_requests,
    "multi-step": multi_step,
}


if __name__ == "__main__":
    write_tasks(GENERATORS, Path(sys.argv[1]), int(sys.argv[2]) if sys.argv[2:] else SEED)
