"""Finds the numbers and expressions of a text.

A chain such as `9 * 2 = 18` has the value after its last `=` or `≈`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from agentbench_tui.scoring.numbers.arithmetic import Unreadable, magnitude
from agentbench_tui.scoring.numbers.expression import Expression
from agentbench_tui.scoring.numbers.segment import NotArithmetic, Segment
from agentbench_tui.scoring.numbers.tokens import (
    CLOSE,
    EQUAL,
    MINUS,
    MONEY,
    OPEN,
    OVER,
    SIGNS,
    TIMES,
    DecimalMark,
)
from agentbench_tui.scoring.numbers.units import Number
from agentbench_tui.scoring.text.words import has_no_spaces

_ROUNDS = frozenset("≈≃≅")
_ROUNDING_GAP = Fraction(1, 100)
"""Largest relative difference across `≈`."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A number or expression of a text."""

    start: int
    end: int
    number: Number | None
    """None when it is not one number."""
    is_chain: bool = False
    """It had `=` or `≈`."""


def readings_of(text: str, mark: DecimalMark | None = ".") -> list[Reading]:
    """Return every number and expression of a text without LaTeX markup, in order.

    Takes time linear in the text's length; never raises.
    """
    return _Reader(text, mark).read()


class _Reader(Expression):
    def read(self) -> list[Reading]:
        readings: list[Reading] = []
        while self._token().kind != "end":
            begin = self._at
            if self._token().text in {"^", "_"}:
                self._skip_script()
            elif self._starts_reading(begin):
                try:
                    readings.append(self._reading())
                except NotArithmetic:
                    self._at = begin
            self._at = max(self._at, begin + 1)
        return readings

    def _starts_reading(self, index: int) -> bool:
        token, after = self._tokens[index], self._token_at(index + 1)
        if token.text in SIGNS:
            before = self._text[token.start - 1 : token.start]
            after_equal = index > 0 and self._tokens[index - 1].text in EQUAL
            joins = before.isalnum() and not has_no_spaces(before)  # a hyphen, or a subtraction
            attached = not after.gap and not (joins or (before and before in "_.,)]"))
            return (attached or after_equal) and self._is_operand(index + 1)
        if self._is_variable(index):
            return self._joins(self._after_script(index + 1))
        return self._is_operand(index)

    def _joins(self, index: int) -> bool:
        """Return whether an operator at a token joins a variable to an operand or to another
        variable.
        """
        token = self._token_at(index)
        after = self._token_at(index + 1)
        joins = token.text in TIMES | OVER | {"+"} or (token.text in MINUS and after.gap)
        return joins and (self._is_operand(index + 1) or self._is_variable(index + 1))

    def _after_script(self, index: int) -> int:
        """Return the position after the exponent that may begin at a token."""
        if self._token_at(index).text != "^":
            return index
        if self._token_at(index + 1).text == "{":
            return index + 4
        return index + 2

    def _skip_script(self) -> None:
        """Skip an exponent or index of something other than a number."""
        self._at += 1
        if self._token().text == "{":
            while self._token().kind not in {"end", "newline"} and self._token().text != "}":
                self._at += 1
        elif self._token().text in SIGNS:
            self._at += 1
        if self._token().kind == "number" or self._token().text == "}":
            self._at += 1

    def _reading(self) -> Reading:
        begin, is_chain = self._token().start, False
        exact: Number | None = None
        number: Number | None = None
        while True:
            self._first, self._segment, self._depth = self._at, Segment(), 0
            before, number = number, None
            try:
                number = self._quantity()
            except (Unreadable, OverflowError, ZeroDivisionError):
                self._skip_expression()
                if self._segment.calculates:  # 15 = 3 * 5
                    number = before
            except NotArithmetic:
                if not is_chain and self._token_at(self._first).text in OPEN:
                    raise
                self._skip_expression()
            if exact is not None and number is not None:
                number = _rounded(number, exact)
            rounds = self._token().text in _ROUNDS
            if not self._takes_equal():
                break
            exact, is_chain = number if rounds else None, True
        end = self._token(-1).end
        return Reading(begin, end, number, is_chain)

    def _takes_equal(self) -> bool:
        if self._token().text not in EQUAL:
            return False
        ahead = 1
        while self._token(ahead).text in EQUAL and ahead < 3:
            ahead += 1
        if not self._is_operand(self._at + ahead):
            return False
        self._at += ahead
        return True

    def _skip_expression(self) -> None:
        """Skip an unreadable expression, up to the next `=` or the following prose."""
        failed, depth, index = self._at, 0, self._first
        while True:
            token = self._token_at(index)
            if token.kind in {"end", "newline"}:
                break
            if token.text in OPEN:
                depth += 1
            elif token.text in CLOSE:
                if depth == 0 and index >= failed:
                    break
                depth = max(depth - 1, 0)
            elif depth == 0 and index >= failed and self._ends_expression(index):
                break
            index += 1
        self._at = max(index, self._first + 1) if self._tokens[index].kind != "end" else index

    def _ends_expression(self, index: int) -> bool:
        token = self._token_at(index)
        if token.kind == "word":
            return len(token.text) > 1 or token.text in "aAI"
        if token.kind == "mark":
            return token.text in EQUAL or token.text in ".,;:!?|\"'…→" or token.text in MONEY
        return False


def _rounded(number: Number, exact: Number) -> Number:
    """Return a rounded number with the value it is rounded from, if it is close to it."""
    gap = magnitude(number.value - exact.value)
    close = gap <= _ROUNDING_GAP * magnitude(exact.value)
    return replace(number, exact=exact.value) if close and not exact.unit else number
