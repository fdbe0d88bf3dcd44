"""The JSON Schema of suite files, for editors."""

from __future__ import annotations

import ast
import inspect
from itertools import pairwise
from typing import Any

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def suite_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of a suite as a person writes it.

    Looser than the loader in two ways: a number or truth value may be a text that refers to a
    parameter, and what one field demands of another is left to `agentbench suites validate`.
    """
    from agentbench_tui.model.suite import Suite

    schema = Suite.model_json_schema(by_alias=False, mode="validation")
    schema["properties"]["suite_name"] = schema["properties"]["name"]
    schema["properties"]["$schema"] = {"type": "string"}
    _allow_references(schema)
    _describe(schema)
    return {"$schema": DIALECT, **schema, "title": "agentbench suite"}


def _allow_references(schema: Any) -> None:
    """Let `${name}` stand wherever a benchmark or agent has a number or truth value."""
    definitions = schema["$defs"]
    reference = {"type": "string", "pattern": r"^\$\{[^{}]*\}$"}
    for name in ("Benchmark", "AgentTable", "Dataset", "Constraints", "Iterations", "EarlyStop"):
        for key, field in definitions[name]["properties"].items():
            if field.get("type") in {"integer", "number", "boolean"}:
                notes = {"title", "default", "description"}
                outer = {note: field[note] for note in notes if note in field}
                inner = {part: value for part, value in field.items() if part not in notes}
                definitions[name]["properties"][key] = {**outer, "anyOf": [inner, reference]}
            elif "anyOf" in field:
                field["anyOf"].append(reference)


def _describe(schema: dict[str, Any]) -> None:
    """Put the text under each field of the models into the schema, for editors to show.

    Read from the source here, because pydantic would do so at every start of the program.
    """
    from agentbench_tui.model import suite

    parts = {**schema["$defs"], "Suite": schema}
    for node in ast.parse(inspect.getsource(suite)).body:
        if not isinstance(node, ast.ClassDef) or node.name not in parts:
            continue
        for field, text in pairwise(node.body):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                match text:
                    case ast.Expr(value=ast.Constant(value=str(said))):
                        described = parts[node.name]["properties"][field.target.id]
                        described["description"] = " ".join(said.split())
