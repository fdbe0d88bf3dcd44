"""Scorers by name: found, checked whole, made; callables of one's own."""

import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from agentbench_tui.model.answer import Answer, Case, GraderFailure, Score
from agentbench_tui.model.errors import UsageError
from agentbench_tui.scoring import registry
from agentbench_tui.scoring.registry import check_scorer, make_scorer, scorer_names

CASE = Case("case", "question", "yes")


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("exct", 'there is no scorer "exct" (did you mean "exact"?)'),
        ("qqqq", 'there is no scorer "qqqq"; there are contains, exact'),
        ({"exact": {"stripp": True}}, 'exact: there is no option `stripp` (did you mean "strip"?)'),
        ({"exact": {"strip": "yes"}}, "exact: `strip`: input should be a valid boolean, not 'yes'"),
        ({"json_schema": {"schem": {}}}, '`schem` (did you mean "schema"?)'),
        ({"exact": 3}, "exact: options are a table of names and values, not 3"),
        ({"exact": {}, "regex": {}}, "a scorer is one name with its options"),
        ({}, "a scorer is one name with its options"),
        ({"exact": {}, "as": "a b"}, "`as` must be a name"),
        (3, "a scorer is a name or {name: options}, not 3"),
        ("python:nope_nope:f", "cannot import `nope_nope`"),
        ("python:os:pth", '`os` has no `pth` (did you mean "path"?)'),
        ("python:os:sep", "not callable"),
        ("python:os", "expected python:MODULE:FUNCTION"),
        ("python:none.py:f", "/none.py`"),
    ],
)
def test_problem_is_told_with_the_nearest_name(spec: object, problem: str) -> None:
    problems = check_scorer(spec)
    assert len(problems) == 1
    assert problem in problems[0]


def test_all_problems_at_once() -> None:
    spec = {"contains": {"need": "some", "wholewords": True, "forbidden": 1}}
    assert len(check_scorer(spec)) == 3
    with pytest.raises(UsageError) as caught:
        make_scorer(spec)
    assert str(caught.value).count("contains:") == 3


@pytest.mark.parametrize("name", scorer_names())
def test_every_scorer_can_be_made(name: str) -> None:
    options: dict[str, Any] = {
        "model_graded": {"judges": ["j"], "rubric": "r"},
        "weighted": {"parts": [{"scorer": "exact"}]},
    }.get(name, {})
    spec = {name: options}
    assert check_scorer(spec) == []
    scorer = make_scorer(spec)
    assert (scorer.name, scorer.kind) == (name, name)
    assert scorer.options.keys() >= options.keys()
    assert check_scorer({name: scorer.options}) == []  # what is stored can be made again


def test_label_is_what_scores_carry() -> None:
    scorer = make_scorer({"exact": {}, "as": "strictly"})
    result = scorer.score(CASE, Answer("yes"))
    assert isinstance(result, Score)
    assert result.scorer == scorer.name == "strictly"


