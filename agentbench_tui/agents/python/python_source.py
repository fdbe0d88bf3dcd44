"""Finds the function that a `python:` target names, and locates errors in user code."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
import sysconfig
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from agentbench_tui.agents.python.session_objects import session_object
from agentbench_tui.model.errors import did_you_mean, message_of
from agentbench_tui.model.process_exit import SignalInterrupt
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.process.supervision import note_call

_MESSAGE_CHARACTERS = 500
_MAIN = "__main__"
_importing = threading.local()


class TargetNotFound(Exception):
    """The module cannot be imported, or has no such name."""


class Origin(msgspec.Struct, frozen=True):
    """Location of a function."""

    module: str
    """Dotted name, or a path that ends in `.py`."""
    name: str
    """Name of the function or class, dotted if nested."""
    base_dir: str = ""
    """Base of a relative file, also searched for modules."""

    @property
    def is_file(self) -> bool:
        """Return whether the module is given as a file."""
        return self.module.endswith(".py") or "/" in self.module

    def __str__(self) -> str:
        return f"{self.module}:{self.name}"


def load(origin: Origin) -> Any:
    """Return the object that `origin` names. Runs the module's code; raises TargetNotFound."""
    if not origin.module or not origin.name:
        raise TargetNotFound(
            f"`python:{origin.module or origin.name}`: expected python:MODULE:FUNCTION, such as"
            " python:my_agent.py:answer"
        )
    known = session_object(origin.module, origin.name)
    if known is not None:
        return known.value
    if origin.module == _MAIN:
        raise TargetNotFound(
            f"`{origin.name}` belongs to a Python session and cannot be imported here; write it to"
            " a file and name that: python:FILE.py:FUNCTION"
        )
    note_call(f"import of {origin.module}")
    try:
        with _noted_import(origin.module):
            module = _load_file(origin) if origin.is_file else _load_module(origin)
    except TargetNotFound:
        raise
    except SignalInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 (whatever the user's module raises, or exits by)
        raise TargetNotFound(f"cannot import `{origin.module}`: {describe(error)}") from None
    found: Any = module
    for part in origin.name.split("."):
        if not hasattr(found, part):
            names = [name for name in vars(found) if not name.startswith("_")]
            raise TargetNotFound(
                f"`{origin.module}` has no `{origin.name}`{did_you_mean(part, names)}"
            )
        found = getattr(found, part)
    return found


def module_being_imported() -> str | None:
    """Return the module of a target whose code this thread is executing, because agentbench
    imports it; None outside of such an import."""
    found: str | None = getattr(_importing, "module", None)
    return found


@contextmanager
def _noted_import(module: str) -> Iterator[None]:
    before = module_being_imported()
    _importing.module = module
    try:
        yield
    finally:
        _importing.module = before


def describe(error: BaseException) -> str:
    """Return `TypeName: message (file:line)`, located at the last frame of the user's code."""
    message = one_line(message_of(error), _MESSAGE_CHARACTERS)
    text = f"{type(error).__name__}: {message}" if message else type(error).__name__
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith((_OURS, "<"))
    ]
    own = [frame for frame in frames if not frame.filename.startswith(_LIBRARIES)]
    return f"{text} ({Path(own[-1].filename).name}:{own[-1].lineno})" if own else text


_OURS = str(Path(__file__).parents[2])
_LIBRARIES = tuple(
    {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
)


def _load_module(origin: Origin) -> ModuleType:
    _search_in(str(Path(origin.base_dir).resolve()))
    return importlib.import_module(origin.module)


def _load_file(origin: Origin) -> ModuleType:
    path = Path(origin.base_dir, origin.module).resolve()
    if not path.is_file():
        raise TargetNotFound(f"no file `{path}`")
    digest = hashlib.sha256(str(path).encode()).hexdigest()[:12]
    name = f"agentbench_agent_{digest}"
    if name in sys.modules:
        return sys.modules[name]
    _search_in(str(path.parent))
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise TargetNotFound(f"`{path}` is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _search_in(folder: str) -> None:
    """Let imports find modules in `folder` after all other folders, including modules created
    during a run.
    """
    if folder not in sys.path:
        sys.path.append(folder)
