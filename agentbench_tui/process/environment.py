"""Environment of a child process: the variables that it needs, without secrets, and its Python."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping

PASSED = frozenset({"PATH", "HOME", "LANG", "TMPDIR", "TZ", "USER", "VIRTUAL_ENV"})
"""Every child gets these."""
_PASSED_PREFIXES = ("PYTHON", "LC_")


def child_environment(
    names: Iterable[str] = (), source: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the variables that a child starts with: those that programs need, and those in
    `names`.

    Keys and tokens are passed only when named. `source` is our own environment when left out.
    """
    given = os.environ if source is None else source
    wanted = PASSED.union(names)
    passed = {
        name: value
        for name, value in given.items()
        if name in wanted or name.startswith(_PASSED_PREFIXES)
    }
    if passed.get("PYTHONPATH"):
        # Relative entries mean our folder; the child may start in another.
        entries = passed["PYTHONPATH"].split(os.pathsep)
        passed["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, entries))
    return passed


def python_module(name: str, *arguments: str) -> list[str]:
    """Return the command that runs a module by this Python, whatever the current folder
    contains.

    Without `-P` a file there, such as `queue.py`, would replace the module of the same name.
    """
    return [sys.executable, "-P", "-m", name, *arguments]
