"""Scorers of structured answers: JSON schema, and JSON compared field by field."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import Field, model_validator

from agentbench_tui.model.answer import Answer, Case, GraderFailure, Score, Scorer
from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.model.text.small_file import read_small_text
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.scoring.code.cpu_limit import within_limit
from agentbench_tui.scoring.reading import NoJson, find_json
from agentbench_tui.scoring.recipe import Context, Options, Recipe, always
from agentbench_tui.scoring.structure.equality import Equality, EqualityOptions, comparable, shown
from agentbench_tui.scoring.structure.pairing import most_pairs

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

MOST_ERRORS = 1000
"""Maximum errors reported for one answer: each takes 3 kB of memory and 70 µs."""


class SchemaOptions(Options):
    """Options of `json_schema`."""

    json_schema: Annotated[dict[str, Any] | None, Field(alias="schema")] = None
    """The schema itself."""
    file: str | None = None
    """A JSON file that holds it."""

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if self.json_schema is not None and self.file is not None:
            raise ValueError("give `schema` or `file`, not both")
        return self


def json_schema(options: SchemaOptions, context: Context) -> Scorer:
    """Return a scorer that is right if the answer's JSON is valid by a schema, or by the case's
    `expected` without one.
    """
    name = context.name
    given = options.json_schema
    if options.file is not None:
        given = _schema_file(context.base_dir / options.file)
    fixed = None if given is None else _validator(given)

    def score(case: Case, answer: Answer) -> Score:
        validator = fixed
        if validator is None:
            try:
                validator = _validator(case.expected)
            except UsageError as error:
                raise GraderFailure(f"case {case.id}: `expected`: {error}") from error
        try:
            value = find_json(answer)
        except NoJson as error:
            return Score(name, 0.0, False, str(error))
        errors = _errors(validator, value)
        if not errors:
            return Score(name, 1.0, True)
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        if len(errors) == MOST_ERRORS:
            more = f" (and at least {MOST_ERRORS - 1} more)"
        return Score(name, 0.0, False, errors[0] + more)

    return score


def _schema_file(path: Path) -> Any:
    try:
        return json.loads(read_small_text(path, "schema file"))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"schema file {path} cannot be read: {error}") from error


def _validator(schema: Any) -> Validator:
    """Return a validator by the schema's own draft (2020-12 unless `$schema` names another).

    References are looked up inside the schema only: nothing is fetched.
    """
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import Draft202012Validator, validator_for
    from referencing import Registry

    if not isinstance(schema, dict):
        raise UsageError(f"a JSON schema is an object, not {type(schema).__name__}")
    kind = validator_for(schema, default=Draft202012Validator)
    try:
        kind.check_schema(schema)
    except SchemaError as error:
        raise UsageError(f"not a valid JSON schema: {error.json_path}: {error.message}") from error
    made: Validator = kind(schema, registry=Registry(), format_checker=kind.FORMAT_CHECKER)
    return made


def _errors(validator: Validator, value: Any) -> list[str]:
    """Return what is wrong with the value, by path; at most `MOST_ERRORS`. Raises GraderFailure."""
    from referencing.exceptions import Unresolvable

    def find() -> list[ValidationError]:
        return list(islice(validator.iter_errors(value), MOST_ERRORS))

    try:
        found = within_limit(
            find,
            "the schema",
            "write its patterns without nested repetition, and leave `uniqueItems` out of long"
            " lists",
        )
    except Unresolvable as error:
        raise GraderFailure(f"the schema refers to what it doesn't hold: {error}") from error
    except RecursionError as error:
        raise GraderFailure("the schema recurses without end on this answer") from error
    found.sort(key=lambda error: error.json_path)
    return [f"{error.json_path}: {one_line(error.message, 120)}" for error in found]


class SubsetOptions(EqualityOptions):
    """Options of `json_subset`."""

    ignore_order: bool = False
    """Lists are compared as sets with repetition, not place by place."""
    forbid_extra: bool = False
    """A field that is not expected makes the answer wrong."""
    pass_at: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Value from which an answer counts as right."""


@dataclass(slots=True)
class _Tally:
    """Counts of fields while an answer is compared with the expected one."""

    expected: int = 0
    present: int = 0
    matching: int = 0
    extra: int = 0
    wrong: list[str] = field(default_factory=list)

    def take(self, path: str, present: bool, matches: bool, what: str) -> None:
        self.expected += 1
        self.present += present
        self.matching += matches
        if not matches:
            self.wrong.append(f"{path or '$'} {what}")


