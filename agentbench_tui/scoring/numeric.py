"""The scorer `numeric`: a number, found in text, compared by value."""

from __future__ import annotations

import math
import re
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from agentbench_tui.model.answer import Answer, Case, GraderFailure, Score, Scorer
from agentbench_tui.model.errors import UsageError
from agentbench_tui.scoring.pattern import compile_pattern, search
from agentbench_tui.scoring.reading import answer_text, as_text, expected_of
from agentbench_tui.scoring.recipe import Context, Options, Recipe
from agentbench_tui.scoring.units import Decimal, Number, read_numbers

_MARKER = re.compile(r"####|\\boxed\{|answer is|answer:", re.IGNORECASE)
"""What commonly stands before a final answer."""


class NumericOptions(Options):
    """Options of `numeric`."""

    tolerance: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    """Largest difference that counts as equal, in the unit of the expected number."""
    relative_tolerance: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 1e-9
    """The same as a share of the expected number. Within either is right."""
    marker: str | None = None
    """The number is the first after the last occurrence of this (`####`, `A:`); an answer without
    it has no number. Left out: after a common marker where there is one, else the last number."""
    extract: str | None = None
    """The number is the last in the first group (or the whole) of this pattern's match."""
    decimal: Decimal = "."
    unit_required: bool = False
    """A number without a unit is wrong where the expected one has a unit."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.marker is not None and self.extract is not None:
            raise ValueError("give `marker` or `extract`, not both")
        if self.extract is not None:
            try:
                compile_pattern(self.extract)
            except UsageError as error:
                raise ValueError(str(error)) from error
        return self


def numeric(options: NumericOptions, context: Context) -> Scorer:
    """Right when the answer's number equals an expected one.

    Units of one kind are converted. Where only one of the two has a unit the numbers are compared
    as written; a percentage that is said also equals its plain value (25 % is 25 and 0.25).
    """
    name = context.name

    def score(case: Case, answer: Answer) -> Score:
        said = find_number(answer_text(answer), options)
        if said is None:
            return Score(name, 0.0, False, "the answer has no number where one is looked for")
        expected = expected_of(case)
        items = expected if isinstance(expected, list) else [expected]
        accepted = [_expected_number(item, options, case) for item in items]
        if any(_equal(said, number, options) for number in accepted):
            return Score(name, 1.0, True, metadata={"number": said.value})
        reason = f"said {_written(said)}, expected {' or '.join(map(_written, accepted))}"
        return Score(name, 0.0, False, reason, metadata={"number": said.value})

    return score


def find_number(text: str, options: NumericOptions) -> Number | None:
    """The number that a text gives as its answer, or None."""
    if options.extract is not None:
        found = search(compile_pattern(options.extract), text)
        if found is None:
            return None
        numbers = read_numbers((found[1] if len(found) > 1 else found[0]) or "", options.decimal)
        return numbers[-1] if numbers else None
    if options.marker is not None:
        _, marker, after = text.rpartition(options.marker)
        numbers = read_numbers(after, options.decimal) if marker else []
        return numbers[0] if numbers else None
    ends = [match.end() for match in _MARKER.finditer(text)]
    numbers = read_numbers(text[ends[-1] :], options.decimal) if ends else []
    if numbers:
        return numbers[0]
    numbers = read_numbers(text, options.decimal)
    return numbers[-1] if numbers else None


def _expected_number(item: Any, options: NumericOptions, case: Case) -> Number:
    if isinstance(item, int | float) and not isinstance(item, bool):
        return Number(float(item))
    text = as_text(item)
    number = find_number(text, options)
    if number is None:
        plain = read_numbers(text, options.decimal)
        if not plain:
            raise GraderFailure(f"case {case.id}: `expected` has no number: {text[:80]!r}")
        number = plain[-1]
    return number


def _equal(said: Number, expected: Number, options: NumericOptions) -> bool:
    def close(left: float, right: float) -> bool:
        return math.isclose(
            left,
            right,
            rel_tol=0.0,
            abs_tol=max(options.tolerance, options.relative_tolerance * abs(right)),
        )

    if expected.dimension is None:
        percent = said.dimension == "ratio" and close(said.base_value, expected.value)
        return percent or close(said.value, expected.value)
    if said.dimension is None:
        return not options.unit_required and close(said.value, expected.value)
    if said.dimension != expected.dimension:
        return False
    return close(said.base_value / expected.factor, expected.value)


def _written(number: Number) -> str:
    unit = "" if number.dimension is None else f" ({number.dimension} × {number.factor:g})"
    return f"{number.value:.12g}{unit}"


RECIPES = {"numeric": Recipe(NumericOptions, numeric)}
