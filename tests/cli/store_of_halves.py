"""A store of one run in which two agents differ on half of the cases."""

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))

from carried_out import run, suite

_AGENTS = """
def right(prompt):
    return prompt
def odd(prompt):
    return prompt if int(prompt) % 2 else "no"
"""


def store_of_halves(folder: Path, **metadata: str) -> str:
    """80 cases with the field `parity` and these; `right` is right on all, `odd` on odd ones."""
    cases = [
        {
            "id": f"c{n}", "input": str(n), "expected": str(n),
            "metadata": {"parity": "odd" if n % 2 else "even", **metadata},
        }
        for n in range(80)
    ]  # fmt: skip
    document = suite(dataset={"cases": cases})
    return str(asyncio.run(run(folder, document, _AGENTS, "right", "odd")).database)
