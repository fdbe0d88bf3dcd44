"""Writes the task files: `python -m agentbench_tui.datasets.quickstart FOLDER [SEED]`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from agentbench_tui.datasets.quickstart.extraction import extraction
from agentbench_tui.datasets.quickstart.multi_step import multi_step
from agentbench_tui.datasets.quickstart.tool_requests import tool_requests
from agentbench_tui.datasets.quickstart.word_problems import word_problems

SEED = 2026
"""The seed of the files that ship."""

GENERATORS: dict[str, Callable[[int], Iterator[dict[str, Any]]]] = {
    "word-problems": word_problems,
    "extraction": extraction,
    "tool-calls": tool_requests,
    "multi-step": multi_step,
}


def write_tasks(folder: Path, seed: int = SEED) -> None:
    """Write one JSONL file a benchmark into `folder`, replacing what is there."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, generate in GENERATORS.items():
        lines = [json.dumps(record, ensure_ascii=False) for record in generate(seed)]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_tasks(Path(sys.argv[1]), *map(int, sys.argv[2:]))
