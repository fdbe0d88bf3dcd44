"""What of our environment a child gets to see: enough to run, no secrets."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

PASSED = frozenset({"PATH", "HOME", "LANG", "TMPDIR", "TZ", "USER", "VIRTUAL_ENV"})
"""Every child gets these."""
_PASSED_PREFIXES = ("PYTHON", "LC_")


def child_environment(
    names: Iterable[str] = (), source: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The variables a child starts with: those that programs need, and those listed in `names`.

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
