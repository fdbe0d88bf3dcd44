"""Datasets of many groups: read and checked before the run, few of them held open."""

import errno
import tempfile
from pathlib import Path
from typing import Any

import pytest
from carried_out import plan, run, suite

from agentbench_tui.engine.cases import case_spool, casebook
from agentbench_tui.engine.cases.casebook import open_datasets
from agentbench_tui.model.errors import SuiteError

POINTS = 12
CODE = """
def echo(prompt):
    return prompt

def cases(n):
    yield {"id": "one", "input": str(n), "expected": str(n)}
"""


def swept(dataset: dict[str, Any]) -> dict[str, Any]:
    values = list(range(POINTS))
    return suite(
        suite={"parameters": {"n": 0}},
        dataset=dataset,
        sweep={"parameters": {"n": values}},
    )


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_that_no_more_files_can_be_opened_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none_left(*given: Any, **named: Any) -> Any:
        raise OSError(errno.EMFILE, "Too many open files")

    made = plan(tmp_path, suite(1), CODE, "echo")
    monkeypatch.setattr(case_spool, "MOST_IN_MEMORY", 0)
    monkeypatch.setattr(tempfile, "TemporaryFile", none_left)
    with pytest.raises(SuiteError, match=r"cannot be kept in .*: Too many open files"):
        open_datasets(made)


def test_groups_of_equal_cases_share_one_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(case_spool, "MOST_IN_MEMORY", 0)
    made = plan(tmp_path, swept({"cases": [{"input": "1", "expected": "1"}]}), CODE, "echo")
    before = open_files()
    sources = open_datasets(made)
    assert open_files() == before + 1
    assert list(sources) == list(range(POINTS))
    assert [list(source.ids()) for source in sources.values()] == [list(sources[0].ids())] * POINTS


@pytest.mark.parametrize("in_files", [True, False])
async def test_of_more_datasets_than_are_held_each_gets_its_own_cases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_files: bool
) -> None:
    document = swept({"data_source": "python:agents.py:cases"})
    if in_files:
        monkeypatch.setattr(case_spool, "MOST_IN_MEMORY", 0)
        monkeypatch.setattr(casebook, "MOST_HELD", 5)
    else:
        monkeypatch.setattr(case_spool, "EMPTY_BYTES", 1000)  # a case has less than 100
        monkeypatch.setattr(casebook, "MOST_HELD_BYTES", 4500)
    before = open_files()
    sources = open_datasets(plan(tmp_path, document, CODE, "echo"))
    assert open_files() == before + 5 * in_files
    assert {place: next(source.cases()).input for place, source in sources.items()} == {
        place: str(place) for place in range(5)
    }
    for source in sources.values():
        source.close()
    result = await run(tmp_path, document, CODE, "echo")
    assert result.outcome.status == "complete"
    answers = result.column("SELECT json_extract(answer, '$.text') FROM answers ORDER BY seq")
    assert answers == [str(place) for place in range(POINTS)]


async def test_cases_are_the_same_in_memory_and_in_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = [f"{place} " + "word " * place for place in range(200)]
    cases = [{"id": f"c{place}", "input": text} for place, text in enumerate(inputs)]
    made = plan(tmp_path, suite(1, dataset={"cases": cases}, scorers=[]), CODE, "echo")
    seen = []
    for limit in (1 << 20, 1 << 14, 0):
        monkeypatch.setattr(case_spool, "MOST_IN_MEMORY", limit)
        with open_datasets(made)[0] as source:
            assert (source.memory_bytes is None) == (limit < 1 << 20)
            assert [case.input for case in source] == inputs
            seen.append((source.hash, list(source.ids())))
    assert seen[0] == seen[1] == seen[2]