def json_subset(options: SubsetOptions, context: Context) -> Scorer:
    """Return a scorer that gives credit for each expected field that the answer's JSON has with the
    same value.

    A field is a leaf: a value that is no object and no list; an empty one is a leaf too. Value and
    correctness = matching ÷ expected fields, completeness = present ÷ expected fields, relevance =
    present ÷ (present + unexpected) fields.
    """
    name = context.name
    equality = Equality(options)

    def score(case: Case, answer: Answer) -> Score:
        expected = comparable(case)
        try:
            said = find_json(answer)
        except NoJson as error:
            return Score(name, 0.0, False, str(error), correctness=0.0, completeness=0.0)
        tally = _tally(said, expected, equality, options.ignore_order)
        value = tally.matching / tally.expected
        correct = value >= options.pass_at and not (options.forbid_extra and tally.extra)
        if options.forbid_extra and tally.extra:
            tally.wrong.append(f"{counted(tally.extra, 'field')} not expected")
        said_fields = tally.present + tally.extra
        return Score(
            name,
            value,
            correct,
            "; ".join(tally.wrong[:5]) + ("; …" if len(tally.wrong) > 5 else ""),
            correctness=value,
            completeness=tally.present / tally.expected,
            relevance=tally.present / said_fields if said_fields else None,
        )

    return score


def _tally(said: Any, expected: Any, equality: Equality, ignore_order: bool) -> _Tally:
    """Compare everything. Raises GraderFailure."""
    tally = _Tally()

    within_limit(
        lambda: _compare(said, expected, "", tally, equality, ignore_order),
        "comparing",
        "in any order (`ignore_order`) each item of a list is compared with every other",
    )
    return tally


def _compare(
    said: Any, expected: Any, path: str, tally: _Tally, equality: Equality, ignore_order: bool
) -> None:
    if isinstance(expected, dict) and expected:
        found = said if isinstance(said, dict) else {}
        for key, value in expected.items():
            place = f"{path}.{key}" if path else str(key)
            _compare_or_miss(
                key in found, found.get(key), value, place, tally, equality, ignore_order
            )
        tally.extra += sum(_leaf_count(found[key]) for key in found.keys() - expected.keys())
    elif isinstance(expected, list) and expected:
        items = said if isinstance(said, list) else []
        if ignore_order:
            items = _aligned(items, expected, equality)
        for index, value in enumerate(expected):
            has = index < len(items) and items[index] is not _ABSENT
            item = items[index] if has else None
            _compare_or_miss(has, item, value, f"{path}[{index}]", tally, equality, ignore_order)
        tally.extra += sum(_leaf_count(item) for item in items[len(expected) :])
    else:
        matches = equality.same(said, expected)
        tally.take(path, True, matches, f"is {shown(said)}, expected {shown(expected)}")


def _compare_or_miss(
    has: bool, said: Any, expected: Any, path: str, tally: _Tally, equality: Equality, loose: bool
) -> None:
    if has:
        _compare(said, expected, path, tally, equality, loose)
        return
    for leaf in _leaf_paths(expected, path):
        tally.take(leaf, False, False, "is missing")


_ABSENT = object()


def _aligned(said: list[Any], expected: list[Any], equality: Equality) -> list[Any]:
    """Return `said` reordered so that as many items as possible agree completely with the
    expected item at their index. Equal ones precede those that hold more; the rest follows in
    order, extras at the end.
    """
    pairs = most_pairs(
        len(expected),
        len(said),
        lambda one, at: _has_all(said[at], expected[one], equality),
        sooner=lambda one, at: equality.same(said[at], expected[one]),
    )
    taken = set(pairs)
    rest = iter([item for at, item in enumerate(said) if at not in taken])
    placed = [next(rest, _ABSENT) if at is None else said[at] for at in pairs]
    return [*placed, *rest]


def _has_all(said: Any, expected: Any, equality: Equality) -> bool:
    """Return whether each expected field exists with the same value, lists in any order."""
    if isinstance(expected, dict) and expected:
        return isinstance(said, dict) and all(
            key in said and _has_all(said[key], value, equality) for key, value in expected.items()
        )
    if isinstance(expected, list) and expected:
        if not isinstance(said, list) or len(said) < len(expected):
            return False
        return None not in most_pairs(
            len(expected),
            len(said),
            lambda one, at: _has_all(said[at], expected[one], equality),
        )
    return equality.same(said, expected)


def _leaf_paths(value: Any, path: str) -> Iterator[str]:
    """Return the paths of the expected value."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _leaf_paths(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from _leaf_paths(item, f"{path}[{index}]")
    else:
        yield path


def _leaf_count(value: Any) -> int:
    """Return the number of leaves of the agent's value, which may be nested deeper than
    recursion allows.
    """
    leaves, waiting = 0, [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict | list) and item:
            waiting += item.values() if isinstance(item, dict) else item
        else:
            leaves += 1
    return leaves


RECIPES = {
    "json_schema": Recipe(
        SchemaOptions,
        json_schema,
        needs_expected=lambda options: options.json_schema is None and options.file is None,
    ),
    "json_subset": Recipe(SubsetOptions, json_subset, needs_expected=always),
}
