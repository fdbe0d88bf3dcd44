"""Former names of scorers, which suites and stored runs may still use.

Apart from the registry, whose imports take longer than many a command that reads the store.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FORMER_NAMES = {"normalised": "normalized"}
"""Former name of a scorer → its name. The label of a scorer without `as`, and with it its metric,
is the name that the suite uses.
"""


def with_current_name(spec: str | Mapping[str, Any]) -> str | Mapping[str, Any]:
    """Return the specification with the current name of its scorer, for comparing two of them."""
    if isinstance(spec, str):
        return FORMER_NAMES.get(spec, spec)
    return {FORMER_NAMES.get(key, key): value for key, value in spec.items()}


def with_current_names(benchmark: dict[str, Any]) -> dict[str, Any]:
    """Return the stored definition of a benchmark with the current names of its scorers, so that
    one with a former name counts as the same.
    """
    scorers = benchmark.get("scorers")
    if not isinstance(scorers, list):
        return benchmark
    return benchmark | {"scorers": [with_current_name(one) for one in scorers]}
