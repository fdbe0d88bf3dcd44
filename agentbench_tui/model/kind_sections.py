"""Suites with kinds from other distributions: each such kind has its own table.

The models of `model.suite` are closed to unknown keys. Here they get a field for each kind that a
suite names and that is not built in, whether or not it is installed: a stored suite may come from
another installation.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from pydantic import Field, SerializerFunctionWrapHandler, create_model, model_serializer

from agentbench_tui.model.kinds import BUILT_IN, DEFAULT
from agentbench_tui.model.suite import Benchmark, Suite

if TYPE_CHECKING:
    from collections.abc import Iterable


class _KindOf(msgspec.Struct):
    kind: Any = DEFAULT


class _KindsOf(msgspec.Struct):
    benchmarks: tuple[_KindOf, ...] = ()


def benchmark_model(kind: object) -> type[Benchmark]:
    """Return the model of a benchmark of that kind, with a table of the kind's name if the kind
    comes from another distribution.
    """
    return _models(_sections([kind]))[0]


def suite_model(data: object) -> type[Suite]:
    """Return the model of a suite with the kinds that its benchmarks name. `data`: plain, of any
    form.
    """
    benchmarks = data.get("benchmarks") if isinstance(data, dict) else None
    those = benchmarks if isinstance(benchmarks, list) else []
    return _models(_sections(one.get("kind") for one in those if isinstance(one, dict)))[1]


def read_suite(document: str | bytes) -> Suite:
    """Read a suite stored as JSON. Raises ValueError if the document is not one."""
    try:
        named = msgspec.json.decode(document, type=_KindsOf).benchmarks
    except msgspec.DecodeError:
        named = ()
    return _models(_sections(one.kind for one in named))[1].model_validate_json(document)


def _sections(kinds: Iterable[object]) -> tuple[str, ...]:
    """Return names of kinds whose table is not a field of `Benchmark`."""
    names = {kind for kind in kinds if isinstance(kind, str) and _SECTION.fullmatch(kind)}
    return tuple(sorted(names - BUILT_IN.keys() - Benchmark.model_fields.keys()))


_SECTION = re.compile(r"[a-z][a-z0-9_]{0,63}")


@cache
def _models(sections: tuple[str, ...]) -> tuple[type[Benchmark], type[Suite]]:
    if not sections:
        return Benchmark, Suite

    # Here, since a model takes 5 ms to make, and most runs have built-in kinds alone.
    class WithSections(Benchmark):
        """A benchmark in a suite with kinds from other distributions."""

        @model_serializer(mode="wrap")
        def _without_empty_sections(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
            fields: dict[str, Any] = handler(self)
            known = Benchmark.model_fields
            return {name: value for name, value in fields.items() if value or name in known}

    own: dict[str, Any] = {name: (dict[str, Any], Field(default_factory=dict)) for name in sections}
    benchmark = create_model("Benchmark", __base__=WithSections, **own)
    those: Any = Annotated[list[benchmark], Field(min_length=1)]  # type: ignore[valid-type]
    return benchmark, create_model("Suite", __base__=Suite, benchmarks=(those, ...))
