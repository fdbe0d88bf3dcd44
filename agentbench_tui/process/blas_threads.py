"""Threads of the linear algebra behind numpy: each holds memory, and takes a core that a benchmark
on the same machine needs.
"""

from __future__ import annotations

import os
import sys

_VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")
"""Read by the libraries when they are loaded."""


def load_numpy_with_one_thread() -> None:
    """Import numpy with one thread of linear algebra, unless the environment asks for more.

    Child processes keep the environment that they would have had. Nothing happens if numpy is
    already loaded.
    """
    if "numpy" in sys.modules:
        return
    ours = [name for name in _VARIABLES if name not in os.environ]
    os.environ.update(dict.fromkeys(ours, "1"))
    try:
        import numpy as np  # noqa: F401  # loads the library
    finally:
        for name in ours:
            del os.environ[name]
