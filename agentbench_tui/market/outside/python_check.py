"""Checks a `python:` agent without running it: that the module exists and defines the name.

A market agent runs in a separate process, behind a barrier, so its module is not imported here, and
only its source is read. Other problems appear when it plays.
"""

from __future__ import annotations

import ast
import importlib.util
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING

from agentbench_tui.model.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.machinery import ModuleSpec

    from agentbench_tui.agents.python.python_source import Origin


def check_source(origin: Origin) -> list[str]:
    """Return known problems, one per line. Runs no code of the module."""
    if not origin.module or not origin.name:
        shown = f"`python:{origin.module or origin.name}`"
        return [f"{shown}: expected python:MODULE:FUNCTION, such as python:my_agent.py:answer"]
    if origin.is_file:
        path: Path | None = Path(origin.base_dir, origin.module).resolve()
        if path is not None and not path.is_file():
            return [f"no file `{path}`"]
    else:
        spec = _find(origin)
        if spec is None:
            return [f"cannot import `{origin.module}`: no such module"]
        path = Path(spec.origin) if spec.has_location and spec.origin else None
    if path is None or path.suffix != ".py":  # compiled, say: nothing can be read
        return []
    return _read(path, origin)


def _read(path: Path, origin: Origin) -> list[str]:
    try:
        tree = ast.parse(path.read_bytes(), str(path))
    except OSError as error:
        return [f"cannot import `{origin.module}`: {error.strerror}"]
    except (SyntaxError, ValueError) as error:
        line = f" ({path.name}:{error.lineno})" if isinstance(error, SyntaxError) else ""
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        return [f"cannot import `{origin.module}`: {type(error).__name__}: {reason}{line}"]
    names = set(_names(tree))
    wanted = origin.name.partition(".")[0]
    if wanted in names or names & {"*", "__getattr__"}:
        return []
    public = [name for name in names if not name.startswith("_")]
    return [f"`{origin.module}` has no `{origin.name}`{did_you_mean(wanted, public)}"]


def _find(origin: Origin) -> ModuleSpec | None:
    """Return the module's spec, without importing its parent packages."""
    first, *rest = origin.module.split(".")
    try:
        spec = importlib.util.find_spec(first)
    except (ImportError, ValueError):
        spec = None
    spec = spec or PathFinder.find_spec(first, [str(Path(origin.base_dir).resolve())])
    name = first
    for part in rest:
        if spec is None or spec.submodule_search_locations is None:
            return None
        name = f"{name}.{part}"
        spec = PathFinder.find_spec(name, [*spec.submodule_search_locations])
    return spec


def _names(tree: ast.Module) -> Iterator[str]:
    """Return all names bound anywhere in the module, possibly too many."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.alias):
            yield node.asname or node.name.partition(".")[0]
