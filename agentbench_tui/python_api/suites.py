"""Suites of a call: names, paths, dictionaries, or suites built in code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.identity import is_name
from agentbench_tui.python_api.callables import named_callable

if TYPE_CHECKING:
    from agentbench_tui.agents.python.session_objects import Place, SessionObject
    from agentbench_tui.engine.suite.loading import LoadedSuite
    from agentbench_tui.model.suite import Suite

SuiteLike: TypeAlias = "str | Path | Mapping[str, Any] | Suite"
"""One suite: a name such as `quickstart`, the path of a file, a dictionary with the keys of a suite
file, or a `Suite`. Scorers in a dictionary may be Python functions."""
SuitesLike: TypeAlias = "SuiteLike | Sequence[SuiteLike]"
"""One suite or several."""


def given_suites(
    suites: SuitesLike | None, objects: dict[Place, SessionObject]
) -> list[str | LoadedSuite]:
    """Read the suites of a call; None is the default suite of the current folder.

    Callables in them are added to `objects`. Raises UsageError and SuiteError.
    """
    from agentbench_tui.engine.run.planning import default_suite

    if suites is None:
        return [default_suite(Path.cwd())]
    is_many = isinstance(suites, Sequence) and not isinstance(suites, str)
    given: Sequence[Any] = suites if is_many else [suites]  # type: ignore[assignment]
    if not given:
        raise UsageError("no suite is given; name one, such as 'quickstart'")
    return [_given(one, objects) for one in given]


def _given(suite: Any, objects: dict[Place, SessionObject]) -> str | LoadedSuite:
    from agentbench_tui.engine.suite.loading import load_suite, suite_of_data
    from agentbench_tui.model.suite import Suite

    if isinstance(suite, str):
        return suite
    if isinstance(suite, Path):
        return load_suite(suite) if suite.exists() else str(suite)
    if isinstance(suite, Suite):
        suite = suite.model_dump(mode="json", exclude_unset=True)
    if isinstance(suite, Mapping):
        return suite_of_data(_with_named_scorers(suite, objects), Path.cwd())
    raise UsageError(
        f"{suite!r} is not a suite: give a name, a path, a dictionary with the keys of a suite"
        " file, or a Suite"
    )


def _with_named_scorers(
    suite: Mapping[str, Any], objects: dict[Place, SessionObject]
) -> dict[str, Any]:
    """The suite with the target of each scorer or metric that is a Python object."""
    data = dict(suite)
    if isinstance(benchmarks := data.get("benchmarks"), list | tuple):
        data["benchmarks"] = [_with_scorers(one, objects) for one in benchmarks]
    return data


def _with_scorers(benchmark: Any, objects: dict[Place, SessionObject]) -> Any:
    if not isinstance(benchmark, Mapping):
        return benchmark
    benchmark = dict(benchmark)
    for key in ("scorers", "metrics"):
        if isinstance(given := benchmark.get(key), list | tuple):
            benchmark[key] = [_named(one, objects) if callable(one) else one for one in given]
    return benchmark


def _named(function: Any, objects: dict[Place, SessionObject]) -> dict[str, Any] | str:
    named = named_callable(function, objects, by_source=True)
    objects[named.place] = named.object
    return {named.target: {}, "as": named.name} if is_name(named.name) else named.target
