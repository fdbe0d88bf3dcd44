"""The scorer `numeric`: finds a number in text and compares it by value."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from agentbench_tui.model.answer import Answer, Case, GraderFailure, Score, Scorer
from agentbench_tui.model.errors import UsageError
from agentbench_tui.scoring.numbers.arithmetic import MAX_BITS, Value, magnitude
from agentbench_tui.scoring.numbers.final_number import answer_number, first_number, last_number
from agentbench_tui.scoring.numbers.tokens import DecimalMark
from agentbench_tui.scoring.numbers.units import Number
from agentbench_tui.scoring.reading import answer_text, as_text, expected_of
from agentbench_tui.scoring.recipe import Context, Options, Recipe, always
from agentbench_tui.scoring.text.pattern import compile_pattern, search

_MAX_WRITTEN_DIGITS = 40
_MAX_EXACT = 2**53
"""Larger whole numbers may differ between readers of JSON."""


class NumericOptions(Options):
    """Options of `numeric`."""

    tolerance: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    """Largest difference that counts as equal, in the unit of the expected number."""
    relative_tolerance: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 1e-9
    """Largest difference that counts as equal, as a share of the expected number. Whole numbers
    are compared exactly unless the option is set."""
    marker: str | None = None
    """The number is the first after the last occurrence of this text (`####`, `A:`); an answer
    without it has no number. By default, the number after a common marker if there is one, else
    the last number.
    """
    extract: str | None = None
    """The number is the last in the first group (or the whole) of this pattern's match."""
    decimal: DecimalMark | None = None
    """The character before the decimals. Left out: a point, or a comma that cannot separate
    thousands (`3,5`)."""
    unit_required: bool = False
    """A number without a unit is wrong if the expected one has a unit."""

    @property
    def sets_relative_tolerance(self) -> bool:
        """Return whether the suite sets `relative_tolerance`."""
        return "relative_tolerance" in self.model_fields_set

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
    """Return a scorer that is right if the answer's number equals an expected one.

    Units of one kind are converted. Where only one of the two has a unit the numbers are compared
    as written; a percentage in the answer also equals its plain value (25% is 25 and 0.25).
    """
    name = context.name

    def score(case: Case, answer: Answer) -> Score:
        expected = expected_of(case)
        items = expected if isinstance(expected, list) else [expected]
        accepted = [_expected_number(item, options, case) for item in items]
        number = find_number(answer_text(answer), options)
        if number is None:
            return Score(name, 0.0, False, "the answer has no number where one is looked for")
        metadata = {"number": _plain(number.value)}
        forms = [number] if number.exact is None else [number, replace(number, value=number.exact)]
        if any(_equal(form, other, options) for form in forms for other in accepted):
            return Score(name, 1.0, True, metadata=metadata)
        reason = f"answered {_written(number)}, expected {' or '.join(map(_written, accepted))}"
        return Score(name, 0.0, False, reason, metadata=metadata)

    return score


def find_number(text: str, options: NumericOptions) -> Number | None:
    """Return the number that a text gives as its answer; None if it gives none, or more
    than one.
    """
    if options.extract is not None:
        groups = search(compile_pattern(options.extract), text)
        if groups is None:
            return None
        group = groups[1] if len(groups) > 1 else groups[0]
        return last_number(group or "", options.decimal)
    if options.marker is not None:
        _, marker, after = text.rpartition(options.marker)
        return first_number(after, options.decimal) if marker else None
    return answer_number(text, options.decimal)


def _expected_number(item: Any, options: NumericOptions, case: Case) -> Number:
    if isinstance(item, int) and not isinstance(item, bool):
        if item.bit_length() > MAX_BITS:
            raise GraderFailure(f"case {case.id}: `expected` has too many digits to compare")
        return Number(Fraction(item))
    if isinstance(item, float):
        return Number(Fraction(repr(item)))
    text = as_text(item)
    number = find_number(text, options)
    if number is None and (options.marker is not None or options.extract is not None):
        number = last_number(text, options.decimal)
    if number is None:
        raise GraderFailure(f"case {case.id}: `expected` has no number: {text[:80]!r}")
    return number


def _equal(number: Number, expected: Number, options: NumericOptions) -> bool:
    value, wanted = number.value, expected.value
    answers_how_many = number.is_largest_or_smallest and not expected.bound
    if number.bound != expected.bound and not answers_how_many:
        return False
    if expected.unit is None:
        percent = number.unit is not None and number.unit.dimension == "ratio"
        return (percent and _close(number.base_value, wanted, options)) or _close(
            value, wanted, options
        )
    if number.unit is None:
        return not options.unit_required and _close(value, wanted, options)
    if number.unit.dimension != expected.unit.dimension:
        alike = number.unit.is_ambiguous_with(expected.unit)
        return alike and _close(value, wanted, options)
    return _close(number.base_value / expected.unit.factor, wanted, options)


def _close(value: Value, wanted: Value, options: NumericOptions) -> bool:
    """Return whether they are within a tolerance.

    Exact for whole numbers without a relative tolerance.
    """
    if value == wanted:
        return True
    whole = _is_whole(value) and _is_whole(wanted)
    share = 0.0 if whole and not options.sets_relative_tolerance else options.relative_tolerance
    try:
        difference = magnitude(value - wanted)
        allowed = share * magnitude(wanted)
        return difference <= allowed or difference <= Fraction(repr(options.tolerance))
    except OverflowError:  # beyond what a float holds
        return False


def _is_whole(value: Value) -> bool:
    return isinstance(value, Fraction) and value.denominator == 1


def _plain(value: Value) -> int | float | str:
    """Return the value for JSON; as text if a float or a 53-bit integer cannot hold it."""
    if isinstance(value, float):
        return value
    if value.denominator == 1:
        return int(value) if abs(value) <= _MAX_EXACT else _digits(value)
    try:
        return float(value)
    except OverflowError:
        return _digits(value)


def _digits(value: Value) -> str:
    if isinstance(value, float):
        return f"{value:.12g}"
    text = str(value.numerator)
    if value.denominator != 1:
        denominator = value.denominator
        for prime in (2, 5):
            while denominator % prime == 0:
                denominator //= prime
        decimal = denominator == 1 and value.denominator.bit_length() < 64
        text = f"{float(value):.12g}" if decimal else str(value)
    if len(text) <= _MAX_WRITTEN_DIGITS:
        return text
    return f"{text[:20]}…{text[-10:]} ({len(text)} characters)"


def _written(number: Number) -> str:
    unit = number.unit
    suffix = "" if unit is None else f" ({unit.dimension} × {float(unit.factor):g})"
    bound = f"{number.bound} " if number.bound else ""
    return f"{bound}{_digits(number.value)}{suffix}"


RECIPES = {"numeric": Recipe(NumericOptions, numeric, needs_expected=always)}
