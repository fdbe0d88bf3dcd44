"""Finds scorers by name, checks their specifications, and builds them.

A suite writes a name (`exact`), or one name with its options (`{numeric: {tolerance: 0.01}}`),
and beside it `as: LABEL` when one scorer is used twice, and `counts: false` for a scorer that is
reported but does not decide whether an answer is right. Names come from this package, from entry
points of the group `agentbench.scorers`, and `python:module:function` or
`python:file.py:function` names any callable. A module is imported when its scorer is used.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Awaitable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from agentbench_tui.model.answer import Answer, Case, Score, Scorer
from agentbench_tui.model.errors import UsageError, did_you_mean
from agentbench_tui.model.identity import is_name
from agentbench_tui.model.process_exit import ProcessExit
from agentbench_tui.model.text.reasoning import split_reasoning
from agentbench_tui.model.text.secrets import Redactor, redactor_now
from agentbench_tui.scoring.combination import metric_of_label
from agentbench_tui.scoring.former_names import FORMER_NAMES
from agentbench_tui.scoring.recipe import Context, OpenJudge, Options, Recipe
from agentbench_tui.scoring.returned import as_score

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from pydantic import ValidationError

ENTRY_POINTS = "agentbench.scorers"
MODIFIERS = ("as", "counts")
"""Keys of a scorer in a suite beside its name."""

_MODULES = {
    "exact": "text.text",
    "normalized": "text.text",
    "contains": "text.text",
    "regex": "text.text",
    "numeric": "numbers.numeric",
    "multiple_choice": "choices.choice",
    "token_f1": "text.overlap",
    "rouge_l": "text.overlap",
    "json_schema": "structure.structure",
    "json_subset": "structure.structure",
    "tool_calls": "structure.tools",
    "python_tests": "code.program",
    "model_graded": "judge.judge",
    "weighted": "composite",
}
"""Scorer → module of this package whose `RECIPES` holds it."""
_COSTLY = frozenset({"python_tests", "model_graded", "weighted"})
"""Scorers that run programs or call agents, so that no answer is scored twice; they mask secrets
before they shorten quotations, or leave it to their parts.
"""


class NamedScorer(msgspec.Struct, frozen=True):
    """A scorer ready for use."""

    name: str
    """Label that its scores carry: `as` in the suite, else its own name, without the place of a
    `python:` function.
    """
    kind: str
    """Name in the registry, or `python:…`."""
    options: dict[str, Any]
    """Every option with its value, including defaults: stored with the run."""
    scorer: Scorer
    keeps_reasoning: bool = False
    """The scorer receives the answer unchanged."""
    counts: bool = True
    """Whether it takes part in deciding if an answer is right."""
    redactor: Redactor | None = None
    """Finds secrets in answers; None if scoring an answer twice would have side effects or a
    cost.
    """

    @property
    def metric(self) -> str:
        """Return the name of its metric where a benchmark has several scorers."""
        return metric_of_label(self.name)

    def score(self, case: Case, answer: Answer) -> Score | Awaitable[Score]:
        """Score the answer without its reasoning, unless the scorer keeps that.

        What a score says of an answer with a secret is said of the answer without it: scorers
        shorten, quote and convert what they quote, and the rest of a secret is not known as one.
        """
        score = self._score(case, answer)
        if self.redactor is None or not isinstance(score, Score):
            return score
        masked = _masked(answer, self.redactor)
        return score if masked is None else self._of_masked(score, case, masked)

    def _of_masked(self, score: Score, case: Case, masked: Answer) -> Score:
        """Return the score with the reason and metadata of the masked answer."""
        reason, metadata = "the answer holds a secret", {}
        with suppress(Exception):
            second = self._score(case, masked)
            if isinstance(second, Score):
                reason, metadata = second.reason, second.metadata
        # A right answer needs no reason, and the masked one may be wrong.
        reason = reason if score.reason else ""
        return msgspec.structs.replace(score, reason=reason, metadata=metadata)

    def _score(self, case: Case, answer: Answer) -> Score | Awaitable[Score]:
        if self.keeps_reasoning:
            return self.scorer(case, answer)
        text, unclosed = split_reasoning(answer.text)
        if text is not answer.text:
            answer = msgspec.structs.replace(answer, text=text)
        score = self.scorer(case, answer)
        called = answer.tool_calls or any(message.tool_calls for message in answer.messages)
        if unclosed and answer.data is None and not called:
            if inspect.isawaitable(score):
                return _no_answer_later(score, self.name)
            return _no_answer(score, self.name)
        return score

    async def close(self) -> None:
        """Close what the scorer opened (judges). Call it once, when the benchmark ends."""
        close = getattr(self.scorer, "close", None)
        if close is not None:
            await close()


def _masked(answer: Answer, redactor: Redactor) -> Answer | None:
    """Return the answer without secrets; None if it contains none."""
    if answer.data is None and not answer.tool_calls and not answer.messages:
        text = redactor(answer.text)
        return None if text == answer.text else msgspec.structs.replace(answer, text=text)
    try:
        plain = msgspec.to_builtins(answer)
        masked = redactor.of_value(plain)
        return None if masked == plain else msgspec.convert(masked, Answer)
    except (RecursionError, TypeError, ValueError):
        return None  # nested too deeply, or no plain data: what is stored of it is masked as text


async def _no_answer_later(score: Awaitable[Score], name: str) -> Score:
    return _no_answer(await score, name)


def _no_answer(score: object, name: str) -> Score:
    """Return the score, made wrong, of an answer that ends inside its reasoning."""
    given = as_score(score, name)
    return msgspec.structs.replace(
        given,
        value=0.0,
        correct=False,
        reason="the text ends inside the reasoning, so there is no answer",
        correctness=None if given.correctness is None else 0.0,
        completeness=None if given.completeness is None else 0.0,
        relevance=None,
    )


def scorer_names() -> tuple[str, ...]:
    """Return every name that a suite may use, sorted; `python:…` is also allowed."""
    return tuple(sorted({*_MODULES, *_plugins()}))


def make_scorer(
    spec: str | Mapping[str, Any],
    *,
    open_judge: OpenJudge | None = None,
    base_dir: Path | str = "",
    keep_reasoning: bool = False,
) -> NamedScorer:
    """The scorer that `spec` names. Raises UsageError that lists every problem.

    `keep_reasoning` holds as if `spec` had the option.
    """
    read = _read(spec)
    if read.problems:
        raise UsageError("; ".join(read.problems))
    assert read.recipe is not None
    assert read.options is not None
    keep_reasoning = keep_reasoning or read.options.keep_reasoning
    context = Context(read.label, Path(base_dir), open_judge, keep_reasoning)
    return NamedScorer(
        name=read.label,
        kind=read.kind,
        options=read.options.model_dump(mode="json", by_alias=True),
        scorer=read.recipe.build(read.options, context),
        keeps_reasoning=keep_reasoning or read.recipe.has_parts,
        counts=read.counts,
        redactor=redactor_now() if read.kind in _MODULES and read.kind not in _COSTLY else None,
    )


def check_scorer(spec: object, *, base_dir: Path | str = "") -> list[str]:
    """Return every problem of `spec`, one per line; empty if it is valid.

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


