"""One expression read by value: `1,250`, `\\frac{3}{4}`, `2\\sqrt{3}`, `1.8 billion`.

What looks like an expression and is not one number (a pair, a range, a variable, a division by
zero) is unreadable: it never counts as its first digits.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from agentbench_tui.scoring.numbers.arithmetic import (
    Unreadable,
    Value,
    checked,
    power,
    quotient,
    root,
)
from agentbench_tui.scoring.numbers.segment import NotArithmetic, Segment
from agentbench_tui.scoring.numbers.tokens import (
    EQUAL,
    MINUS,
    MONEY,
    OPEN,
    OVER,
    SIGNS,
    TIMES,
    Cursor,
    DecimalMark,
    Token,
    literal,
    superscript,
    vulgar_fraction,
)
from agentbench_tui.scoring.numbers.units import (
    COMPOUND,
    UNKNOWN_UNIT,
    Number,
    Unit,
    scale_at,
    unit_at,
)

_MAX_DEPTH, _MAX_TOKENS = 30, 400
"""Limits of one expression."""
_ORDINAL = re.compile(r"(?:st|nd|rd|th)(?![^\W_])")


class Expression(Cursor):
    """Reads the expression at the cursor, by recursive descent of bounded depth and length.

    Methods return at the first token that does not belong to the expression. They raise Unreadable
    for what is not one number.
    """

    def __init__(self, text: str, mark: DecimalMark | None) -> None:
        super().__init__(text, mark)
        self._first = 0
        self._depth = 0
        self._segment = Segment()

    def _quantity(self) -> Number:
        value = self._sum()
        segment = self._segment
        following = self._token()
        beyond = self._token(1)
        if following.text == ":" and beyond.kind == "number" and not (following.gap or beyond.gap):
            self._skip_ratio()
            raise Unreadable
        if segment.calculates and following.text not in EQUAL:
            raise Unreadable
        if not segment.units:
            return Number(value)
        if len(segment.units) > 1:
            raise Unreadable
        unit = segment.units[0]
        if segment.operators == 0 and unit.dimension in COMPOUND:
            value = self._compound(value, unit)
        return Number(value, unit)

    def _skip_ratio(self) -> None:
        """Skip the rest of a ratio or a time of day: `3:4`, `12:30:15`."""
        while self._token().text == ":" and self._token(1).kind == "number":
            self._at += 2

    def _compound(self, value: Value, unit: Unit) -> Value:
        """Add the smaller parts of `2 hours 30 minutes`, in the first unit."""
        smallest = unit
        for _ in range(3):
            ahead = 1 if self._token().text in {",", "and"} else 0
            if ahead and self._token(1).text == "and":
                ahead = 2
            part = self._token(ahead)
            if part.kind != "number":
                break
            follows = unit_at(self._text, part.end, unit.dimension)
            if follows is None:
                break
            if (unit.dimension, follows[0].dimension) == ("calendar", "time"):
                # No number of days is a month.
                self._at += ahead + 1
                self._move_to(follows[1])
                raise Unreadable
            if follows[0].dimension != unit.dimension:
                break
            if follows[0].factor >= smallest.factor:
                break
            smallest = follows[0]
            value = checked(value + literal(part.text, self._mark) * smallest.factor / unit.factor)
            self._at += ahead + 1
            self._move_to(follows[1])
        return value

    def _sum(self) -> Value:
        negative = False
        while self._token().text in SIGNS:
            negative ^= self._token().text in MINUS
            self._at += 1
            self._count()
        value = self._product()
        value = -value if negative else value
        while True:
            operator = self._token()
            if operator.text not in SIGNS or not self._operand_after(0):
                return value
            after = self._token(1)
            if (
                operator.text in MINUS
                and operator.gap
                and not after.gap
                and (after.kind == "number")
            ):
                return value  # `5 -3`: two numbers
            self._at += 1
            self._count()
            right = self._product()
            self._note_operator(value, right)
            value = checked(value - right if operator.text in MINUS else value + right)

    def _note_operator(self, left: Value, right: Value) -> None:
        self._segment.operators += 1
        if isinstance(left, Fraction) and isinstance(right, Fraction):
            self._segment.calculates = True

    def _operand_after(self, ahead: int) -> bool:
        """An operand follows a token. Raises Unreadable before a variable."""
        index = self._at + ahead + 1
        if self._is_variable(index):
            raise Unreadable
        return self._is_operand(index)

    def _count(self) -> None:
        if self._at - self._first > _MAX_TOKENS:
            raise Unreadable

    def _product(self) -> Value:
        value = self._signed_factor()
        slashes = 0
        while True:
            self._count()
            token, after = self._token(), self._token(1)
            if token.text in TIMES or token.text in {"x", "X"}:
                if token.text == "*" and token.gap != after.gap:
                    return value  # emphasis in Markdown
                if token.kind == "word" and after.kind not in {"number", "vulgar"}:
                    return value
                operate: Callable[[Value, Value], Value] = _times
            elif token.text in OVER:
                operate = quotient
            else:
                if not self._multiplies_silently(token):
                    return value
                value = self._silent_product(value)
                continue
            if not self._operand_after(0):
                return value
            slashes += token.text == "/" and not (token.gap or after.gap)
            self._at += 1
            begin = self._at
            right = self._signed_factor()
            if token.text in {"/", "⁄", "∕"} or self._has_power(begin):
                self._segment.operators += 1
            else:
                self._note_operator(value, right)
            value = operate(value, right)
            if slashes > 1:
                raise Unreadable  # a date

    def _has_power(self, begin: int) -> bool:
        tokens = self._tokens[begin : self._at]
        return any(token.text in {"^", "**"} or token.kind == "super" for token in tokens)

    def _multiplies_silently(self, token: Token) -> bool:
        if token.text in {"π", r"\sqrt", r"\frac"} or token.kind == "vulgar":
            return True
        if token.text == "√":
            return self._is_operand(self._at + 1)
        return token.text in {"(", "{"} and not token.gap and self._is_operand(self._at + 1)

    def _silent_product(self, value: Value) -> Value:
        begin, token, before = self._at, self._token(), self._token(-1)
        try:
            right = self._factor()
        except NotArithmetic:
            self._at = begin
            raise Unreadable from None
        mixes = token.kind == "vulgar" or token.text == r"\frac"
        if mixes and before.kind == "number" and isinstance(right, Fraction):
            whole = isinstance(value, Fraction) and value.denominator == 1
            if whole and 0 < right < 1:
                return value + right if value >= 0 else value - right
            if token.kind == "vulgar" or whole:
                raise Unreadable  # `3\frac{5}{4}` is read in two ways
        self._note_operator(value, right)
        return _times(value, right)

    def _signed_factor(self) -> Value:
        negative = False
        while self._token().text in SIGNS:
            negative ^= self._token().text in MINUS
            self._at += 1
            self._count()
        value = self._factor()
        return -value if negative else value

    def _factor(self) -> Value:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise Unreadable
        value = self._primary()
        value = self._raised(value)
        self._depth -= 1
        return self._with_unit(value)

    def _primary(self) -> Value:
        token = self._token()
        if token.text in MONEY:
            return self._money()
        self._at += 1
        if token.kind == "number":
            return self._mixed(literal(token.text, self._mark))
        if token.kind == "vulgar":
            return vulgar_fraction(token.text)
        if token.text == "π":
            return math.pi
        if token.text == r"\frac":
            top, bottom = self._argument(), self._argument()
            if self._token().kind == "number" and not self._token().gap:
                raise Unreadable
            return quotient(top, bottom)
        if token.text in {r"\sqrt", "√"}:
            return self._root()
        if token.text in OPEN:
            return self._bracket(token)
        raise Unreadable

    def _mixed(self, whole: Value) -> Value:
        """Return `1 3/4`, or the whole number alone."""
        top, slash, bottom = self._token(), self._token(1), self._token(2)
        if not (top.kind == bottom.kind == "number" and slash.text == "/" and top.gap):
            return whole
        if slash.gap or bottom.gap or not (top.text + bottom.text).isdecimal():
            return whole
        if self._token(3).text == "/" or self._token(-1).text.count(self._mark):
            return whole
        part = quotient(literal(top.text, self._mark), literal(bottom.text, self._mark))
        if part >= 1:
            raise Unreadable
        self._at += 3
        return checked(whole + part)

    def _money(self) -> Value:
        symbol = self._token()
        unit = unit_at(symbol.text, 0)
        self._at += 1
        negative = self._token().text in MINUS
        self._at += self._token().text in SIGNS
        value = self._factor()
        if unit is not None:
            self._segment.units = [*self._segment.units, unit[0]]
            spelled = unit_at(self._text, self._token(-1).end)
            if spelled is not None and spelled[0] == unit[0]:  # `$5 USD`
                self._move_to(spelled[1])
        return -value if negative else value

    def _argument(self) -> Value:
        """Return the argument of a LaTeX command: `{…}`, or the next digit."""
        token = self._token()
        if token.text == "{":
            self._at += 1
            return self._bracket(token)
        if token.kind == "number" and token.text.isdecimal():
            if len(token.text) == 1:
                self._at += 1
            else:  # \frac12: each argument is a digit
                rest = replace(token, text=token.text[1:], start=token.start + 1, gap=False)
                self._tokens[self._at] = rest
            return Fraction(int(token.text[0]))
        if token.text in {r"\sqrt", r"\frac", "π"}:
            return self._factor()
        raise Unreadable

    def _root(self) -> Value:
        degree = 2
        if self._token(-1).text == "√":
            return root(self._factor())
        if self._token().text == "[":
            digit = self._token(1)
            if digit.kind != "number" or len(digit.text) > 2 or self._token(2).text != "]":
                raise Unreadable
            degree = int(literal(digit.text, self._mark))
            self._at += 3
        if self._token().kind == "number" and len(self._token().text) > 1:
            raise Unreadable  # LaTeX roots the first digit, the writer meant all
        return root(self._argument(), degree)

    def _bracket(self, opening: Token) -> Value:
        """The value of a bracket whose opening was taken. Raises NotArithmetic for prose."""
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise Unreadable
        outer, self._segment = self._segment, Segment()
        value = self._sum()
        self._depth -= 1
        token = self._token()
        outer.units += self._segment.units
        outer.calculates = outer.calculates or self._segment.calculates
        self._segment = outer
        if token.text in OPEN[opening.text]:
            self._at += 1
            return value
        listed = token.text in {",", ";", "|"}
        prose = token.kind == "word" and len(token.text) > 1
        if prose or token.kind in {"end", "newline"}:
            raise NotArithmetic
        if listed and self._token(1).kind == "word" and len(self._token(1).text) > 1:
            raise NotArithmetic
        raise Unreadable

    def _raised(self, value: Value) -> Value:
        token = self._token()
        if token.kind == "super" and not token.gap:
            self._at += 1
            return power(value, superscript(token.text))
        spaced = token.gap or self._token(1).gap
        if token.text == "**" and (spaced or not self._is_operand(self._at + 1)):
            return value
        if token.text not in {"^", "**"}:
            return value
        self._at += 1
        negative = self._token().text in MINUS
        self._at += self._token().text in SIGNS
        following = self._token()
        if following.kind not in {"number", "vulgar"} and following.text not in {
            "{",
            "(",
            r"\frac",
        }:
            raise Unreadable
        exponent = self._factor()
        return power(value, -exponent if negative else exponent)

    def _with_unit(self, value: Value) -> Value:
        """Apply a word such as `million` and note the unit; Unreadable before a variable."""
        end = self._token(-1).end
        scale = scale_at(self._text, end)
        if scale is not None:
            value = _times(value, Fraction(scale[0]))
            end = scale[1]
            self._move_to(end)
        unit = unit_at(self._text, end)
        if unit is not None:
            self._segment.units = [*self._segment.units, unit[0]]
            self._move_to(unit[1])
            return value
        compound = UNKNOWN_UNIT.match(self._text, end)
        if compound is not None and self._token().kind == "word":
            self._move_to(compound.end())
            return value
        self._refuse_variable()
        return value

    def _refuse_variable(self) -> None:
        token, after = self._token(), self._token(1)
        if token.kind != "word" or _ORDINAL.match(self._text, token.start):
            return
        single = len(token.text) == 1 and (token.text.isascii() or "α" <= token.text <= "ω")
        if not single or (token.text in {"x", "X"} and after.kind == "number"):
            return
        joined = after.text in TIMES | OVER | {"^", "+"} and self._is_operand(self._at + 2)
        if not token.gap or (joined and token.text not in "aAI"):
            raise Unreadable


def _times(left: Value, right: Value) -> Value:
    return checked(left * right)
