"""Splits text into the tokens of arithmetic: numbers, operators, brackets, words."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from agentbench_tui.scoring.numbers.arithmetic import Unreadable

DecimalMark = Literal[".", ","]
"""The character before the decimals. None in its place: a point, or a comma that cannot separate
thousands."""

MAX_DIGITS = 3_900
"""Maximum digits of a literal. Python itself converts at most 4,300 digits."""
_MAX_SHIFT = 2_000
"""Largest power of ten in `1e5`."""

MONEY = frozenset("$€£¥₹₽₩")
MINUS = frozenset("-−–")
SIGNS = frozenset("-−–+")
TIMES = frozenset("*×·⋅∙∗")
OVER = frozenset("/÷⁄∕")
EQUAL = frozenset("=≈≃≅＝")
OPEN = {"(": ")", "[": ")]", "{": "}"}
CLOSE = frozenset(")]}")
FUNCTIONS = frozenset(
    "\\" + name for name in (
    "log", "ln", "lg", "sin", "cos", "tan", "cot", "sec", "csc", "arcsin",
    "arccos", "arctan", "sinh", "cosh", "tanh", "exp", "binom", "dbinom", "tbinom",
    "choose", "max", "min", "gcd", "lcm", "sum", "prod", "int", "lim", "overline", "bar",
    "vec", "hat", "mod", "bmod", "pmod", "begin", "theta", "alpha", "beta", "gamma",
    "lambda",
    )
)  # fmt: skip

_VULGAR = "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
_SUPER = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_SUPERSCRIPTS = str.maketrans(_SUPER + "⁺⁻", "0123456789+-")
_SEPARATORS = str.maketrans("", "", "_'’\u00a0\u202f\u2009")


@dataclass(frozen=True, slots=True)
class Token:
    """One piece of a text."""

    kind: str
    """`number`, `malformed`, `vulgar`, `super`, `command`, `word`, `newline`, `mark` or `end`."""
    text: str
    start: int
    end: int
    gap: bool
    """White space precedes it."""


_LISTED = r"\s?[,;]\s?[-+−–±]?[$€£¥]?\d"
"""Text after a number in a list, in which a comma also separates numbers."""
_PAIR_OPENS = re.compile(r"[(\[{⦃⟨<]\s{0,3}[-+−–±]?\s?\Z")
_PAIR_CLOSES = re.compile(r"\s{0,3}[)\]}⦄⟩>]")


def _token_pattern(mark: DecimalMark | None) -> re.Pattern[str]:
    point, comma = (",", r"\.") if mark == "," else (r"\.", ",")
    spaces = "\u00a0\u202f\u2009"
    grouped = (
        rf"[1-9]\d{{0,2}}(?:{comma}\d{{3}})+|[1-9]\d?(?:{comma}\d\d)+{comma}\d{{3}}"
        rf"|[1-9]\d{{0,2}}(?:[{spaces}_'’]\d{{3}})+"
    )
    ends = rf"(?![.,{spaces}_'’]?\d)"
    # A comma before three digits may separate thousands, but not after 0 or a group of its own.
    decimal_comma = (
        rf"(?P<comma>(?:[1-9]\d{{0,2}}(?:[.{spaces}_'’]\d{{3}})+,\d+|0+,\d+"
        rf"|\d+,(?!\d{{3}}(?!\d))\d+)(?:[eE][-+−]?\d+(?![^\W_]))?{ends}(?!{_LISTED}))|"
    )
    return re.compile(
        rf"(?P<space>[^\S\n]+)"
        rf"|(?P<newline>\n\s*)"
        rf"|(?P<number>(?:(?:{grouped}|\d+)(?:{point}\d+)?|(?<![.\w]){point}\d+)"
        rf"(?:[eE][-+−]?\d+(?![^\W_]))?{ends})"
        rf"|{decimal_comma if mark is None else ''}(?P<malformed>\d+(?:[.,{spaces}_'’]\d+)*)"
        rf"|(?P<vulgar>[{_VULGAR}])"
        rf"|(?P<super>[⁺⁻]?[{_SUPER}]+)"
        rf"|(?P<command>\\[A-Za-z]+)"
        rf"|(?P<mark>\*\*|[π√])"
        rf"|(?P<word>[^\W\d_{_VULGAR}{_SUPER}π]+)"
        rf"|(?P<other>.)",
        re.DOTALL,
    )


_PATTERNS: dict[DecimalMark | None, re.Pattern[str]] = {
    ".": _token_pattern("."),
    ",": _token_pattern(","),
    None: _token_pattern(None),
}
_POINT_FOR_COMMA = str.maketrans(",", ".", ".")


def tokens_of(text: str, mark: DecimalMark | None) -> list[Token]:
    """Return the tokens of a text without white space, followed by a token of kind `end`.

    Without a mark, a number with a decimal comma has a point in the text of its token.
    """
    tokens: list[Token] = []
    gap = False
    for match in _PATTERNS[mark].finditer(text):
        kind = match.lastgroup or "other"
        if kind == "space":
            gap = True
            continue
        kind, written = "mark" if kind == "other" else kind, match[0]
        if kind == "comma":
            kind = "malformed" if _is_pair(text, match) else "number"
            written = written.translate(_POINT_FOR_COMMA)
        tokens.append(Token(kind, written, match.start(), match.end(), gap))
        gap = kind == "newline"
    tokens.append(Token("end", "", len(text), len(text), gap))
    return tokens


def _is_pair(text: str, number: re.Match[str]) -> bool:
    """Return whether brackets hold only the number: `(3,5)` is a pair or a set."""
    before = text[max(0, number.start() - 6) : number.start()]
    closes = _PAIR_CLOSES.match(text, number.end())
    return closes is not None and _PAIR_OPENS.search(before) is not None


def literal(written: str, mark: DecimalMark) -> Fraction:
    """Return the exact value of a token of kind `number`. Raises Unreadable if it is too long."""
    if len(written) > MAX_DIGITS:
        raise Unreadable
    digits = written.translate(_SEPARATORS).replace("." if mark == "," else ",", "")
    digits = digits.replace("−", "-").replace(mark, ".").lower()
    digits, _, exponent = digits.partition("e")
    whole, _, decimals = digits.partition(".")
    if len(exponent) > 6 or abs(int(exponent or 0)) > _MAX_SHIFT:
        raise Unreadable
    shift = int(exponent or 0) - len(decimals)
    value = int(whole + decimals)
    return Fraction(value * 10**shift) if shift >= 0 else Fraction(value, 10**-shift)


def vulgar_fraction(character: str) -> Fraction:
    """Return the value of a character such as ¾."""
    return Fraction(unicodedata.numeric(character)).limit_denominator(10)


def superscript(written: str) -> Fraction:
    """Return the value of superscript digits. Raises Unreadable if there are too many."""
    if len(written) > 6:
        raise Unreadable
    return Fraction(int(written.translate(_SUPERSCRIPTS)))


class Cursor:
    """A position in the tokens of a text."""

    def __init__(self, text: str, mark: DecimalMark | None) -> None:
        self._text = text
        self._mark: DecimalMark = mark or "."
        self._tokens = tokens_of(text, mark)
        self._at = 0

    def _token(self, ahead: int = 0) -> Token:
        return self._token_at(self._at + ahead)

    def _token_at(self, index: int) -> Token:
        return self._tokens[min(index, len(self._tokens) - 1)]

    def _is_operand(self, index: int, steps: int = 4) -> bool:
        """Return whether a number, root, fraction, or bracket before one, begins at a token."""
        token = self._token_at(index)
        if token.kind in {"number", "malformed", "vulgar"} or token.text in {"π", r"\frac"}:
            return True
        if token.text == r"\sqrt" or token.text in FUNCTIONS or token.text == "±":
            return True
        if token.text in OPEN or token.text in MONEY or token.text in SIGNS or token.text == "√":
            return steps > 0 and self._is_operand(index + 1, steps - 1)
        return False

    def _is_variable(self, index: int) -> bool:
        token = self._token_at(index)
        return (
            token.kind == "word"
            and len(token.text) == 1
            and token.text.isalpha()
            and (token.text not in "aAI" and (token.text.isascii() or "α" <= token.text <= "ω"))
        )

    def _move_to(self, position: int) -> None:
        while self._token().kind != "end" and self._token().start < position:
            self._at += 1
