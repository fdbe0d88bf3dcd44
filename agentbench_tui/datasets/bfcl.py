"""Single-turn tasks of the Berkeley Function-Calling Leaderboard, from the package bfcl-eval.

Used in a suite as `python:agentbench_tui.datasets.bfcl:tasks` with the parameter `category`.
Only the package's data files are read; nothing of it is imported.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from agentbench_tui.model.errors import UsageError, did_you_mean

CATEGORIES = (
    *("simple_python", "multiple", "parallel", "parallel_multiple", "irrelevance"),
    *("live_simple", "live_multiple", "live_parallel", "live_parallel_multiple"),
    *("live_irrelevance",),
)
"""Those whose tasks are one turn, answered by calls of functions with JSON arguments."""

_INSTALL = "pip install --no-deps bfcl-eval"  # it pins libraries of model vendors, unused here
_TYPES = {"dict": "object", "float": "number", "tuple": "array"}
"""Names of types that JSON Schema does not have → those that it has."""


def tasks(category: str) -> Iterator[dict[str, Any]]:
    """Yield the cases of a category, in the package's order.

    `expected` holds, for each call, the allowed values of its arguments (`possible_answers` of
    the scorer `tool_calls`), and is empty where no function fits the question. Dots in names of
    functions are underscores, since most model servers refuse dots. Raises UsageError.
    """
    if category not in CATEGORIES:
        known = ", ".join(CATEGORIES)
        near = did_you_mean(category, CATEGORIES)
        raise UsageError(f'no category "{category}" of bfcl-eval{near}; known: {known}')
    folder, name = _data_folder(), f"BFCL_v4_{category}.json"
    answers = {}
    if not category.endswith("irrelevance"):
        for record in _lines(folder / "possible_answer" / name):
            answers[record["id"]] = record["ground_truth"]
    for record in _lines(folder / name):
        (turn,) = record["question"]
        yield {
            "id": record["id"],
            "messages": turn,
            "tools": [_tool(function) for function in record["function"]],
            "expected": [_expected(call) for call in answers.get(record["id"], ())],
        }


def json_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Convert a description of parameters to JSON Schema: types by their JSON names, `any` without
    one.

    The key `optional` is left out (`required` says it), and arrays get `items`.
    """
    made = {key: value for key, value in schema.items() if key not in {"type", "optional"}}
    kind = schema.get("type", "any")
    if kind != "any":
        made = {"type": _TYPES.get(kind, kind), **made}
    if "properties" in schema:
        made["properties"] = {
            name: json_schema(inner) for name, inner in schema["properties"].items()
        }
    if "items" in schema or made.get("type") == "array":
        made["items"] = json_schema(schema.get("items", {}))
    return made


def _data_folder() -> Path:
    spec = find_spec("bfcl_eval")
    places = (spec.submodule_search_locations if spec is not None else None) or ()
    for place in places:
        folder = Path(place) / "data"
        if folder.is_dir():
            return folder
    raise UsageError(f"these tasks are in the package bfcl-eval; install it with `{_INSTALL}`")


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with path.open(encoding="utf-8") as file:
            for line in file:
                yield json.loads(line)
    except FileNotFoundError:
        raise UsageError(
            f"this bfcl-eval has no {path.name}; install a newer one with `{_INSTALL}`"
        ) from None


def _tool(function: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": _name(function["name"]),
        "description": function["description"],
        "parameters": json_schema(function["parameters"]),
    }


def _expected(call: dict[str, Any]) -> dict[str, Any]:
    ((name, arguments),) = call.items()
    return {_name(name): arguments}


def _name(name: str) -> str:
    return name.replace(".", "_")
