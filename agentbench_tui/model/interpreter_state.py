"""Restores the parts of Python that user code in this process has broken.

User code shares modules, the path of imports, built-in functions and the recursion limit with
agentbench. `restore_imports` is called after each call of user code, so it only compares counts.
`restore` compares everything, and is called when something has failed.
"""

from __future__ import annotations

import builtins
import sys
import threading
from types import ModuleType
from typing import Any

# Bound here, because the built-in names may be what is broken.
_length, _missing = len, object()
_recursion_limit = sys.getrecursionlimit


class _State:
    """State of the interpreter before user code was called."""

    def __init__(self) -> None:
        self.limit = sys.getrecursionlimit()
        self.path = sys.path
        self.entries = [*sys.path]
        self.modules = sys.modules
        self.loaded: dict[str, ModuleType] = {**sys.modules}
        self.builtins: dict[str, Any] = {**vars(builtins)}
        self.hooks = [
            (sys, "excepthook", sys.excepthook),
            (sys, "unraisablehook", sys.unraisablehook),
            (threading, "excepthook", threading.excepthook),
        ]


_state: _State | None = None
_restored: dict[str, None] = {}
"""Names of parts that agentbench needs and that were restored since `remember`."""


def remember() -> None:
    """Record the present state as the intact one."""
    global _state  # noqa: PLW0603 (of this process)
    _state = _State()
    _restored.clear()  # else a later run would blame code of an earlier one


def remember_again() -> None:
    """Record the present state again, if one was recorded: else the process is not agentbench's."""
    if _state is not None:
        remember()


def restore_imports() -> None:
    """Restore modules, the path and the recursion limit if user code has removed or lowered them.

    Raising the limit and adding modules or entries of the path is left as it is.
    """
    state = _state
    if state is None:
        return
    if (
        sys.path is state.path
        and sys.modules is state.modules
        and _length(state.path) >= _length(state.entries)
        and _length(state.modules) >= _length(state.loaded)
        and _recursion_limit() >= state.limit
    ):
        return
    _restore_imports(state)


def restore() -> tuple[str, ...]:
    """Restore everything; return what was replaced or removed since `remember`, such as
    `builtins.len`, also by earlier calls.

    Hooks are restored but not returned: `rich.traceback.install()` replaces some, for example, and
    that makes nothing of agentbench fail.
    """
    state = _state
    if state is not None:
        # First, since all else needs them.
        for name in state.builtins:
            if builtins.__dict__.get(name, _missing) is not state.builtins[name]:
                builtins.__dict__[name] = state.builtins[name]
                _restored[f"builtins.{name}"] = None
        _restore_imports(state)
        for owner, name, value in state.hooks:
            if getattr(owner, name, None) is not value:
                setattr(owner, name, value)
    return (*_restored,)


def _restore_imports(state: _State) -> None:
    if sys.modules is not state.modules or not state.loaded.keys() <= state.modules.keys():
        sys.modules = state.modules
        for name, module in state.loaded.items():
            state.modules.setdefault(name, module)
        _restored["sys.modules"] = None
    found: object = sys.path
    present = found if isinstance(found, list) else []
    if present is not state.path:
        state.path[:] = present
        sys.path = state.path
    if lost := [entry for entry in state.entries if entry not in present]:
        state.path.extend(lost)
        _restored["sys.path"] = None
    if sys.getrecursionlimit() < state.limit:
        sys.setrecursionlimit(state.limit)
        _restored["sys.setrecursionlimit()"] = None
