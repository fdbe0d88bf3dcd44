"""The generated part of the suite `comprehensive`: long documents and many short sums.

`python -m agentbench_tui.datasets.comprehensive FOLDER [SEED]` writes the files.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agentbench_tui.datasets.quickstart.drawing import PEOPLE, Draw
from agentbench_tui.datasets.task_files import Generators, write_tasks

SEED = 2027
"""The seed of the files that ship."""
_DOCUMENTS = 8
_ENTRIES = 90
"""Entries of a long document: some 1,500 words."""
_SUMS = 48
_PLACES = ("depot", "north gate", "quay", "workshop", "cold store", "yard", "mill", "archive")
_GOODS = ("pallets", "crates", "drums", "rolls", "sacks", "cartons")


def long_documents(seed: int) -> Iterator[dict[str, Any]]:
    """Yield delivery books with a question on one person and one kind of goods; the answer is one
    number.

    The entries that count are spread over the whole book, among others that nearly do.
    """
    for nth in range(_DOCUMENTS):
        draw = Draw(seed, f"document-{nth}")
        who, goods = draw.one(PEOPLE), draw.one(_GOODS)
        lines, total = [], 0
        for entry in range(1, _ENTRIES + 1):
            day, place, count = draw.day(), draw.one(_PLACES), draw.whole(2, 40)
            counts = entry % 18 == nth + 1
            carrier = who if counts or draw.whole(0, 9) == 0 else draw.one(PEOPLE)
            others = [other for other in _GOODS if counts or carrier != who or other != goods]
            load = goods if counts else draw.one(others)
            total += count if counts else 0
            lines.append(
                f"Entry {entry}, {day.isoformat()}: {carrier} brought {count} {load} to the "
                f"{place} and took {draw.whole(1, 9)} empty ones back."
            )
        yield {
            "id": f"book-{nth + 1}",
            "input": (
                "\n".join(lines) + f"\n\nHow many {goods} did {who} bring in all? Do not count "
                "empty ones. Answer with the number only."
            ),
            "expected": total,
        }


def short_sums(seed: int) -> Iterator[dict[str, Any]]:
    """Yield sums of three numbers."""
    draw = Draw(seed, "sums")
    for nth in range(_SUMS):
        numbers = [draw.whole(10, 99) for _ in range(3)]
        written = " + ".join(map(str, numbers))
        yield {
            "id": f"sum-{nth + 1}",
            "input": f"Answer with the number only: {written}",
            "expected": sum(numbers),
        }


GENERATORS: Generators = {
    "cost": long_documents,
    "scalability": short_sums,
}


if __name__ == "__main__":
    write_tasks(GENERATORS, Path(sys.argv[1]), int(sys.argv[2]) if sys.argv[2:] else SEED)
