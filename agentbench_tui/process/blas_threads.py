"""Threads of the linear algebra behind numpy: for the small tables of verdicts they spend more CPU
time on waiting for each other than on computing, hold memory, and take cores that a benchmark on
the same machine needs.
"""

from __future__ import annotations

import os
import sys

_VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")
"""Read by the libraries when numpy loads them."""


def ask_for_one_thread() -> list[str]:
    """Let numpy compute with one thread once it is imported; return the variables that were set.

    What the environment already says stays. Child processes inherit the setting.
    """
    ours = [name for name in _VARIABLES if name not in os.environ]
    os.environ.update(dict.fromkeys(ours, "1"))
    return ours


def load_numpy_with_one_thread() -> None:
    """Import numpy with one thread, and leave the environment of child processes as it was.

    Nothing happens if numpy is already loaded.
    """
    if "numpy" in sys.modules:
        return
    ours = ask_for_one_thread()
    try:
        import numpy as np  # noqa: F401  # loads the library
    finally:
        for name in ours:
            del os.environ[name]
