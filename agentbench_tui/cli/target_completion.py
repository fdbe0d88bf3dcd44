"""Completes `[ID=]python:FILE.py:FUNCTION` targets, without executing any of the user's code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypeGuard

_TARGET = re.compile(r"(?P<id>(?:[^=:/]*=)?)(?P<rest>.*)")
_SCHEME = "python:"
_MOST_BYTES = 1_000_000
"""A larger file is not parsed: nobody wrote it by hand."""
_DEEPEST = 8
"""Folders that are entered because they are the only candidate."""


def completed_targets(typed: str) -> list[str]:
    """Return the targets that begin with `typed`: files and folders, or functions of a file.

    A file is offered with its functions if it is the only one, so that the word is complete.
    """
    parts = _TARGET.fullmatch(typed)
    if parts is None:
        return []
    start, rest = parts["id"], parts["rest"]
    if not rest.startswith(_SCHEME):
        # Only with a first letter: a list of one scheme would hide that there are others.
        if not rest or not _SCHEME.startswith(rest):
            return []
        rest = _SCHEME
    file, colon, name = rest.removeprefix(_SCHEME).partition(":")
    places = _functions(file, name) if colon else _places(file)
    return [f"{start}{_SCHEME}{place}" for place in places if place.isprintable()]


def _places(typed: str) -> list[str]:
    """Return files and folders; of a single file its functions, of a single folder its content."""
    found = list(_entries(typed))
    for _ in range(_DEEPEST):
        if len(found) != 1 or not found[0].endswith("/"):
            break
        found = list(_entries(found[0]))
    if len(found) == 1 and found[0].endswith(".py"):
        return _functions(found[0], "") or found
    return found


def _entries(typed: str) -> Iterator[str]:
    """Yield Python files, and folders with a slash at the end, as they would be typed."""
    folder, slash, name = typed.rpartition("/")
    parent = Path(f"{folder}{slash}") if slash else Path()
    with suppress(OSError):
        for entry in sorted(parent.iterdir()):
            if not entry.name.startswith(name) or entry.name.startswith((".", "__")):
                continue
            if entry.is_dir():
                yield f"{folder}{slash}{entry.name}/"
            elif entry.suffix == ".py" and entry.is_file():
                yield f"{folder}{slash}{entry.name}"


def _functions(file: str, typed: str) -> list[str]:
    """Return `file:NAME` of each public function, and of each class with a method `answer`."""
    path = Path(file)
    if path.suffix != ".py":
        return []
    with suppress(OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return []
        names = dict.fromkeys(map(_name_of_agent, ast.parse(path.read_bytes()).body))
        return [f"{file}:{name}" for name in names if name and name.startswith(typed)]
    return []


def _name_of_agent(node: ast.stmt) -> str:
    """Return the name of a public function or of a class with a method `answer`, else `""`."""
    if isinstance(node, ast.ClassDef):
        is_agent = any(_is_function(part) and part.name == "answer" for part in node.body)
    elif _is_function(node):
        is_agent = True
    else:
        return ""
    return node.name if is_agent and not node.name.startswith("_") else ""


def _is_function(node: ast.stmt) -> TypeGuard[ast.FunctionDef | ast.AsyncFunctionDef]:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