def test_one_scorer_does_not_load_the_others() -> None:
    program = (
        "import sys; from agentbench_tui.scoring.registry import make_scorer; make_scorer('exact');"
        "print([m for m in sys.modules if m in {'jsonschema', 'numpy', 'genai_prices', 'asyncio'}"
        " or m.startswith('agentbench_tui.scoring.j')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


SCORERS = """
import numpy as np
from agentbench_tui.model.answer import GraderFailure, Score

def flag(case, answer): return answer.text == case.expected
def number(case, answer, scale=1.0): return len(answer.text) / 10 * scale
def table(case, answer): return {"value": 0.5, "reason": "half", "completeness": 0.25}
def only_correct(case, answer): return {"correct": True}
def score(case, answer): return Score("mine", 1.0, True)
async def later(case, answer): return 0.25
def numpys(case, answer): return np.float32(0.5)
def numpys_bool(case, answer): return np.bool_(True)
def numpys_score(case, answer): return Score("mine", np.float32(0.5), np.float64(0.5) > 0.2)
def numpys_table(case, answer): return {"value": np.float64(1)}
def wrong_score(case, answer): return Score("mine", 0.5, "yes")
def array(case, answer): return {"value": np.array([1.0, 0.5])}
def wrong_type(case, answer): return "yes"
def wrong_range(case, answer): return 2
def not_a_number(case, answer): return float("nan")
def wrong_table(case, answer): return {"value": 1, "corect": True}
def raises(case, answer): raise KeyError("x")
async def raises_later(case, answer): raise KeyError("x")
def refuses(case, answer): raise GraderFailure("cannot tell")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(SCORERS)
    return tmp_path


async def run(spec: object, folder: Path) -> Score:
    assert check_scorer(spec, base_dir=folder) == []
    result = make_scorer(spec, base_dir=folder).score(CASE, Answer("yes"))  # type: ignore[arg-type]  # an object, as in a suite
    return result if isinstance(result, Score) else await result


@pytest.mark.parametrize(
    ("name", "value", "right"),
    [
        ("flag", 1, True),
        ("number", 0.3, False),
        ("table", 0.5, False),
        ("only_correct", 1, True),
        ("score", 1, True),
        ("later", 0.25, False),
        ("numpys", 0.5, False),
        ("numpys_bool", 1, True),
        ("numpys_score", 0.5, True),
        ("numpys_table", 1, True),
    ],
)
async def test_callable_may_return_several_forms(
    folder: Path, name: str, value: float, right: bool
) -> None:
    score = await run({f"python:mine.py:{name}": None, "as": "mine"}, folder)
    assert (score.value, score.correct, score.scorer) == (pytest.approx(value), right, "mine")
    assert (type(score.value), type(score.correct)) == (float, bool)


async def test_callable_takes_options_and_fields(folder: Path) -> None:
    assert (await run({"python:mine.py:number": {"scale": 2}}, folder)).value == 0.6
    table = await run("python:mine.py:table", folder)
    assert (table.reason, table.completeness) == ("half", 0.25)


@pytest.mark.parametrize(
    "name",
    [
        "wrong_type",
        "wrong_score",
        "array",
        "wrong_range",
        "not_a_number",
        "wrong_table",
        "raises",
        "raises_later",
        "refuses",
    ],
)
async def test_callable_that_cannot_judge_is_the_graders_failure(folder: Path, name: str) -> None:
    with pytest.raises(GraderFailure):
        await run(f"python:mine.py:{name}", folder)


async def test_callable_in_a_module_beside_the_suite(folder: Path) -> None:
    (folder / "scorers_beside.py").write_text(SCORERS)
    before = list(sys.path)
    assert (await run("python:scorers_beside:flag", folder)).correct
    assert sys.path[: len(before)] == before  # looked for after all others


def test_scorers_of_other_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    group = registry.ENTRY_POINTS
    entries = {
        "theirs": EntryPoint("theirs", "agentbench_tui.scoring.text.text:RECIPES", group),
        "broken": EntryPoint("broken", "no_such_module:x", group),
        "exactly": EntryPoint("exactly", "tests_scoring_plugin:RECIPE", group),
    }
    plugin = type(sys)("tests_scoring_plugin")
    from agentbench_tui.scoring.text.text import RECIPES

    plugin.RECIPE = RECIPES["exact"]  # type: ignore[attr-defined]  # a module made here
    monkeypatch.setitem(sys.modules, "tests_scoring_plugin", plugin)
    monkeypatch.setattr(registry, "_plugins", lambda: entries)
    assert "theirs" in scorer_names()
    assert "is not a Recipe" in check_scorer("theirs")[0]
    assert "cannot be loaded" in check_scorer("broken")[0]
    result = make_scorer("exactly").score(CASE, Answer("yes"))
    assert isinstance(result, Score)
    assert result.correct
