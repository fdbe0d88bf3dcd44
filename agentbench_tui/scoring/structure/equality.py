"""Equality of two JSON values by value rather than by spelling."""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Callable, Iterable
from datetime import date, datetime
from functools import lru_cache
from typing import Annotated, Any

from pydantic import Field

from agentbench_tui.model.answer import Case, GraderFailure
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.scoring.reading import expected_of
from agentbench_tui.scoring.recipe import Options
from agentbench_tui.scoring.text.normal import normalizer

_ARITHMETIC = re.compile(r"[\d\s.+\-*/%^()×÷·−]+")
_NUMBER = re.compile(
    r"-?(?:0|[1-9]\d*|[1-9]\d{0,2}(?:,\d{3})+)(?:\.\d+)?(?:[eE][-+]?\d+)?", re.ASCII
)
_PUNCTUATED = re.compile(r" |(?<=\d)[-/:^*](?=\d)")
_ROUNDING = 1e-9
_OPERATORS = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-", "^": "**"})
_DATE_FORMS = ("%Y-%m-%d", "%Y/%m/%d", "%Y%m%d", "%d %B %Y", "%d %b %Y", "%B %d %Y", "%b %d %Y")
"""Only unambiguous formats; 03/04/2024 is not one."""
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b")


MOST_LEVELS = 100
"""Lists and objects in each other that `expected` may have: they are compared recursively."""


class EqualityOptions(Options):
    """How to compare values."""

    ignore_case: bool = True
    """Ignores the case of texts. White space is always ignored."""
    ignore_punctuation: bool = False
    """Nor spaces: `New_York` is `New York`. Signs and decimal points of numbers stay."""
    numeric_strings: bool = True
    """The text `"5"` is the number 5."""
    dates: bool = True
    """`2024-04-01` is `April 1, 2024`; ISO date-times are equal at the same instant."""
    expressions: bool = True
    """`17*24` is `17 * 24` and `17 × 24`: arithmetic is compared by its structure."""
    tolerance: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    """Largest relative difference of numbers that counts as equal. Rounding of binary fractions
    (1e-9) never counts; whole numbers are compared exactly, so that ids are."""


class Equality:
    """Compares values by the options."""

    def __init__(self, options: EqualityOptions) -> None:
        self._options = options
        form = normalizer(
            case=options.ignore_case, punctuation=options.ignore_punctuation, articles=False
        )
        # Punctuation may stand where others put a space, and in telephone numbers.
        loose = options.ignore_punctuation
        self._form = (lambda text: _PUNCTUATED.sub("", form(text))) if loose else form

    def same(self, said: Any, expected: Any) -> bool:
        """Return whether they are the same value. Lists in order; objects by key; true is not 1."""
        if isinstance(expected, dict):
            return (
                isinstance(said, dict)
                and said.keys() == expected.keys()
                and all(self.same(said[key], value) for key, value in expected.items())
            )
        if isinstance(expected, list | tuple):
            return (
                isinstance(said, list | tuple)
                and len(said) == len(expected)
                and all(map(self.same, said, expected))
            )
        return self._same_scalar(said, expected)

    def _same_scalar(self, said: Any, expected: Any) -> bool:
        if isinstance(said, bool) or isinstance(expected, bool) or said is None or expected is None:
            return type(said) is type(expected) and bool(said == expected)
        if isinstance(said, str) and isinstance(expected, str):
            return self._same_text(said, expected)
        left, right = self._number(said), self._number(expected)
        return left is not None and right is not None and self._close(left, right)

    def _close(self, left: float, right: float) -> bool:
        if left == right:
            return True
        whole = left == left // 1 and right == right // 1
        # As floats, ids of 17 digits and more would be equal to their neighbors.
        if whole and not self._options.tolerance:
            return False
        rounding = 0.0 if whole else _ROUNDING
        try:
            return math.isclose(left, right, rel_tol=max(self._options.tolerance, rounding))
        except OverflowError:  # a whole number beyond what a float holds
            return False

    def _number(self, value: Any) -> float | None:
        if isinstance(value, int | float):
            return value
        if self._options.numeric_strings and isinstance(value, str):
            return _as_number(value)
        return None

    def _same_text(self, said: str, expected: str) -> bool:
        if self._form(said) == self._form(expected):
            return True
        right = self._number(expected)
        if right is not None and (left := self._number(said)) is not None:
            return self._close(left, right)
        readers: Iterable[tuple[bool, Callable[[str], object | None]]] = (
            (self._options.dates, as_moment),
            (self._options.expressions, _structure),
        )
        for enabled, read in readers:
            if enabled and (meant := read(expected)) is not None and read(said) == meant:
                return True
        return False


def _as_number(text: str) -> float | None:
    """Return the number that a text is, None for other texts; 007 and +49 are names, not
    numbers.
    """
    text = text.strip().replace("−", "-")
    if len(text) > 300 or not _NUMBER.fullmatch(text):
        return None
    text = text.replace(",", "")
    number = int(text) if text.lstrip("-").isdecimal() else float(text)
    return number if math.isfinite(number) else None


@lru_cache(maxsize=1024)
def as_moment(text: str) -> datetime | date | None:
    """Return the date or date-time that a text is, or None."""
    text = text.strip()
    if not 8 <= len(text) <= 40:
        return None
    plain = _ORDINAL.sub("", text).replace(",", " ")
    plain = " ".join(plain.split())
    for form in _DATE_FORMS:
        try:
            return datetime.strptime(plain, form).date()  # noqa: DTZ007 - a date has no zone
        except ValueError:
            continue
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _structure(text: str) -> str | None:
    """Return the syntax tree of an arithmetic expression, the same for 2 and 2.0; None for other
    texts.
    """
    if len(text) > 200 or not _ARITHMETIC.fullmatch(text):
        return None
    try:
        tree = ast.parse(text.strip().translate(_OPERATORS), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, float):
            node.value = int(node.value) if node.value.is_integer() else node.value
    return ast.dump(tree)


def comparable(case: Case) -> Any:
    """Return the expected value of the case. Raises GraderFailure if it cannot be compared."""
    expected = expected_of(case)
    levels = _levels(expected)
    if levels > MOST_LEVELS:
        raise GraderFailure(
            f"case {case.id}: `expected` has {levels} levels of lists and objects in each other;"
            f" at most {MOST_LEVELS} are compared"
        )
    return expected


def _levels(value: Any) -> int:
    deepest, waiting = 0, [(value, 1)]
    while waiting:
        item, level = waiting.pop()
        if isinstance(item, dict | list | tuple):
            deepest = max(deepest, level)
            items = item.values() if isinstance(item, dict) else item
            waiting += [(inner, level + 1) for inner in items]
    return deepest


def shown(value: Any) -> str:
    """Return any value as JSON for a message."""
    try:
        return one_line(json.dumps(value, ensure_ascii=False, default=str), 60)
    except RecursionError:
        return "what is nested too deeply to be shown"
    except ValueError:  # a whole number of more digits than Python writes
        return "a number too long to be shown"
