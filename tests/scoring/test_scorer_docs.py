"""Every example of docs/scorers.md does what the page says."""

import re
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from agentbench_tui.model.answer import Answer, Case, Score, ToolCall
from agentbench_tui.scoring.registry import check_scorer, make_scorer, scorer_names

PAGE = (Path(__file__).parents[2] / "docs" / "scorers.md").read_text(encoding="utf-8")
YAML_BLOCK = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [YAML(typ="safe").load(block) for block in YAML_BLOCK.findall(PAGE)]
EXAMPLES = [block for block in BLOCKS if "scorer" in block]
PYTHON = re.search(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


class FixedJudge:
    """A judge that finds every answer worth 4 of 5."""

    pids = ()

    async def start(self) -> None: ...

    async def answer(self, request: Any) -> Answer:
        return Answer('{"reason": "a little short", "grade": 4}')

    async def close(self) -> None: ...


async def open_fixed_judge(target: str) -> FixedJudge:
    return FixedJudge()


def answer_of(example: dict[str, Any]) -> Answer:
    said = example.get("answer", "")
    calls = tuple(ToolCall(**call) for call in example.get("calls", ()))
    if isinstance(said, str):
        return Answer(said, tool_calls=calls)
    return Answer(data=said, tool_calls=calls)


@pytest.mark.parametrize("block", EXAMPLES, ids=lambda block: str(block["scorer"])[:40])
async def test_example_gives_the_values_of_the_page(block: dict[str, Any], tmp_path: Path) -> None:
    assert PYTHON is not None
    (tmp_path / "scorers.py").write_text(PYTHON[1])
    scorer = make_scorer(block["scorer"], open_judge=open_fixed_judge, base_dir=tmp_path)
    case = Case(
        "example",
        block.get("input", ""),
        expected=block.get("expected"),
        metadata=block.get("metadata", {}),
    )
    for example in block["answers"]:
        score = scorer.score(case, answer_of(example))
        score = score if isinstance(score, Score) else await score
        assert score.value == pytest.approx(example["value"]), (example, score)
    await scorer.close()


def test_list_of_scorers_is_valid() -> None:
    (listed,) = [block["scorers"] for block in BLOCKS if "scorers" in block]
    assert [check_scorer(spec) for spec in listed] == [[], [], []]


def test_every_scorer_has_a_section_and_an_example() -> None:
    sections = set(re.findall(r"^### (\S+)", PAGE, re.MULTILINE))
    assert sections == {*scorer_names(), "python:module:function"}
    shown = {
        block["scorer"] if isinstance(block["scorer"], str) else next(iter(block["scorer"]))
        for block in EXAMPLES
    }
    assert set(scorer_names()) <= shown


def test_every_option_is_named_on_the_page() -> None:
    from importlib import import_module

    from agentbench_tui.scoring import registry

    for name, module in registry._MODULES.items():
        recipe = import_module(f"agentbench_tui.scoring.{module}").RECIPES[name]
        for option, info in recipe.options.model_fields.items():
            assert f"`{info.alias or option}`" in PAGE, f"{name}: {option}"


def test_the_suite_of_several_scorers_is_valid(tmp_path: Path) -> None:
    from agentbench_tui.engine.suite.loading import load_suite
    from agentbench_tui.engine.suite.validation import validate_suite
    from agentbench_tui.scoring.benchmark_metrics import scorer_metrics

    assert PYTHON is not None
    (tmp_path / "scorers.py").write_text(PYTHON[1])
    block = re.search(r"^<!-- suite -->\n```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert block is not None
    (tmp_path / "sums.yaml").write_text(block[1])
    loaded = load_suite(tmp_path / "sums.yaml")
    assert validate_suite(loaded) == []
    (benchmark,) = loaded.suite.benchmarks
    names = [metric.name for metric in scorer_metrics(benchmark.scorers)]
    assert names == ["calls", "answer", "shorter_than"]
