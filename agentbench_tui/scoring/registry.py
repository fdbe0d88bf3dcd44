"""Scorers by name: what a suite writes, checked whole, made into a callable.

A suite writes a name (`exact`), or one name with its options (`{numeric: {tolerance: 0.01}}`),
and beside it `as: LABEL` when one scorer is used twice. Names come from this package, from entry
points of the group `agentbench.scorers`, and `python:module:function` or
`python:file.py:function` names any callable. A module is imported when its scorer is used.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentbench_tui.model.answer import Scorer
from agentbench_tui.model.errors import UsageError, did_you_mean
from agentbench_tui.model.identity import is_name
from agentbench_tui.scoring.recipe import Context, OpenJudge, Options, Recipe

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from pydantic import ValidationError

ENTRY_POINTS = "agentbench.scorers"

_MODULES = {
    "exact": "text",
    "normalised": "text",
    "contains": "text",
    "regex": "text",
    "numeric": "numeric",
    "multiple_choice": "choice",
    "token_f1": "overlap",
    "rouge_l": "overlap",
    "json_schema": "structure",
    "json_subset": "structure",
    "tool_calls": "tools",
    "python_tests": "program",
    "model_graded": "judge",
    "weighted": "composite",
}
"""Scorer → module of this package whose `RECIPES` holds it."""


@dataclass(frozen=True, slots=True)
class NamedScorer:
    """A scorer ready for use."""

    name: str
    """Label that its scores carry; its own name unless the suite says `as`."""
    kind: str
    """Name in the registry, or `python:…`."""
    score: Scorer
    options: dict[str, Any]
    """Every option with its value, defaults included: what is stored with the run."""

    async def close(self) -> None:
        """End what the scorer opened (judges). Call it once, when the benchmark ends."""
        close = getattr(self.score, "close", None)
        if close is not None:
            await close()


def scorer_names() -> tuple[str, ...]:
    """Every name a suite may use, sorted; `python:…` besides."""
    return tuple(sorted({*_MODULES, *_plugins()}))


def make_scorer(
    spec: str | Mapping[str, Any], *, open_judge: OpenJudge | None = None, base_dir: Path | str = ""
) -> NamedScorer:
    """The scorer that `spec` names. Raises UsageError that lists every problem."""
    read = _read(spec)
    if read.problems:
        raise UsageError("; ".join(read.problems))
    assert read.recipe is not None
    assert read.options is not None
    context = Context(read.label, Path(base_dir), open_judge)
    return NamedScorer(
        name=read.label,
        kind=read.kind,
        score=read.recipe.build(read.options, context),
        options=read.options.model_dump(mode="json", by_alias=True),
    )


def check_scorer(spec: object, *, base_dir: Path | str = "") -> list[str]:
    """Every problem of `spec`, one line each; empty when it can be made.

    Loads what the scorer names (a schema file, a Python function), runs nothing.
    """
    read = _read(spec)
    if read.problems or read.recipe is None:
        return read.problems
    try:
        read.recipe.build(read.options, Context(read.label, Path(base_dir)))
    except UsageError as error:
        return [f"{read.kind}: {error}"]
    return []


@dataclass(slots=True)
class _Read:
    """A specification, taken apart."""

    problems: list[str]
    kind: str = ""
    label: str = ""
    recipe: Recipe | None = None
    options: Options | None = None


def _read(spec: object) -> _Read:
    label: object = None
    given: object = {}
    if isinstance(spec, str):
        kind = spec
    elif isinstance(spec, Mapping) and all(isinstance(key, str) for key in spec):
        rest = {key: value for key, value in spec.items() if key != "as"}
        label = spec.get("as")
        if len(rest) != 1:
            return _Read([f"a scorer is one name with its options, not {sorted(rest)}"])
        kind, given = next(iter(rest.items()))
        given = {} if given is None else given
    else:
        return _Read([f"a scorer is a name or {{name: options}}, not {spec!r}"])
    read = _Read([], kind, kind)
    if label is not None:
        if isinstance(label, str) and is_name(label):
            read.label = label
        else:
            read.problems.append(f"{kind}: `as` must be a name of letters, digits, . _ -")
    if not isinstance(given, Mapping):
        read.problems.append(f"{kind}: options are a table of names and values, not {given!r}")
        return read
    read.recipe = _find(kind, read.problems)
    if read.recipe is not None:
        read.options = _validated(kind, read.recipe, dict(given), read.problems)
    return read


def _find(kind: str, problems: list[str]) -> Recipe | None:
    if kind.startswith("python:"):
        from agentbench_tui.scoring.custom import recipe_for

        return recipe_for(kind)
    if kind in _MODULES:
        module = importlib.import_module(f"agentbench_tui.scoring.{_MODULES[kind]}")
        recipes: dict[str, Recipe] = module.RECIPES
        return recipes[kind]
    entry = _plugins().get(kind)
    if entry is None:
        names = scorer_names()
        hint = did_you_mean(kind, names) or f"; there are {', '.join(names)}"
        problems.append(f'there is no scorer "{kind}"{hint}')
        return None
    try:
        recipe = entry.load()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a plug-in may raise anything at import
        problems.append(f"scorer {kind} of {entry.value} cannot be loaded: {error}")
        return None
    if not isinstance(recipe, Recipe):
        problems.append(f"scorer {kind}: {entry.value} is not a Recipe")
        return None
    return recipe


def _validated(
    kind: str, recipe: Recipe, given: dict[str, Any], problems: list[str]
) -> Options | None:
    from pydantic import ValidationError

    try:
        return recipe.options.model_validate(given)
    except ValidationError as error:
        problems += _sentences(kind, recipe, error)
        return None


def _sentences(kind: str, recipe: Recipe, error: ValidationError) -> list[str]:
    sentences = []
    for item in error.errors(include_url=False):
        place = ".".join(str(part) for part in item["loc"])
        if item["type"] == "extra_forbidden":
            known = [info.alias or name for name, info in recipe.options.model_fields.items()]
            hint = did_you_mean(str(item["loc"][-1]), known)
            sentences.append(f"{kind}: there is no option `{place}`{hint}")
        elif item["type"] == "value_error":
            sentences.append(f"{kind}: {place + ': ' if place else ''}{item['ctx']['error']}")
        else:
            sentences.append(f"{kind}: `{place}`: {item['msg'].lower()}, not {item['input']!r}")
    return sentences


@cache
def _plugins() -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points

    return {entry.name: entry for entry in entry_points(group=ENTRY_POINTS)}
