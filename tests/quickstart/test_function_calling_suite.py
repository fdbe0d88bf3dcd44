"""The suite `function-calling`, and the tasks that it reads out of the package bfcl-eval."""

import importlib.util
import json
import sys
from pathlib import Path
from textwrap import dedent

import jsonschema
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from shipped import reasons, right, run_shipped, score

from agentbench_tui.datasets import bfcl
from agentbench_tui.model.errors import UsageError

needs_package = pytest.mark.skipif(
    importlib.util.find_spec("bfcl_eval") is None, reason="needs the package bfcl-eval"
)

AGENTS = dedent(
    """
    import json
    from importlib.util import find_spec
    from pathlib import Path

    folder = Path(find_spec("bfcl_eval").submodule_search_locations[0]) / "data/possible_answer"
    truth = {}
    for category in ("simple_python", "multiple", "parallel"):
        for line in (folder / f"BFCL_v4_{category}.json").read_text().splitlines():
            record = json.loads(line)
            truth[record["id"]] = record["ground_truth"]

    def plain(value):
        if isinstance(value, dict):
            return {key: chosen(allowed) for key, allowed in value.items() if allowed != [""]}
        return [plain(item) for item in value] if isinstance(value, list) else value

    def chosen(allowed):
        return plain([value for value in allowed if value != ""][-1])

    def calls(request, change):
        made = []
        for entry in truth.get(request.case.id, ()):
            ((name, arguments),) = entry.items()
            given = {key: chosen(allowed) for key, allowed in arguments.items() if allowed != [""]}
            made.append({"name": name, "arguments": {k: change(v) for k, v in given.items()}})
        return {"tool_calls": made[::-1]}

    def told(request):
        return calls(request, lambda value: value)

    def wrong(request):
        return calls(request, lambda value: {"another": value})

    def first_tool(request):
        return {"tool_calls": [{"name": request.case.tools[0]["name"], "arguments": {}}]}
    """
)


@needs_package
async def test_the_known_answers_are_right_and_wrong_values_score_nothing(tmp_path: Path) -> None:
    (tmp_path / "agents.py").write_text(AGENTS)
    names = ("told", "wrong", "first_tool")
    agents = [f"{name}=python:agents.py:{name}?inline=true" for name in names]
    result = await run_shipped(tmp_path, "function-calling", *agents)

    assert reasons(result, "told") == []
    assert right(result, "told") == (1040, 1040)
    assert score(result, "told") == 1
    # Those without a call to make are right.
    assert right(result, "wrong") == (240, 1040)
    assert score(result, "wrong") == 0.25
    assert right(result, "first_tool")[0] < 10


@needs_package
@pytest.mark.parametrize("category", ["simple_python", "parallel", "irrelevance"])
def test_tools_are_valid_json_schema_and_their_names_are_taken_everywhere(category: str) -> None:
    for task in bfcl.tasks(category):
        for tool in task["tools"]:
            jsonschema.Draft202012Validator.check_schema(tool["parameters"])
            assert tool["name"].replace("_", "").replace("-", "").isalnum()
        offered = {tool["name"] for tool in task["tools"]}
        assert {name for call in task["expected"] for name in call} <= offered


def test_types_get_their_names_in_json_schema_and_argument_names_stay() -> None:
    given = {
        "type": "dict",
        "properties": {
            "type": {"type": "float", "description": "A kind", "optional": True},
            "pair": {"type": "tuple"},
            "rows": {"type": "array", "items": {"type": "dict", "properties": {}}},
            "any": {"type": "any", "default": 1},
        },
        "required": ["type"],
    }
    assert bfcl.json_schema(given) == {
        "type": "object",
        "properties": {
            "type": {"type": "number", "description": "A kind"},
            "pair": {"type": "array", "items": {}},
            "rows": {"type": "array", "items": {"type": "object", "properties": {}}},
            "any": {"default": 1},
        },
        "required": ["type"],
    }


def test_a_missing_package_is_answered_with_what_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bfcl, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="pip install --no-deps bfcl-eval"):
        next(bfcl.tasks("simple_python"))


def test_an_unknown_category_is_answered_with_the_nearest() -> None:
    with pytest.raises(UsageError, match='did you mean "parallel"'):
        next(bfcl.tasks("paralel"))


def test_a_package_of_another_layout_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "bfcl_eval"
    (package / "data").mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError('heavy things are missing')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "bfcl_eval", raising=False)
    with pytest.raises(UsageError, match=r"no BFCL_v4_irrelevance\.json"):
        next(bfcl.tasks("irrelevance"))
    line = {"id": "a", "question": [[{"role": "user", "content": "hi"}]], "function": []}
    (package / "data" / "BFCL_v4_irrelevance.json").write_text(json.dumps(line) + "\n")
    # Nothing of the package is imported, or its __init__ would have raised.
    assert next(bfcl.tasks("irrelevance"))["expected"] == []
