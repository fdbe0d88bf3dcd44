"""Any Python callable as a scorer: `python:module:function` or `python:file.py:function`.

It is called with the case and the answer, and the suite's options by keyword. It may be async,
and may return a bool, a number in 0..1, a mapping of fields of `Score`, or a `Score`.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ConfigDict

from agentbench_tui.agents.python.python_source import Origin, TargetNotFound, load
from agentbench_tui.agents.python.session_objects import awaited_on, session_object
from agentbench_tui.model.answer import Answer, Case, GraderFailure, Score, Scorer
from agentbench_tui.model.errors import UsageError, named
from agentbench_tui.scoring.recipe import Context, Options, Recipe
from agentbench_tui.scoring.returned import as_score

if TYPE_CHECKING:
    import asyncio


class CallableOptions(Options):
    """Options of a callable, passed as its keyword arguments."""

    model_config = ConfigDict(extra="allow", frozen=True)


def recipe_for(kind: str) -> Recipe:
    """Return the recipe of `python:PLACE:function`; the callable is loaded when the scorer is
    built.
    """

    def build(options: CallableOptions, context: Context) -> Scorer:
        place = kind.removeprefix("python:")
        function = load_callable(place, context.base_dir)
        module, _, name = place.rpartition(":")
        given = session_object(module, name)
        loop = None if given is None else given.loop
        return _scorer(function, options.model_extra or {}, context.name, loop)

    return Recipe(CallableOptions, build)


def load_callable(place: str, base_dir: Path) -> Callable[..., Any]:
    """Return the callable at `module:function` or `file.py:function`. Raises UsageError.

    A file is relative to `base_dir`, and a module may lie there.
    """
    module, _, name = place.rpartition(":")
    try:
        found = load(Origin(module, name, str(base_dir)))
    except TargetNotFound as error:
        raise UsageError(str(error)) from None
    if not callable(found):
        raise UsageError(f"python:{place} is not callable")
    function: Callable[..., Any] = found
    return function


def _scorer(
    function: Callable[..., Any],
    options: Mapping[str, Any],
    name: str,
    loop: asyncio.AbstractEventLoop | None,
) -> Scorer:
    async def later(pending: Awaitable[Any]) -> Score:
        try:
            return as_score(await awaited_on(loop, pending), name)
        except GraderFailure:
            raise
        except Exception as error:
            raise GraderFailure(f"raised {named(error)}") from error

    def score(case: Case, answer: Answer) -> Score | Awaitable[Score]:
        try:
            result = function(case, answer, **options)
            return later(result) if inspect.isawaitable(result) else as_score(result, name)
        except GraderFailure:
            raise
        except Exception as error:
            raise GraderFailure(f"raised {named(error)}") from error

    return score
