"""Python callables as targets: by module and name, or as objects of the calling program."""

from __future__ import annotations

import functools
import hashlib
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from agentbench_tui.agents.python.session_objects import Place, SessionObject, taken_by_other

_MAIN = "__main__"
_PLAIN = re.compile(r"[\w./ -]+")
"""What a target may hold unescaped."""
_DIGITS = 12


@dataclass(frozen=True, slots=True)
class NamedCallable:
    """A callable with the target that leads to it."""

    place: Place
    """Module and name; for a function of the script that runs, the script's file and the name."""
    base_dir: str
    """Folder in which the module or the file lies."""
    name: str
    """Short name for people."""
    object: SessionObject

    @property
    def target(self) -> str:
        """The target that leads to it."""
        return f"python:{self.place[0]}:{self.place[1]}"


def named_callable(
    value: Callable[..., Any] | object,
    others: Mapping[Place, SessionObject] = MappingProxyType({}),
    *,
    by_source: bool = False,
) -> NamedCallable:
    """Name a function, class or object. `others` are objects of the same call, whose places are
    taken. With `by_source`, the name of what only this process knows also says which source code
    it has.

    A function of an imported module is named by that module, so that any process finds it; one of
    the script that runs by the script's file. Everything else is found in this process alone.
    """
    module = getattr(value, "__module__", None) or _MAIN
    path = str(getattr(value, "__qualname__", None) or type(value).__qualname__)
    short = str(getattr(_function(value), "__name__", None) or type(value).__name__)
    importable = SessionObject(value, is_importable=True)
    if module == _MAIN and (own := _module_that_runs()) and _leads_to(value, _MAIN, path):
        return NamedCallable((own, path), str(Path.cwd()), short, importable)
    if module != _MAIN and _leads_to(value, module, path):
        return NamedCallable((module, path), _folder_of(module), short, importable)
    script = _script() if module == _MAIN and _leads_to(value, _MAIN, path) else None
    if script is not None:
        return NamedCallable((script.name, path), str(script.parent), short, importable)
    # Under this name no other process finds what it must not take for the object.
    module = _MAIN
    if by_source and (version := source_version(value)) is not None:
        path = f"{path}@{version}"
    place = _free_place(module, path, value, others)
    return NamedCallable(place, str(Path.cwd()), short, SessionObject(value))


def source_version(value: object) -> str | None:
    """Return digits of a hash of the source code of a callable; None if the source is unknown."""
    function = inspect.unwrap(_function(value))
    is_source = inspect.isclass(function) or inspect.isroutine(function)
    text = _source_of(function if is_source else type(value))
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS] if text else None


def _source_of(value: Any) -> str:
    """Source code; of a class without a file, as in a notebook, that of its methods."""
    try:
        return textwrap.dedent(inspect.getsource(value))
    except (OSError, TypeError):
        methods = filter(inspect.isfunction, vars(value).values()) if inspect.isclass(value) else ()
        return "".join(map(_source_of, methods))


def _function(value: Any) -> Any:
    while isinstance(value, functools.partial):
        value = value.func
    return value


def _leads_to(value: object, module: str, path: str) -> bool:
    """Whether the module's attribute of that dotted name is the value."""
    found: Any = sys.modules.get(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    return found is value


def _folder_of(module: str) -> str:
    """The folder in which an import finds the module's top package."""
    top = sys.modules[module.partition(".")[0]]
    file = getattr(top, "__file__", None)
    if file is None:  # built in, or a namespace package
        return str(Path.cwd())
    folder = Path(file).resolve().parent
    return str(folder.parent if hasattr(top, "__path__") else folder)


def _module_that_runs() -> str | None:
    """The name by which other processes import the program, where it is run by `python -m`."""
    spec = getattr(sys.modules[_MAIN], "__spec__", None)
    return None if spec is None else str(spec.name)


def _script() -> Path | None:
    """The file that this process executes as its program; None in a notebook or on a prompt."""
    main = sys.modules[_MAIN]
    file = getattr(main, "__file__", None)
    if file is None or getattr(main, "__spec__", None) is not None:
        return None
    path = Path(file).resolve()
    return path if path.suffix == ".py" and path.is_file() and _PLAIN.fullmatch(path.name) else None


def _free_place(
    module: str, path: str, value: object, others: Mapping[Place, SessionObject]
) -> Place:
    """The place by module and name; numbered where a run uses another object under that name, as
    for two closures of one function."""
    place, number = (module, path), 1
    while taken_by_other(place, value) or (place in others and others[place].value is not value):
        number += 1
        place = module, f"{path}-{number}"
    return place
