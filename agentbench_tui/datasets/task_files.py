"""Writes the records of seeded generators into task files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

Generators = Mapping[str, Callable[[int], Iterator[dict[str, Any]]]]
"""Benchmark to what yields its records from a seed."""


def write_tasks(generators: Generators, folder: Path, seed: int) -> None:
    """Write one JSONL file per benchmark into `folder`, replacing existing ones."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, generate in generators.items():
        lines = [json.dumps(record, ensure_ascii=False) for record in generate(seed)]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
