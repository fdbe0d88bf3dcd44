"""The JSON Schema of suite files, for editors."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator
from itertools import pairwise
from types import ModuleType
from typing import TYPE_CHECKING, Any

from agentbench_tui.engine.kinds import find_runner
from agentbench_tui.model.kinds import is_known, kind_names

if TYPE_CHECKING:
    from pydantic import BaseModel

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def suite_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a suite as a person writes it.

    Looser than the loader in two ways: a number, truth value or list may be a text that refers to
    a parameter, and what one field demands of another is left to `agentbench suites validate`.
    """
    from agentbench_tui.model import suite

    schema = suite.Suite.model_json_schema(by_alias=False, mode="validation")
    schema["$defs"]["Benchmark"]["properties"]["kind"]["enum"] = [*kind_names()]
    schema["properties"]["suite_name"] = schema["properties"]["name"]
    schema["properties"]["$schema"] = {"type": "string"}
    referring = {"Benchmark", "AgentTable", "Dataset", "Constraints", "Iterations", "EarlyStop"}
    _describe({**schema["$defs"], "Suite": schema}, suite)
    for name, model in _blocks():
        block = model.model_json_schema(by_alias=False, mode="validation")
        parts = {**block.pop("$defs", {}), model.__name__: block}
        _describe(parts, inspect.getmodule(model))
        referring |= parts.keys()
        # What two blocks share is described by the first.
        schema["$defs"] = parts | schema["$defs"]
        schema["$defs"]["Benchmark"]["properties"][name] = {"$ref": f"#/$defs/{model.__name__}"}
    _allow_references(schema["$defs"], referring)
    return {"$schema": DIALECT, **schema, "title": "agentbench suite"}


def _blocks() -> Iterator[tuple[str, type[BaseModel]]]:
    """Yield each benchmark field that belongs to one kind only, and its model."""
    for name in kind_names():
        model = find_runner(name).block() if is_known(name) else None
        if model is not None:
            yield name, model


def _allow_references(definitions: Any, names: Iterable[str]) -> None:
    """Allow `${name}` wherever a benchmark or agent has a number, truth value or list."""
    reference = {"type": "string", "pattern": r"^\$\{[^{}]*\}$"}
    for name in names:
        for key, field in definitions[name]["properties"].items():
            if field.get("type") in {"integer", "number", "boolean", "array"}:
                notes = {"title", "default", "description"}
                outer = {note: field[note] for note in notes if note in field}
                inner = {part: value for part, value in field.items() if part not in notes}
                definitions[name]["properties"][key] = {**outer, "anyOf": [inner, reference]}
            elif "anyOf" in field:
                field["anyOf"].append(reference)


def _describe(parts: dict[str, Any], module: ModuleType | None) -> None:
    """Add the text under each field of the models to the schema, for editors to show.

    The text is read from the source here, because pydantic would read it at every start of the
    program.
    """
    assert module is not None, "models are defined in modules"
    for node in ast.parse(inspect.getsource(module)).body:
        if not isinstance(node, ast.ClassDef) or node.name not in parts:
            continue
        for field, text in pairwise(node.body):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                match text:
                    case ast.Expr(value=ast.Constant(value=str(said))):
                        described = parts[node.name]["properties"][field.target.id]
                        described["description"] = " ".join(said.split())