def needs_expected(spec: object) -> bool:
    """Return whether the scorer `spec` fails on every case without `expected`."""
    read = _read(spec)
    if read.recipe is None or read.options is None:
        return False  # there is no such scorer, which `check_scorer` reports
    return read.recipe.needs_expected(read.options)


class _Read(msgspec.Struct):
    """A parsed specification."""

    problems: list[str]
    kind: str = ""
    label: str = ""
    recipe: Recipe | None = None
    options: Options | None = None
    counts: bool = True


def _read(spec: object) -> _Read:
    try:
        kind, given = name_and_options(spec)
    except UsageError as error:
        return _Read([str(error)])
    given_label, counts = (
        (spec.get("as"), spec.get("counts", True)) if isinstance(spec, Mapping) else (None, True)
    )
    read = _Read([], kind, label_of(spec), counts=counts is not False)
    if given_label is not None and read.label != given_label:
        read.problems.append(f"{kind}: `as` must be a name of letters, digits, . _ -")
    if not isinstance(counts, bool):
        read.problems.append(f"{kind}: `counts` is true or false, not {counts!r}")
    read.recipe = _find(kind, read.problems)
    if read.recipe is not None:
        read.options = _validated(kind, read.recipe, given, read.problems)
    return read


def label_of(spec: object) -> str:
    """Return the label of a scorer, as a suite writes it: `as`, else its name, of a `python:`
    scorer that of its function. Raises UsageError.
    """
    kind, _ = _written(spec)
    given = spec.get("as") if isinstance(spec, Mapping) else None
    if isinstance(given, str) and is_name(given):
        return given
    function = kind.rpartition(":")[2]
    return function if kind.startswith("python:") and is_name(function) else kind


def name_and_options(spec: object) -> tuple[str, dict[str, Any]]:
    """Return the current name of a scorer and its options. Raises UsageError."""
    name, options = _written(spec)
    return FORMER_NAMES.get(name, name), options


def _written(spec: object) -> tuple[str, dict[str, Any]]:
    """Return the name of a scorer and its options, as a suite writes them. Raises UsageError."""
    if isinstance(spec, str):
        return spec, {}
    if not isinstance(spec, Mapping) or not all(isinstance(key, str) for key in spec):
        raise UsageError(f"a scorer is a name or {{name: options}}, not {spec!r}")
    rest = {key: value for key, value in spec.items() if key not in MODIFIERS}
    if len(rest) != 1:
        raise UsageError(f"a scorer is one name with its options, not {sorted(rest)}")
    name, options = next(iter(rest.items()))
    if options is not None and not isinstance(options, Mapping):
        raise UsageError(f"{name}: options are a table of names and values, not {options!r}")
    return name, dict(options or {})


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
    except (Exception, SystemExit, ProcessExit) as error:  # noqa: BLE001  # a plug-in may raise anything
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
