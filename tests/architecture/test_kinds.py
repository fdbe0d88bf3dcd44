"""Outside a kind's own rooms nothing compares the name of a kind: what differs is asked of it."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentbench_tui.model.kinds import BUILT_IN, find_kind

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "agentbench_tui"
NAMES = {*BUILT_IN, "market", "training"}
ROOMS = {"load", "stress", "experiments", "market", "training"}
"""Folders and modules that belong to a kind, in whatever layer they are."""
ALLOWED = {
    "agents/programs/command.py": 1,  # a way to run a program: once a task, or as a worker
    "engine/suite/agentfarm.py": 1,  # a key of AgentFarm's files
    "verdicts/files/sample_columns.py": 1,  # the title of a column
    # Which command a form of the session is for, and which line of its tree.
    "tui/pages/new_run/choice.py": 1,
    "tui/pages/new_run/page.py": 4,
    "tui/widgets/forms/suite_tree.py": 2,
}
"""Module → comparisons in it. It may only shrink."""
_IN_SQL = re.compile(
    rf"\bkind\s*(=|<>|!=|IN|NOT IN)\s*\(?'({'|'.join(sorted(NAMES))})'", re.IGNORECASE
)


def comparisons(source: str) -> Iterator[int]:
    """Lines that compare something with the name of a kind, in Python or in SQL."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare):
            if NAMES & {name for side in (node.left, *node.comparators) for name in _names(side)}:
                yield node.lineno
        elif isinstance(node, ast.MatchValue):
            if NAMES & set(_names(node.value)):
                yield node.value.lineno
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and _IN_SQL.search(node.value)
        ):
            yield node.lineno


def _names(node: ast.expr) -> Iterator[str]:
    """The texts that an operand is, or lists."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.Tuple | ast.List | ast.Set):
        for element in node.elts:
            yield from _names(element)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):  # frozenset(("load",))
        for argument in node.args:
            yield from _names(argument)


def found() -> Counter[str]:
    """Module → comparisons in it, of those outside the rooms of kinds."""
    counts: Counter[str] = Counter()
    for path in sorted(PACKAGE.rglob("*.py")):
        relative = path.relative_to(PACKAGE)
        if not ROOMS & {*relative.parts[:-1], relative.stem}:
            counts[relative.as_posix()] += len([*comparisons(path.read_text())])
    return +counts


def test_only_a_kind_compares_its_name() -> None:
    assert found() == ALLOWED


@pytest.mark.parametrize(
    "source",
    [
        'row["kind"] == "load"',
        'kind in {"load", "stress"}',
        'benchmark.kind not in ("task",)',
        'kind in frozenset(("load",))',
        'match kind:\n    case "load":\n        pass',
        "query = \"SELECT 1 FROM benchmarks b WHERE b.kind='load'\"",
        "query = \"SELECT 1 FROM benchmarks b WHERE b.kind NOT IN ('load', 'stress')\"",
    ],
)
def test_comparisons_are_recognized(source: str) -> None:
    assert [*comparisons(source)]


@pytest.mark.parametrize(
    "source",
    ['document["load"]', 'document.get("load") is None', 'kind == "score"', 'find_kind("load")'],
)
def test_what_compares_no_kind_is_left_alone(source: str) -> None:
    assert not [*comparisons(source)]


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_part_of_a_built_in_kind_can_be_loaded(name: str) -> None:
    kind = find_kind(name)
    parts = ("runner", "variants", "metrics", "evidence", "document", "live_facts", "check_plan",
             "plan_words", "result", "progress")  # fmt: skip
    assert kind.part("runner") is not None
    for part in parts:
        assert (kind.part(part) is not None) == bool(getattr(kind, part)), part
